"""Ways in that differ from the practice sites': late, veiled, framed, refused in mid-way (pages/others.html)."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.platforms_room import ShowPage
from sederunt.clock import SYSTEM_CLOCK
from sederunt.model.bot import Service
from sederunt.platforms.admission import join
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.links import MeetingLink
from sederunt.platforms.registry import platform_of

URLS = {
    Service("gmeet"): "https://meet.google.com/abc-defg-hij",
    Service("teams"): "https://teams.microsoft.com/meet/123456789012",
    Service("zoom"): "https://app.zoom.us/wc/12345678901/join",
}
_HEADER = re.compile(r"<!-- (define|gmeet|teams|zoom):? ?([^:]*?)(?:: (.*?))? -->\n")


@dataclass(frozen=True, kw_only=True)
class Way:
    service: Service
    ends: str  # standing, and the reason where there is one
    name: str
    html: str


def ways() -> list[Way]:
    """`<!-- service: state [reason]: name -->` and the script of that site."""
    text = (Path(__file__).parent / "pages" / "others.html").read_text(encoding="utf-8")
    pieces = _HEADER.split(text)[1:]
    start, found = "", []
    for service, ends, name, script in zip(*(iter(pieces),) * 4, strict=True):
        if service == "define":
            start = script
        else:
            html = f"{start}{script}</script>"
            found.append(Way(service=Service(service), ends=ends, name=f"{service}: {name}", html=html))
    return found


WAYS = ways()

# What the sites must have seen done, by the way's name.
DONE = {
    "everything late": ["nudge", "asked as Sederunt"],
    "same account": ["here"],
    "a gate for a product": ["agreed"],
    "a launcher": ["modal", "muted", "modal", "asked as Sederunt"],
    "a prompt that offers": ["prompt", "asked as Sederunt", "notice"],
    "doors made of anything": ["launcher", "asked as Sederunt"],
    "terms in other words": ["terms", "asked as Sederunt", "notice"],
    "no sound chosen, the choices": ["Computer audioSpeakers"],
    "no sound chosen, a field": ["sound"],
    "a disclaimer beside": ["Reject All", "devices", "rules"],
    "cookies": ["cookies", "terms", "devices 0", "asked as Sederunt with 864210", "disclaimer"],
}


@pytest.mark.parametrize("way", WAYS, ids=[way.name for way in WAYS])
async def test_a_way_ends_as_it_must(show: ShowPage, way: Way) -> None:
    page = await show(way.html, url=URLS[way.service])
    link = MeetingLink(service=way.service, url=URLS[way.service], meeting_id="1", passcode="864210")
    admission = await join(
        platform_of(way.service),
        page,
        link,
        name="Sederunt",
        limits=EntryLimits(SYSTEM_CLOCK, 4),
        clock=SYSTEM_CLOCK,
        on_state=lambda reading: None,
    )
    reading = admission.reading
    assert " ".join(filter(None, (reading.state, reading.reason))) == way.ends, reading
    expected = next((done for part, done in DONE.items() if f": {part}" in way.name), None)
    if expected is not None:
        assert await page.evaluate("() => window.did") == expected
