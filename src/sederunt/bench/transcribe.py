"""What the model in the box costs and loses on speech with known words, beside plain faster-whisper in the same run.

Each case runs in a process of its own, so that its peak memory is its own. Figures are CPU-seconds per second of
sound; the sets are small, differences under 2.5 points of word error are noise.
"""

import json
import multiprocessing
import resource
import tempfile
import wave
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sederunt import log
from sederunt.bench.degraded import DEGRADED
from sederunt.bench.meter import peak_rss_kib
from sederunt.bench.words import as_counted
from sederunt.media.pcm import Block, read_pcm
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import resolution
from sederunt.transcription.whisper.loading import load_whisper
from sederunt.transcription.whisper.quality import QUALITIES
from sederunt.transcription.whisper.sound import PcmSource
from sederunt.transcription.whisper.speech import RATE, Samples

# A run of this many missing words is lost speech, not a misheard word.
LOST_RUN = 5
GAP_S = 0.7
HOUR_S = 3600.0

# What an engine is given: samples, or a file that it reads by itself.
Sound = Samples | Path


@dataclass(frozen=True, slots=True)
class SpeechSample:
    samples: Samples
    text: str
    id: str = ""  # by which a practice meeting can say it


@dataclass(frozen=True, slots=True)
class TranscribeCase:
    """Recordings to transcribe, and their words; no words where nobody speaks."""

    name: str
    recordings: tuple[tuple[Sound, str], ...]


@dataclass(frozen=True, slots=True)
class TranscribeFigures:
    """One line of the report."""

    case: str
    engine: str
    model: str
    audio_s: float
    words: int  # in the reference
    word_errors: float | None  # percent
    lost: float | None  # percent of the words, in deleted runs of five or more
    invented: int | None  # words where nobody spoke
    cpu_per_s: float
    peak_rss_mb: float
    spread: float | None  # points of word error between the best and the worst recording, where all have the same words


def bench_transcribe(models: list[str], names: list[str], engines: list[str], speech: Path | None, data: Path) -> int:
    """Run the cases, print a table and one JSON line per case; the exit code. Blocks for half an hour."""
    folder = speech or Path(str(files("sederunt.practice") / "speech"))
    wanted = [name for name in CASES if not names or name in names]
    found = []
    runs = [
        (engine, model, case)
        for model in models
        for case in wanted
        for engine in ENGINES
        if not engines or engine in engines
    ]
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=len(runs))
        for engine, model, case in runs:
            progress.update(bar, description=f"{model} {case} {engine}")
            found.append(measure(engine, model, case, folder, data))
            progress.advance(bar)
    _print(found)
    return 0


def measure(engine: str, model: str, case: str, speech: Path, data: Path) -> TranscribeFigures:
    """Measure one case by one engine, in a new process. Raises what the child raised."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_run, (engine, model, case, speech, data))


def _run(engine: str, model: str, case: str, speech: Path, data: Path) -> TranscribeFigures:
    log.configure("lines", "warning")
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-") as scratch:
        recordings = CASES[case](clips_of(speech), Path(scratch)).recordings
        transcribe = ENGINES[engine](resolution.resolve(WhisperSettings(), data, model).name, data)
        before = _cpu_s()
        heard = [transcribe(sound) for sound, _ in recordings]
        spent, peak_mb = _cpu_s() - before, peak_rss_kib() / 1024  # before counting words, which takes memory too
        audio_s = sum(_seconds(sound) for sound, _ in recordings)
    reference = " ".join(text for _, text in recordings)
    words, errors, lost = score(reference, " ".join(heard)) if reference.strip() else (0, None, None)
    texts = [text for _, text in recordings]
    return TranscribeFigures(
        case=case,
        engine=engine,
        model=model,
        audio_s=round(audio_s, 1),
        words=words,
        word_errors=errors,
        lost=lost,
        invented=None if words else len(" ".join(heard).split()),
        cpu_per_s=round(spent / audio_s, 4),
        peak_rss_mb=round(peak_mb, 1),
        spread=spread(texts, heard),
    )


def score(reference: str, heard: str) -> tuple[int, float, float]:
    """Return (reference words, percent wrong, percent lost in runs), words as `as_counted` counts them."""
    import jiwer

    output = jiwer.process_words(as_counted(reference), as_counted(heard))
    words = output.hits + output.substitutions + output.deletions
    runs = [c.ref_end_idx - c.ref_start_idx for c in output.alignments[0] if c.type == "delete"]
    lost = sum(run for run in runs if run >= LOST_RUN)
    return words, round(100 * output.wer, 2), round(100 * lost / words, 2)


def spread(references: Sequence[str], heard: Sequence[str]) -> float | None:
    """Return by how many points of word error readings of the same words, in whatever order, differ at most.

    None where the words are not the same, or where nothing is to be compared.
    """
    same_words = len({tuple(sorted(text.split())) for text in references}) == 1
    if len(references) < 2 or not same_words or not references[0].strip():
        return None
    errors = [score(text, each)[1] for text, each in zip(references, heard, strict=True)]
    return round(max(errors) - min(errors), 2)


# --- engines ---------------------------------------------------------------------------------------------------------


def _ours(model: str, data: Path, quality: str = "balanced") -> Callable[[Sound], str]:
    whisper = load_whisper(WhisperSettings(), data, model)
    return lambda sound: _text(whisper.transcribe(source(sound), lang="en", quality=QUALITIES[quality]).utterances)


def _faster_whisper(model: str, data: Path, *, beams: int = 1, vad_filter: bool = False) -> Callable[[Sound], str]:
    """Transcribe by faster-whisper's own sequential loop, with word times."""
    from faster_whisper import WhisperModel

    directory = resolution.resolve(WhisperSettings(), data, model).directory
    loaded = WhisperModel(str(directory), device="cpu", compute_type="int8", cpu_threads=1)

    def transcribe(sound: Sound) -> str:
        given = str(sound) if isinstance(sound, Path) else sound
        segments, _ = loaded.transcribe(
            given, language="en", beam_size=beams, word_timestamps=True, vad_filter=vad_filter
        )
        return " ".join(segment.text.strip() for segment in segments)

    return transcribe


