"""Any process may be killed at any moment, and nothing that was heard is lost."""

import asyncio
import io
import json
import math
import wave
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from harness.journeys import (
    back,
    download,
    ffprobe,
    largest_hole_s,
    look,
    reach,
    send_bot,
    stay_bounds_s,
    unhurried,
)
from harness.receiver import Receiver
from harness.service import Service, until
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import Script, demo

SPEECH = Path(__file__).parents[2] / "src/sederunt/practice/speech"


@pytest.fixture(scope="module")
def fragile(start_service: Callable[..., Service]) -> Service:
    """A service of this module's own: its processes are killed here."""
    return start_service()


def new_pid(service: Service, role: str, old: int) -> int:
    """Wait until a killed role runs again under a new pid."""
    return int(until(lambda: (pid := service.pid(role)) != old and psutil.pid_exists(pid) and pid, f"a new {role}"))


def browsers_of(pid: int) -> list[psutil.Process]:
    found = []
    for process in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # one that ends just now
            if "chrom" in process.name():
                found.append(process)
    return found


def words_of(script: Script) -> set[str]:
    return {who for who, _ in script.reference()}


async def test_a_killed_api_changes_nothing_for_the_meeting(
    fragile: Service, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting = await meetings.open_meeting(demo(turns=2))
    async with fragile.client() as api:
        bot = await send_bot(api, meeting.url, receiver)
        await reach(receiver, bot, "recording")
        new_pid(fragile, "api", fragile.kill("api"))
        await reach(receiver, bot, "finished")
        found = await until_answered(lambda: look(api, bot))
    assert receiver.statuses(bot["id"]).count("recording") == 1
    assert found["stop_reason"] == "meeting_ended"
    assert found["recording_gaps"] == []


async def test_a_killed_host_brings_its_bot_back_under_the_same_id_with_a_marked_gap(
    fragile: Service, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    meeting = await meetings.open_meeting(unhurried(demo(turns=18), ends=False))
    async with fragile.client() as api:
        bot = await send_bot(
            api, meeting.url, receiver, transcription_model="whisper", initial_chat_message="I take the minutes."
        )
        await reach(receiver, bot, "recording")
        first = await meeting.wait_for("media_connected")
        await meeting.wait_for("chat")
        await meeting.wait_for("fell_silent")
        orphans = browsers_of(fragile.pid("host"))
        assert orphans
        fragile.kill("host")
        _, alive = psutil.wait_procs(orphans, timeout=60)
        assert not alive, "browsers outlived their host"
        await meeting.wait_for("media_connected", after=first["number"], timeout_s=120)
        await back(api, bot)
        since = (await meeting.events())[-1]["number"]
        for _ in range(2):  # between the two, somebody speaks a whole clip
            since = (await meeting.wait_for("fell_silent", after=since))["number"]
        await meeting.end()
        await reach(receiver, bot, "finished", timeout_s=240)
        found = await look(api, bot)
    assert receiver.statuses(bot["id"]).count("recording") == 1
    assert len([event for event in await meeting.events(kind="chat") if event["bot"]]) == 1, "greeted once"
    (gap,) = found["recording_gaps"]
    assert gap["cause"] == "host_lost"
    assert 0 < gap["start"] < gap["end"] < stay_bounds_s(found)[1]
    recording = ffprobe(await download(found["recording_url"], tmp_path / "recording.webm"))
    assert largest_hole_s(recording) < 0.001
    # Words, not segments: who goes on within a second of the return has one segment that begins in the first batch.
    words = [word for said in found["transcript"] for each in said["utterances"] for word in each["words"]]
    assert any(word["end"] <= gap["start"] + 0.5 for word in words)
    assert any(word["start"] >= gap["end"] for word in words)


async def test_a_killed_message_server_leaves_the_meeting_alone_and_gives_nothing_out_twice(
    fragile: Service, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting = await meetings.open_meeting(demo(turns=3))
    async with fragile.client() as api:
        bot = await send_bot(api, meeting.url, receiver)
        await reach(receiver, bot, "recording")
        new_pid(fragile, "nats", fragile.kill("nats"))
        await reach(receiver, bot, "finished", timeout_s=180)
        found = await look(api, bot)
    assert found["stop_reason"] == "meeting_ended"
    assert found["recording_gaps"] == []
    assert len(await meeting.events(kind="arrived")) == 1


async def test_a_killed_worker_goes_on_where_it_was(
    fragile: Service, meetings: PracticeClient, receiver: Receiver
) -> None:
    script = demo(turns=4)
    meeting = await meetings.open_meeting(script)
    async with fragile.client() as api:
        bot = await send_bot(api, meeting.url, receiver, transcription_model="whisper")
        await reach(receiver, bot, "transcribing", timeout_s=180)
        new_pid(fragile, "worker", fragile.kill("worker"))
        await reach(receiver, bot, "finished", timeout_s=180)
        found = await look(api, bot)
    assert {s["speaker_name"] for s in found["transcript"]} == words_of(script)
    assert receiver.statuses(bot["id"]).count("transcribing") == 1


async def test_a_worker_killed_in_a_long_recording_does_no_finished_part_again(
    fragile: Service, receiver: Receiver
) -> None:
    talk = long_talk()
    async with fragile.client() as api:
        made = await upload(api, receiver, talk)
        stored = fragile.data / f"objects/recordings/{made['id']}/transcript/parts"

        def parts() -> list[Any]:
            return [part for path in sorted(stored.glob("*.json")) for part in json.loads(path.read_text())]

        await asyncio.to_thread(until, lambda: len(parts()) >= 3, "three finished parts", 120)
        new_pid(fragile, "worker", fragile.kill("worker"))
        finished = parts()
        # It was killed in the middle: there is a next part. Parts are stored as they end, on several cores at once.
        await asyncio.to_thread(until, lambda: len(parts()) > len(finished), "the next part", 120)
        assert [part for part in parts() if part in finished] == finished
        await reach(receiver, made, "finished", timeout_s=180)
        found = (await api.get(f"/recording/{made['id']}")).json()

        undisturbed = await upload(api, receiver, talk)
        await reach(receiver, undisturbed, "finished", timeout_s=180)
        whole = (await api.get(f"/recording/{undisturbed['id']}")).json()
    assert found["transcript"] == whole["transcript"]
    assert found["transcript"][-1]["end"] > 130
    progress = [event["data"] for event in whole["events"] if event["event"] == "transcription_progress"]
    assert progress
    assert all(0 < told["seconds_done"] < told["seconds"] for told in progress)
    resumed = [json.loads(line) for line in fragile.log.read_text().splitlines() if "transcription_resumed" in line]
    assert [(line["recording_id"], line["parts"]) for line in resumed] == [(made["id"], len(finished))]


def long_talk() -> bytes:
    """A WAV file of more than two minutes: the longest clip of speech again and again."""
    spoken, talk = io.BytesIO(), io.BytesIO()
    with wave.open(str(SPEECH / "two_cities.wav")) as clip, wave.open(talk, "wb") as file:
        file.setparams(clip.getparams())
        spoken.write(clip.readframes(clip.getnframes()))
        seconds = clip.getnframes() / clip.getframerate()
        for _ in range(math.ceil(140 / seconds)):
            file.writeframes(spoken.getvalue())
    return talk.getvalue()


async def upload(api: httpx2.AsyncClient, receiver: Receiver, data: bytes) -> dict[str, Any]:
    form = {"transcription_model": "whisper", "lang": "en", "webhook_url": receiver.url}
    answer = await api.post("/recording", data=form, files={"recording_file": ("talk.wav", data)})
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def until_answered(ask: Callable[[], Any]) -> Any:
    """Repeat a request while the server that answers it is coming back."""
    for _ in range(200):
        try:
            return await ask()
        except httpx2.TransportError:
            await asyncio.sleep(0.1)
    return await ask()
