"""Another user of this machine: reads nothing that a running service keeps, and sees no screen of its browsers."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.service import Service
from sederunt.browser.display import Display

NOBODY = 65534
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

# What can be listed below the folder, and which of it can be read.
LOOK = """
import json, os, sys
seen, read = [], []
for folder, folders, files in os.walk(sys.argv[1]):
    for name in files:
        path = os.path.join(folder, name)
        seen.append(path)
        try:
            with open(path, "rb") as file:
                file.read(1)
            read.append(path)
        except OSError:
            pass
print(json.dumps([seen, read]))
"""
# The handshake of X, without a cookie: the first byte of the answer is 1 where the caller is let in.
KNOCK = """
import json, socket, struct, sys
number = sys.argv[1].lstrip(":")
with socket.socket(socket.AF_UNIX) as line:
    line.connect(f"/tmp/.X11-unix/X{number}")
    line.sendall(struct.pack("<BxHHHHxx", ord("l"), 11, 0, 0, 0))
    print(json.dumps(line.recv(1)[0]))
"""


def as_nobody(script: str, *arguments: str) -> Any:
    """What a script says that runs as a user who owns nothing here."""
    # The system's own Python: ours may lie where that user may not even look.
    done = subprocess.run(
        ["/usr/bin/env", "-i", "/usr/bin/python3", "-c", script, *arguments],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter, as /var/lib is."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_nothing_in_the_data_directory_is_read(open_folder: Path) -> None:
    data = open_folder / "data"
    service = Service(data, "")
    try:
        assert any(path.is_file() for path in data.rglob("*"))
        assert as_nobody(LOOK, str(open_folder)) == [[], []]
        # Also where somebody opened the directory itself again: each file is closed by itself.
        data.chmod(0o755)
        _, read = as_nobody(LOOK, str(open_folder))
        assert [path for path in read if not path.endswith("serve.log")] == []  # the log is this test's own file
    finally:
        service.stop()


async def test_nobody_is_let_in_to_a_display_without_its_cookie() -> None:
    async with Display() as display:
        assert as_nobody(KNOCK, display.name) == 0
        assert display.authority.stat().st_mode & 0o077 == 0


def test_the_look_would_have_found_something(open_folder: Path) -> None:
    (open_folder / "readable").write_text("x")
    (open_folder / "readable").chmod(0o644)
    assert as_nobody(LOOK, str(open_folder)) == [[str(open_folder / "readable")]] * 2
