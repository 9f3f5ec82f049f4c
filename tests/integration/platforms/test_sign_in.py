"""Sign-in pages other than the practice sites': other markups, other orders, other words (pages/sign_in.html)."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.platforms_room import ShowPage, StaticSite
from sederunt.browser.page import MeetingPage
from sederunt.clock import SYSTEM_CLOCK
from sederunt.model.bot import Service
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.registry import platform_of
from sederunt.platforms.sign_in import Credentials, SignInEnd, sign_in

CREDENTIALS = Credentials(email="registrar@example.org", password="Trombone-84 staple")
DOORS = {Service("gmeet"): "/ServiceLogin", Service("teams"): "/login"}
FOREIGN = "<form><input type=email id=identifierId><input type=password name=Passwd id=pw><button>Next</button></form>"
_HEADER = re.compile(r"<!-- (define|gmeet|teams):? ?([^:]*?)(?:: (.*?))? -->\n")


@dataclass(frozen=True, kw_only=True)
class Way:
    service: Service
    ends: str  # standing and row
    name: str
    html: str


def ways() -> list[Way]:
    text = (Path(__file__).parent / "pages" / "sign_in.html").read_text(encoding="utf-8")
    start, found = "", []
    for service, ends, name, script in zip(*(iter(_HEADER.split(text)[1:]),) * 4, strict=True):
        if service == "define":
            start = script
        else:
            html = f"{start}{script}</script>"
            found.append(Way(service=Service(service), ends=ends, name=f"{service}: {name}", html=html))
    return found


WAYS = ways()


async def enter(page: MeetingPage, service: Service) -> tuple[SignInEnd, list[Reading]]:
    pages = platform_of(service).accounts.pages
    assert pages is not None
    seen: list[Reading] = []
    return await sign_in(pages, page, CREDENTIALS, clock=SYSTEM_CLOCK, on_state=seen.append), seen


@pytest.mark.parametrize("way", WAYS, ids=[way.name for way in WAYS])
async def test_signing_in_ends_as_the_pages_say(way: Way, site: StaticSite, show: ShowPage) -> None:
    site.pages.clear()
    site.put("/home", "<h1>Welcome</h1>")
    site.put("/sso", FOREIGN)
    site.put("/arkoselabs", "<p>Pick the odd one out</p>")
    site.put(DOORS[way.service], way.html)
    page = await show("", url="https://meet.google.com/before")
    end, seen = await enter(page, way.service)
    assert f"{end.reading.state} {end.reading.row}" == way.ends, seen
    if end.reading.state is PageState.SIGNED_IN:
        return
    # What stands in a field may be the password: it was typed once, nowhere else, and no picture shows it.
    if end.reading.row == "gmeet.sign_in.elsewhere":
        assert await page.evaluate("() => document.querySelector('#pw').value") == ""
        return
    did = await page.evaluate("() => window.did")
    assert did == ([CREDENTIALS.password] if end.reading.row == "sign_in.asked_again" else [])


async def test_a_door_behind_which_nothing_is_leads_to_the_next(site: StaticSite, show: ShowPage) -> None:
    site.pages.clear()
    site.put("/home", "<h1>Welcome</h1>")
    site.put("/", next(way for way in WAYS if "both fields" in way.name).html)
    page = await show("", url="https://meet.google.com/before")
    end, _ = await enter(page, Service("teams"))
    assert (end.reading.state, page.url) == (PageState.SIGNED_IN, "https://www.office.com/home")


async def test_a_picture_is_taken_without_what_stands_in_password_fields(show: ShowPage) -> None:
    page = await show("<input type=password value=secret><input name=Passwd value=secret><input name=who value=Ada>")
    assert (await page.screenshot()).startswith(b"\x89PNG")
    values = await page.evaluate("() => [...document.querySelectorAll('input')].map((field) => field.value)")
    assert values == ["", "", "Ada"]
