"""What of a stream's past a reading is told, and how far it reads. The network is a script."""

from typing import Any

import numpy as np
import pytest

from sederunt.model.transcript import Word
from sederunt.transcription.sessions import Said
from sederunt.transcription.whisper import speech
from sederunt.transcription.whisper.decoding import Decoded, ReadingOptions, TimedWord, TokenPhrase
from sederunt.transcription.whisper.live.detector import silence
from sederunt.transcription.whisper.live.reader import FOLLOWS_S, TOGETHER_S, Reader, follows, recites, untold
from sederunt.transcription.whisper.live.track import OpenUtterance
from sederunt.transcription.whisper.reading import AROUND_S, Manner
from sederunt.transcription.whisper.speech import FRAME, FRAME_S, RATE, Samples, SpeechActivity


def utterance(start_s: float) -> OpenUtterance:
    return OpenUtterance("2", round(start_s * RATE), np.zeros(RATE, np.int16), silence(31))


def test_an_utterance_follows_what_ended_shortly_before_it() -> None:
    before = Said(key="1", start=1.0, end=4.0, transcript="And so.", confidence=0.9)
    assert follows(before, utterance(4.0 + FOLLOWS_S - 0.1))
    assert not follows(before, utterance(4.0 + FOLLOWS_S + 0.1))


def test_nothing_follows_a_cough() -> None:
    assert not follows(Said(key="1", start=1.0, end=4.0, transcript="", confidence=0.0), utterance(4.2))


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Thank you.", "thank you"),
        ("And here are some words.", "And here are some more words. And here are some, yes."),
        ("It is so. And here we are now. And here we are now.", "Something else."),
    ],
)
def test_what_a_network_was_told_it_may_recite(text: str, before: str) -> None:
    assert recites(text, before)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("It was the worst of times.", "It was the best of times."),
        ("Words, words, words, words.", "We are just saying some words."),
        ("Thank you.", "Thank you all."),
    ],
)
def test_what_people_say_again_is_no_recital(text: str, before: str) -> None:
    assert not recites(text, before)


def phrase(text: str, *starts: float) -> TokenPhrase:
    words = [TimedWord(f" {word}", start, start + 0.4, 0.9) for word, start in zip(text.split(), starts, strict=True)]
    return TokenPhrase(starts[0], None, tuple(words))


@pytest.mark.parametrize(
    ("phrases", "new"),
    [
        ([phrase("And so my friends,", 0.1, 0.6, 2.5, 3.0)], "my friends,"),
        ([phrase("And so so my friends,", 0.1, 0.5, 2.2, 2.5, 3.0)], "my friends,"),
        ([phrase("And so, my so friends,", 0.1, 0.5, 2.2, 2.6, 3.0)], "my so friends,"),
        ([phrase("And", 0.1), phrase("so", 0.6)], ""),
        ([phrase("And so my friends,", 2.0, 2.2, 2.5, 3.0)], "my friends,"),
        ([phrase("so and so my friends,", 0.9, 2.0, 2.2, 2.5, 3.0)], "my friends,"),
    ],
)
def test_of_sound_that_was_read_along_nothing_is_told_twice(phrases: list[TokenPhrase], new: str) -> None:
    words = (Word(word="And", start=11, end=11.4, confidence=0.9), Word(word="so.", start=11.6, end=12, confidence=0.9))
    before = Said(key="1", start=11.0, end=12.0, transcript="And so.", confidence=0.9, words=words)
    found = untold(phrases, before, first_s=10.0)
    assert "".join(word.text for each in found for word in each.words).strip() == new


class Listener:
    """Hears one word per second of all sound that it is given, and notes how much that was."""

    def __init__(self, guesses_from_s: float = 30.0) -> None:
        self.guesses_from_s = guesses_from_s
        self.heard_s: list[float] = []
        self.prompts: list[tuple[int, ...]] = []

    def tokens(self, text: str) -> list[int]:
        return [len(text)]

    def read(self, samples: Samples, way: ReadingOptions) -> Decoded:
        self.heard_s.append(round(len(samples) / RATE, 1))
        self.prompts.append(way.prompt)
        words = tuple(TimedWord(f" w{n}", n + 0.3, n + 0.9, 0.9) for n in range(round(len(samples) / RATE)))
        score = -2.0 if len(samples) / RATE > self.guesses_from_s else -0.3
        return Decoded((TokenPhrase(0.0, None, words),), "words", score=score, silence=0.1, language="en")


