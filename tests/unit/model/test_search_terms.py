"""How texts are taken apart, and what an excerpt shows."""

import pytest

from sederunt.model.search_terms import excerpt, phrases, terms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't stop, it's 5.30!", ["don", "t", "stop", "it", "s", "5", "30"]),
        ("Café ŁÓDŹ straße ﬁn", ["cafe", "łodz", "strasse", "fin"]),
        ("明日のMeeting", ["明", "日", "の", "meeting"]),
        ("योजना", ["योजना"]),
        ("…", []),
    ],
)
def test_words_are_compared_without_case_and_accents(text: str, words: list[str]) -> None:
    assert [term.word for term in terms(text)] == words


def test_every_word_stands_where_it_says() -> None:
    text = "Ein  Café, 明日 (neun)"
    assert [text[term.start : term.end] for term in terms(text)] == ["Ein", "Café", "明", "日", "neun"]


def test_quotes_ask_for_words_as_they_stand() -> None:
    asked = phrases('plan "road map"')
    assert [(phrase.words, phrase.may_go_on) for phrase in asked] == [(("plan",), True), (("road", "map"), False)]


def test_an_excerpt_shows_what_was_asked_for_with_the_words_around_it() -> None:
    text = " ".join(f"w{n}" for n in range(100)) + " target end"
    parts = excerpt(text, phrases("targ"))
    assert [part.text for part in parts if part.is_match] == ["target"]
    whole = "".join(part.text for part in parts)
    assert whole.startswith("… w88")
    assert whole.endswith("target end")


@pytest.mark.parametrize("text", ["", "…", "nothing of the kind"])
def test_an_excerpt_of_what_holds_nothing_is_the_text(text: str) -> None:
    assert "".join(part.text for part in excerpt(text, phrases("target"))) == text
