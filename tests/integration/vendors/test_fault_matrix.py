"""Every vendor with every fault that it can have while it transcribes a file: how it ends, and what is billed.

The table in docs/providers.md is what comes out; it is printed, too.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.matrix import show
from harness.vendors.catalogue import VENDORS
from harness.vendors.fault_table import documented, table_of
from harness.vendors.vendor import Vendor
from sederunt.errors import ProviderError
from sederunt.practice.clips import SHIPPED
from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.client import Manners
from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.plugins import is_installed, provider
from sederunt.transcription.provider import Task

JFK = SHIPPED / "jfk.wav"
INSTALLED = tuple(name for name in VENDORS if is_installed(name))
SYNCHRONOUS = ("deepgram", "elevenlabs")
# What these are asked to transcribe cannot be looked up by a reference of ours: a lost answer is paid twice.
NO_LOOKUP = SYNCHRONOUS
ALWAYS: Mapping[str, Any] = {"times": None}


async def _hurry(seconds: float) -> None:
    """No pause: what is measured is the number of tries."""


PATIENCE = Manners(
    tries=3,
    first_pause_s=0.0,
    first_poll_s=0.1,
    longest_poll_s=0.1,
    reply_s=5.0,
    longest_retry_after_s=60,
    poll_for_s=3.0,
    missing_for_s=0.3,
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A fault, and how it ends: "done", "empty", or the class of the error; and how often the job is billed."""

    name: str
    fault: Mapping[str, Any]
    ends: str = "done"
    billed: int = 1
    other: Mapping[str, tuple[str, int]] = field(default_factory=dict)  # vendors for which it is otherwise
    jobs_only: bool = False  # it is about what a synchronous vendor has not

    def expected(self, vendor: str) -> tuple[str, int]:
        return self.other.get(vendor, (self.ends, self.billed))


TWICE = dict.fromkeys(NO_LOOKUP, ("done", 2))


def status(code: int, on: str = "submit", **more: Any) -> Mapping[str, Any]:
    return {"kind": "status", "status": code, "on": on, **more}


ROWS = (
    Row(name="submit: 400", fault=status(400, **ALWAYS), ends="invalid_request", billed=0),
    Row(name="submit: 401", fault=status(401, **ALWAYS), ends="auth", billed=0),
    Row(name="submit: 402", fault=status(402, **ALWAYS), ends="payment", billed=0),
    Row(name="submit: 403", fault=status(403, **ALWAYS), ends="auth", billed=0, other={"revai": ("payment", 0)}),
    Row(name="submit: 404", fault=status(404, **ALWAYS), ends="invalid_request", billed=0),
    Row(name="submit: 413", fault=status(413, **ALWAYS), ends="media", billed=0),
    Row(name="submit: 429 once", fault=status(429, retry_after="0")),
    Row(name="submit: 429 for 15 minutes", fault=status(429, retry_after="900"), ends="rate_limited", billed=0),
    Row(name="submit: 503 twice", fault=status(503, times=2)),
    # 503 is ElevenLabs' "system_busy".
    Row(name="submit: 503 for ever", fault=status(503, **ALWAYS), ends="transient", billed=0, other={
        "elevenlabs": ("rate_limited", 0)}),
    Row(name="submit: 502 in HTML", fault={"kind": "html", "on": "submit"}),
    Row(name="submit: 200 in HTML", fault={"kind": "html", "on": "submit", "status": 200}),
    Row(name="submit: 307 to another path", fault={"kind": "redirect", "on": "submit"}),
    Row(name="poll: 302 to another path", fault={"kind": "redirect", "on": "poll", "status": 302}, jobs_only=True),
    Row(name="submit: 307 to another host", fault={"kind": "redirect", "on": "submit",
        "message": "http://127.0.0.2:9/elsewhere"}, ends="invalid_request", billed=0),
    Row(name="submit: dropped before", fault={"kind": "drop", "on": "submit"}),
    Row(name="submit: answer lost", fault={"kind": "lost", "on": "submit"}, other=TWICE),
    Row(name="submit: half an answer", fault={"kind": "half_body", "on": "submit"}, other=TWICE),
    Row(name="submit: half of the JSON", fault={"kind": "bad_json", "on": "submit"}, other=TWICE),
    Row(name="submit: {} for an answer", fault={"kind": "other_answer", "on": "submit", "value": {}}, other=TWICE),
    Row(name="submit: an error told with 200", fault=status(200)),
    Row(name="submit: always an error told with 200", fault=status(200, **ALWAYS), ends="provider_failed", billed=0,
        other=dict.fromkeys(SYNCHRONOUS, ("in_doubt", 0))),
    Row(name="submit: slow", fault={"kind": "slow", "on": "submit", "seconds": 1}),
    Row(name="poll: 401", fault=status(401, "poll", **ALWAYS), ends="auth", jobs_only=True),
    Row(name="poll: 404 once", fault=status(404, "poll", times=1), jobs_only=True),
    Row(name="poll: 404", fault=status(404, "poll", **ALWAYS), ends="transient", jobs_only=True),
    Row(name="poll: 503 twice", fault=status(503, "poll", times=2), jobs_only=True),
    Row(name="poll: 502 in HTML", fault={"kind": "html", "on": "poll"}, jobs_only=True),
    Row(name="poll: answer lost", fault={"kind": "lost", "on": "poll"}, jobs_only=True),
    Row(name="poll: half of the JSON", fault={"kind": "bad_json", "on": "poll"}, jobs_only=True),
    Row(name="job: fails", fault={"kind": "job_failed"}, ends="provider_failed", billed=0, other={
        # They answer 500, and take the job when they are asked again; "server error" is AssemblyAI's word for that.
        "deepgram": ("done", 1), "elevenlabs": ("done", 1), "assemblyai": ("transient", 0)}),
    Row(name="job: never ends", fault={"kind": "stuck"}, ends="transient", jobs_only=True),
    Row(name="job: hears nothing", fault={"kind": "empty"}, ends="empty"),
    Row(name="job: confidence is a text", fault={"kind": "field", "field": "confidence", "value": "high"}),
    Row(name="job: words are missing", fault={"kind": "field", "field": "words", "value": None}, ends="*"),
    Row(name="job: times are texts", fault={"kind": "field", "field": "start", "value": "soon"}, ends="*"),
)  # fmt: skip