ENGINES: dict[str, Callable[[str, Path], Callable[[Sound], str]]] = {
    "sederunt": _ours,
    "sederunt-best": partial(_ours, quality="best"),
    "plain": _faster_whisper,
    "beam5": partial(_faster_whisper, beams=5),
    "vad_filter": partial(_faster_whisper, vad_filter=True),
}


def _text(utterances: Iterable[Any]) -> str:
    return " ".join(utterance.transcript for utterance in utterances)


def source(sound: Sound) -> PcmSource:
    if isinstance(sound, Path):
        return lambda start_s: read_pcm(sound, start_s=start_s)
    samples = sound

    def blocks(start_s: float) -> Iterator[Block]:
        for first in range(round(start_s * RATE), len(samples), 30 * RATE):
            yield Block(start_s=first / RATE, samples=samples[first : first + 30 * RATE])

    return blocks


# --- cases -----------------------------------------------------------------------------------------------------------


def clips_of(folder: Path) -> list[SpeechSample]:
    """Return the English clips of a folder with a transcripts.json; cuts of a longer clip are left out."""
    listed = json.loads((folder / "transcripts.json").read_text(encoding="utf-8"))
    return [
        SpeechSample(
            np.concatenate([block.samples for block in read_pcm(folder / entry["file"])]), entry["text"], entry["id"]
        )
        for entry in listed
        if entry.get("text") and entry.get("lang", "en") == "en" and not entry.get("start_s")
    ]


def _each_alone(clips: list[SpeechSample], _scratch: Path) -> TranscribeCase:
    return TranscribeCase("clips", tuple((clip.samples, clip.text) for clip in clips))


def _one_after_another(clips: list[SpeechSample], _scratch: Path) -> TranscribeCase:
    """Return the clips in a row as they are listed, and in other orders: where windows end decides about single words,
    and in one order a single end may cost four points.
    """
    return TranscribeCase("long", tuple(joined(each) for each in (clips, *_other_orders(clips))))


def _quiet_and_changing(clips: list[SpeechSample], _scratch: Path) -> TranscribeCase:
    """Return three orders of the clips, levels from a fiftieth to the full one, a little room noise."""
    recordings = []
    for shuffled in _other_orders(clips):
        levels = (1.0, 0.3, 0.1, 0.02)
        faded = [SpeechSample(clip.samples * np.float32(levels[n % 4]), clip.text) for n, clip in enumerate(shuffled)]
        samples, text = joined(faded)
        recordings.append((samples + _noise(len(samples), 0.0001), text))
    return TranscribeCase("hard", tuple(recordings))


def _degraded(clips: list[SpeechSample], _scratch: Path, *, kind: str) -> TranscribeCase:
    """Return the clips in a row as they are listed and in another order, made harder to hear."""
    orders = (clips, _other_orders(clips)[0])
    heard = [[SpeechSample(DEGRADED[kind](clip.samples), clip.text) for clip in order] for order in orders]
    return TranscribeCase(kind, tuple(map(joined, heard)))


