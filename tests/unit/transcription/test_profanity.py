"""Masking: what is masked, what must not be, and that nothing else changes."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.model.transcript import Utterance
from sederunt.transcription.profanity import mask, mask_utterances
from sederunt.transcripts.attribution import MeetingFacts, SourceSpeech, attribute


def masked_text(text: str, lang: str | None = None) -> str:
    said = Utterance(speaker=0, start=0.0, end=1.0, transcript=text, confidence=1.0, words=())
    [utterance] = mask_utterances([said], lang)
    return utterance.transcript


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("What the fuck?", "What the f***?"),
        ("FUCKING brilliant", "F****** brilliant"),
        ("that's bullshit, really", "that's b*******, really"),
        ("the bitch's coat", "the b****'s coat"),
        ("shit-show", "s***-show"),
        ("Shït happens", "S*** happens"),
        ("Sh\u0069\u0308t happens", "S*** happens"),
    ],
)
def test_a_bad_word_keeps_its_first_letter_and_its_surroundings(text: str, masked: str) -> None:
    assert masked_text(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "Scunthorpe United pass the class assessment",
        "Dick and Fanny saw a cock and a great tit",
        "the cocktail at Essex, a shiitake dish",
        "Herr Fuchs, hello",
    ],
)
def test_innocent_words_stay(text: str) -> None:
    assert masked_text(text) == text


def test_a_languages_own_list_is_used_with_the_english_one() -> None:
    assert masked_text("So eine Scheiße, fuck", "de-DE") == "So eine S******, f***"
    assert masked_text("¡Qué coño!", "es") == "¡Qué c***!"
    assert masked_text("So eine Scheiße", "fr") == "So eine Scheiße"


def test_an_unknown_language_masks_english() -> None:
    assert masked_text("shit", "xx") == "s***"
    assert masked_text("shit", None) == "s***"


def test_every_level_of_a_transcript_is_masked(say: Callable[..., Utterance]) -> None:
    speech = SourceSpeech(source="1", utterances=[say("this shit works", 0.0)])
    [segment] = mask(attribute([speech], MeetingFacts(duration_s=3))).segments
    assert segment.transcript == "this s*** works"
    assert segment.utterances[0].transcript == "this s*** works"
    assert [word.word for word in segment.utterances[0].words] == ["this", "s***", "works"]


def test_each_utterance_is_masked_in_its_own_language(say: Callable[..., Utterance]) -> None:
    said = [
        replace(say("so eine Scheiße", 0.0), lang="de"),
        replace(say("qué mierda", 4.0), lang="es"),
        say("che merda", 8.0),  # nobody told
        replace(say("la merda de Ana", 12.0), lang="es"),  # no word of Spanish
    ]
    transcript = attribute([SourceSpeech(source="1", utterances=said)], MeetingFacts(duration_s=20))
    segments = mask(transcript, "it").segments
    masked = ["so eine S******", "qué m*****", "che m****", "la merda de Ana"]
    assert [segment.transcript for segment in segments] == masked
    assert [segment.utterances[0].transcript for segment in segments] == masked
    assert [segment.utterances[0].words[-1].word for segment in segments] == ["S******", "m*****", "m****", "Ana"]


def test_a_segment_of_two_languages_reads_as_its_utterances_do(say: Callable[..., Utterance]) -> None:
    said = [replace(say("qué mierda", 0.0), lang="es"), say("merda", 1.2), replace(say("merde alors", 2.0), lang="fr")]
    [segment] = mask(attribute([SourceSpeech(source="1", utterances=said)], MeetingFacts(duration_s=9))).segments
    assert segment.transcript == "qué m***** merda m**** alors"


def test_live_utterances_are_masked_the_same_way(say: Callable[..., Utterance]) -> None:
    [utterance] = mask_utterances([say("oh shit", 0.0)])
    assert utterance.transcript == "oh s***"


@given(st.text())
def test_masking_twice_is_masking_once(text: str) -> None:
    once = masked_text(text)
    assert masked_text(once) == once
