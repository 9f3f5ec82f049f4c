"""docs/note-taker.md, followed: its program, run as it is printed there, brings back minutes with decisions."""

import asyncio
import re
import sys
from pathlib import Path

from harness.plugin import PYTHON_CLIENT, install, on_path
from harness.service import Service
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo

PAGE = Path(__file__).parents[2] / "docs" / "note-taker.md"


async def test_the_program_of_the_page_takes_notes(service: Service, meetings: PracticeClient, tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "notes.py").write_text(program, encoding="utf-8")
    meeting = await meetings.open_meeting(demo(turns=2))
    environment = {
        **on_path(install(tmp_path, PYTHON_CLIENT)),
        "SEDERUNT_URL": service.url,
        "SEDERUNT_KEY": service.key,
    }
    running = await asyncio.create_subprocess_exec(
        sys.executable, "notes.py", meeting.url, cwd=tmp_path, env=environment, stdout=asyncio.subprocess.PIPE
    )
    await meeting.wait_for("chat", sender="Notes", timeout_s=120)  # it says how decisions are marked
    await meeting.chat("Mary Somerville", "Decision: we meet on Monday")
    output, _ = await asyncio.wait_for(running.communicate(), 300)
    *said, last = output.decode().splitlines()
    assert running.returncode == 0, output
    assert last.startswith("finished (healthy): ")
    assert {line.partition(":")[0] for line in said} >= {"Mary Somerville", "Charles Babbage"}
    minutes = (tmp_path / "minutes.md").read_text(encoding="utf-8")
    assert minutes.endswith("## Decisions\n\n- we meet on Monday (Mary Somerville)\n")
    assert {"Mary Somerville", "Charles Babbage"} <= set(re.findall(r"Mary Somerville|Charles Babbage", minutes))
