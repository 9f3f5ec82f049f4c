"""Streams of the vendors besides Deepgram: drafts and finals in order, and no word lost with a line."""

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
from sederunt.transcription import assemblyai, gladia, soniox, speechmatics

JFK = SHIPPED / "jfk.wav"


PLUGS = {
    "assemblyai": assemblyai.PROVIDER,
    "gladia": gladia.PROVIDER,
    "soniox": soniox.PROVIDER,
    "speechmatics": speechmatics.PROVIDER,
}
MODELS = {name: f"{name}-realtime" for name in PLUGS} | {"assemblyai": "assembly-ai-realtime"}


@pytest.fixture(params=PLUGS)
def simulator(request: pytest.FixtureRequest) -> Iterator[Simulator]:
    with VENDORS[request.param]() as simulated:
        yield simulated


def settings_for(simulator: Simulator) -> Settings:
    return Settings(providers={simulator.name: {"url": simulator.url, "socket_url": simulator.socket_url}})


def listen(simulator: Simulator, key: str | None = None, **wishes: Any) -> Listener:
    name = simulator.name
    return Listener(PLUGS[name].vendor, settings_for(simulator), key or simulator.key, MODELS[name], **wishes)


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


@pytest.mark.parametrize("simulator", ["assemblyai", "soniox"], indirect=True)
async def test_a_session_is_rotated_before_the_vendor_ends_it(simulator: Simulator) -> None:
    simulator.limits.session_s = 14.0
    vendor = PLUGS[simulator.name].vendor
    assert vendor.live is not None
    short = replace(vendor, live=replace(vendor.live, terms=replace(vendor.live.terms, longest_session_s=14.0)))
    listener = Listener(short, settings_for(simulator), simulator.key, MODELS[simulator.name], lang="en")
    await listener.say(pcm_of(JFK, times=2))
    await listener.end()
    assert listener.text.lower().count("country") == 4
    assert len(simulator.ledger.streams) >= 2
    assert listener.troubles == []


@pytest.mark.parametrize("simulator", ["gladia"], indirect=True)
async def test_gladias_session_is_resumed_and_one_that_is_over_begun_anew(simulator: Simulator) -> None:
    simulator.fault("dropped", on="socket", after_s=3.0)
    simulator.fault("close", on="socket", code=4403, message="over", after_s=8.0)
    listener = listen(simulator, lang="en")
    await listener.say(pcm_of(JFK, times=2))
    await listener.end()
    assert listener.text.lower().count("country") == 4


@pytest.mark.parametrize("simulator", ["assemblyai"], indirect=True)
async def test_assemblyais_late_change_of_a_voice_is_a_revision(simulator: Simulator) -> None:
    simulator.limits.extra["revise"] = {0: "C"}
    listener = listen(simulator, lang="en", mixed=True)
    await listener.say(pcm_of(JFK))
    await listener.end()
    assert "your country" in listener.text
    assert listener.troubles == []
