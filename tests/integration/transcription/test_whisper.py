"""What real Whisper hears, what it leaves alone, and what a crash costs."""

import resource
import subprocess
import sys
import threading
import wave
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sederunt.errors import Cancelled
from sederunt.settings import Settings
from sederunt.transcription import models as table
from sederunt.transcription.plugins import provider
from sederunt.transcription.provider import FinishedPart, Task
from sederunt.transcription.scheduler import lane_alone
from sederunt.transcription.whisper.decoding import FULL_CONTEXT, Decoded, Encoded, Network, ReadingOptions
from sederunt.transcription.whisper.engine import HeardWords, Whisper
from sederunt.transcription.whisper.quality import QUALITIES
from sederunt.transcription.whisper.speech import RATE, Samples

Clips = dict[str, Any]
MakeTape = Callable[..., Any]


def text(heard: HeardWords) -> str:
    return " ".join(utterance.transcript for utterance in heard.utterances)


def words(heard: HeardWords) -> list[str]:
    return [word.word for utterance in heard.utterances for word in utterance.words]


def test_speech_becomes_its_words(
    tiny: Whisper, clips: Clips, tape: MakeTape, errors: Callable[[str, str], float]
) -> None:
    clip = clips["two_cities"]
    heard = tiny.transcribe(tape(clip.seconds, (0, clip)), lang="en")
    assert errors(clip.text, text(heard)) < 0.08


@pytest.mark.parametrize("quality", ["fast", "balanced", "best"])
def test_words_do_not_depend_on_how_many_windows_are_decoded_together(
    tiny: Whisper, clips: Clips, tape: MakeTape, quality: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [clips[name] for name in ("two_cities", "librivox_0880", "jfk")]
    starts = list(accumulate((clip.seconds + 1.3 for clip in said), initial=0.5))
    sound = tape(starts[-1], *zip(starts, said, strict=False))
    found = list[HeardWords]()
    for at_once in (1, 2):
        monkeypatch.setattr(tiny.network, "windows_at_once", at_once)
        found.append(tiny.transcribe(sound, lang="en", quality=QUALITIES[quality]))
    one, two = ([word for utterance in heard.utterances for word in utterance.words] for heard in found)
    assert [word.word for word in one] == [word.word for word in two]
    assert max(abs(a.start - b.start) + abs(a.end - b.end) for a, b in zip(one, two, strict=True)) == 0


@pytest.mark.parametrize("samples", [0, 100, 160, 319, 320, 480, 639])
def test_sound_that_is_too_short_for_a_word_has_none(tiny: Whisper, samples: int) -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, samples).astype(np.float32)
    assert tiny.network.read(noise, ReadingOptions()).phrases == ()


def test_a_window_that_is_read_otherwise_is_encoded_once(tiny: Whisper, clips: Clips) -> None:
    network = tiny.network
    assert isinstance(network, Network)
    sound = clips["jfk"].samples
    once = network.encode(sound)
    assert network.encode(sound) is once
    assert network.encode(sound, context=FULL_CONTEXT) is not once
    assert network.encode(sound[RATE:]) is not once
    with ThreadPoolExecutor(1) as other:
        assert other.submit(network.encode, sound).result() is not network.encode(sound)


def test_what_a_thread_encoded_last_is_forgotten_with_the_sound(tiny: Whisper, clips: Clips) -> None:
    network = tiny.network
    assert isinstance(network, Network)
    sound = clips["jfk"].samples[: 2 * RATE]
    kept = weakref.ref(network.encode(sound).output)
    assert kept() is not None
    del sound
    assert kept() is None


@pytest.mark.parametrize(("said", "at", "times", "every_s"), [("country", 5.71, 4, 0.91), ("america", 1.51, 8, 0.99)])
def test_a_word_that_is_said_again_and_again_is_written_as_often(
    tiny: Whisper, base: Whisper, clips: Clips, tape: MakeTape, said: str, at: float, times: int, every_s: float
) -> None:
    """The networks wrote it ten or thirteen times, or nothing was left of it."""
    whole = clips["jfk"]
    once = type(whole)(whole.samples[round(at * RATE) : round((at + 0.64) * RATE)], said)
    sound = tape(times * every_s, *((every_s * n, once) for n in range(times)))
    for model in (tiny, base):
        assert text(model.transcribe(sound, lang="en")).lower().count(said) == times, model.name


def test_words_lie_where_they_were_spoken(tiny: Whisper, clips: Clips, tape: MakeTape) -> None:
    first, second = clips["librivox_0880"], clips["superlative"]
    heard = tiny.transcribe(tape(40, (5, first), (30, second)), lang="en")
    for word in (word for utterance in heard.utterances for word in utterance.words):
        assert (
            4.5 <= word.start <= word.end <= 5.5 + first.seconds
            or 29.5 <= word.start <= word.end <= 31 + second.seconds
        )
    starts = [utterance.start for utterance in heard.utterances]
    assert starts == sorted(starts)
    assert starts[0] < 7
    assert starts[-1] > 29


