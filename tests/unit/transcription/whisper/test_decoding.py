"""Tokens cut at their timestamps, and the signs of a loop."""

import pytest

from sederunt.transcription.whisper.decoding import (
    FULL_CONTEXT,
    LEAST_CONTEXT,
    ROOM,
    Decoded,
    TimedWord,
    TokenPhrase,
    TokenSpan,
    compression,
    context_for,
    split_at_timestamps,
)

TIME, SPECIAL = 1000, 900  # the first timestamp and the first special token of a made-up vocabulary


def at(seconds: float) -> int:
    return TIME + round(seconds / 0.02)


@pytest.mark.parametrize(
    ("tokens", "spans"),
    [
        ([], []),
        ([at(0), 1, 2, at(2)], [TokenSpan(0, 2, (1, 2))]),
        ([at(0), 1, at(2), at(2.5), 3, at(4)], [TokenSpan(0, 2, (1,)), TokenSpan(2.5, 4, (3,))]),
        ([at(0), 1, at(2), at(2), 3], [TokenSpan(0, 2, (1,)), TokenSpan(2, None, (3,))]),
        ([5, 6], [TokenSpan(0, None, (5, 6))]),
        ([at(0), SPECIAL + 1, 4, at(1)], [TokenSpan(0, 1, (4,))]),
        ([at(3), at(3)], []),
    ],
)
def test_text_lies_between_its_timestamps(tokens: list[int], spans: list[TokenSpan]) -> None:
    assert split_at_timestamps(tokens, TIME, SPECIAL) == spans


def decoded(text: str, score: float = -0.3, silence: float = 0.1) -> Decoded:
    return Decoded(phrases=(), text=text, score=score, silence=silence, language="en")


@pytest.mark.parametrize(
    "text",
    [
        "ask not to ask not to ask not to ask not to go",
        "no no no no no no no",
        "So we are glad to have you with us here today. E-E-E-E-E-E-E-E-E-E-E-E",
        "Willkommen in der Sendung von heute, aaaaaaaaaaaaaah",
        "I'm going to do it. I'm going to do it. I'm going to do it. I'm going to do it.",
    ],
)
def test_text_that_goes_in_circles_is_seen(text: str) -> None:
    assert decoded(text).repeats


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It was the best of times, it was the worst of times, it was the age of wisdom.",
        "words words words words um and that should be all",
        "No, no, no. Yes, yes, yes.",
    ],
)
def test_ordinary_repetition_is_not(text: str) -> None:
    assert not decoded(text).repeats


def test_silence_takes_a_doubt_and_a_bad_reading() -> None:
    assert decoded("Thank you.", score=-1.4, silence=0.8).is_silence
    assert decoded("be be be be be be be", score=-0.1, silence=0.8).is_silence
    assert not decoded("Hello there, how are you?", score=-0.3, silence=0.8).is_silence
    assert not decoded("Thank you.", score=-1.4, silence=0.2).is_silence


def test_ordinary_speech_does_not_pack_well() -> None:
    assert compression("And you always want to see it in the superlative degree.") < 1.5
    assert compression("I see. " * 40) > 2.4
    assert compression("") == 0


def test_a_context_has_room_behind_the_sound_and_is_never_too_short() -> None:
    assert context_for(500, LEAST_CONTEXT) == LEAST_CONTEXT
    assert context_for(1234, LEAST_CONTEXT) == 1234 + ROOM
    assert context_for(2900, LEAST_CONTEXT) == FULL_CONTEXT
    assert context_for(500, FULL_CONTEXT) == FULL_CONTEXT


def spoken(*times: float) -> Decoded:
    """Words that take so many seconds each, one after the other."""
    starts = [sum(times[:n]) for n in range(len(times))]
    words = tuple(
        TimedWord(f" w{n}", at, at + time, 0.9) for n, (at, time) in enumerate(zip(starts, times, strict=True))
    )
    return Decoded(phrases=(TokenPhrase(0.0, None, words),), text="words", score=-0.3, silence=0.1, language="en")


def test_words_that_take_no_time_in_the_midst_of_speech_are_a_second_reading_of_it() -> None:
    assert spoken(0.3, 0.2, 0.0, 0.0, 0.02, 0.0, 0.0, 0.4).repeats


def test_a_few_hasty_words_are_speech() -> None:
    assert not spoken(0.3, 0.0, 0.02, 0.2, 0.0, 0.0, 0.4).repeats


def test_words_that_take_no_time_at_the_end_are_no_reason_to_read_again() -> None:
    assert not spoken(0.3, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0).repeats
