"""Every cloud model from POST to finished: the right words by the right names, live ones line by line meanwhile.

Bots of one kind sit in one meeting together, and are transcribed side by side. The two models in the box, and "none",
have their tests in `test_main_job` and `test_live_transcript`.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.client_script import run_script
from harness.journeys import look, reach, send_bot, unhurried
from harness.listener import Listener, listening
from harness.live_lines import MOST_WORD_ERRORS, WITH_HOLES, assert_said, came_whole, lines, shown
from harness.receiver import Receiver
from harness.service import Service
from harness.vendors.control import VendorControl
from sederunt.bench.words import word_error_rate
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.practice.clips import SHIPPED, catalogue
from sederunt.practice.script import Script, Variant, demo

Vendors = Mapping[str, VendorControl]

# Model → the vendor that hears it.
BATCH = {
    "vendor2": "deepgram",
    "vendor2-v3": "deepgram",
    "vendor3": "assemblyai",
    "vendor4": "speechmatics",
    "vendor5": "revai",
    "vendor6": "elevenlabs",
    "vendor6-v2": "elevenlabs",
    "vendor7": "soniox",
    "vendor8": "gladia",
    "vendor9": "salad",
}
LIVE = {
    "vendor2-realtime": "deepgram",
    "vendor2-realtime-v3": "deepgram",
    "vendor3-realtime": "assemblyai",
    "vendor4-realtime": "speechmatics",
    "vendor7-realtime": "soniox",
    "vendor8-realtime": "gladia",
}
NOT_OF_RECORDINGS = {"vendor2-v3"}
WORST_WER = 0.2


async def test_every_recording_model_writes_a_file_down_and_is_billed_once(
    client: httpx2.AsyncClient, vendors: Vendors, receiver: Receiver
) -> None:
    models = [model for model in BATCH if model not in NOT_OF_RECORDINGS]
    made = {model: await uploaded(client, receiver, model) for model in models}
    for model, recording in made.items():
        await reach(receiver, recording, "finished", timeout_s=180)
        found = (await client.get(f"/recording/{recording['id']}")).json()
        heard = " ".join(segment["transcript"] for segment in found["transcript"])
        assert word_error_rate(catalogue()["jfk"].text, heard) <= WORST_WER, (model, heard)
        assert found["transcription_model"] == model
        words = [word for segment in found["transcript"] for u in segment["utterances"] for word in u["words"]]
        assert [word["start"] for word in words] == sorted(word["start"] for word in words), model
        assert 0 <= words[0]["start"] < words[-1]["end"] <= 11.1, model
    for name, control in vendors.items():
        counts = control.counts()
        wanted = sum(vendor == name for model, vendor in BATCH.items() if model in made)
        assert len([bill for bill in counts["billed"] if bill["seconds"] > 5]) == wanted, (name, counts["billed"])
        assert unexpected_refusals(control) == [], name


async def test_a_recording_whose_vendor_fails_is_transcribed_by_the_next_model(
    client: httpx2.AsyncClient, vendors: Vendors, receiver: Receiver
) -> None:
    for name in ("deepgram", "elevenlabs"):
        vendors[name].clear()
    vendors["deepgram"].fault("status", on="submit", status=402, times=None)
    made = await uploaded(client, receiver, "vendor2", transcription_fallback=["vendor6-v2", "vendor8"])
    await reach(receiver, made, "finished", timeout_s=180)
    found = (await client.get(f"/recording/{made['id']}")).json()
    heard = " ".join(segment["transcript"] for segment in found["transcript"])
    assert word_error_rate(catalogue()["jfk"].text, heard) <= WORST_WER, heard
    (told,) = [event["data"] for event in found["events"] if event["event"] == "transcription_fallback"]
    assert (told["model"], told["next_model"]) == ("vendor2", "vendor6-v2")
    assert "credit" in told["message"]
    assert found["events"][-1]["data"]["transcribed_by"] == "vendor6-v2"
    assert (found["transcription_model"], vendors["deepgram"].counts()["billed"]) == ("vendor2", [])
    vendors["deepgram"].clear()


async def test_every_batch_model_brings_a_meeting_back_under_the_right_names(
    client: httpx2.AsyncClient, vendors: Vendors, receiver: Receiver, meetings: PracticeClient
) -> None:
    script = unhurried(demo(turns=3), begins=False)
    meeting = await meetings.open_meeting(script)
    bots = {model: await seated(client, receiver, meeting, model) for model in BATCH}
    await all_record(bots, receiver)
    await meeting.do("start")
    for model, bot in bots.items():
        await reach(receiver, bot, "finished", timeout_s=300)
        found = await look(client, bot)
        errors = MOST_WORD_ERRORS if came_whole(found) else WITH_HOLES
        assert_said(script, found["transcript"], f"{model} {found['capture']}", most_word_errors=errors)
        assert found["stop_reason"] == "meeting_ended"
    await transcribed_again(client, receiver, script, bots["vendor2"], "vendor8")
    assert [unexpected_refusals(control) for control in vendors.values()] == [[] for _ in vendors]


# Simulated vendors and the practice server use the cores that the bots use: three at a time, or sound comes broken.
LIVE_TOGETHER = (tuple(LIVE)[:3], tuple(LIVE)[3:])


@pytest.mark.parametrize("models", LIVE_TOGETHER, ids="-".join)
async def test_every_live_model_tells_drafts_and_finals_in_order(
    models: tuple[str, ...],
    client: httpx2.AsyncClient,
    vendors: Vendors,
    receiver: Receiver,
    meetings: PracticeClient,
) -> None:
    script = unhurried(demo(turns=3), begins=False)
    meeting = await meetings.open_meeting(script)
    bots = {model: await seated(client, receiver, meeting, model, lang="en") for model in models}
    async with AsyncExitStack() as open_sockets:
        listeners = {
            model: await open_sockets.enter_async_context(listening(bot["websocket_read_only_url"]))
            for model, bot in bots.items()
        }
        listened = [asyncio.create_task(_to_the_end(listener)) for listener in listeners.values()]
        await all_record(bots, receiver)
        await meeting.do("start")
        await asyncio.gather(*listened)
    drafted: dict[str, set[str]] = {}
    for model, listener in listeners.items():
        told, found = lines(listener), await look(client, bots[model])
        errors = MOST_WORD_ERRORS if came_whole(found) else WITH_HOLES
        assert_said(script, told, f"{model} {found['capture']}", most_word_errors=errors)
        drafted[model] = in_order(listener, model)
        assert [shown(segment) for segment in found["transcript"]] == [shown(line) for line in told], model
    assert [unexpected_refusals(control) for control in vendors.values()] == [[] for _ in vendors]
    # One that is busy answers with finals alone. That each drafts is tested one by one, beside its simulator.
    assert any(drafted.values()), drafted


async def test_live_vendors_are_asked_for_a_shared_tracks_voices_with_the_callers_key(
    client: httpx2.AsyncClient, vendors: Vendors, receiver: Receiver, meetings: PracticeClient
) -> None:
    asked = {"vendor2-realtime": ("diarize_model", "latest"), "vendor3-realtime": ("speaker_labels", "true")}
    for model in asked:
        vendors[LIVE[model]].clear()
    script = unhurried(demo(Variant(audio="webaudio"), service="zoom", turns=3), begins=False)
    meeting = await meetings.open_meeting(script)
    bots = {model: await seated(client, receiver, meeting, model, lang="en", service="zoom") for model in asked}
    wrong = (await client.post("/credential", json={"provider": "soniox", "key": "a-key-that-soniox-refuses"})).json()
    with_wrong_key = {"transcription_credentials": wrong["id"], "service": "zoom"}
    refused = await seated(client, receiver, meeting, "vendor7-realtime", **with_wrong_key)
    await all_record({**bots, "refused": refused}, receiver)
    await meeting.do("start")
    for model, bot in bots.items():
        await reach(receiver, bot, "finished", timeout_s=300)
        heard = " ".join(segment["transcript"] for segment in (await look(client, bot))["transcript"])
        assert heard, model  # how well it hears is tested above; three live vendors on busy cores may lose words
        streams = vendors[LIVE[model]].counts()["streams"]
        assert streams, model
        assert all(list(asked[model]) in stream["query"] for stream in streams), (model, streams)
        assert vendors[LIVE[model]].counts()["refusals"] == []
    await reach(receiver, refused, "failed", timeout_s=300)  # its caller's key, not the operator's, which is right
    events = (await look(client, refused))["events"]
    assert events[-1]["data"]["cause"] == "credential_rejected"
    assert wrong["id"] in events[-1]["data"]["message"]
    assert any(event["event"] == "live_trouble" and wrong["id"] in str(event["data"]) for event in events), events
    assert "a-key-that-soniox-refuses" not in str(events)


# Headings of the client's README with an example below them.
EXAMPLES = {
    "Quick Start",
    "Create a Bot",
    "Get a Bot by ID",
    "Get Bot Pricing",
    "Get All Scheduled Bots",
    "Update a Scheduled Bot",
    "Stop a Bot",
    "Delete a Bot",
    "Send a Chat Message",
    "Create a Recording from URL",
    "Re-transcribe from a Meeting Bot",
    "Get a Recording by ID",
    "Refresh Recording Data",
    "Delete a Recording",
    "Real-time Transcription",
}


async def test_the_examples_of_the_published_clients_readme_work_as_they_are_printed(
    cloud: Service,
    client: httpx2.AsyncClient,
    vendors: Vendors,
    receiver: Receiver,
    meetings: PracticeClient,
    client_folder: Path,
) -> None:
    script = unhurried(demo(turns=3), begins=False, ends=False)
    meeting = await meetings.open_meeting(script)
    scheduled = await seated(client, receiver, meeting, "none", scheduled_start_time=4_000_000_000)
    recording = await uploaded(client, receiver, "groq/whisper-large-v3-turbo")
    over = await seated(client, receiver, meeting, "none")
    live = await seated(client, receiver, meeting, "deepgram/nova-2-realtime")
    await all_record({"over": over, "live": live}, receiver)
    await meeting.do("start")
    await client.post(f"/bot/{over['id']}/stop")
    await reach(receiver, over, "finished", timeout_s=180)
    await reach(receiver, recording, "finished", timeout_s=180)
    subjects = [bot["id"] for bot in (live, scheduled, over)]
    done = await run_script(client_folder, "readme.mjs", cloud.url, cloud.key, meeting.url, *subjects, recording["id"])
    assert set(done) == EXAMPLES
    assert {title: each["failed"] for title, each in done.items() if "failed" in each} == {}
    assert done["Get Bot Pricing"]["said"][0] == "USD"
    assert done["Refresh Recording Data"]["said"] == ["finished"]
    program = await asyncio.create_subprocess_exec(
        "node", done["Quick Start"]["program"], stdout=asyncio.subprocess.PIPE
    )
    assert program.stdout is not None
    async with asyncio.timeout(120):
        assert (await program.stdout.readline()).decode().strip() == "Initial transcripts received: 0"
        await meeting.do("start")
        assert " said: " in (await program.stdout.readline()).decode()
        await meeting.end()
        await program.wait()
    said = [line["text"] for line in (await meeting.state())["chat"]]
    assert "Hello from the bot!" in said


async def transcribed_again(
    client: httpx2.AsyncClient, receiver: Receiver, script: Script, bot: dict[str, Any], model: str
) -> None:
    """A bot's recording by another model: two transcripts, each with its model, neither touched by the other."""
    before = await look(client, bot)
    fields = {"meeting_bot_id": bot["id"], "transcription_model": model, "webhook_url": receiver.url}
    answer = await client.post("/recording", json=fields)
    assert answer.status_code == 200, answer.text
    await reach(receiver, answer.json(), "finished", timeout_s=180)
    again = (await client.get(f"/recording/{answer.json()['id']}")).json()
    assert_said(script, again["transcript"], model)
    assert (again["transcription_model"], before["transcription_model"]) == (model, bot["transcription_model"])
    assert await look(client, bot) == before
    assert (await client.delete(f"/recording/{again['id']}")).status_code == 200
    assert (await look(client, bot))["transcript"] == before["transcript"]


