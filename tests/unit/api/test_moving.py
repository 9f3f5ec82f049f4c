"""docs/moving.md, word by word: whatever it says that a client finds here is there, with the defaults that it names."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sederunt.api.openapi import document
from sederunt.api.routes import ROUTES
from sederunt.cli.main import COMMANDS
from sederunt.model.bot import StopOptions
from sederunt.model.history import STATUS_UPDATE
from sederunt.model.status import BotStatus, StopReason
from sederunt.platforms.registry import services
from sederunt.transcription.models import find

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "moving.md").read_text(encoding="utf-8")
SETTINGS = set(re.findall(r"`(SEDERUNT_\w+)`", (DOCS / "settings.md").read_text(encoding="utf-8")))
# Of HTTP, of the webhooks' standard and of the sockets, whose own tests prove them.
MANNERS = {"Authorization: Bearer …", "Idempotency-Key", "webhook-id", "-timestamp", "-signature", "ts", "ts-draft"}
MANNERS |= {"provider/model", "data.old_status", "data.new_status", "new_status", STATUS_UPDATE, "video: true"}


def promised() -> Iterator[str]:
    """Each thing in code that the right column names."""
    rows = [line.strip("| \n").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
    assert len(rows) > 60
    for row in rows:
        assert len(row) == 2, row
        yield from re.findall("`([^`]+)`", row[1])


@pytest.fixture(scope="module")
def known() -> set[str]:
    """Every name that the interface has."""
    schemas = document()["components"]["schemas"]
    fields = {name for schema in schemas.values() for name in schema.get("properties", {})}
    options = {f"stop_options.{name}" for name in StopOptions.__dataclass_fields__}
    routes = {f"{route.method} {route.path}" for route in ROUTES}
    return fields | options | routes | set(BotStatus) | set(StopReason) | set(services()) | MANNERS


def test_all_that_is_promised_is_there(known: set[str]) -> None:
    for word in promised():
        if word.startswith("sederunt "):
            assert word.split()[1] in COMMANDS, word
        elif word.startswith("SEDERUNT_"):
            name = word.partition("=")[0].removesuffix("…")
            assert [setting for setting in SETTINGS if setting == name or (word != name and setting.startswith(name))]
        else:
            assert word in known, word


def test_the_defaults_it_names_are_ours() -> None:
    told = re.findall(r"`stop_options\.(\w+)` \(minutes, (\d+)", PAGE)
    assert len(told) == 7
    for name, minutes in told:
        assert getattr(StopOptions(), name) == int(minutes), name


def test_the_hosted_names_of_models_are_understood() -> None:
    (name,) = re.findall(r'`transcription_model: "([^"]+)"`', PAGE)
    assert find(name) is not None
