"""Live transcription by the model in the box: named lines while people speak, and the same lines afterwards."""

import asyncio
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest

from harness.journeys import download, look, reach, send_bot, unhurried
from harness.listener import Listener, listening
from harness.live_lines import assert_said, lines, shown
from harness.receiver import TOLD_TRANSCRIBED, Receiver
from harness.service import Service
from harness.word_times import misplaced
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import Service as Site
from sederunt.practice.script import Variant, demo

Audio = Literal["per_person", "mixed", "webaudio"]
# Longer than the silence that is sent to a live session: its times have to leap over the rest.
PAUSE_S = 2.6
# Of 22 words the smallest model mishears five where sound and windows happen to fall so (seen: "And so am I fell in
# America"). Words under a wrong name are more.
MOST_LIVE_WORD_ERRORS = 0.3


async def test_what_listeners_were_told_is_the_transcript(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    script = demo(turns=4)
    meeting = await meetings.open_meeting(script)
    bot = await send_bot(api, meeting.url, receiver, transcription_model="vendor1-realtime", lang="en")
    async with listening(bot["websocket_read_only_url"]) as listener:
        await heard_to_the_end(listener)
    told = lines(listener)
    found = await look(api, bot)
    assert [shown(segment) for segment in found["transcript"]] == [shown(line) for line in told]
    assert_said(script, told)
    for segment in found["transcript"]:
        (utterance,) = segment["utterances"]
        assert utterance["transcript"] == segment["transcript"]
        assert {word["speaker"] for word in utterance["words"]} == {segment["speaker"]}
    numbers = {(segment["speaker_name"], segment["speaker"]) for segment in found["transcript"]}
    assert len(numbers) == len({name for name, _ in numbers}) == len({number for _, number in numbers})

    drafts = [message["data"] for message in listener.heard if message["type"] == "ts-draft"]
    finals = {line["segment_id"] for line in told}
    assert drafts
    assert {draft["speaker_name"] for draft in drafts} <= {person.name for person in script.cast} | {None}
    assert finals & {draft["segment_id"] for draft in drafts}
    assert not [message for message in listener.heard if message["type"] == "error"]
    told_statuses = [message["data"]["new_status"] for message in listener.heard if message["type"] == "status-update"]
    assert told_statuses[-2:] == [*TOLD_TRANSCRIBED[-2:]]


@pytest.mark.parametrize(("site", "audio"), [("teams", "per_person"), ("zoom", "webaudio"), ("gmeet", "mixed")])
async def test_every_sites_words_have_names_and_times_live_and_after(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, tmp_path: Path, site: Site, audio: Audio
) -> None:
    script = demo(Variant(audio=audio), service=site, turns=4, pause_s=PAUSE_S)
    meeting = await meetings.open_meeting(script)
    bot = await send_bot(api, meeting.url, receiver, service=site, transcription_model="whisper-realtime")
    async with listening(bot["websocket_url"]) as listener:
        await heard_to_the_end(listener)
    assert_said(script, lines(listener), most_word_errors=MOST_LIVE_WORD_ERRORS)
    found = await look(api, bot)
    recording = await download(found["recording_url"], tmp_path / "recording.webm")
    assert misplaced(script, found["transcript"], recording) == []

    order = {"meeting_bot_id": bot["id"], "transcription_model": "whisper", "webhook_url": receiver.url}
    anew = (await api.post("/recording", json=order)).json()
    await reach(receiver, anew, "finished", timeout_s=120)
    again = (await api.get(f"/recording/{anew['id']}")).json()["transcript"]
    assert {segment["speaker_name"] for segment in again} == {who for who, _ in script.reference()}
    assert misplaced(script, again, recording) == []


async def test_a_killed_host_loses_no_line_and_the_live_transcript_goes_on(
    service: Service, meetings: PracticeClient, receiver: Receiver
) -> None:
    async with service.client() as api:
        meeting = await meetings.open_meeting(unhurried(demo(turns=18), ends=False))
        bot = await send_bot(api, meeting.url, receiver, transcription_model="vendor1-realtime", lang="en")
        async with listening(bot["websocket_url"]) as listener:
            before = await listener.until("ts")
            service.kill("host")
            after = await _of_another_holder(listener, before["data"]["segment_id"])
            await meeting.end()
            await heard_to_the_end(listener)
        assert before["data"]["segment_id"] != after["segment_id"]
        ids = [message["data"]["segment_id"] for message in listener.heard if message["type"] == "ts"]
        assert len(lines(listener)) == len(ids)  # each line is told once, whoever held the bot
        found = await look(api, bot)
        assert found["recording_gaps"]
        # What was being said when the host died never became final, so the recording was transcribed again.
        words = " ".join(segment["transcript"] for segment in found["transcript"])
        assert before["data"]["transcript"].split()[0].lower() in words.lower()
        logged = service.log.read_text().splitlines()
        assert any("transcribed again after the meeting" in line and bot["id"] in line for line in logged)


async def heard_to_the_end(listener: Listener) -> None:
    """Listen until the service hangs up because the bot has ended."""
    async with asyncio.timeout(180):
        while await listener.until("status-update"):
            if listener.heard[-1]["data"]["new_status"] == "finished":
                return


async def _of_another_holder(listener: Listener, segment_id: str) -> dict[str, Any]:
    """The first line whose id another holder of the bot gave."""
    async with asyncio.timeout(90):
        while True:
            data: dict[str, Any] = (await listener.until("ts"))["data"]
            if data["segment_id"].partition(".")[0] != segment_id.partition(".")[0]:
                return data