def test_quiet_and_changing_voices_lose_no_sentence(
    tiny: Whisper, clips: Clips, tape: MakeTape, errors: Callable[[str, str], float]
) -> None:
    chosen = [clips[name] for name in ("acoustic_corpus", "jfk", "librivox_0870", "two_cities", "librivox_0890")]
    at, placed = 0.0, []
    for clip, level in zip(chosen, (0.05, 0.5, 0.03, 0.1, 0.05), strict=True):
        placed.append((at, type(clip)(clip.samples * np.float32(level), clip.text)))
        at += clip.seconds + 0.5
    heard = tiny.transcribe(tape(at, *placed), lang="en")
    assert errors(" ".join(clip.text for clip in chosen), text(heard)) < 0.15


def test_silence_noise_and_tones_have_no_words(tiny: Whisper, base: Whisper, tape: MakeTape) -> None:
    seconds = np.arange(30 * RATE) / RATE
    hum = (0.1 * np.sin(2 * np.pi * 50 * seconds)).astype(np.float32)
    ring = (0.2 * np.sin(2 * np.pi * 440 * seconds) * ((seconds % 3) < 1)).astype(np.float32)
    for sound in (tape(30), tape(30, noise=0.02), tape(30, noise=0.001), type(tape(1))(hum), type(tape(1))(ring)):
        assert words(tiny.transcribe(sound, lang="en")) == []
    assert words(base.transcribe(tape(30, noise=0.02), lang="en")) == []


def test_a_track_of_two_hours_with_little_speech_costs_little(tiny: Whisper, clips: Clips, tape: MakeTape) -> None:
    clip = clips["jfk"]
    sparse = tape(7200, (1800, clip), (5400, clip))
    before = cpu_s()
    heard = tiny.transcribe(sparse, lang="en")
    between = cpu_s()
    tiny.transcribe(tape(40, (1, clip), (20, clip)), lang="en")
    assert between - before < 4 * (cpu_s() - between)  # measured 1.3
    assert {round(utterance.start / 1800) for utterance in heard.utterances} == {1, 3}


def test_finished_parts_are_not_read_again_after_a_crash(tiny: Whisper, clips: Clips, tape: MakeTape) -> None:
    clip = clips["two_cities"]
    long = tape(100, (0, clip), (50, clip))
    kept: list[FinishedPart] = []
    stop = threading.Event()

    def keep(part: FinishedPart) -> None:
        kept.append(part)
        if part.end > 30:
            stop.set()

    with pytest.raises(Cancelled):
        tiny.transcribe(long, lang="en", on_part=keep, cancelled=stop)
    stored = [FinishedPart.from_json(part.to_json()) for part in kept]
    again: list[FinishedPart] = []
    resumed = tiny.transcribe(long, lang="en", resume=stored, on_part=again.append)
    assert again[0].start == stored[-1].end == long.opened_at[-1]
    assert resumed == tiny.transcribe(long, lang="en", lane=lane_alone(3))
    assert [part.end for part in kept + again][:-1] == [part.start for part in kept + again][1:]


def test_words_depend_neither_on_the_cores_nor_on_a_kill_between_parallel_windows(
    tiny: Whisper, clips: Clips, tape: MakeTape
) -> None:
    """Two sections are read at once and both are cut short; what was stored is not read again, the rest is."""
    long = tape(260, (2, clips["two_cities"]), (115, clips["two_cities"]), (170, clips["two_cities"]))
    whole = tiny.transcribe(long, lang="en")
    kept: list[FinishedPart] = []
    stop = threading.Event()

    def keep(part: FinishedPart) -> None:
        kept.append(part)
        if len(kept) > 2 and max(part.end for part in kept) > 125:
            stop.set()

    with pytest.raises(Cancelled):
        tiny.transcribe(long, lang="en", on_part=keep, cancelled=stop, lane=lane_alone(2))
    stored = sorted((FinishedPart.from_json(part.to_json()) for part in kept), key=lambda part: part.start)
    again: list[FinishedPart] = []
    assert tiny.transcribe(long, lang="en", resume=stored, on_part=again.append, lane=lane_alone(2)) == whole
    parts = sorted(stored + again, key=lambda part: part.start)
    assert [part.end for part in parts][:-1] == [part.start for part in parts][1:], "a stretch is missing, or twice"
    assert (parts[0].start, parts[-1].end) == (0.0, 260.0)