def outcome(name: str, row: Row) -> tuple[str, int, list[str]]:
    """How it ended, how often it was billed, and what the vendor found wrong with our requests."""
    with VENDORS[name]() as vendor:
        vendor.fault(**row.fault)
        ended = _transcribed(vendor)
        return ended, len(vendor.ledger.billed), vendor.ledger.refusals


def _transcribed(vendor: Vendor) -> str:
    plug = provider(vendor.name)
    assert isinstance(plug, CloudProvider)
    model = next(row for row in plug.models if not row.realtime and not row.successor)
    access = Access(key=vendor.key, label="the credential", organisation=vendor.organisation or None)
    settings = Settings(providers={vendor.name: {"url": vendor.url}})
    task = Task(path=JFK, model=model, access=access, lang="en", reference="ours-0001")
    try:
        result = CloudProvider(plug.vendor, PATIENCE).transcribe(settings, task)
    except ProviderError as error:
        return "the key is told" if vendor.key in str(error) else str(error.kind)
    words = " ".join(utterance.transcript for utterance in result.utterances)
    return "done" if "country" in words else "empty" if not words else f"done: {words[:40]}"


@pytest.fixture(scope="module")
def outcomes(pytestconfig: pytest.Config) -> Mapping[tuple[str, str], tuple[str, int, list[str]]]:
    """Row and vendor → what came of it; the vendors side by side."""
    cells = [(row, name) for row in ROWS for name in INSTALLED if not (row.jobs_only and name in SYNCHRONOUS)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda cell: outcome(cell[1], cell[0]), cells))
    came = {(row.name, name): what for (row, name), what in zip(cells, found, strict=True)}
    show(pytestconfig, table_of([row.name for row in ROWS], INSTALLED, came))
    return came


@pytest.mark.parametrize("name", INSTALLED)
def test_each_fault_of_a_vendor_ends_as_documented(
    outcomes: Mapping[tuple[str, str], tuple[str, int, list[str]]], name: str
) -> None:
    wrong = []
    for row in ROWS:
        if (row.name, name) not in outcomes:
            continue
        ends, billed, refusals = outcomes[row.name, name]
        wanted_end, wanted_bills = row.expected(name)
        if (wanted_end not in ("*", ends)) or billed != wanted_bills or refusals:
            wrong.append((row.name, ends, billed, refusals[:2], "expected", wanted_end, wanted_bills))
    assert not wrong


def test_the_table_in_the_documentation_is_what_comes_out(
    outcomes: Mapping[tuple[str, str], tuple[str, int, list[str]]],
) -> None:
    came_out = table_of([row.name for row in ROWS], INSTALLED, outcomes)
    assert documented("files", came_out) == came_out
