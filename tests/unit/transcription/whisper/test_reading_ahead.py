"""Windows that are read together, and what becomes of those behind one that ends sooner."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pytest

from sederunt.media.pcm import Block
from sederunt.transcription.scheduler import Turns
from sederunt.transcription.whisper import speech
from sederunt.transcription.whisper.decoding import Decoded, Encoded, ReadingOptions, TimedWord, TokenPhrase
from sederunt.transcription.whisper.engine import HeardWords, Whisper
from sederunt.transcription.whisper.speech import FRAME, RATE, Samples, SpeechActivity
from sederunt.transcription.whisper.speech_network import SpeechNetwork

SPOKEN = 0.05


class Sayings:
    """A network that says a word a second, as loud as the sound is. It stops early in its first window where it is told
    to. Every `ends`th word ends a sentence.
    """

    multilingual, languages = False, frozenset({"en"})

    def __init__(self, *, stops_s: float | None = None, ends: int | None = None) -> None:
        self._stops_s, self._ends = stops_s, ends
        self.steps = list[str]()

    def read(self, samples: Samples, reading: ReadingOptions, /) -> Decoded:
        self.steps.append("read")
        return self.said(samples)

    def said(self, samples: Samples) -> Decoded:
        until_s, self._stops_s = self._stops_s or len(samples) / RATE, None
        heard = [n for n in range(int(until_s)) if np.abs(samples[n * RATE : (n + 1) * RATE]).max() > SPOKEN / 2]
        levels = [round(abs(float(samples[n * RATE + RATE // 2])) * 1e4) for n in heard]
        words = tuple(
            TimedWord(f" {level}{self._mark(level)}", n + 0.1, n + 0.9, 0.9)
            for n, level in zip(heard, levels, strict=True)
        )
        text = "".join(word.text for word in words).strip()
        return Decoded((TokenPhrase(0.0, None, words),) if words else (), text, -0.3, 0.05, "en")

    def _mark(self, level: int) -> str:
        return "." if self._ends and (level + 1) % self._ends == 0 else ""

    def odds(self, samples: Samples, *, thorough: bool = False) -> dict[str, float]:
        return {}

    def tokens(self, text: str) -> list[int]:
        return []


class Pairs(Sayings):
    """The same in two halves, of which the second takes several windows."""

    def __init__(self, at_once: int = 2, *, stops_s: float | None = None, ends: int | None = None) -> None:
        super().__init__(stops_s=stops_s, ends=ends)
        self.windows_at_once = at_once

    def encode(self, samples: Samples, *, context: int) -> Encoded:
        self.steps.append("encode")
        return Encoded((samples, context), len(samples) // 160)

    def read_encoded(self, windows: Sequence[Encoded], reading: ReadingOptions) -> list[Decoded]:
        self.steps.append(f"read {len(windows)} of {len({each.output[1] for each in windows})} length")
        return [self.said(each.output[0]) for each in windows]


@pytest.fixture(autouse=True)
def heard_by_loudness(monkeypatch: pytest.MonkeyPatch) -> None:
    """The detector hears whatever is loud: what is tried here is what follows from it."""

    def listen(samples: Samples) -> SpeechActivity:
        levels = speech.loudness(samples)
        return SpeechActivity(levels, np.where(levels > SPOKEN / 2, 0.95, 0.0).astype(np.float32))

    monkeypatch.setattr(speech, "listen", listen)


def counting(seconds: int) -> Samples:
    """Each second at a level of its own, with a pause after every five."""
    levels = SPOKEN + np.arange(seconds, dtype=np.float32) * 1e-4
    samples = np.repeat(levels, RATE)
    for n in range(5, seconds, 5):
        samples[n * RATE - RATE // 4 : n * RATE + RATE // 4] = 0.0001
    return samples


def transcribed(network: SpeechNetwork, samples: Samples) -> HeardWords:
    def source(start_s: float) -> Iterator[Block]:
        yield Block(start_s=start_s, samples=samples[round(start_s * RATE) :])

    return Whisper("sayings", network, lambda: None).transcribe(source, lang="en")


def test_windows_that_are_read_together_say_what_each_says_alone() -> None:
    samples = counting(100)
    several, one, whole = Pairs(), Pairs(1), Sayings()
    found = transcribed(several, samples)
    assert found == transcribed(one, samples) == transcribed(whole, samples)
    assert "read 2 of 1 length" in several.steps
    assert set(one.steps) == {"encode", "read 1 of 1 length"}
    assert set(whole.steps) == {"read"}


def test_no_turn_holds_more_than_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = Turns.offer
    for network in (Pairs(), Pairs(1), Sayings()):

        def offer(turns: Turns, steps: list[str] = network.steps) -> None:
            steps.append("")
            offered(turns)

        monkeypatch.setattr(Turns, "offer", offer)
        transcribed(network, counting(100))
        assert len(network.steps) > 6
        assert all("" in pair for pair in pairwise(network.steps))


def test_what_was_read_behind_a_window_that_ends_sooner_counts_for_nothing() -> None:
    samples = counting(50)
    found = transcribed(Pairs(stops_s=6.0), samples)
    assert found == transcribed(Pairs(1, stops_s=6.0), samples) == transcribed(Sayings(stops_s=6.0), samples)
    said = [word.word for utterance in found.utterances for word in utterance.words]
    assert len(said) == len(set(said)) >= 45


def test_a_sentence_that_goes_on_behind_a_window_is_said_once_and_in_one_window() -> None:
    samples = counting(60)
    found = transcribed(Pairs(ends=10), samples)
    assert found == transcribed(Pairs(1, ends=10), samples) == transcribed(Sayings(ends=10), samples)
    said = [word.word for utterance in found.utterances for word in utterance.words]
    assert len(said) == len(set(said)) >= 55
    assert all(utterance.transcript.endswith(".") for utterance in found.utterances)


@pytest.mark.parametrize("rest", [1, FRAME // 2, FRAME - 1])
def test_a_last_frame_that_is_cut_is_no_window_of_its_own(rest: int) -> None:
    network = Pairs()
    transcribed(network, counting(9)[: 8 * RATE + rest])
    assert network.steps == ["encode", "read 1 of 1 length"]
