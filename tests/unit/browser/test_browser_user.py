"""As whom browsers are started where the service is root."""

import os
from pathlib import Path

import pytest

from sederunt.browser import browser_user
from sederunt.browser.browser_user import OtherUser
from sederunt.browser.launch import child_environment
from sederunt.errors import SetupError
from sederunt.settings import BrowserSettings

SHELL = Path("/bin/sh")
OTHER = OtherUser(uid=65_530, gid=65_530)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def test_an_ordinary_user_keeps_its_browsers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert browser_user.browser_user_of(BrowserSettings(), SHELL) is None


@as_root
def test_root_gives_them_away_unless_it_is_told_to_keep_them() -> None:
    assert browser_user.browser_user_of(BrowserSettings(), SHELL) == OTHER
    assert browser_user.browser_user_of(BrowserSettings(user="1234"), SHELL) == OtherUser(uid=1234, gid=1234)
    assert browser_user.browser_user_of(BrowserSettings(user="root"), SHELL) is None


@as_root
def test_a_program_that_the_other_user_cannot_reach_is_started_as_root(tmp_path: Path) -> None:
    program = tmp_path / "chromium"  # below a folder that is root's alone
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    tmp_path.chmod(0o700)
    assert browser_user.browser_user_of(BrowserSettings(), program) is None


def test_a_user_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(SetupError, match="SEDERUNT_BROWSER__USER is 'nobody-here'"):
        browser_user.browser_user_of(BrowserSettings(user="nobody-here"), SHELL)


def test_the_other_user_is_told_of_no_place_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USER", "XDG_RUNTIME_DIR", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"):
        monkeypatch.setenv(name, "/root/of-ours")
    told = child_environment(OTHER, Path("/t"))
    assert "/root/of-ours" not in told.values()
    assert (told["HOME"], told["TMPDIR"]) == ("/t", "/t")
    assert child_environment(None, Path("/t"))["HOME"] == "/root/of-ours"
