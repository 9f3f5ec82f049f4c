"""Every form of a Teams address that people paste, and what is no meeting."""

from urllib.parse import quote

import pytest

from harness.meeting_links import (
    CLASSIC,
    CONTEXT,
    PATH,
    SHORT,
    TEAMS_CLASSIC_FORMS,
    TEAMS_SHORT_FORMS,
    TENANT,
    THREAD,
    light,
)
from sederunt.platforms.links import InvalidLink
from sederunt.platforms.teams.links import parse_link


@pytest.mark.parametrize("text", TEAMS_CLASSIC_FORMS)
def test_every_classic_form_leads_to_one_address(text: str) -> None:
    link = parse_link(text)
    assert (link.url, link.meeting_id) == (CLASSIC, THREAD)
    assert link.fallback_url == (
        f"https://teams.microsoft.com/v2/?meetingjoin=true#{PATH}?context={quote(CONTEXT, safe='')}&anon=true"
    )


@pytest.mark.parametrize("text", TEAMS_SHORT_FORMS)
def test_every_short_form_leads_to_one_address(text: str) -> None:
    link = parse_link(text)
    assert (link.url, link.meeting_id, link.passcode) == (SHORT, "123456789012", None)


def test_a_short_link_without_its_opaque_part_is_the_sites_to_judge() -> None:
    assert parse_link("https://teams.live.com/meet/9312345678901").url == "https://teams.live.com/meet/9312345678901"


@pytest.mark.parametrize(
    "host",
    ["teams.live.com", "teams.cloud.microsoft", "gov.teams.microsoft.us", "dod.teams.microsoft.us"],
)
def test_a_link_stays_on_its_host(host: str) -> None:
    assert parse_link(f"https://{host}/meet/123456789012?p=x").url == f"https://{host}/meet/123456789012?p=x"


@pytest.mark.parametrize("tenant", [TENANT, "contoso.example"])
def test_a_channel_meeting_a_missing_organiser_and_any_tenant_are_taken(tenant: str) -> None:
    thread = "19:abc123@thread.tacv2"
    context = quote(f'{{"Tid":"{tenant}"}}', safe="")
    link = parse_link(f"https://teams.microsoft.com/l/meetup-join/{quote(thread)}/1600000000000?context={context}")
    assert link.meeting_id == thread
    assert "1600000000000" in link.url
    assert tenant in link.url


def test_a_number_and_passcode_told_in_words_lead_to_the_web_client() -> None:
    link = parse_link("Meeting ID: 123 456 789 012\nPasscode: aB3xYz")
    assert (link.meeting_id, link.passcode) == ("123456789012", "aB3xYz")
    assert link.url == "https://teams.microsoft.com/v2/?meetingjoin=true#/meet/123456789012?p=aB3xYz&anon=true"


def test_a_bots_own_token_stays_in_the_fragment() -> None:
    assert parse_link(f"{SHORT}#token=ey.J.x").url == f"{SHORT}#token=ey.J.x"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://teams.microsoft.com/",
        "https://teams.microsoft.com/v2/",
        "https://teams.microsoft.com/meet/12345",
        "https://teams.microsoft.com/meet/12345678901234567890",
        f"https://teams.microsoft.com{PATH}",
        f"https://teams.microsoft.com/l/meetup-join/{quote(THREAD, safe='')}?context={quote(CONTEXT)}",
        "https://teams.microsoft.com/light-meetings/launch?coords=bm9wZQ",
        f"https://teams.microsoft.com/light-meetings/launch?coords={'W1tb' * 1_700}",  # brackets
        light(meetingCode="nope"),
        "https://events.teams.microsoft.com/event/1234",
        "https://teams.microsoft.com.example.org/meet/123456789012?p=x",
        "https://notteams.microsoft.example/meet/123456789012?p=x",
        "https://teams.microsoft.com/meet/123456789012?p=x https://teams.microsoft.com/meet/210987654321?p=y",
        "https://teams.microsoft.com/meet/123456789012?p=https%3A%2F%2Fexample.org",
        "https://meet.google.com/abc-defg-hij",
    ],
)
def test_what_is_no_meeting_says_what_was_expected(text: str) -> None:
    with pytest.raises(InvalidLink, match=r"expected https://teams\.microsoft\.com"):
        parse_link(text)