def test_two_tracks_at_once_hear_what_each_hears_alone(tiny: Whisper, clips: Clips, tape: MakeTape) -> None:
    tapes = [tape(12, (0, clips["jfk"])), tape(8, (0, clips["librivox_0870"]))]
    alone = [tiny.transcribe(each, lang="en") for each in tapes]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda each: tiny.transcribe(each, lang="en"), tapes)) == alone


# In a process of its own, for what other tests once held would hide a growth.
PEAKS = """
import sys
from pathlib import Path
from sederunt.bench.meter import peak_rss_kib
from sederunt.bench.transcribe import source
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper.loading import load_whisper
data, *recordings = map(Path, sys.argv[1:])
whisper = load_whisper(WhisperSettings(), data, "tiny.en")
for recording in recordings:
    whisper.transcribe(source(recording), lang="en")
    print(peak_rss_kib())
"""


@pytest.mark.usefixtures("tiny")
def test_memory_does_not_grow_with_the_recording(models: Path, clips: Clips, tape: MakeTape, tmp_path: Path) -> None:
    """Two minutes' peak and forty's: the samples of those are 154 MB."""
    short = [clip for clip in clips.values() if clip.seconds < 12]
    for name, minutes, apart in (("first.wav", 2, 15), ("long.wav", 40, 240)):
        pieces = (tape(apart, (1, short[n % len(short)])).samples for n in range(minutes * 60 // apart))
        write_wav(tmp_path / name, *pieces)
    recordings = [str(tmp_path / "first.wav"), str(tmp_path / "long.wav")]
    done = subprocess.run([sys.executable, "-c", PEAKS, str(models), *recordings], stdout=subprocess.PIPE, check=True)
    first, long = map(int, done.stdout.split()[-2:])
    assert long - first < 60_000


def test_base_tells_the_language_and_tiny_en_asks_it(
    tiny: Whisper, base: Whisper, clips: Clips, tape: MakeTape
) -> None:
    source = tape(20, (1, clips["jfk"]))
    for whisper in (base, tiny):
        guess = whisper.detect_language([source])
        assert guess is not None
        assert guess.tag == "en"
        assert guess.sure
    assert base.transcribe(source).detected_lang == "en"
    assert base.transcribe(source, lang="en-GB").detected_lang is None
    assert base.transcribe(source, lang="xx").detected_lang == "en"


def test_two_words_are_read_in_the_language_of_the_talk(
    base: Whisper, models: Path, clips: Clips, tape: MakeTape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip, row = clips["jfk"], table.find("vendor1")
    assert row is not None
    few = type(clip)(clip.samples[: round(1.2 * RATE)], "")
    write_wav(tmp_path / "few.wav", tape(6, (1, few)).samples)
    settings, task = Settings(data=models), Task(path=tmp_path / "few.wav", model=row)
    network, languages = base.network, list[str]()
    assert isinstance(network, Network)
    read = network.read_encoded

    def noted(windows: Sequence[Encoded], way: ReadingOptions) -> list[Decoded]:
        languages.append(way.language)
        return read(windows, way)

    monkeypatch.setattr(network, "read_encoded", noted)
    whisper = provider("whisper")
    assert whisper.language(settings, task) is None
    for likely, expected in ((None, "en"), ("de", "de")):
        languages.clear()
        result = whisper.transcribe(settings, replace(task, likely_lang=likely))
        assert result.detected_lang is None
        assert set(languages) == {expected}


def test_a_language_is_sure_or_none(tiny: Whisper, base: Whisper, clips: Clips, tape: MakeTape) -> None:
    speech, noise = tape(20, (1, clips["jfk"])), tape(5, noise=0.01)
    assert [base.sure_language(source) for source in (speech, noise)] == ["en", None]
    assert tiny.sure_language(noise) == "en"


def test_without_speech_no_language_is_told(base: Whisper, tape: MakeTape) -> None:
    assert base.detect_language([tape(30, noise=0.01)]) is None
    assert base.transcribe(tape(30, noise=0.01)).detected_lang is None


def test_vocabulary_helps_with_a_name_and_never_appears_over_silence(
    tiny: Whisper, clips: Clips, tape: MakeTape
) -> None:
    clip = clips["concord"]
    names = ("Concord", "Sederunt", "JetStream", "Kubernetes", "Nguyễn")
    heard = tiny.transcribe(tape(60, (40, clip)), lang="en", vocabulary=names)
    assert words(heard)[0].strip(",.").lower() == "concord"
    assert not {"sederunt", "jetstream", "kubernetes"} & {word.strip(",.").lower() for word in words(heard)}
    assert min(word.start for utterance in heard.utterances for word in utterance.words) > 39


def write_wav(path: Path, *pieces: Samples) -> None:
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        for piece in pieces:
            file.writeframes((piece * 32_767).astype("<i2").tobytes())


def cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
