"""What a client hears of live speech at the bot's socket: a practice meeting, a bot sent through the public interface.

The clock is the machine's: the practice site notes when it began to play a clip, the client when a message came.
"""

import asyncio
import json
import tempfile
import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
from rich.console import Console
from rich.progress import Progress
from websockets.asyncio.client import connect

from sederunt.bench.followers import Followed
from sederunt.bench.live_speech import SaidWord, Told, shift_between
from sederunt.bench.processes import practice_process
from sederunt.bench.served import ending, served
from sederunt.bench.transcribe import SpeechSample
from sederunt.bench.words import normalised
from sederunt.media.pcm import read_pcm
from sederunt.practice import script
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.transcription.whisper.speech import RATE, Samples

SPEAKER = "Ada Lovelace"
# Spoken first and not judged, for the host loads its model with the first sound of the first bot.
WARM_UP, FIRST_AT_S = "librivox_0880", 9.0
# Between the last clip and the meeting's end; between that and the bot's.
QUIET_S, ENDED_S = 4.0, 120.0


@dataclass(frozen=True, slots=True)
class Came:
    """A message and when it came, Unix seconds."""

    at: float
    message: Mapping[str, Any]


def compose(sound: Sequence[SpeechSample], starts: Sequence[float]) -> script.Script:
    """Compose a script: one person speaks these clips, which begin at these seconds."""
    acts = [script.ScriptedAct(at_s=1.0, do="say", who=SPEAKER, clip=WARM_UP)]
    acts += [
        script.ScriptedAct(at_s=round(FIRST_AT_S + at, 2), do="say", who=SPEAKER, clip=clip.id)
        for clip, at in zip(sound, starts, strict=True)
    ]
    end_s = acts[-1].at_s + len(sound[-1].samples) / RATE + QUIET_S
    acts.append(script.ScriptedAct(at_s=round(end_s, 2), do="end"))
    return script.Script(cast=(script.CastMember(name=SPEAKER, host=True),), acts=tuple(acts))


async def follow_service(
    folder: Path, sound: Sequence[SpeechSample], gap_s: float, said: Sequence[SaidWord], model: str
) -> tuple[Followed, Samples]:
    """Return what was told of that folder's clips, and how they sound in the bot's recording; a minute more than their
    length.

    Both by the clock of `live_speech.recording`.
    """
    starts = [sum(len(clip.samples) / RATE + gap_s for clip in sound[:n]) for n in range(len(sound))]
    settings = {"SEDERUNT_LIVE__MODEL": model, "SEDERUNT_WHISPER__MODEL": model}
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-", ignore_cleanup_errors=True) as data:
        async with practice_process(folder) as practice:
            await _encode(practice, sound)
            async with served(Path(data), await practice.host_rules(), settings) as client:
                meeting = await practice.open_meeting(compose(sound, starts))
                came, ended = await _listen(client, meeting, FIRST_AT_S + starts[-1] + len(sound[-1].samples) / RATE)
                path = Path(data) / "recording.webm"
                answer = await client.get(ended["recording_url"])
                answer.raise_for_status()
                path.write_bytes(answer.content)
                recorded = np.concatenate([block.samples for block in read_pcm(path)])
                begun = [event["at_ms"] / 1000 for event in await meeting.events(kind="said")][1:]
    shift_s = shift_between([word for segment in ended["transcript"] for word in _words(segment)], said)
    told = [_told(each, _on(each.at, begun, starts), shift_s) for each in came]
    heard = tuple(each for each in told if each.end > 0)
    followed = Followed((heard,), (), starts[-1] + len(sound[-1].samples) / RATE, None)
    return followed, recorded[max(0, round(-shift_s * RATE)) :]


async def _encode(practice: PracticeClient, sound: Sequence[SpeechSample]) -> None:
    """Let the practice site encode the clips before they are needed: it would lag behind its own clock otherwise."""
    names = {WARM_UP, *(clip.id for clip in sound)}
    acts = tuple(script.ScriptedAct(at_s=0.0, do="say", who=SPEAKER, clip=name) for name in names)
    rehearsal = script.Script(cast=(script.CastMember(name=SPEAKER),), acts=acts, starts="created")
    meeting = await practice.open_meeting(rehearsal)
    await meeting.wait_for("script_over")
    await meeting.close()


async def _listen(
    client: httpx2.AsyncClient, meeting: MeetingHandle, lasts_s: float
) -> tuple[list[Came], dict[str, Any]]:
    """Return everything said on the bot's socket until the service hangs up, and the ended bot."""
    wanted = {"service": "gmeet", "meeting_url": meeting.url, "bot_name": "Bench"}
    answer = await client.post("/bot", json={**wanted, "transcription_model": "vendor1-realtime", "lang": "en"})
    answer.raise_for_status()
    bot = answer.json()
    came: list[Came] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("a meeting, live", total=lasts_s)
        async with asyncio.timeout(lasts_s + ENDED_S), connect(bot["websocket_url"], max_size=None) as socket:
            async for text in socket:
                message = json.loads(text)
                if message["type"] in ("ts", "ts-draft") and message["data"]["transcript"]:
                    came.append(Came(time.time(), message))
                    progress.update(bar, completed=message["data"]["end"])
    return came, await ending(client, bot["id"], within_s=ENDED_S)


def _words(segment: Mapping[str, Any]) -> list[SaidWord]:
    return [
        SaidWord(part, word["start"], word["end"])
        for utterance in segment["utterances"]
        for word in utterance["words"]
        for part in normalised(word["word"]).split()
    ]


def _on(at: float, begun: Sequence[float], starts: Sequence[float]) -> float:
    """Return a moment by the clock of the clips: how long after the beginning of the last one that was begun by
    then.
    """
    number = max(0, bisect_right(begun, at) - 1)
    return starts[number] + at - begun[number]


def _told(came: Came, at: float, shift_s: float) -> Told:
    data, final = came.message["data"], came.message["type"] == "ts"
    start, end = data["start"] + shift_s, data["end"] + shift_s
    return Told(at, data["segment_id"], data["transcript"], start, end, final, end if final else 0.0)