def test_what_was_said_just_before_is_heard_along_and_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "listen", all_loud)
    ear = Listener()
    network: Any = ear
    reader = Reader(network, Manner(language="en"))
    first, _ = reader.final(said_in("1", at_s=0, seconds=3))
    second, end_s = reader.final(said_in("2", at_s=3.5, seconds=2))
    assert (first.transcript, second.transcript) == ("w0 w1 w2", "w3 w4")
    assert end_s == pytest.approx(2.0, abs=0.05)
    assert second.start >= first.end
    reader.final(said_in("3", at_s=16, seconds=2))
    assert ear.heard_s == [3.0, 5.5, 2.0], "what was said long before is left out"


def test_what_reads_badly_along_with_what_was_before_is_read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "listen", all_loud)
    ear = Listener(guesses_from_s=4)
    network: Any = ear
    reader = Reader(network, Manner(language="en"))
    reader.final(said_in("1", at_s=0, seconds=3))
    second, _ = reader.final(said_in("2", at_s=3.5, seconds=2))
    assert second.transcript == "w0 w1"
    assert ear.heard_s == [3.0, 5.5, 2.0], "once along, once alone"
    assert ear.prompts[-1] == (len(" w0 w1 w2"),), "told the text instead"


def test_where_there_is_no_room_for_sound_its_text_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "listen", all_loud)
    ear = Listener()
    network: Any = ear
    reader = Reader(network, Manner(language="en"))
    reader.final(said_in("1", at_s=0, seconds=3))
    reader.final(said_in("2", at_s=4, seconds=round(TOGETHER_S)))
    assert ear.heard_s == [3.0, TOGETHER_S]
    assert ear.prompts == [(), (len(" w0 w1 w2"),)]


class Stuttering:
    """Writes the same letter again and again, and is sure of it."""

    def read(self, samples: Samples, _way: ReadingOptions) -> Decoded:
        words = (
            TimedWord(" So", 0.0, 0.3, 0.98),
            *(TimedWord("-E", 0.3 + n / 10, 0.4 + n / 10, 0.98) for n in range(24)),
        )
        text = "".join(word.text for word in words)
        return Decoded((TokenPhrase(0.0, None, words),), text, score=-0.05, silence=0.1, language="en")


def test_a_final_never_says_the_loop_of_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "listen", all_loud)
    network: Any = Stuttering()
    reader = Reader(network, Manner(language="en"))
    for key, at_s in (("1", 0.0), ("2", 3.5)):
        assert "E" not in reader.final(said_in(key, at_s=at_s, seconds=3))[0].transcript


def all_loud(samples: Samples) -> SpeechActivity:
    frames = np.full(len(samples) // FRAME, 0.9, np.float32)
    return SpeechActivity(frames, frames)


def said_in(key: str, *, at_s: float, seconds: float) -> OpenUtterance:
    samples = np.ones(round(seconds * RATE) // FRAME * FRAME, np.int16)
    return OpenUtterance(key, round(at_s * RATE) // FRAME * FRAME, samples, silence(len(samples) // FRAME))


class Deaf:
    """Hears one word per second, and of long sound nothing behind the fourth second."""

    def read(self, samples: Samples, _way: ReadingOptions) -> Decoded:
        seconds = len(samples) / RATE
        count = 4 if seconds > 6 else int(seconds)
        words = tuple(TimedWord(f" w{n}", n + 0.1, n + 0.9, 0.9) for n in range(count))
        return Decoded((TokenPhrase(0.0, None, words),), "words", score=-0.3, silence=0.1, language="en")


@pytest.mark.parametrize(("clean", "end_s", "said_until_s"), [(True, 8.0, 7.0), (False, 4.0, 4.0)])
def test_the_end_that_a_reading_left_out_is_read_unless_the_next_utterance_has_it(
    monkeypatch: pytest.MonkeyPatch, clean: bool, end_s: float, said_until_s: float
) -> None:
    frames = np.full(round(8 / FRAME_S), 0.9, np.float32)
    monkeypatch.setattr(speech, "listen", lambda _samples: SpeechActivity(frames, frames))
    network: Any = Deaf()
    whole = OpenUtterance("1", 0, np.ones(8 * RATE, np.int16), silence(len(frames)), clean=clean)
    said, end = Reader(network, Manner(language="en")).final(whole)
    assert end == pytest.approx(end_s, abs=0.3)
    assert said.end == pytest.approx(said_until_s, abs=AROUND_S)
