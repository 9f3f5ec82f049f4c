"""How soon, how steadily and how well live speech becomes words, and how many may talk at once; a baseline beside it.

What is heard by whom, and when, is the followers' business; here are the cases and the limits. Through the service it
is one case: one person, as a client of the bot's socket hears them.
"""

import asyncio
import json
import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sederunt import log
from sederunt.bench.degraded import DEGRADED, MOVED
from sederunt.bench.followers import BASELINE, ENGINE, FOLLOWERS, Followed
from sederunt.bench.live_service import follow_service
from sederunt.bench.live_speech import SaidWord, ends, judge, recording, words_of
from sederunt.bench.transcribe import SpeechSample, clips_of, score, source
from sederunt.settings import LiveSettings, Settings, WhisperSettings
from sederunt.transcription.whisper import resolution
from sederunt.transcription.whisper.loading import load_whisper
from sederunt.transcription.whisper.speech import RATE, Samples

GAP_S, SERVICE_GAP_S = 1.2, 2.0
# How long several people talk at once, and how long several say nothing.
TALK_S, SILENCE_S, SILENT_TRACKS = 30.0, 20.0, 8


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """One line of the report. Seconds; percent of words; CPU-seconds per second of sound."""

    case: str
    system: str
    talkers: int
    audio_s: float
    shown_p50: float | None = None
    shown_p95: float | None = None
    final_p50: float | None = None
    final_p95: float | None = None
    final_worst: float | None = None
    word_errors: float | None = None
    word_errors_offline: float | None = None
    revised: float | None = None
    lag_p95: float | None = None
    cpu_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """What is spoken, and what is known of it without live transcription."""

    samples: Samples
    text: str
    said: tuple[SaidWord, ...]
    ends_s: tuple[float, ...]
    word_errors_offline: float  # percent, by the model that is measured


@dataclass(frozen=True, slots=True)
class LiveLimit:
    """What a figure must not exceed."""

    title: str
    most: float
    value: Callable[[Sequence[LiveFigures]], float | None]


def bench_live(
    model: str, talkers: list[int], clock: str, speech: Path | None, data: Path, degraded: Sequence[str] = ()
) -> int:
    """Run the cases, print one JSON line for each, a table and the limits; 1 where a limit is missed. Minutes.

    `degraded` names rows of that table; each is one more case.
    """
    folder = speech or _shipped_folder()
    cases: list[tuple[str, int]] = [("alone", 1), *((name, 1) for name in degraded)]
    cases += [*(("talkers", n) for n in talkers), ("silence", 0)]
    found: list[LiveFigures] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=len(cases))
        for case, count in cases:
            progress.update(bar, description=f"{case} {count or ''}")
            # A process of its own, so that its CPU and its threads are its own.
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                figures: list[LiveFigures] = pool.apply(_run, (case, count, model, clock, folder, data))
            for row in figures:
                print(json.dumps(asdict(row)), flush=True)
            found += figures
            progress.advance(bar)
    return _report(found, LIMITS)


def bench_live_service(model: str, speech: Path | None, data: Path) -> int:
    """Measure those figures at a client's socket, in real time; returns 1 where a limit is missed. About five minutes.

    Offline is what the same model reads in the bot's own recording: it has heard what the meeting's codec left.
    """
    log.configure("lines", "warning")
    settings = Settings(data=data, live=LiveSettings(model=model))
    folder = speech or _shipped_folder()
    once = clips_of(folder)
    sound = [*once, *reversed(once)]  # the 95th percentile of one round would be its worst end of speech
    reference = _reference(settings, sound, SERVICE_GAP_S)
    followed, recorded = asyncio.run(follow_service(folder, sound, SERVICE_GAP_S, reference.said, model))
    offline = _word_errors(settings, recorded, reference.text)
    row = _heard("service", ENGINE, followed, replace(reference, word_errors_offline=offline))
    print(json.dumps(asdict(row)), flush=True)
    return _report([row], LIMITS[:3])


def _shipped_folder() -> Path:
    return Path(str(files("sederunt.practice") / "speech"))


def _run(case: str, talkers: int, model: str, clock: str, folder: Path, data: Path) -> list[LiveFigures]:
    log.configure("lines", "warning")
    settings = Settings(data=data, live=LiveSettings(model=model, threads=1))
    clips = clips_of(folder)
    if case == "silence":
        count = round(SILENCE_S * RATE)
        tracks = [np.random.default_rng(n).normal(0, 0.0005, count).astype(np.float32) for n in range(SILENT_TRACKS)]
        return [_cost("silence", 0, FOLLOWERS[f"{clock} {ENGINE}"](settings, tracks))]
    if case == "talkers":
        return [_talkers(settings, clips, talkers, clock)]
    if case in DEGRADED:
        harder = _harder(_reference(settings, clips, GAP_S), settings, clips, case)
        return [_heard(case, ENGINE, FOLLOWERS[f"{clock} {ENGINE}"](settings, [harder.samples]), harder)]
    reference = _reference(settings, clips, GAP_S)
    return [
        _heard("alone", system, FOLLOWERS[f"{clock} {system}"](settings, [reference.samples]), reference)
        for system in (ENGINE, BASELINE)
    ]


# --- cases -----------------------------------------------------------------------------------------------------------


