"""Every live vendor with every fault that its socket can have: no word is lost, or the cause is told.

The table in docs/providers.md is what comes out; it is printed, too.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.matrix import show
from harness.vendors.catalogue import VENDORS
from harness.vendors.fault_table import documented, table_of
from harness.vendors.live import Listener, pcm_of
from harness.vendors.vendor import Vendor
from sederunt.bench.words import word_error_rate
from sederunt.practice.clips import SHIPPED, catalogue
from sederunt.settings import Settings
from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.plugins import is_installed, provider

JFK = SHIPPED / "jfk.wav"
SAID = catalogue()["jfk"].text
LIVE = tuple(name for name, kind in VENDORS.items() if kind.socket is not None and is_installed(name))
LONGEST_S = 300.0  # of what hangs: it is told by its vendor and fault
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


class Matrix:
    """What came of each fault, played once: its vendors side by side, so a test lasts as long as the slowest."""

    def __init__(self) -> None:
        self.came: dict[tuple[str, str], tuple[str, int, list[str]]] = {}

    def of(self, row: Row) -> Mapping[str, tuple[str, int, list[str]]]:
        """Vendor → how it ended; vendors that cannot have this fault are left out."""
        names = [name for name in LIVE if _meets(row, name)]
        if any((row.name, name) not in self.came for name in names):
            self.came |= {
                (row.name, name): what for name, what in zip(names, asyncio.run(_play(row, names)), strict=True)
            }
        return {name: self.came[row.name, name] for name in names}


async def _play(row: Row, names: Sequence[str]) -> list[tuple[str, int, list[str]]]:
    async def bounded(name: str) -> tuple[str, int, list[str]]:
        try:
            async with asyncio.timeout(LONGEST_S):
                return await outcome(name, row)
        except TimeoutError:
            return f"no end in {LONGEST_S:.0f} s", 0, []

    return await asyncio.gather(*(bounded(name) for name in names))


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return Matrix()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_fault_of_a_live_vendor_costs_words_or_hides_its_cause(matrix: Matrix, row: Row) -> None:
    came = matrix.of(row)
    assert not [(name, what) for name, what in came.items() if what[0] != row.other.get(name, row.ends) or what[2]]


def test_the_live_table_in_the_documentation_is_what_comes_out(matrix: Matrix, pytestconfig: pytest.Config) -> None:
    for row in ROWS:
        matrix.of(row)
    came_out = table_of([row.name for row in ROWS], LIVE, matrix.came)
    show(pytestconfig, came_out)
    assert documented("live sessions", came_out) == came_out
