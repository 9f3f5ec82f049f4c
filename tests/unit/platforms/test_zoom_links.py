"""Every form of a Zoom address that people paste, and what is no meeting."""

import pytest

from harness.meeting_links import ZOOM_FORMS
from sederunt.platforms.links import InvalidLink
from sederunt.platforms.zoom.links import parse_link

DOOR = "https://app.zoom.us/wc/12345678901/join?pwd=aBc123.1"


@pytest.mark.parametrize("text", ZOOM_FORMS)
def test_every_form_leads_to_the_web_clients_door(text: str) -> None:
    link = parse_link(text)
    assert (link.url, link.meeting_id, link.passcode) == (DOOR, "12345678901", "aBc123.1")


def test_a_passcode_told_in_words_goes_to_the_passcode_field_and_not_into_the_address() -> None:
    link = parse_link("https://zoom.us/j/123456789 (Passcode: 864210)")
    assert (link.url, link.passcode) == ("https://app.zoom.us/wc/123456789/join", "864210")


def test_a_told_passcode_beats_the_one_in_the_address() -> None:
    link = parse_link("https://zoom.us/j/123456789?pwd=long.1 Passcode: 864210")
    assert (link.url, link.passcode) == ("https://app.zoom.us/wc/123456789/join?pwd=long.1", "864210")


def test_a_registrants_token_stays_on_its_page() -> None:
    link = parse_link("https://acme.zoom.us/w/12345678901?tk=tok-en&pwd=a.1")
    assert link.url == "https://acme.zoom.us/w/12345678901?tk=tok-en&pwd=a.1"


def test_a_personal_link_is_followed() -> None:
    link = parse_link("https://acme.zoom.us/my/jane.doe?pwd=a1")
    assert (link.url, link.meeting_id) == ("https://acme.zoom.us/my/jane.doe?pwd=a1", "jane.doe")


def test_the_government_cloud_stays_on_its_host() -> None:
    assert parse_link("https://acme.zoomgov.com/j/1601234567").url == "https://acme.zoomgov.com/wc/1601234567/join"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "123 456 7890",
        "https://zoom.us/",
        "https://zoom.us/j/",
        "https://zoom.us/j/1234",
        "https://zoom.us/j/1234567890123",
        "https://zoom.us/my/",
        "https://events.zoom.us/ej/AbCdEf",
        "https://ev.zoom.com/ej/AbCdEf",
        "https://zoom.us.example.org/j/123456789",
        "https://notzoom.us/j/123456789",
        "https://example.org/j/123456789",
        "https://zoom.us/j/123456789 https://zoom.us/j/987654321",
        "https://zoom.us/j/123456789?next=https%3A%2F%2Fexample.org",
    ],
)
def test_what_is_no_meeting_says_what_was_expected(text: str) -> None:
    with pytest.raises(InvalidLink, match=r"expected https://zoom\.us/j/"):
        parse_link(text)
