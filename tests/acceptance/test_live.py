"""The published TypeScript client, unmodified, follows a meeting live: every event, sound without holes, actions."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.client_script import run_script
from harness.journeys import unhurried
from harness.service import Service
from harness.sound import RATE, Samples, find
from sederunt.practice import clips
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.practice.script import Script, ScriptedAct, demo

BLOCK_BYTES = 3200
CHUNK_S = 1.0


def a_meeting() -> Script:
    """Three people speak in turn and one writes; nobody ends it."""
    script = unhurried(demo(turns=3), begins=False, ends=False)
    return replace(script, acts=(*script.acts, ScriptedAct(at_s=1.5, do="chat", who="Ada Lovelace", text="Welcome.")))


async def _all_have_spoken(meeting: MeetingHandle) -> None:
    """People begin when the client's script, told of the start, has greeted them: every word is to be heard."""
    await meeting.wait_for("chat", sender="Minutes", timeout_s=120)
    await meeting.do("start")
    await meeting.wait_for("fell_silent", who="Ada Lovelace", timeout_s=120)


@pytest.mark.parametrize("model", ["none", "whisper-realtime"])
async def test_the_published_client_follows_a_meeting_live(
    service: Service, meetings: PracticeClient, client_folder: Path, tmp_path: Path, model: str
) -> None:
    script = a_meeting()
    meeting = await meetings.open_meeting(script)
    sound = tmp_path / "sound.pcm"
    seen = await run_script(
        *(client_folder, "live.mjs", service.url, service.key, meeting.url, model, str(sound)),
        stop_after=_all_have_spoken(meeting),
    )

    assert seen["connected"] == [True, True]
    told = seen["raw"]
    assert told[0]["type"] == "connected"
    status = told[0]["data"].pop("status")
    assert status in ("booting", "joining")  # as it is by the time the socket opens
    assert told[0]["data"] == {"transcripts": [], "participants": [], "chat_messages": []}
    numbers = [message["seq"] for message in told if message["type"] not in ("error", "ping", "ts-draft")]
    assert numbers == sorted(set(numbers))
    assert all(count for name, count in seen["named"].items() if name != "ts" or model != "none"), seen["named"]

    changes = of_kind(told, "status-update")
    ways = [(change["old_status"], change["new_status"]) for change in changes]
    assert ways[0][0] == status
    assert all(before[1] == after[0] for before, after in pairwise(ways))
    assert changes[-1] == {"old_status": ways[-1][0], "new_status": "finished", "stop_reason": "manually_stopped"}
    marks = [message for message in told if message["type"] in ("status-update", "start", "stop")]
    path = [mark.get("data", {}).get("new_status", mark["type"]) for mark in marks]
    assert path[path.index("recording") + 1] == "start"
    assert path[path.index("processing") + 1] == "stop"

    assert [error["message"] for error in of_kind(told, "error")] == [
        "action must be one of: chat-message, change-avatar, stop."
    ]
    written = {(message["username"], message["content"]) for message in of_kind(told, "chat-message")}
    assert ("Ada Lovelace", "Welcome.") in written
    said = [line["text"] for line in (await meeting.state())["chat"] if line["sender"] == "Minutes"]
    assert said == ["Good morning from the socket."]

    cast = {person.name for person in script.cast}
    assert {person["participantName"] for person in of_kind(told, "participant-tracked")} == cast
    assert speakers_in_turn(told) == [who for who, _ in script.reference()]

    if model != "none":
        spoken = of_kind(told, "ts")
        assert {line["speaker_name"] for line in spoken} <= cast
        words = " ".join(line["transcript"] for line in seen["transcript"]).lower()
        assert all(word in words for word in ("worst of times", "country"))
        assert [line["transcript"] for line in seen["lateTranscript"]]
    assert seen["late"]["status"] == "finished"
    assert {person["participantName"] for person in seen["late"]["participants"]} == cast

    assert seen["audioWasBuffer"]
    assert set(seen["blocks"]) == {BLOCK_BYTES}
    assert_without_holes(script, np.fromfile(sound, "<i2").astype(np.float64))


def of_kind(told: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [message["data"] for message in told if message["type"] == kind]


def speakers_in_turn(told: list[dict[str, Any]]) -> list[str]:
    """Who spoke, in order; pauses within a turn do not count. Every start is followed by its stop."""
    speaking: set[str] = set()
    turns: list[str] = []
    for message in told:
        if message["type"] in ("started-speaking", "stopped-speaking"):
            name = message["data"]["participantName"]
            started = message["type"] == "started-speaking"
            assert (name in speaking) != started
            (speaking.add if started else speaking.discard)(name)
            if started and turns[-1:] != [name]:
                turns.append(name)
    assert not speaking
    return turns


def assert_without_holes(script: Script, heard: Samples) -> None:
    """Each second of each clip is where it belongs: sound that was lost or doubled would move what comes after it."""
    acts = [act for act in script.acts if act.do == "say"]
    starts = []
    for act in acts:
        clip = sound_of(act.clip)
        start = find(clip, heard)
        assert start.likeness > 0.7, (act.clip, start)
        starts.append(start.at_s)
        step = int(CHUNK_S * RATE)
        for begin in range(0, len(clip) - step, step):
            chunk = clip[begin : begin + step]
            if chunk @ chunk < 0.05 * (clip @ clip) / (len(clip) / step):
                continue  # a pause: alike to any other
            place = find(chunk, heard)
            assert abs(place.at_s - start.at_s - begin / RATE) < 0.005, (act.clip, begin / RATE, place, start)
    # The site begins a clip, and the first packet of a voice arrives, as soon as a busy machine lets them.
    meant = [act.at_s - acts[0].at_s for act in acts]
    assert [at_s - starts[0] for at_s in starts] == pytest.approx(meant, abs=3)


def sound_of(clip: str) -> Samples:
    """A clip at 16 kHz."""
    samples = clips.load(clip).samples.astype(np.float64)
    third: Samples = samples[: len(samples) // 3 * 3].reshape(-1, 3).mean(axis=1)
    return third
