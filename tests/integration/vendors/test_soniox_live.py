"""Soniox's stream against its simulator: drafts and finals in order, and no word lost with a line."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from harness.vendors.catalogue import VENDORS
from harness.vendors.live import Listener, pcm_of
from harness.vendors.vendor import Vendor as Simulator
from sederunt.practice.clips import SHIPPED
from sederunt.settings import Settings
from sederunt.transcription.soniox.vendor import VENDOR

JFK = SHIPPED / "jfk.wav"


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    with VENDORS["soniox"]() as simulated:
        yield simulated


def settings_for(simulator: Simulator) -> Settings:
    return Settings(providers={"soniox": {"url": simulator.url, "socket_url": simulator.socket_url}})


def listen(simulator: Simulator, key: str | None = None, **wishes: Any) -> Listener:
    return Listener(VENDOR, settings_for(simulator), key or simulator.key, "soniox-realtime", **wishes)


async def test_a_stream_is_drafted_and_final_in_order(simulator: Simulator) -> None:
    listener = listen(simulator, lang="en")
    await listener.say(pcm_of(JFK))
    await listener.end()
    assert "your country" in listener.text
    assert "<end>" not in listener.text
    assert listener.partials > 0
    assert listener.troubles == []
    assert simulator.ledger.refusals == []


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "dropped", "after_s": 4.0},
        {"kind": "error", "code": 503, "after_s": 4.0},
        {"kind": "broken_message", "after_s": 4.0},
    ],
    ids=lambda fault: str(fault["kind"]),
)
async def test_a_lost_stream_costs_no_word(simulator: Simulator, fault: dict[str, Any]) -> None:
    simulator.fault(on="socket", **fault)
    listener = listen(simulator, lang="en")
    await listener.say(pcm_of(JFK, times=2))
    await listener.end()
    assert listener.text.lower().count("country") == 4
    assert simulator.ledger.refusals == []


async def test_a_refused_key_ends_the_source_with_its_cause(simulator: Simulator) -> None:
    listener = listen(simulator, "wrong", lang="en")
    await listener.say(pcm_of(JFK)[:16_000])
    async with asyncio.timeout(20):
        await listener.gone.wait()
    assert "did not accept the credential" in listener.troubles[0]
    await listener.end()


async def test_a_session_is_rotated_before_the_vendor_ends_it(simulator: Simulator) -> None:
    simulator.limits.session_s = 14.0
    assert VENDOR.live is not None
    short = replace(VENDOR, live=replace(VENDOR.live, terms=replace(VENDOR.live.terms, longest_session_s=14.0)))
    listener = Listener(short, settings_for(simulator), simulator.key, "soniox-realtime", lang="en")
    await listener.say(pcm_of(JFK, times=2))
    await listener.end()
    assert listener.text.lower().count("country") == 4
    assert len(simulator.ledger.streams) >= 2
    assert listener.troubles == []
