"""Who follows tracks of sound and notes what is told of them: the engine and the baseline, by two clocks.

By the "cpu" clock one core does everything: time goes on with the sound, and by the processor's own seconds while it
works, so that a busy machine does not blur the figures. By the "wall" clock sound comes at the pace of a meeting,
through the pipeline and the threads, as in a host.
"""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from faster_whisper import WhisperModel
from numpy.typing import NDArray

from sederunt.bench.agreement import STEP_S, LocalAgreement
from sederunt.bench.live_speech import Told
from sederunt.settings import Settings, WhisperSettings
from sederunt.transcription import models
from sederunt.transcription.live import Event, Final, Frame, Partial, Revised
from sederunt.transcription.realtime import open_live
from sederunt.transcription.sessions import Draft, SessionEvent, Settled
from sederunt.transcription.whisper import resolution
from sederunt.transcription.whisper.live.engine import Engine, Place
from sederunt.transcription.whisper.live.pace import Pace
from sederunt.transcription.whisper.live.selector import LanguageSelector
from sederunt.transcription.whisper.live.session import engine_of
from sederunt.transcription.whisper.speech import RATE, Samples

ENGINE, BASELINE = "sederunt", "LocalAgreement-2"
PIECE_S = 0.1
PIECE = round(PIECE_S * RATE)


@dataclass(frozen=True, slots=True)
class Followed:
    """What was told of each track, how late each reading was, and what all of it cost."""

    told: tuple[tuple[Told, ...], ...]
    late_s: tuple[float, ...]
    audio_s: float
    cpu_s: float | None  # None where it was not measured


def driven(settings: Settings, tracks: Sequence[Samples]) -> Followed:
    """Return the engine, by the processor's seconds."""
    engine = Engine(Pace(step_s=settings.live.step_s), clock=time.process_time)
    heard: list[tuple[int, SessionEvent]] = []
    places = [_place(settings, n, heard) for n in range(len(tracks))]
    for place in places:
        engine.join(place)
        place.selector.reader()  # the model is loaded before the clock runs
    late: list[float] = []
    engine.observe = late.append
    pcm = [_pcm(track) for track in tracks]
    told: list[list[Told]] = [[] for _ in tracks]
    now, spent, fed = 0.0, 0.0, 0
    while True:
        while fed < max(len(track) for track in pcm) and fed + PIECE <= now * RATE + 1:
            for place, track in zip(places, pcm, strict=True):
                engine.feed(place, track[fed : fed + PIECE])
            fed += PIECE
        before = time.process_time()
        worked = engine.work_once()
        cost = time.process_time() - before
        now, spent = now + cost, spent + cost
        for n, event in heard:
            if isinstance(event, Draft | Settled) and event.said.transcript:
                told[n].append(_told(now, event))
        heard.clear()
        if not worked and fed >= max(len(track) for track in pcm):
            return Followed(tuple(map(tuple, told)), tuple(late), _seconds(tracks), spent)
        if not worked:
            now = max(now, (fed + PIECE) / RATE)


def paced(settings: Settings, tracks: Sequence[Samples]) -> Followed:
    """Return the pipeline and the engine's threads, at the pace of a meeting, on one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    late: list[float] = []
    asyncio.run(_paced(settings, [tracks[0][: 3 * RATE]]))  # the model is loaded before the clock runs
    engine_of(settings).observe = late.append
    before = time.process_time()
    told = asyncio.run(_paced(settings, tracks))
    return Followed(told, tuple(late), _seconds(tracks), time.process_time() - before)


async def _paced(settings: Settings, tracks: Sequence[Samples]) -> tuple[tuple[Told, ...], ...]:
    loop = asyncio.get_running_loop()
    told: list[list[Told]] = [[] for _ in tracks]
    row = models.find("vendor1-realtime")
    assert row is not None

    def note(event: Event) -> None:
        if isinstance(event, Partial | Final | Revised) and event.segment.transcript:
            segment, final = event.segment, not isinstance(event, Partial)
            at, fixed_s = loop.time() - began, segment.end if final else 0.0
            each = Told(at, segment.segment_id, segment.transcript, segment.start, segment.end, final, fixed_s)
            told[int(segment.source)].append(each)

    live = open_live(settings, row, on_event=note, prefix="bench", lang="en")
    pcm = [_pcm(track) for track in tracks]
    began = loop.time()
    for first in range(0, max(len(track) for track in pcm), PIECE):
        await asyncio.sleep(began + (first + PIECE) / RATE - loop.time())
        live.hear([Frame(str(n), first / RATE, track[first : first + PIECE]) for n, track in enumerate(pcm)])
    await live.close()
    return tuple(map(tuple, told))


def driven_baseline(settings: Settings, tracks: Sequence[Samples]) -> Followed:
    """Return the plain loop, by the processor's seconds."""
    spent = 0.0
    told: list[Told] = []
    origin = time.process_time()
    idle = 0.0
    stream = LocalAgreement(_model(settings), told.append, lambda: time.process_time() - origin + idle)
    origin, track, fed = time.process_time(), tracks[0], 0
    while fed < len(track):
        # The next round has what has sounded since this one began; a slow one is followed at once.
        now = time.process_time() - origin + idle
        idle += max(0.0, fed / RATE + STEP_S - now)
        until = min(len(track), round((time.process_time() - origin + idle) * RATE))
        stream.add(track[fed:until])
        fed = until
        before = time.process_time()
        stream.decode(last=fed >= len(track))
        spent += time.process_time() - before
    return Followed((tuple(told),), (), _seconds(tracks), spent)


def paced_baseline(settings: Settings, tracks: Sequence[Samples]) -> Followed:
    """Return the plain loop at the pace of a meeting."""
    told: list[Told] = []
    model = _model(settings)
    began, before = time.monotonic(), time.process_time()
    stream = LocalAgreement(model, told.append, lambda: time.monotonic() - began)
    track, fed = tracks[0], 0
    while fed < len(track):
        time.sleep(max(0.0, began + fed / RATE + STEP_S - time.monotonic()))
        until = min(len(track), round((time.monotonic() - began) * RATE))
        stream.add(track[fed:until])
        fed = until
        stream.decode(last=fed >= len(track))
    return Followed((tuple(told),), (), _seconds(tracks), time.process_time() - before)


FOLLOWERS: Mapping[str, Callable[[Settings, Sequence[Samples]], Followed]] = MappingProxyType(
    {
        f"cpu {ENGINE}": driven,
        f"cpu {BASELINE}": driven_baseline,
        f"wall {ENGINE}": paced,
        f"wall {BASELINE}": paced_baseline,
    }
)


def _place(settings: Settings, number: int, heard: list[tuple[int, SessionEvent]]) -> Place:
    return Place(LanguageSelector(settings, "en", ()), lambda event: heard.append((number, event)))


def _told(at: float, event: Draft | Settled) -> Told:
    said, final = event.said, isinstance(event, Settled)
    return Told(at, said.key, said.transcript, said.start, said.end, final, said.end if final else 0.0)


def _seconds(tracks: Sequence[Samples]) -> float:
    return sum(len(track) for track in tracks) / RATE


def _pcm(track: Samples) -> NDArray[np.int16]:
    return (np.clip(track, -1, 1) * 32767).astype(np.int16)


def _model(settings: Settings) -> WhisperModel:
    directory: Path = resolution.resolve(WhisperSettings(), settings.data, settings.live.model).directory
    return WhisperModel(str(directory), device="cpu", compute_type="int8", cpu_threads=1)
