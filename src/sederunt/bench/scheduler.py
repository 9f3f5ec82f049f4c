"""What the scheduler of windows gains: three tracks on one core and on several, and a short recording beside long ones.

Wall clock counts here as a ratio within one run, CPU-seconds beside it. Each row runs in a process of its own, so that
its memory is its own. Rows of several cores mean something on a machine that has them and little else to do.
"""

import asyncio
import hashlib
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from uuid import UUID

import numpy as np
from rich.console import Console
from rich.table import Table

from sederunt import log
from sederunt.bench.transcribe import clips_of, joined, source
from sederunt.browser.costs import pss_of
from sederunt.errors import Cancelled
from sederunt.settings import WhisperSettings
from sederunt.transcription.scheduler import Scheduler, Urgency
from sederunt.transcription.whisper.engine import Whisper
from sederunt.transcription.whisper.loading import load_whisper
from sederunt.transcription.whisper.speech import RATE, Samples

TRACKS = 3
SHORT_S, LONG_S = 10.0, 14_400.0
ADA, BEN = UUID(int=1), UUID(int=2)


@dataclass(frozen=True, kw_only=True, slots=True)
class SchedulerFigures:
    """One row."""

    row: str
    cores: int
    sound_s: float
    wall_s: float
    cpu_s: float
    pss_mib: float
    words: int
    digest: str  # of the words: rows of the same sound must agree


def bench_scheduler(model: str, minutes: float, cores: Sequence[int], speech: Path | None, data: Path) -> int:
    """Run the rows, print a table and one JSON line per row. Returns 1 where words depend on the number of cores."""
    folder = speech or Path(str(files("sederunt.practice") / "speech"))
    found = [_apart(_tracks, model, minutes, count, folder, data) for count in cores]
    found += [_apart(_short, model, minutes, count, folder, data) for count in (0, max(cores))]
    table = Table("Row", "Cores", "Sound s", "Wall s", "of the first", "CPU s", "PSS MiB", "Words", box=None)
    for row in found:
        first = next(other for other in found if other.row.split(",")[0] == row.row.split(",")[0])
        shown = (row.cores, row.sound_s, row.wall_s, round(row.wall_s / first.wall_s, 2), row.cpu_s, row.pss_mib)
        table.add_row(row.row, *map(str, shown), str(row.words))
    Console().print(table)
    for row in found:
        print(json.dumps(asdict(row)))
    return int(len({row.digest for row in found if row.row == "tracks"}) > 1)


Row = Callable[[str, float, int, Path, Path], SchedulerFigures]


def _apart(row: Row, model: str, minutes: float, cores: int, folder: Path, data: Path) -> SchedulerFigures:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(row, (model, minutes, cores, folder, data))


def _tracks(model: str, minutes: float, cores: int, folder: Path, data: Path) -> SchedulerFigures:
    """Transcribe three tracks of one job."""
    log.configure("lines", "warning")
    whisper = _loaded(model, data, cores)
    tracks = [_talk(folder, minutes * 60, seed) for seed in range(TRACKS)]
    began, spent = time.monotonic(), time.process_time()
    texts = asyncio.run(_job(whisper, tracks, Scheduler(cores)))
    return _figures("tracks", cores, sum(map(len, tracks)) / RATE, began, spent, texts)


def _short(model: str, minutes: float, cores: int, folder: Path, data: Path) -> SchedulerFigures:
    """Transcribe ten seconds alone (0 cores), or beside two uploads of another account that have all cores."""
    log.configure("lines", "warning")
    count, alone = cores or 1, not cores
    whisper = _loaded(model, data, count)
    scheduler, stop, busy = Scheduler(count), threading.Event(), threading.Semaphore(0)
    short, long = _talk(folder, SHORT_S, 9), _talk(folder, minutes * 60, 1)

    def upload() -> None:
        with scheduler.workload(ADA, Urgency.UPLOAD) as workload:
            workload.sound_s = LONG_S
            with suppress(Cancelled):
                whisper.transcribe(
                    source(long), lang="en", lane=workload.lane(), cancelled=stop, on_part=lambda _: busy.release()
                )

    uploads = [threading.Thread(target=upload) for _ in range(0 if alone else 2)]
    for thread in uploads:
        thread.start()
    for _ in uploads:
        busy.acquire()
    began, spent = time.monotonic(), time.process_time()
    texts = asyncio.run(_job(whisper, [short], scheduler))
    name = "short, alone" if alone else "short, beside two of four hours"
    figures = _figures(name, count, SHORT_S, began, spent, texts)
    stop.set()
    for thread in uploads:
        thread.join()
    return figures


async def _job(whisper: Whisper, tracks: Sequence[Samples], scheduler: Scheduler) -> list[str]:
    """Transcribe tracks as a bot's are: each in a thread of its own, all in turns."""
    with scheduler.workload(BEN, Urgency.UPLOAD) as workload:
        workload.sound_s = sum(map(len, tracks)) / RATE

        def one(samples: Samples) -> str:
            seconds = len(samples) / RATE
            lane = workload.lane(sound_s=seconds, length_s=seconds)
            heard = whisper.transcribe(source(samples), lang="en", lane=lane)
            return " ".join(utterance.transcript for utterance in heard.utterances)

        return list(await asyncio.gather(*(workload.run(partial(one, samples)) for samples in tracks)))


def _figures(
    row: str, cores: int, sound_s: float, began: float, spent: float, texts: Sequence[str]
) -> SchedulerFigures:
    text = " ".join(texts)
    return SchedulerFigures(
        row=row,
        cores=cores,
        sound_s=round(sound_s, 1),
        wall_s=round(time.monotonic() - began, 2),
        cpu_s=round(time.process_time() - spent, 2),
        pss_mib=round(pss_of(os.getpid()) / 1024, 1),
        words=len(text.split()),
        digest=hashlib.sha256(text.encode()).hexdigest()[:12],
    )


def _loaded(model: str, data: Path, cores: int) -> Whisper:
    """Load a model with so many replicas, and have it read something, so that no row pays for what comes first."""
    whisper = load_whisper(WhisperSettings(), data, model, workers=cores)
    whisper.transcribe(source(np.random.default_rng(3).normal(0, 0.01, 5 * RATE).astype(np.float32)), lang="en")
    return whisper


def _talk(folder: Path, seconds: float, seed: int) -> Samples:
    """Return so many seconds of clips, one after another, in an order of their own."""
    clips = clips_of(folder)
    made: list[Samples] = []
    rounds = 0
    while sum(map(len, made)) < seconds * RATE:
        order = np.random.default_rng([seed, rounds]).permutation(len(clips))
        made.append(joined(clips[n] for n in order)[0])
        rounds += 1
    return np.concatenate(made)[: round(seconds * RATE)]