def _reference(settings: Settings, clips: Sequence[SpeechSample], gap_s: float) -> Reference:
    model = settings.live.model
    samples, text = recording(clips, gap_s)
    best = "base" if resolution.is_present(WhisperSettings(), settings.data, "base") else model
    said = words_of(load_whisper(WhisperSettings(), settings.data, best), clips, gap_s)
    return Reference(samples, text, tuple(said), tuple(ends(said, samples)), _word_errors(settings, samples, text))


def _harder(clean: Reference, settings: Settings, clips: Sequence[SpeechSample], name: str) -> Reference:
    """Return the recording made harder to hear; words are timed by the clean one, but where speed or pitch changed."""
    if name in MOVED:
        moved = [replace(clip, samples=DEGRADED[name](clip.samples)) for clip in clips]
        return _reference(settings, moved, GAP_S)
    samples = DEGRADED[name](clean.samples)
    return replace(clean, samples=samples, word_errors_offline=_word_errors(settings, samples, clean.text))


def _word_errors(settings: Settings, samples: Samples, text: str) -> float:
    """Return percent, of the measured model, offline."""
    whisper = load_whisper(WhisperSettings(), settings.data, settings.live.model)
    heard = " ".join(u.transcript for u in whisper.transcribe(source(samples), lang="en").utterances)
    return score(text, heard)[1]


def _heard(case: str, system: str, followed: Followed, reference: Reference) -> LiveFigures:
    found = judge(followed.told[0], reference.said, reference.ends_s)
    return LiveFigures(
        case=case,
        system=system,
        talkers=1,
        audio_s=round(followed.audio_s, 1),
        shown_p50=_percentile(found.shown_s, 50),
        shown_p95=_percentile(found.shown_s, 95),
        final_p50=_percentile(found.final_s, 50),
        final_p95=_percentile(found.final_s, 95),
        final_worst=_percentile(found.final_s, 100),
        word_errors=score(reference.text, found.text)[1],
        word_errors_offline=reference.word_errors_offline,
        revised=round(100 * found.revised / max(1, found.words), 1),
        lag_p95=_percentile(followed.late_s, 95),
        cpu_per_s=_share(followed, 3),
    )


def _talkers(settings: Settings, clips: Sequence[SpeechSample], count: int, clock: str) -> LiveFigures:
    """Measure so many people who talk without a pause, on one core; each begins elsewhere in the clips."""
    samples, _ = recording(clips, 0.2)
    length = round(TALK_S * RATE)
    tracks = [np.roll(samples, -n * len(samples) // count)[:length] for n in range(count)]
    return _cost("talkers", count, FOLLOWERS[f"{clock} {ENGINE}"](settings, tracks))


def _cost(case: str, talkers: int, followed: Followed) -> LiveFigures:
    return LiveFigures(
        case=case,
        system=ENGINE,
        talkers=talkers,
        audio_s=round(followed.audio_s, 1),
        lag_p95=_percentile(followed.late_s, 95),
        cpu_per_s=_share(followed, 4),
    )


# --- report ----------------------------------------------------------------------------------------------------------


def _percentile(values: Sequence[float], percent: float) -> float | None:
    return round(float(np.percentile(values, percent)), 2) if values else None


def _share(followed: Followed, digits: int) -> float | None:
    return None if followed.cpu_s is None else round(followed.cpu_s / followed.audio_s, digits)


def _over_offline(found: Sequence[LiveFigures]) -> float | None:
    row = found[0]
    if row.word_errors is None or row.word_errors_offline is None:
        return None
    return round(row.word_errors - row.word_errors_offline, 2)


def _lag_of_six(found: Sequence[LiveFigures]) -> float | None:
    return next((row.lag_p95 for row in found if row.case == "talkers" and row.talkers >= 6), None)


LIMITS = (
    LiveLimit("word first shown p50, s", 0.8, lambda found: found[0].shown_p50),
    LiveLimit("final after end of speech p95, s", 0.9, lambda found: found[0].final_p95),
    LiveLimit("word errors above offline, points", 2.5, _over_offline),
    LiveLimit("lag p95 of six continuous talkers on one core, s", 1.0, _lag_of_six),
)


# Heading → field of Figures.
COLUMNS = {
    "Shown p50 s": "shown_p50",
    "Shown p95 s": "shown_p95",
    "Final p50 s": "final_p50",
    "Final p95 s": "final_p95",
    "Worst s": "final_worst",
    "WER %": "word_errors",
    "Offline %": "word_errors_offline",
    "Revised /100": "revised",
    "Lag p95 s": "lag_p95",
    "CPU/s": "cpu_per_s",
}


def _report(found: Sequence[LiveFigures], limits: Sequence[LiveLimit]) -> int:
    console = Console()
    table = Table("Case", "System", "Talkers", *COLUMNS, box=None)
    for row in found:
        values = [getattr(row, name) for name in COLUMNS.values()]
        table.add_row(row.case, row.system, str(row.talkers), *("–" if v is None else str(v) for v in values))
    console.print(table)
    missed = 0
    for limit in limits:
        value = limit.value(found)
        kept = value is not None and value <= limit.most
        missed += not kept
        console.print(f"{'kept  ' if kept else 'MISSED'}  {limit.title}: {value} (limit {limit.most})")
    return 1 if missed else 0
