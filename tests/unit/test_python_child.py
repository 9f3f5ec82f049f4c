"""Children that run Python import nothing from the directory that the service was started in."""

import subprocess
from pathlib import Path

import pytest

import sederunt
from sederunt.python_child import python_command

PACKAGE = Path(sederunt.__file__).parent


@pytest.mark.parametrize("arguments", [("-m", "json.tool", "--help"), ("-c", "import json")])
def test_a_module_in_the_current_directory_is_not_imported(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('planted')")
    done = subprocess.run(python_command(*arguments), cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_python_is_started_in_one_place() -> None:
    """Besides: what ties a child to its parent (isolated), a program beside Python, and this very command again."""
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if "sys.executable" in path.read_text()}
    assert found == {"python_child.py", "die_with_parent.py", "bus/embedded.py", "cli/self_exec.py"}
