"""docs/api.md tells everything: routes, fields, statuses, reasons, models, refusals; the page at /docs stands alone."""

import re
from pathlib import Path

import pytest

from sederunt.api.docs import docs_page
from sederunt.api.openapi import document
from sederunt.api.route import Route
from sederunt.api.routes import ROUTES
from sederunt.api.schemas.answers import ANSWERS
from sederunt.api.schemas.requests import BotFields
from sederunt.model.bot import Verdict
from sederunt.model.participant import SpeakingKind
from sederunt.model.status import ACTIVE, REASONS, BotStatus, RecordingStatus
from sederunt.transcription.models import Can, models

DOCS = Path(__file__).parents[3] / "docs"
GUIDE = (DOCS / "api.md").read_text(encoding="utf-8")
EVENTS = (DOCS / "events.md").read_text(encoding="utf-8")
WORDS = frozenset(re.findall(r"`([^`\n]+)`", GUIDE + EVENTS))

REQUEST_FIELDS = {field for route in ROUTES if route.body is not None for field in route.body.model.model_fields}
ANSWER_FIELDS = {field for schema in ANSWERS.values() for field in schema.get("properties", {})}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_route_is_in_the_guide(route: Route) -> None:
    assert f"{route.method} {route.path}" in WORDS


def test_every_field_is_in_the_guide() -> None:
    missing = (REQUEST_FIELDS | ANSWER_FIELDS) - WORDS - {"errors"}
    assert missing == set(), "docs/api.md does not name these"


@pytest.mark.parametrize(
    ("heading", "fields"),
    [
        ("### Configuration of a bot", set(BotFields.model_fields) - {"metadata"}),
        ("### The bot object", set(ANSWERS["Bot"]["properties"])),
    ],
)
def test_every_field_of_a_bot_has_its_place_in_the_table_of_its_section(heading: str, fields: set[str]) -> None:
    """Elsewhere in the guide the same word may stand for something else."""
    section = GUIDE.split(f"{heading}\n")[1].split("\n### ")[0]
    first_cells = " ".join(line.split(" | ")[0] for line in section.splitlines() if line.startswith("| "))
    missing = fields - set(re.findall(r"`([^`]+)`", first_cells))
    assert missing == set(), f"docs/api.md, '{heading}': name these in the first column of its table"


def test_every_status_reason_verdict_and_model_is_in_the_guide() -> None:
    words = {*BotStatus, *RecordingStatus, *Verdict, *SpeakingKind}
    words |= {reason for reasons in REASONS.values() for reason in reasons}
    names = {name for row in models() for name in (row.identifier, *row.aliases)}
    missing = ({str(word) for word in words} | names) - WORDS
    assert missing == set(), "docs/api.md does not name these"


def test_the_row_of_delete_names_the_statuses_that_refuse_it() -> None:
    row = next(line for line in GUIDE.splitlines() if line.startswith("| `DELETE /bot/{id}` |"))
    refused = row.rsplit("409 while", 1)[1]
    assert set(re.findall(r"`(\w+)`", refused)) == ACTIVE, "docs/api.md, at DELETE /bot/{id}: the statuses of ACTIVE"


def test_the_table_of_models_says_what_each_is_for_and_what_it_can() -> None:
    for row in models():
        line = next(line for line in GUIDE.splitlines() if line.startswith(f"| `{row.identifier}` |"))
        cells = [cell.strip() for cell in line.strip().split("|")[1:-1]]
        for_what = tuple("yes" if flag else "" for flag in (row.for_bots, row.for_recordings, row.realtime))
        assert tuple(cells[3:6]) == for_what, row.identifier
        asked = (Can.DIARIZE, Can.DETECT_LANGUAGE, Can.VOCABULARY)
        assert tuple(cells[6:9]) == tuple("yes" if what in row.can else "" for what in asked), row.identifier
        masks = "" if row.provider is None else "vendor" if Can.MASK_PROFANITY in row.can else "we do"
        assert cells[9] == masks, row.identifier


def test_every_refusal_of_the_document_is_in_the_guide() -> None:
    told = {line.split("|")[1].strip() for line in GUIDE.splitlines() if re.match(r"\| \d{3} \|", line)}
    statuses = {
        status
        for operations in document()["paths"].values()
        for operation in operations.values()
        for status in operation["responses"]
    }
    assert statuses - {"200", "304"} <= told


def test_a_default_is_told_only_where_it_is_one() -> None:
    schemas = document()["components"]["schemas"]
    fields = schemas["BotFields"]["properties"]
    told = {name: field["default"] for name, field in fields.items() if "default" in field}
    flags = [name for name, field in BotFields.model_fields.items() if field.annotation is bool]
    assert told == dict.fromkeys(flags, False)
    assert not any("default" in field for field in schemas["BotChanges"]["properties"].values())


def test_the_links_inside_the_guide_lead_somewhere() -> None:
    headings = {re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in _headings()}
    assert set(re.findall(r"\]\(#([^)]+)\)", GUIDE)) <= headings


def test_the_page_at_docs_tells_every_route_and_loads_nothing_from_elsewhere() -> None:
    page = docs_page()
    assert all(f"<code>{route.path}</code>" in page for route in ROUTES)
    assert not re.search(r"<script|<link|<img|src=|https?://", page)


def _headings() -> list[str]:
    return [line for line in GUIDE.splitlines() if line.startswith("#")]