def _other_orders(clips: list[SpeechSample]) -> list[list[SpeechSample]]:
    """Return the clips in three orders, the same ones in every run."""
    return [[clips[i] for i in np.random.default_rng(order).permutation(len(clips))] for order in range(3)]


def _shifted(clips: list[SpeechSample], _scratch: Path) -> TranscribeCase:
    """Return the clips in a row nine times, a tenth of a second sooner or later and a decibel softer or louder: what a
    reading of them depends on beyond the words.
    """
    samples, text = joined(clips)
    samples = samples + _noise(len(samples), 0.0001)
    lead = RATE // 10
    return TranscribeCase(
        "coin flips",
        tuple(
            (np.pad(samples, (shift, 0)) * np.float32(10 ** (decibels / 20)), text)
            for shift in (0, lead, 2 * lead)
            for decibels in (-1, 0, 1)
        ),
    )


def _nobody(_clips: list[SpeechSample], _scratch: Path) -> TranscribeCase:
    """Five minutes in which nobody speaks: silence, noise, keys, a tune."""
    count = 75 * RATE
    seconds = np.arange(count) / RATE
    notes = 220 * 2 ** (np.random.default_rng(1).integers(0, 24, 150) / 12)
    tune = sum(
        0.1 * np.sin(2 * np.pi * notes[n] * seconds) * np.exp(-3 * np.maximum(seconds - n / 2, 0)) * (seconds >= n / 2)
        for n in range(0, 150, 3)
    )
    clicks = (np.random.default_rng(2).random(count) < 0.0002) * 0.5
    parts = (np.zeros(count), _noise(count, 0.02), clicks, tune)
    return TranscribeCase("nobody", ((np.concatenate(parts).astype(np.float32), ""),))


def _sparse(clips: list[SpeechSample], _scratch: Path) -> TranscribeCase:
    """Return one person's track of half an hour: ten turns, silence between."""
    samples = np.zeros(1800 * RATE, np.float32)
    texts = []
    for turn in range(10):
        clip = clips[turn % len(clips)]
        first = turn * 180 * RATE
        samples[first : first + len(clip.samples)] = clip.samples
        texts.append(clip.text)
    return TranscribeCase("sparse", ((samples, " ".join(texts)),))


def _hour(clips: list[SpeechSample], scratch: Path) -> TranscribeCase:
    """Write a file of an hour: the clips in one order after another. No engine is given its samples, so memory is its
    own.

    Clips come again and again: an engine that goes by what it wrote before (plain faster-whisper does) has it easier.
    """
    path, texts, written = scratch / "hour.wav", list[str](), 0
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        order = 0
        while written < HOUR_S * RATE:
            samples, text = joined([clips[n] for n in np.random.default_rng(order).permutation(len(clips))])
            file.writeframes((samples * 32_767).astype("<i2").tobytes())
            texts.append(text)
            order, written = order + 1, written + len(samples)
    return TranscribeCase("hour", ((path, " ".join(texts)),))


def _seconds(sound: Sound) -> float:
    if not isinstance(sound, Path):
        return len(sound) / RATE
    with wave.open(str(sound)) as file:
        return float(file.getnframes() / RATE)


def joined(clips: Iterable[SpeechSample]) -> tuple[Samples, str]:
    parts = list(clips)
    gap = np.zeros(round(GAP_S * RATE), np.float32)
    samples = np.concatenate([piece for clip in parts for piece in (clip.samples, gap)])
    return samples, " ".join(clip.text for clip in parts)


def _noise(count: int, level: float) -> Samples:
    return np.random.default_rng(7).normal(0, level, count).astype(np.float32)


CASES: dict[str, Callable[[list[SpeechSample], Path], TranscribeCase]] = {
    "clips": _each_alone,
    "long": _one_after_another,
    "hard": _quiet_and_changing,
    "coin flips": _shifted,
    "nobody": _nobody,
    "sparse": _sparse,
    "hour": _hour,
    **{kind: partial(_degraded, kind=kind) for kind in DEGRADED},
}


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _print(found: list[TranscribeFigures]) -> None:
    table = Table("Model", "Case", "Engine", "WER %", "Lost %", "Invented", "CPU/s", "Peak RSS MB", "Spread", box=None)
    for row in found:
        shown = (row.word_errors, row.lost, row.invented, row.cpu_per_s, row.peak_rss_mb, row.spread)
        table.add_row(row.model, row.case, row.engine, *("–" if value is None else str(value) for value in shown))
    Console().print(table)
    for row in found:
        print(json.dumps(asdict(row)))
