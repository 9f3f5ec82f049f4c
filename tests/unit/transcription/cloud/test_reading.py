"""Vendors' JSON read, whatever became of its fields."""

from typing import Any

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.cloud.reading import (
    Token,
    Voices,
    language,
    number,
    ordered,
    records,
    share,
    utterances_of,
    with_times,
)


def token(text: str, start: float, *, speaker: int = 0, glued: bool = False, channel: int = 0) -> Token:
    word = Word(word=text.strip(".,").lower(), start=start, end=start + 0.4, confidence=0.9, speaker=speaker)
    return Token(word=word, written=text, glued=glued, ends_sentence=text.endswith("."), channel=channel)


def test_numbers_come_in_many_forms() -> None:
    odd: list[Any] = [1, "1.5", None, "x", float("nan"), [], True]
    assert [number(value) for value in odd] == [1, 1.5, 0, 0, 0, 0, 1]
    shares: list[Any] = [0.5, "0.25", 7, -1, None]
    assert [share(value) for value in shares] == [0.5, 0.25, 1, 0, 0]
    assert records({"no": "list"}) == records(None) == records("text") == []


def test_languages_have_one_form() -> None:
    tags = ["en", "en-US", "eng", "en_us", "zh-Hans", "deu", "haw", "auto", "", None, 7, "unknown"]
    assert [language(tag) for tag in tags] == ["en", "en", "en", "en", "zh", "de", "haw"] + [None] * 5


def test_voices_are_numbered_by_first_appearance() -> None:
    voices = Voices()
    assert [voices.number(label) for label in ("S2", "S1", "S2", 7)] == [0, 1, 0, 2]
    assert (len(voices), voices.labels) == (3, {0: "S2", 1: "S1", 2: 7})


def test_what_has_no_label_has_the_voice_before_it_else_the_next() -> None:
    voices = Voices()
    labels: list[Any] = [None, "S2", "S1", None, [], "", "S2", None]
    assert [voices.number(label) for label in labels] == [0, 0, 1, 1, 1, 1, 0, 0]
    assert (len(voices), voices.labels) == (2, {0: "S2", 1: "S1"})
    assert (Voices().number(None), Voices().labels) == (0, {})


def test_words_become_utterances_at_changes_of_voice_and_at_pauses() -> None:
    found = utterances_of(
        [token("Well,", 0.0), token("hello", 0.5), token("Hi.", 1.0, speaker=1), token("Later", 9.0, speaker=1)]
    )
    assert [(each.transcript, each.speaker) for each in found] == [("Well, hello", 0), ("Hi.", 1), ("Later", 1)]


def test_glued_words_have_no_space_and_no_pause_before_them() -> None:
    (found,) = utterances_of([token("Hello", 0.0), token(",", 5.0, glued=True)])
    assert found.transcript == "Hello,"


def test_long_talk_is_cut_at_the_end_of_a_sentence() -> None:
    talk = [token("word." if n % 5 == 4 else "word", n * 0.5) for n in range(200)]
    found = utterances_of(talk)
    assert all(each.transcript.endswith(".") for each in found)
    assert all(29 < each.end - each.start < 34 for each in found[:-1])


def test_utterances_are_put_in_order_and_empty_ones_are_left_out() -> None:
    def utterance(start: float, speaker: int, text: str = "x") -> Utterance:
        return Utterance(start=start, end=start + 1, speaker=speaker, confidence=0.5, transcript=text)

    found = ordered([utterance(5, 3), utterance(1, 8), utterance(2, 3), utterance(0, 9, " ")])
    assert [(each.start, each.speaker) for each in found] == [(1, 0), (2, 1), (5, 1)]


def test_a_word_with_a_wrong_time_stays_in_its_sentence() -> None:
    tokens = [token("one", 1.0), token("two", 1e9), token("three", 2.0), token("four.", -50.0), token("Five", 3.0)]
    (found,) = utterances_of(tokens)
    assert found.transcript == "one two three four. Five"
    assert [word.start for word in found.words if word.word in ("one", "three", "five")] == [1.0, 2.0, 3.0]
    assert (found.start, found.end) == (1.0, 3.4)


def test_each_channel_has_an_order_of_its_own() -> None:
    tokens = [token("a", 50.0), token("b", 90.0), token("c", 1.0, channel=1), token("d", 95.0, channel=1)]
    assert [word.start for each in utterances_of(tokens) for word in each.words] == [50.0, 90.0, 1.0, 95.0]


def untimed(text: str, speaker: int) -> Token:
    word = Word(word=text, start=0.0, end=0.0, confidence=0.9, speaker=speaker)
    return Token(word=word, written=text)


def test_words_without_times_keep_the_order_of_the_turns() -> None:
    tokens = [untimed("Hello", 0), untimed("there", 0), untimed("Hi", 1), untimed("Well", 0)]
    found = with_times(ordered(utterances_of(tokens)), 8.0)
    assert [(each.transcript, each.speaker, each.start, each.end) for each in found] == [
        ("Hello there", 0, 0.0, 4.0),
        ("Hi", 1, 4.0, 6.0),
        ("Well", 0, 6.0, 8.0),
    ]


def test_words_with_any_time_are_left_alone() -> None:
    found = utterances_of([token("One", 0.0), token("two", 1.0)])
    assert with_times(found, 60.0) == found


def test_a_turn_of_an_unknown_voice_is_a_voice_of_its_own_behind_a_pause() -> None:
    voices = Voices()
    told = [
        ("S1", 0, 1),
        (None, 1.1, 1.4),
        ("S1", 1.5, 2),
        (None, 4, 5),
        (None, 5.1, 9),
        ("S1", 9.2, 10),
        ("S2", 12, 13),
    ]
    assert [voices.number(label, start, end) for label, start, end in told] == [0, 0, 0, 1, 1, 0, 2]


def test_where_no_voice_is_told_apart_a_pause_makes_none() -> None:
    voices = Voices()
    assert [voices.number(None, start, start + 1) for start in (0.0, 5.0, 10.0)] == [0, 0, 0]
