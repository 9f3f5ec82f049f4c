"""Every form of a Meet address that people paste, and what is no meeting."""

import base64
from urllib.parse import quote

import pytest

from harness.meeting_links import GMEET_FORMS
from sederunt.platforms.gmeet.links import parse_link
from sederunt.platforms.links import InvalidLink

CANONICAL = "https://meet.google.com/abc-defg-hij?hl=en"


@pytest.mark.parametrize("text", GMEET_FORMS)
def test_every_form_of_a_code_leads_to_one_address(text: str) -> None:
    link = parse_link(text)
    assert (link.url, link.meeting_id, link.passcode) == (CANONICAL, "abc-defg-hij", None)


def test_the_looser_code_of_four_letters_at_the_ends_is_taken() -> None:
    assert parse_link("https://meet.google.com/abcd-efgh-ijkl").meeting_id == "abcd-efgh-ijkl"


def test_a_nickname_is_taken_as_it_is() -> None:
    assert parse_link("https://meet.google.com/daily-standup-7").url == "https://meet.google.com/daily-standup-7?hl=en"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "abc-defg-hij",
        "https://",
        "https://[",
        "https://meet.google.com",
        "https://meet.google.com/",
        "https://meet.google.com/new",
        "https://meet.google.com/landing",
        "https://meet.google.com/lookup/abcdefghij",
        "https://meet.google.com/abc-defg",
        "https://meet.google.com/not-a-code",
        "https://meet.google.com/abc-defg-hij/extra",
        "https://meet.google.co/abc-defg-hij",
        "https://meet.google.com.example.org/abc-defg-hij",
        "https://example.org/meet.google.com/abc-defg-hij",
        "https://example.org/https://meet.google.com/abc-defg-hij",
        "https://meet.google.com@example.org/abc-defg-hij",
        "ftp://meet.google.com/abc-defg-hij",
        "javascript:alert(1)//meet.google.com/abc-defg-hij",
        "https://zoom.us/j/123456789",
        "https://www.google.com/url?sa=D",
        "https://meet.google.com/abc-defg-hij https://meet.google.com/xyz-abcd-efg",
        "https://meet.google.com/abc-defg-hij?continue=https://example.org",
        "https://meet.google.com/abc-defg-hij?continue=https%3A%2F%2Fexample.org",
        "https://meet.google.com/abc-defg-hij?continue=https%253A%252F%252Fexample.org",
        "https://meet.google.com/abc-defg-hij?c=" + base64.b64encode(b"https://example.org/").decode(),
        "https://meet.google.com/abc-defg-hij#" + base64.urlsafe_b64encode(b"see http://example.org/?x").decode(),
        "https://meet.google.com/" + "a" * 9000,
        "https://www.google.com/url?q=" + quote("https://www.google.com/url?q=" + quote("https://example.org")),
    ],
)
def test_what_is_no_meeting_says_what_was_expected(text: str) -> None:
    with pytest.raises(InvalidLink, match=r"expected https://meet\.google\.com/abc-defg-hij"):
        parse_link(text)


def test_an_invalid_link_is_the_callers_fault_and_its_text_is_not_repeated() -> None:
    with pytest.raises(InvalidLink) as caught:
        parse_link("https://example.org/secret-token")
    assert caught.value.status == 400
    assert "secret-token" not in str(caught.value)
