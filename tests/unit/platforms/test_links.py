"""Links of any service, by the installed platforms, and whatever text people send."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.model.bot import Service
from sederunt.platforms.links import InvalidLink
from sederunt.platforms.registry import parse_link, platform_of, services

_BITS = [
    *(
        "https://",
        "http:",
        "meet.google.com",
        "/",
        "abc-defg-hij",
        "?q=",
        "%25",
        "%",
        "#",
        "zoom.us",
        "/j/",
        "123456789",
    ),
    *(
        "teams.microsoft.com",
        "/l/meetup-join/19%3a",
        "@thread.v2/0",
        "?context=",
        '{"Tid":"',
        "[",
        "]",
        "\\",
        "\x00",
        "@",
    ),
    *(
        "/light-meetings/launch?coords=",
        "www.google.com/url?q=",
        "aHR0cHM6Ly94",
        " ",
        "：",
        "passcode: ",
        "meeting id 1 2",
    ),
]


@pytest.mark.parametrize("service", services())
@given(text=st.one_of(st.text(), st.lists(st.sampled_from(_BITS), max_size=12).map("".join)))
def test_any_text_is_a_meeting_or_an_invalid_link_and_nothing_else(service: Service, text: str) -> None:
    try:
        link = parse_link(service, text)
    except InvalidLink:
        return
    assert link.service == service
    assert link.url.startswith("https://")
    assert parse_link(service, link.url).meeting_id == link.meeting_id


def test_reading_links_loads_no_browser() -> None:
    script = (
        "import sys; from sederunt.platforms.registry import parse_link; from sederunt.model.bot import Service\n"
        "for s, t in (('gmeet', 'meet.google.com/abc-defg-hij'), ('zoom', 'zoom.us/j/123456789'),\n"
        "             ('teams', 'teams.live.com/meet/123456789?p=x')): parse_link(Service(s), t)\n"
        "assert not any(name.startswith(('playwright', 'sederunt.browser')) for name in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(("text", "joint"), [("zoom.us/j/123456789", "?"), ("zoom.us/j/123456789?pwd=a.1", "&")])
def test_a_token_goes_into_the_address_and_into_no_log(text: str, joint: str) -> None:
    link = platform_of(Service("zoom")).with_token(parse_link(Service("zoom"), text), "to/ken")
    assert link.url.endswith(f"{joint}zak=to%2Fken")
    assert "to%2Fken" not in repr(link)


@pytest.mark.parametrize(
    "text",
    [
        "https://urldefense.com/v3/__https://acme.zoom.us/j/81234567890?pwd=aB3dEf9.1__;!!Xy1zAbC!dEfGhIjKlMn$",
        "https://urldefense.com/v3/__https:/acme.zoom.us/j/81234567890?pwd=aB3dEf9.1__;!!Xy1zAbC!dEfGhIjKlMn$",
        "https://urldefense.us/v3/__https:**Aacme.zoom.us*j*81234567890?pwd=aB3dEf9.1__;Ly8vLw!!Xy1zAbC!dEf$",
        "https://urldefense.proofpoint.com/v2/url?u=https-3A__acme.zoom.us_j_81234567890-3Fpwd-3DaB3dEf9.1&d=DwMFaQ&e=",
        "HTTPS://ACME.ZOOM.US/J/81234567890?pwd=aB3dEf9.1",
        "https://acme.zoom.us/j/81234567890?tk=&amp;pwd=aB3dEf9.1",
    ],
)
def test_wrappers_of_mail_systems_and_capitals_are_read(text: str) -> None:
    link = parse_link(Service("zoom"), text)
    assert (link.meeting_id, link.passcode) == ("81234567890", "aB3dEf9.1")
