"""What cannot be had is told before a meeting is joined, by field."""

from collections.abc import Sequence

import pytest

from sederunt.transcription.access import Access
from sederunt.transcription.cloud.vendor import asked
from sederunt.transcription.languages import primary_tag
from sederunt.transcription.model_options import option_faults
from sederunt.transcription.models import find
from sederunt.transcription.rows import Can, ModelRow, VocabularyRule

ALL = ModelRow(
    identifier="vendor77",
    aliases=(),
    provider="acme",
    can=frozenset(Can),
    languages=frozenset({"de", "en", "zh-tw"}),
    vocabulary=VocabularyRule(terms=3, words=2, letters=12, word_letters=7, tokens=6, digits=False),
)
NOTHING = ModelRow(identifier="vendor78", aliases=(), provider="acme")


def faults(row: ModelRow, lang: str | None = None, vocabulary: Sequence[str] = ()) -> dict[str, str]:
    return dict(option_faults(row, "Acme", lang=lang, vocabulary=vocabulary))


@pytest.mark.parametrize("lang", [None, "", "auto", "multi", "de", "de-CH", "EN", "zh-TW"])
def test_what_the_model_can_is_no_fault(lang: str | None) -> None:
    assert faults(ALL, lang, ["one", "two words"]) == {}


def test_a_language_it_does_not_know_is_told_with_those_it_does() -> None:
    assert faults(ALL, "fr") == {
        "lang": "lang is 'fr', which vendor77 (Acme) does not transcribe; it knows de, en, zh-tw."
    }


@pytest.mark.parametrize("lang", ["xx", "tlh", "any", "qq-Latn"])
def test_a_tag_of_no_language_is_found_out_instead(lang: str) -> None:
    assert faults(ALL, lang) == {}
    access = Access(key="k", label="x")
    ask = asked(ALL, access, lang=lang, vocabulary=(), mask_profanity=False, mixed=False)
    assert (ask.lang, ask.several_languages) == (None, False)


def test_detection_that_was_asked_for_must_be_possible_and_a_language_left_out_is_no_wish() -> None:
    assert "cannot find the language" in faults(NOTHING, "auto")["lang"]
    assert faults(NOTHING, None) == {}
    assert faults(NOTHING, "any") == {}


@pytest.mark.parametrize(
    ("vocabulary", "told"),
    [
        (["a", "b", "c", "d"], "has 4 terms; vendor77 (Acme) takes at most 3"),
        (["one two three"], "'one two three', 3 words"),
        (["incomprehensible"], "16 characters"),
        (["agent 7"], "no digits"),
        (["ab extended"], "a word of 8 characters"),
        (["abcd abcd", "abcd abc"], "some 7 tokens"),
    ],
)
def test_custom_words_beyond_the_vendors_limits_are_told(vocabulary: list[str], told: str) -> None:
    assert told in faults(ALL, None, vocabulary)["custom_vocabulary"]


def test_custom_words_are_taken_for_a_model_that_uses_none() -> None:
    assert faults(NOTHING, None, ["a", "agent 7", "incomprehensible"]) == {}


@pytest.mark.parametrize("model", ["vendor3", "vendor7", "vendor7-realtime", "vendor8", "vendor8-realtime"])
def test_a_language_that_a_vendor_does_not_list_is_refused_before_the_meeting(model: str) -> None:
    row = find(model)
    assert row is not None
    assert "lang is 'yue'" in faults(row, "yue").get("lang", "")
    assert all(faults(row, lang) == {} for lang in ("fil", "tl", "fil-PH", "de-CH", "nb", "zh-Hant", "iw"))


def test_tagalog_by_its_code_in_browsers_is_sent_by_that_of_the_vendors() -> None:
    assert (primary_tag("fil"), primary_tag("fil-PH"), primary_tag("tgl")) == ("tl", "tl", "tl")


@pytest.mark.parametrize("model", ["vendor7", "vendor7-realtime", "vendor8"])
def test_custom_words_that_are_too_long_in_all_are_told_before_the_meeting(model: str) -> None:
    row = find(model)
    assert row is not None
    assert "characters in all" in faults(row, None, ["x" * 101] * 100)["custom_vocabulary"]
    assert faults(row, None, ["x" * 100] * 100) == {}
