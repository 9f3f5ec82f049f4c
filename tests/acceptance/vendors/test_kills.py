"""A worker or a host killed with -9 while a vendor works for it: finished after the restart, and billed once."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

import httpx2

from harness.journeys import look, reach, send_bot, unhurried
from harness.listener import Listener, listening
from harness.live_lines import assert_said, lines
from harness.receiver import Receiver
from harness.service import Service, until
from harness.vendors.control import VendorControl
from sederunt.bench.words import word_error_rate
from sederunt.practice.client import PracticeClient
from sederunt.practice.clips import SHIPPED, catalogue
from sederunt.practice.script import demo

Vendors = Mapping[str, VendorControl]

# Two of each, for so many a worker of this machine may have at once; what a lost answer does at the others, the fault
# matrix tells.
SUBMITTED = {"vendor7": "soniox", "vendor8": "gladia"}
POLLED = {"vendor4": "speechmatics", "vendor5": "revai"}
LONG_S = 45.0  # an answer that comes so slowly is not read to its end


async def test_a_job_whose_answer_a_killed_worker_did_not_read_is_found_again(
    cloud: Service, client: httpx2.AsyncClient, vendors: Vendors, receiver: Receiver
) -> None:
    for name in SUBMITTED.values():
        vendors[name].clear()
        vendors[name].fault("slow", on="submit", seconds=LONG_S)
    made = {model: await uploaded(client, receiver, model) for model in SUBMITTED}
    for name in SUBMITTED.values():
        await asyncio.to_thread(until, partial(billed_at, vendors[name]), f"a job at {name}", 90)
    cloud.kill("worker")
    await all_finished_and_billed_once(client, vendors, receiver, made, SUBMITTED)


async def test_a_job_that_a_killed_worker_waited_for_is_waited_for_again(
    cloud: Service, client: httpx2.AsyncClient, vendors: Vendors, receiver: Receiver
) -> None:
    for name in POLLED.values():
        vendors[name].clear()
        vendors[name].limit(polls=6)
    made = {model: await uploaded(client, receiver, model) for model in POLLED}
    for name in POLLED.values():
        await asyncio.to_thread(vendors[name].wait, "poll", count=2, timeout_s=90)
    cloud.kill("worker")
    await all_finished_and_billed_once(client, vendors, receiver, made, POLLED)
    for name in POLLED.values():
        assert vendors[name].counts()["requests"]["submit"] == 1


async def test_a_killed_host_goes_on_live_and_nothing_is_heard_twice(
    cloud: Service, client: httpx2.AsyncClient, vendors: Vendors, receiver: Receiver, meetings: PracticeClient
) -> None:
    vendor = vendors["deepgram"]
    vendor.clear()
    script = unhurried(demo(turns=9), ends=False)
    meeting = await meetings.open_meeting(script)
    bot = await send_bot(client, meeting.url, receiver, transcription_model="vendor2-realtime", lang="en")
    async with listening(bot["websocket_url"]) as listener:
        first = await listener.until("ts")
        cloud.kill("host")
        async with asyncio.timeout(120):
            while _holder(await listener.until("ts")) == _holder(first):
                pass
        await meeting.end()
        await _to_the_end(listener)
        told = lines(listener)
    ids = [message["data"]["segment_id"] for message in listener.heard if message["type"] == "ts"]
    assert len(told) == len(ids)
    found = await look(client, bot)
    assert found["recording_gaps"]
    counts = vendor.counts()
    assert counts["refusals"] == []
    assert all(not stream["is_open"] for stream in counts["streams"])
    # The recording is transcribed once more where the live one has a hole, and not twice.
    assert counts["requests"].get("submit", 0) <= 1
    spoken_s = sum(stream["seconds"] for stream in counts["streams"])
    assert spoken_s <= found["recording_gaps"][-1]["end"] + script_length_s(found)


async def test_no_word_is_lost_when_a_live_vendor_refuses_for_a_minute(
    client: httpx2.AsyncClient, vendors: Vendors, receiver: Receiver, meetings: PracticeClient
) -> None:
    vendor = vendors["deepgram"]
    vendor.clear()
    script = unhurried(demo(turns=12), begins=False)
    meeting = await meetings.open_meeting(script)
    bot = await send_bot(client, meeting.url, receiver, transcription_model="vendor2-realtime", lang="en")
    await reach(receiver, bot, "recording")
    vendor.fault("refused", on="socket", seconds=60)
    await meeting.do("start")
    await reach(receiver, bot, "finished", timeout_s=240)
    assert_said(script, (await look(client, bot))["transcript"], "vendor2-realtime")
    counts = vendor.counts()
    assert counts["refusals"] == []
    assert counts["streams"][0]["seconds"] == 0  # it did refuse


def billed_at(vendor: VendorControl) -> list[Any]:
    """The jobs that it has to be paid for."""
    return list(vendor.counts()["billed"])


def _holder(message: Mapping[str, Any]) -> str:
    """Which holder of the bot gave a line its id."""
    return str(message["data"]["segment_id"]).partition(".")[0]


def script_length_s(found: Mapping[str, Any]) -> float:
    """How long people spoke while it was there."""
    return max(float(segment["end"]) for segment in found["transcript"])


async def uploaded(client: httpx2.AsyncClient, receiver: Receiver, model: str) -> dict[str, Any]:
    form = {"transcription_model": model, "lang": "en", "webhook_url": receiver.url}
    data = (SHIPPED / "jfk.wav").read_bytes()
    answer = await client.post("/recording", data=form, files={"recording_file": ("speech.wav", data)})
    assert answer.status_code == 200, (model, answer.text)
    made: dict[str, Any] = answer.json()
    return made


async def all_finished_and_billed_once(
    client: httpx2.AsyncClient,
    vendors: Vendors,
    receiver: Receiver,
    made: Mapping[str, dict[str, Any]],
    models: Mapping[str, str],
) -> None:
    for model, recording in made.items():
        await reach(receiver, recording, "finished", timeout_s=180)
        found = (await client.get(f"/recording/{recording['id']}")).json()
        heard = " ".join(segment["transcript"] for segment in found["transcript"])
        assert word_error_rate(catalogue()["jfk"].text, heard) <= 0.2, (model, heard)
        counts = vendors[models[model]].counts()
        assert len(counts["billed"]) == 1, (model, counts)
        assert counts["refusals"] == []


async def _to_the_end(listener: Listener) -> None:
    async with asyncio.timeout(180):
        while await listener.until("status-update"):
            if listener.heard[-1]["data"]["new_status"] == "finished":
                return
