"""Which platforms there are: entry points, and what becomes of one that cannot be loaded."""

import re
import sys
from pathlib import Path

import pytest
import structlog

from sederunt.errors import SetupError
from sederunt.model.bot import Service
from sederunt.platforms import registry


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("raise RuntimeError('broken')", "broken"),
        ("from sederunt.platforms.zoom import PLATFORM", "calls itself 'zoom'"),
    ],
)
def test_a_package_that_cannot_be_loaded_is_told_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, why: str
) -> None:
    built_in = registry.services()
    (tmp_path / "broken_site.py").write_text(module)
    entries = tmp_path / "broken_site-1.dist-info"
    entries.mkdir()
    (entries / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-site\nVersion: 1\n")
    (entries / "entry_points.txt").write_text("[sederunt.platforms]\nother = broken_site:PLATFORM\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_site", raising=False)
    registry.installed.cache_clear()
    try:
        with structlog.testing.capture_logs() as logs:
            assert registry.services() == built_in
        assert [(entry["package"], entry["service"]) for entry in logs] == [("broken-site", "other")]
        assert why in logs[0]["why"]
        with pytest.raises(SetupError, match=", ".join(built_in)):
            registry.platform_of(Service("other"))
    finally:
        registry.installed.cache_clear()


def test_no_file_outside_platforms_and_practice_names_a_service() -> None:
    source = Path(registry.__file__).parent.parent
    allowed = {"platforms", "practice", "bench"}
    named = re.compile(r"\b(?:gmeet|teams|zoom)\b|Google Meet|Microsoft Teams", re.IGNORECASE)
    found = [
        f"{path.relative_to(source)}: {line.strip()}"
        for path in source.rglob("*.py")
        if path.relative_to(source).parts[0] not in allowed
        for line in path.read_text(encoding="utf-8").splitlines()
        if named.search(line.replace("zoom_zak_token", ""))
    ]
    assert not found, "\n".join(found)
