"""Modules in the directory that the service is started in are not imported, whoever put them there."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from harness.painted import picture
from sederunt.calendars.meeting import FeedChoice, FeedRule
from sederunt.calendars.reader import read_calendar
from sederunt.media.reader_processes import ReaderServer
from sederunt.media.sandbox import READER_ENVIRONMENT
from sederunt.media.sandboxed_image import sandboxed_image

CALENDAR = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\nEND:VCALENDAR\r\n"


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Return a directory with modules that every child of ours imports; whichever is, leaves a file `imported`."""
    folder = tmp_path / "planted"
    folder.mkdir()
    for name in ("sederunt", "json", "asyncio"):
        (folder / f"{name}.py").write_text(f"open({str(folder / 'imported')!r}, 'a').write('{name} ')")
    return folder


def test_the_roles_of_serve_do_not_import_them(planted: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [Path(sys.executable).with_name("sederunt"), "serve", "--data", str(tmp_path / "data"), "--port", "0"],
        cwd=planted,
        env={**os.environ, "SEDERUNT_BROWSER__WARM": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert any("Listening on" in line for line in process.stdout)
    finally:
        family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        process.kill()
        process.communicate()
        psutil.wait_procs(family, timeout=10)
    assert not (planted / "imported").exists()


async def test_readers_of_what_callers_send_do_not_import_them(planted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(planted)
    assert await sandboxed_image(picture((200, 30, 40), "png", 64, 64))
    now, all_meetings = datetime.now(UTC), FeedChoice(rule=FeedRule.ALL)
    reading = await read_calendar(CALENDAR, since=now, until=now + timedelta(days=1), choice=all_meetings)
    assert reading.meetings == []
    with ReaderServer("sederunt.media.sandboxed_reader_child", READER_ENVIRONMENT).reader():
        pass
    assert not (planted / "imported").exists()