async def uploaded(client: httpx2.AsyncClient, receiver: Receiver, model: str, **fields: Any) -> dict[str, Any]:
    form = {"transcription_model": model, "lang": "en", "webhook_url": receiver.url, **fields}
    data = (SHIPPED / "jfk.wav").read_bytes()
    answer = await client.post("/recording", data=form, files={"recording_file": ("speech.wav", data)})
    assert answer.status_code == 200, (model, answer.text)
    made: dict[str, Any] = answer.json()
    return made


async def seated(
    client: httpx2.AsyncClient, receiver: Receiver, meeting: MeetingHandle, model: str, **fields: Any
) -> dict[str, Any]:
    """A bot with this model in the meeting, told apart by its name."""
    return await send_bot(
        client, meeting.url, receiver, transcription_model=model, bot_name=f"Minutes {model}", **fields
    )


async def all_record(bots: Mapping[str, dict[str, Any]], receiver: Receiver) -> None:
    for bot in bots.values():
        await reach(receiver, bot, "recording", timeout_s=180)


def in_order(listener: Listener, model: str) -> set[str]:
    """A segment is final once and never drafted after that; a speaker's lines follow each other.

    Returns the segments that were drafted before they were final.
    """
    drafted: set[str] = set()
    final: dict[str, dict[str, Any]] = {}
    for message in listener.heard:
        data = message.get("data", {})
        if message["type"] == "ts-draft":
            assert data["segment_id"] not in final, (model, "a draft after its final")
            drafted.add(data["segment_id"])
        elif message["type"] == "ts":
            assert data["segment_id"] not in final, (model, "two finals")
            final[data["segment_id"]] = data
    by_speaker: dict[Any, list[float]] = {}
    for data in final.values():
        by_speaker.setdefault(data["speaker"], []).append(data["start"])
    assert all(starts == sorted(starts) for starts in by_speaker.values()), model
    return drafted & set(final)


async def _to_the_end(listener: Listener) -> None:
    async with asyncio.timeout(300):
        while await listener.until("status-update"):
            if listener.heard[-1]["data"]["new_status"] == "finished":
                return


def unexpected_refusals(control: VendorControl) -> list[str]:
    """Return what a vendor refused, but for the model that ElevenLabs removed: `vendor6` goes on as its successor."""
    return [refusal for refusal in control.counts()["refusals"] if "scribe_v1" not in refusal]
