"""Docstrings of public functions: they begin with a verb, so that a reader knows what a call does."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"

# Another verb is welcome: add it. A noun, an article or a question word is not: name what the call does or returns.
VERBS = """
Add Adopt Advance Allow Announce Answer Append Apply Arrange Ask Assemble Attend Begin Bind Book Bring Build Call
Cancel Carry Change Charge Check Choose Claim Clean Clear Click Close Collect Combine Compare Complete Compose
Compute Configure Confirm Connect Convert Copy Correct Count Cover Create Cut Decide Declare Decode Decrypt Delete
Deliver Describe Detect Do Download Drain Draw Drop Emit Empty Encode Encrypt End Enter Erase Escape Estimate
Evaluate Exchange Exclude Execute Expect Explain Export Extend Extract Fail Feed Fetch Fill Find Finish Fit Flush
Fold Follow Forget Format Forward Gather Generate Get Give Go Group Guess Hand Handle Hash Have Hear Hide Hold
Identify Ignore Import Include Insert Install Interrupt Invite Issue Join Judge Keep Kill Launch Learn Leave Lend
Let Limit Link List Listen Load Lock Log Look Make Mark Mask Match Measure Mend Merge Migrate Mix Move Mute Name
Narrow Normalise Note Notify Number Offer Open Order Overwrite Pack Parse Pass Pause Pick Picture Place Plan Play
Poll Pool Post Prepare Press Price Print Probe Process Protect Prove Provide Publish Pull Push Put Quote Raise Rank
Reach Read Rebuild Recall Receive Recognise Reconnect Record Redirect Reduce Refresh Refuse Register Reject Release
Reload Remember Remove Rename Render Replace Replay Reply Report Request Reserve Reset Resolve Restart Restore
Resume Retry Return Revoke Rotate Round Run Sample Save Say Scale Scan Seal Search Seat Select Send Serve Set Settle
Share Show Shut Sign Skip Sort Speak Spell Split Spread Start State Stay Stop Store Strip Submit Sum Suppress Switch
Take Tell Terminate Test Track Transcribe Translate Trim Truncate Try Turn Undo Unlock Unpack Update Upload Use
Validate Verify Visit Wait Wake Walk Warm Warn Watch Weigh Withdraw Work Wrap Write Yield
"""
# Handlers name their route, commands their command line.
HANDLERS = ("GET ", "POST ", "PUT ", "PATCH ", "DELETE ", "`sederunt ")


def test_a_public_docstring_begins_with_a_verb() -> None:
    found = [(path, name, text) for path in sorted(SOURCE.rglob("*.py")) for name, text in public_docstrings(path)]
    assert len(found) > 1000, "the sources were not found"
    assert [
        f"{path.relative_to(SOURCE)}: {name}: {text.splitlines()[0]}"
        for path, name, text in found
        if text and text.split()[0].rstrip(",.:;") not in VERBS.split() and not text.startswith(HANDLERS)
    ] == []


def public_docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, docstring) of each function and method that other modules may call."""
    bodies: list[ast.Module | ast.ClassDef] = [ast.parse(path.read_text(encoding="utf-8"))]
    while bodies:
        for node in bodies.pop().body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                bodies.append(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                yield node.name, ast.get_docstring(node) or ""
