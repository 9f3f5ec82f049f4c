"""Text that goes in circles, and sound that does."""

import wave
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from sederunt.transcription.whisper.loops import Loop, loop_in, rounds_in
from sederunt.transcription.whisper.speech import RATE, Samples

CLIPS = Path(str(files("sederunt.practice") / "speech"))
COUNTRY = (5.71, 6.26)  # of jfk.wav


def clip(name: str) -> Samples:
    with wave.open(str(CLIPS / name)) as file:
        assert (file.getframerate(), file.getnchannels()) == (RATE, 1)
        return np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / np.float32(32768)


def said_again(times: int, *, varied: float = 0.0, pause_s: float = 0.3) -> Samples:
    """Somebody says a word so often; each time it is longer or shorter, and so are the pauses."""
    start, end = (round(moment * RATE) for moment in COUNTRY)
    word, chance = clip("jfk.wav")[start:end], np.random.default_rng(3)
    pieces = list[Samples]()
    for _ in range(times):
        length = round(len(word) * (1 + chance.uniform(-varied, varied)))
        pieces.append(np.interp(np.linspace(0, len(word) - 1, length), np.arange(len(word)), word).astype(np.float32))
        pieces.append(np.zeros(round(pause_s * (1 + chance.uniform(-varied, varied)) * RATE), np.float32))
    return np.concatenate(pieces)


@pytest.mark.parametrize(
    ("text", "loop"),
    [
        ("no no no no no no no", Loop(0, 7, 1)),
        ("we ask not to ask not to ask not to ask not to go", Loop(1, 13, 3)),
        ("All Americans. All Americans. All Americans. All Americans. All", Loop(0, 9, 2)),  # cut short
        ("E - E - E - E - E - E .", Loop(0, 12, 2)),  # marks are words of their own
        ("so E-E-E-E-E-E-E-E it is", Loop(1, 2, 0)),
        ("Eeeeeeeeeeeeeee", Loop(0, 1, 0)),
        ("ああああああああああ", Loop(0, 1, 0)),
        ("谢谢谢谢谢谢谢谢", Loop(0, 1, 0)),
        (3 * "I want to see it now because nobody has ever seen it. ", Loop(0, 36, 12)),
    ],
)
def test_a_loop_is_found_with_its_rounds(text: str, loop: Loop) -> None:
    assert loop_in(text.split()) == loop


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Words, words, words, words, um, and that should be all.",
        "No, no, no. Yes, yes, yes.",
        "one, two, three, four, five, six, seven",
        "It cost 1000000000000 in all.",
        "Mississippi is spelt with four of them.",
    ],
)
def test_ordinary_repetition_is_no_loop(text: str) -> None:
    assert loop_in(text.split()) is None


@pytest.mark.parametrize("times", [3, 4, 8, 13])
@pytest.mark.parametrize("varied", [0.0, 0.05])
def test_a_word_that_is_said_again_and_again_is_counted(times: int, varied: float) -> None:
    rounds = rounds_in(said_again(times, varied=varied))
    assert rounds is not None
    assert rounds.count == times
    assert rounds.period_s == pytest.approx(0.85, abs=0.05)


def test_ordinary_speech_repeats_nothing() -> None:
    for path in sorted(CLIPS.glob("*.wav")):
        sound = clip(path.name)
        for seconds in (2, 4, 8, 16):
            for start in range(0, max(1, len(sound) - seconds * RATE), 2 * RATE):
                assert rounds_in(sound[start : start + seconds * RATE]) is None, (path.name, start / RATE, seconds)


def test_what_sounds_the_same_all_the_time_repeats_nothing() -> None:
    moments = np.arange(4 * RATE) / RATE
    hum = (0.1 * np.sin(2 * np.pi * 220 * moments)).astype(np.float32)
    noise = np.random.default_rng(1).normal(0, 0.05, 4 * RATE).astype(np.float32)
    for sound in (hum, noise, hum + noise, np.zeros(4 * RATE, np.float32), hum[:100]):
        assert rounds_in(sound) is None
