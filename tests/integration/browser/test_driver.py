"""A browser driver that does not start says why."""

from pathlib import Path

import pytest
from playwright._impl import transport

from sederunt.browser import driver
from sederunt.errors import SetupError


async def test_a_driver_without_its_library_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As a bare Debian's loader says it, seen in a container image.
    broken = tmp_path / "node"
    lack = "error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file"
    broken.write_text(f'#!/bin/sh\necho "$0: {lack}" >&2\nexit 127\n')
    broken.chmod(0o755)
    for module in (transport, driver):
        monkeypatch.setattr(module, "compute_driver_executable", lambda: (str(broken), "cli.js"))
    with pytest.raises(SetupError, match=r"did not start: .*libatomic.*apt-get install libatomic1"):
        async with driver.running_driver():
            pass


async def test_a_driver_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (transport, driver):
        monkeypatch.setattr(module, "compute_driver_executable", lambda: (str(tmp_path / "nowhere"), "cli.js"))
    with pytest.raises(SetupError, match="nowhere"):
        async with driver.running_driver():
            pass


async def test_a_driver_sees_no_secret_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEDERUNT_BUS__TOKEN", "AWS_SECRET_ACCESS_KEY", "odd.name"):
        monkeypatch.setenv(name, "planted")
    async with driver.running_driver() as started:
        seen = Path(f"/proc/{started.pid}/environ").read_bytes().split(b"\0")
        assert not [one for one in seen if b"planted" in one]
        assert b"TMPDIR=" + str(started.folder).encode() in seen
