"""How soon, how steadily and how well live speech becomes words, and how many may talk at once; a baseline beside it.

Sound is fed at the pace of a meeting, to the engine in this process. A follower is anything that hears tracks and
tells segments, so that the same judgement serves a listener at a socket.
"""

import asyncio
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sederunt import log
from sederunt.bench.agreement import STEP_S, LocalAgreement
from sederunt.bench.live_speech import Told, judge, recording, reference
from sederunt.bench.transcribe import Clip, clips_of, score, source
from sederunt.settings import LiveSettings, Settings, WhisperSettings
from sederunt.transcription import models
from sederunt.transcription.realtime import Event, Final, Frame, Partial, Revised, open_live
from sederunt.transcription.whisper import resolution
from sederunt.transcription.whisper.live.session import engine_of
from sederunt.transcription.whisper.loading import load_whisper
from sederunt.transcription.whisper.speech import RATE, Samples

PIECE_S = 0.1
GAP_S = 1.2
# How long several people talk at once, and how long several say nothing.
TALK_S, SILENCE_S, SILENT_TRACKS = 40.0, 20.0, 8


@dataclass(frozen=True, slots=True)
class Figures:
    """One line of the report. Seconds; percent of words; CPU-seconds per second of sound."""

    case: str
    system: str
    talkers: int
    audio_s: float
    shown_p50: float | None = None
    shown_p95: float | None = None
    final_p50: float | None = None
    final_p95: float | None = None
    word_errors: float | None = None
    word_errors_offline: float | None = None
    revised: float | None = None
    lag_p95: float | None = None
    cpu_per_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Limit:
    """What a figure must not exceed."""

    title: str
    most: float
    value: Callable[[Sequence[Figures]], float | None]


def bench_live(model: str, talkers: list[int], speech: Path | None, data: Path) -> int:
    """Run the cases, print a table, the limits, and one JSON line per case; 1 where a limit is missed. Minutes."""
    folder = speech or Path(str(files("sederunt.practice") / "speech"))
    cases: list[tuple[str, int]] = [("alone", 1), ("baseline", 1), *(("talkers", n) for n in talkers), ("silence", 0)]
    found = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=len(cases))
        for case, count in cases:
            progress.update(bar, description=f"{case} {count or ''}")
            # A process of its own, so that its CPU and its threads are its own.
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found.append(pool.apply(_run, (case, count, model, folder, data)))
            progress.advance(bar)
    return _report(found)


def _run(case: str, talkers: int, model: str, folder: Path, data: Path) -> Figures:
    log.configure("lines", "warning")
    settings = Settings(data=data, live=LiveSettings(model=model, threads=1))
    clips = clips_of(folder)
    if case == "silence":
        return asyncio.run(_silence(settings))
    if case == "talkers":
        return asyncio.run(_talkers(settings, clips, talkers))
    return asyncio.run(_alone(settings, clips, model, baseline=case == "baseline"))


# --- cases -----------------------------------------------------------------------------------------------------------


async def _alone(settings: Settings, clips: Sequence[Clip], model: str, *, baseline: bool) -> Figures:
    """One person, all clips one after the other."""
    samples, text = recording(clips, GAP_S)
    best = "base" if resolution.is_present(WhisperSettings(), settings.data, "base") else model
    said = reference(load_whisper(WhisperSettings(), settings.data, best), clips, GAP_S)
    whisper = load_whisper(WhisperSettings(), settings.data, model)
    offline = score(text, " ".join(u.transcript for u in whisper.transcribe(source(samples), lang="en").utterances))[1]
    follow = _follow_agreement if baseline else _follow_engine
    before = time.process_time()
    told = await follow(settings, model, [samples])
    spent = time.process_time() - before
    found = judge(told[0], said)
    return Figures(
        case="alone",
        system="LocalAgreement-2" if baseline else "sederunt",
        talkers=1,
        audio_s=round(len(samples) / RATE, 1),
        shown_p50=_percentile(found.shown_s, 50),
        shown_p95=_percentile(found.shown_s, 95),
        final_p50=_percentile(found.final_s, 50),
        final_p95=_percentile(found.final_s, 95),
        word_errors=score(text, found.text)[1],
        word_errors_offline=offline,
        revised=round(100 * found.revised / max(1, found.words), 1),
        cpu_per_s=round(spent * RATE / len(samples), 3),
    )


