"""llms.txt leads only to what is there: files of the repository, and paths that a running service serves."""

import re
from pathlib import Path

import pytest

from sederunt.api import app
from sederunt.console.app import create_application
from sederunt.settings import Settings

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "llms.txt").read_text(encoding="utf-8")
LINKS = re.findall(r"\]\(([^)]+)\)", TEXT)


def test_it_is_what_the_service_serves() -> None:
    assert app._LLMS == TEXT
    assert TEXT.startswith("# Sederunt\n\n> ")


@pytest.mark.parametrize("link", [link for link in LINKS if not link.startswith("/")])
def test_a_file_that_it_leads_to_exists(link: str) -> None:
    assert (ROOT / link).is_file()


@pytest.mark.parametrize("link", [link for link in LINKS if link.startswith("/")])
def test_a_path_that_it_leads_to_is_served(link: str, tmp_path: Path) -> None:
    served = create_application(Settings(data=tmp_path))
    paths = {getattr(route, "path", None) for route in served._app.routes}  # type: ignore[attr-defined]
    assert link in paths
