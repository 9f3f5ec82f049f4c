"""What vendors' rows rest on is told with its day, and no page goes wrong because time goes by."""

import importlib.util
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest

from sederunt.transcription.models import providers

SCRIPT = Path(__file__).parents[2] / "scripts" / "docs.py"


@pytest.fixture
def docs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class LaterDate(date):
    @classmethod
    def today(cls) -> "LaterDate":
        return cls(2030, 1, 1)


def test_every_cloud_vendor_names_its_sources_by_day() -> None:
    for provider in providers().values():
        assert provider.sources or not provider.needs_key, provider.name
        assert all(date.fromisoformat(source.read_on) for source in provider.sources)


def test_old_rows_are_marked_and_the_page_on_disk_stays_current(
    docs: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs, "date", LaterDate)
    page = docs.providers_page()
    assert f"2026-11-28{docs.OLD}" in page
    assert docs._is_current("providers.md", page)