async def _talkers(settings: Settings, clips: Sequence[Clip], count: int) -> Figures:
    """So many people talk without a pause, on one core; each begins elsewhere in the clips."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    samples, _ = recording(clips, 0.2)
    length = round(TALK_S * RATE)
    tracks = [np.roll(samples, -n * len(samples) // count)[:length] for n in range(count)]
    late: list[float] = []
    engine_of(settings).observe = late.append
    await _follow_engine(settings, "", [tracks[0][: 3 * RATE]])  # the model is loaded before the clock runs
    late.clear()
    before = time.process_time()
    await _follow_engine(settings, "", tracks)
    spent = time.process_time() - before
    return Figures(
        case="talkers",
        system="sederunt",
        talkers=count,
        audio_s=TALK_S * count,
        lag_p95=_percentile(late, 95),
        cpu_per_s=round(spent / (TALK_S * count), 3),
    )


async def _silence(settings: Settings) -> Figures:
    """Open microphones in a quiet room."""
    count = round(SILENCE_S * RATE)
    tracks = [np.random.default_rng(n).normal(0, 0.0005, count).astype(np.float32) for n in range(SILENT_TRACKS)]
    await _follow_engine(settings, "", [tracks[0][:RATE]])
    before = time.process_time()
    await _follow_engine(settings, "", tracks)
    spent = time.process_time() - before
    return Figures(
        case="silence",
        system="sederunt",
        talkers=0,
        audio_s=SILENCE_S * SILENT_TRACKS,
        cpu_per_s=round(spent / (SILENCE_S * SILENT_TRACKS), 4),
    )


# --- followers -------------------------------------------------------------------------------------------------------


async def _follow_engine(settings: Settings, _model: str, tracks: Sequence[Samples]) -> list[list[Told]]:
    """What the engine tells of tracks that are fed at their own pace, per track."""
    loop = asyncio.get_running_loop()
    told: dict[str, list[Told]] = {str(n): [] for n in range(len(tracks))}
    row = models.find("vendor1-realtime")
    assert row is not None

    def note(event: Event) -> None:
        if isinstance(event, Partial | Final | Revised):
            segment, final = event.segment, not isinstance(event, Partial)
            told[segment.source].append(
                Told(
                    at=loop.time() - began,
                    segment_id=segment.segment_id,
                    transcript=segment.transcript,
                    start=segment.start,
                    end=segment.end,
                    final=final,
                    fixed_s=segment.end if final else 0.0,
                )
            )

    live = open_live(settings, row, on_event=note, prefix="bench", lang="en")
    pcm = [(np.clip(track, -1, 1) * 32767).astype(np.int16) for track in tracks]
    began = loop.time()
    for first in range(0, max(len(track) for track in pcm), round(PIECE_S * RATE)):
        last = first + round(PIECE_S * RATE)
        await asyncio.sleep(began + last / RATE - loop.time())
        live.hear([Frame(str(n), first / RATE, track[first:last]) for n, track in enumerate(pcm)])
    await live.close()
    return list(told.values())


async def _follow_agreement(settings: Settings, model: str, tracks: Sequence[Samples]) -> list[list[Told]]:
    from faster_whisper import WhisperModel

    directory = resolution.resolve(WhisperSettings(), settings.data, model).directory
    loaded = WhisperModel(str(directory), device="cpu", compute_type="int8", cpu_threads=1)
    loop, told = asyncio.get_running_loop(), list[Told]()
    began = loop.time()
    stream = LocalAgreement(loaded, told.append, lambda: loop.time() - began)
    track, fed = tracks[0], 0
    while fed < len(track):
        # The next round has what has sounded since this one began; a slow one is followed at once.
        due = began + (fed / RATE + STEP_S)
        await asyncio.sleep(max(0.0, due - loop.time()))
        until = min(len(track), round((loop.time() - began) * RATE))
        stream.add(track[fed:until])
        fed = until
        await asyncio.to_thread(stream.decode, last=fed >= len(track))
    return [told]


# --- report ----------------------------------------------------------------------------------------------------------


def _percentile(values: Sequence[float], percent: float) -> float | None:
    return round(float(np.percentile(values, percent, method="higher")), 2) if values else None


def _over_offline(found: Sequence[Figures]) -> float | None:
    row = found[0]
    if row.word_errors is None or row.word_errors_offline is None:
        return None
    return round(row.word_errors - row.word_errors_offline, 2)


def _lag_of_six(found: Sequence[Figures]) -> float | None:
    return next((row.lag_p95 for row in found if row.case == "talkers" and row.talkers >= 6), None)


LIMITS = (
    Limit("word first shown p50, s", 0.8, lambda found: found[0].shown_p50),
    Limit("final after end of speech p95, s", 0.9, lambda found: found[0].final_p95),
    Limit("word errors above offline, points", 2.5, _over_offline),
    Limit("lag p95 of six continuous talkers on one core, s", 1.0, _lag_of_six),
)


def _report(found: Sequence[Figures]) -> int:
    console = Console()
    shown = ("shown_p50", "shown_p95", "final_p50", "final_p95", "word_errors", "word_errors_offline", "revised")
    table = Table(
        "Case", "System", "Talkers", "Shown p50 s", "p95", "Final p50 s", "p95", "WER %", "Offline %", "Revised /100",
        "Lag p95 s", "CPU/s", box=None,
    )  # fmt: skip
    for row in found:
        values = [*(getattr(row, name) for name in shown), row.lag_p95, row.cpu_per_s]
        table.add_row(row.case, row.system, str(row.talkers), *("–" if v is None else str(v) for v in values))
    console.print(table)
    missed = 0
    for limit in LIMITS:
        value = limit.value(found)
        kept = value is not None and value <= limit.most
        missed += not kept
        console.print(f"{'kept  ' if kept else 'MISSED'}  {limit.title}: {value} (limit {limit.most})")
    for row in found:
        print(json.dumps(asdict(row)))
    return 1 if missed else 0
