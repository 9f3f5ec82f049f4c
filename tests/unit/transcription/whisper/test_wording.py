"""The model's words become ours."""

import numpy as np
import pytest

from sederunt.transcription.whisper.decoding import TimedWord, TokenPhrase
from sederunt.transcription.whisper.speech import FRAME_S, SpeechActivity
from sederunt.transcription.whisper.wording import joined, tightened, utterances


def word(text: str, start: float, end: float, probability: float = 0.8) -> TimedWord:
    return TimedWord(text=text, start=start, end=end, probability=probability)


def sounding(seconds: float, start: float, end: float) -> SpeechActivity:
    loudness = np.full(round(seconds / FRAME_S), 0.0001, np.float32)
    loudness[round(start / FRAME_S) : round(end / FRAME_S)] = 0.05
    return SpeechActivity(loudness, np.where(loudness > 0.01, 0.9, 0.0).astype(np.float32))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([" Hello", ",", " you", "."], [" Hello,", " you."]),
        ([" ¿", "Qué", "?"], [" ¿Qué?"]),
        ([" he", " said", " “", "yes", "”"], [" he", " said", " “yes”"]),
        ([" -", " ."], []),
        (["日", "本", "。"], ["日", "本。"]),
    ],
)
def test_punctuation_joins_its_word(texts: list[str], expected: list[str]) -> None:
    assert [w.text for w in joined([word(text, n, n + 1) for n, text in enumerate(texts)])] == expected


def test_an_utterance_carries_text_times_and_mean_confidence() -> None:
    phrase = TokenPhrase(
        0.0, 2.0, (word(" Good", 0.5, 0.8, 0.9), word(" day", 0.8, 1.2, 0.7), word(".", 1.2, 1.2, 0.1))
    )
    [utterance] = utterances([phrase], sounding(3, 0.4, 1.3), 100.0)
    assert utterance.transcript == "Good day."
    assert [(w.word, w.start, w.end) for w in utterance.words] == [("Good", 100.5, 100.8), ("day.", 100.8, 101.2)]
    assert utterance.confidence == pytest.approx(0.8)


def test_a_word_that_takes_in_silence_is_drawn_back_to_the_sound() -> None:
    [utterance] = utterances([TokenPhrase(0.0, 6.0, (word(" Well", 0.0, 5.6),))], sounding(7, 5.0, 5.6), 0.0)
    assert utterance.words[0].start == pytest.approx(5.0, abs=0.04)


def test_a_word_is_never_longer_than_anyone_would_take_for_it() -> None:
    [utterance] = utterances([TokenPhrase(0.0, 9.0, (word(" no", 1.0, 9.0),))], sounding(10, 0.0, 10.0), 0.0)
    assert utterance.end - utterance.start < 1.0


def test_of_a_word_drawn_out_over_what_was_skipped_the_end_is_believed() -> None:
    activity = sounding(10, 4.0, 5.0)
    activity.loudness[round(7.4 / FRAME_S) : round(8.4 / FRAME_S)] = 0.05
    found = tightened(word(" Concord", 3.46, 8.4), activity)
    assert (found.start, found.end) == pytest.approx((7.4, 8.4), abs=0.05)


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ((1.0, 1.5), (2.0, 2.5)),
        ((1.6, 2.2), (2.0, 2.2)),
        ((1.9, 2.3), (1.9, 2.3)),
        ((3.8, 4.4), (3.8, 4.0)),
        ((0.1, 0.3), (0.1, 0.3)),
    ],
)
def test_a_word_takes_in_no_silence_and_lies_in_the_sound_that_follows(
    spoken: tuple[float, float], expected: tuple[float, float]
) -> None:
    found = tightened(word(" It", *spoken), sounding(5, 2.0, 4.0))
    assert (found.start, found.end) == pytest.approx(expected, abs=0.04)


def test_words_never_go_back_in_time() -> None:
    phrases = [TokenPhrase(0.0, 2.0, (word(" a", 1.0, 1.6), word(" b", 1.2, 1.4)))]
    [utterance] = utterances(phrases, sounding(3, 0.5, 2.0), 0.0)
    assert [(w.start, w.end) for w in utterance.words] == [(1.0, 1.6), (1.6, 1.6)]
