"""Every live vendor with every fault that its socket can have: no word is lost, or the cause is told.

The table in docs/providers.md is what comes out; it is printed, too.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.matrix import show
from harness.vendors.catalogue import VENDORS
from harness.vendors.fault_table import Outcomes, documented, table_of
from harness.vendors.live import Listener, pcm_of
from harness.vendors.vendor import Vendor
from sederunt.bench.words import word_error_rate
from sederunt.practice.clips import SHIPPED, catalogue
from sederunt.settings import Settings
from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.plugs import is_installed, provider

JFK = SHIPPED / "jfk.wav"
SAID = catalogue()["jfk"].text
LIVE = tuple(name for name, kind in VENDORS.items() if kind.socket is not None and is_installed(name))
AT_ONCE = 5
# A session that is lost in the middle of a word may cost that word; a sentence it may not.
WORST_WER = 0.25
LATE_S = 4.0
TWICE = "told twice"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A fault, and how it ends: "done" with every word, or what the trouble names."""

    name: str
    fault: Mapping[str, Any] = field(default_factory=dict)
    ends: str = "done"
    other: Mapping[str, str] = field(default_factory=dict)  # vendors for which it is otherwise
    session_s: float | None = None  # the first session ends then, of vendors whose documents tell of a longest one


def handshake(kind: str, **details: Any) -> Mapping[str, Any]:
    return {"kind": kind, "on": "socket", **details}


ROWS = (
    Row(name="nothing"),
    Row(name="handshake: 401", fault=handshake("status", status=401, times=None), ends="told: accept"),
    Row(name="handshake: 402", fault=handshake("status", status=402, times=None), ends="told: credit"),
    Row(name="handshake: 429 once", fault=handshake("status", status=429)),
    Row(name="handshake: 503 twice", fault=handshake("status", status=503, times=2)),
    Row(name="handshake: HTML", fault=handshake("html")),
    Row(name="handshake: refused for 2 s", fault=handshake("refused", seconds=2)),
    Row(name="dropped in a word", fault={"kind": "dropped", "after_s": LATE_S}),
    Row(name="closed with 1011", fault={"kind": "close", "code": 1011, "after_s": LATE_S}),
    Row(name="closed with 1013", fault={"kind": "close", "code": 1013, "after_s": LATE_S}),
    Row(name="an error, then closed", fault={"kind": "error", "after_s": LATE_S}),
    Row(name="half a message", fault={"kind": "broken_message", "after_s": LATE_S}),
    Row(name="two messages swapped", fault={"kind": "out_of_order", "after_s": LATE_S}),
    Row(name="each final twice", fault={"kind": "twice"}),
    Row(name="confidence is a text", fault={"kind": "field", "field": "confidence", "value": "high"}),
    Row(name="session over after 5 s", session_s=5.0),
)


async def outcome(name: str, row: Row) -> tuple[str, int, list[str]]:
    """How it ended, how many seconds were billed beyond the sound itself, and what was wrong with our messages."""
    with VENDORS[name]() as vendor:
        if row.fault:
            vendor.fault(**row.fault)
        lifting = asyncio.create_task(_first_session_ends(vendor, row.session_s)) if row.session_s else None
        ended = await _listened(vendor)
        if lifting is not None:
            await lifting
        return ended, 1 if ended == "done" else 0, vendor.ledger.refusals


async def _first_session_ends(vendor: Vendor, after_s: float) -> None:
    vendor.limits.session_s = after_s
    await asyncio.to_thread(vendor.ledger.wait, lambda ledger: ledger.streams and not ledger.streams[0].is_open)
    vendor.limits.session_s = None


async def _listened(vendor: Vendor) -> str:
    plug = provider(vendor.name)
    assert isinstance(plug, CloudProvider)
    model = next(row.identifier for row in plug.models if row.realtime)
    settings = Settings(providers={vendor.name: {"url": vendor.url, "socket_url": vendor.socket_url}})
    listener = Listener(plug.vendor, settings, vendor.key, model, lang="en")
    saying = asyncio.create_task(listener.say(pcm_of(JFK)))
    gone = asyncio.create_task(listener.gone.wait())
    await asyncio.wait({saying, gone}, return_when=asyncio.FIRST_COMPLETED)
    if not saying.done():
        saying.cancel()
        await listener.end()
        told = " ".join(listener.troubles)
        words = [word for word in ("accept", "credit", "refused") if word in told]
        return f"told: {words[0]}" if words else told[:60]
    gone.cancel()
    await listener.end()
    wrong = word_error_rate(SAID, listener.text)
    if wrong <= WORST_WER:
        return "done"
    twice = word_error_rate(f"{SAID} {SAID}", listener.text) <= 1.2 and listener.text.lower().count("country") == 4
    return TWICE if twice else f"{wrong:.0%} of the words wrong: {listener.text[:200]}"


def _meets(row: Row, name: str) -> bool:
    """Whether a vendor can have this fault."""
    return row.session_s is None or VENDORS[name].usual_limits().session_s is not None


@pytest.fixture(scope="module")
def outcomes(pytestconfig: pytest.Config) -> Outcomes:
    """Row and vendor → what came of it; some side by side."""
    cells = [(row, name) for row in ROWS for name in LIVE if _meets(row, name)]

    async def play() -> list[tuple[str, int, list[str]]]:
        places = asyncio.Semaphore(AT_ONCE)

        async def through(row: Row, name: str) -> tuple[str, int, list[str]]:
            async with places:
                return await outcome(name, row)

        return await asyncio.gather(*(through(row, name) for row, name in cells))

    found = asyncio.run(play())
    came = {(row.name, name): what for (row, name), what in zip(cells, found, strict=True)}
    show(pytestconfig, table_of([row.name for row in ROWS], LIVE, came))
    return came


@pytest.mark.parametrize("name", LIVE)
def test_no_fault_of_a_live_vendor_costs_words_or_hides_its_cause(outcomes: Outcomes, name: str) -> None:
    came = [(row, outcomes[row.name, name]) for row in ROWS if _meets(row, name)]
    assert not [(row.name, what) for row, what in came if what[0] != row.other.get(name, row.ends) or what[2]]


def test_the_live_table_in_the_documentation_is_what_comes_out(outcomes: Outcomes) -> None:
    came_out = table_of([row.name for row in ROWS], LIVE, outcomes)
    assert documented("live sessions", came_out) == came_out
