"""Where Chromium's sandbox is on: wherever it can run, unless the operator says otherwise."""

import os
from pathlib import Path

import pytest

from sederunt.browser import sandbox
from sederunt.settings import BrowserSettings


@pytest.mark.parametrize("chosen", [True, False])
def test_the_operator_has_the_last_word(chosen: bool) -> None:
    assert sandbox.wants_sandbox(BrowserSettings(sandbox=chosen), Path("/bin/sh"), None) is chosen


def test_root_has_none_and_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "user of its own" in (sandbox.obstacle(tmp_path / "chromium", None) or "")
    assert not sandbox.wants_sandbox(BrowserSettings(), tmp_path / "chromium", None)


def test_a_user_without_namespaces_and_helper_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("PATH", str(tmp_path))  # no unshare
    assert "chromium-sandbox" in (sandbox.obstacle(tmp_path / "other" / "chromium", None) or "")
