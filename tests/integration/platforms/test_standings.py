"""What the sites' pages mean, in markups that differ from any one site: each state, in its wordings (pages/*.html)."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.platforms_room import ShowPage
from sederunt.model.bot import Service
from sederunt.model.status import StopReason
from sederunt.platforms.page_state import PageState
from sederunt.platforms.registry import platform_of, services

URLS = {
    Service("gmeet"): "https://meet.google.com/abc-defg-hij",
    Service("teams"): "https://teams.microsoft.com/meet/123456789012",
    Service("zoom"): "https://app.zoom.us/wc/12345678901/join",
}
_HEADER = re.compile(r"<!-- (define|before|after):? ?([^:]*?)(?:: (.*?))? -->\n")


@dataclass(frozen=True, kw_only=True)
class Case:
    service: Service
    joined: bool
    state: PageState
    reason: StopReason | None
    name: str
    html: str


def cases(service: Service) -> list[Case]:
    """The cases of a file: `<!-- before|after: state [reason]: name -->` and the page that follows."""
    text = (Path(__file__).parent / "pages" / f"{service}.html").read_text(encoding="utf-8")
    pieces = _HEADER.split(text)[1:]
    defined: dict[str, str] = {}
    found: list[Case] = []
    for kind, means, name, raw in zip(*(iter(pieces),) * 4, strict=True):
        html = re.sub(r"\{\{(\w+)\}\}", lambda match: defined[match[1]], raw.strip())
        if kind == "define":
            defined[means] = html
            continue
        state, _, reason = means.partition(" ")
        found.append(
            Case(
                service=service,
                joined=kind == "after",
                state=PageState(state),
                reason=StopReason(reason) if reason else None,
                name=f"{service}, {kind}: {name}",
                html=html,
            )
        )
    return found


CASES = [case for service in services() for case in cases(service)]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_a_page_means(show: ShowPage, case: Case) -> None:
    platform = platform_of(case.service)
    snapshot, _ = await platform.survey(await show(case.html, url=URLS[case.service]))
    reading = platform.judge(snapshot, joined=case.joined)
    assert (reading.state, reading.reason) == (case.state, case.reason), reading


@pytest.mark.parametrize(
    ("service", "url", "state"),
    [
        (Service("gmeet"), "https://accounts.google.com/v3/signin", PageState.SIGN_IN_NEEDED),
        (Service("gmeet"), "https://workspace.google.com/products/meet", PageState.CHALLENGED),
        (Service("gmeet"), "https://www.example.org/", PageState.CHALLENGED),
        (Service("teams"), "https://login.microsoftonline.com/common", PageState.SIGN_IN_NEEDED),
        (Service("teams"), "https://login.live.com/oauth20", PageState.SIGN_IN_NEEDED),
        (Service("teams"), "https://www.example.org/", PageState.TROUBLE),
        (Service("zoom"), "https://zoom.us/signin", PageState.SIGN_IN_NEEDED),
        (Service("zoom"), "https://app.zoom.us/postattendee", PageState.REFUSED),
    ],
)
async def test_an_address_speaks_for_itself(show: ShowPage, service: Service, url: str, state: PageState) -> None:
    platform = platform_of(service)
    snapshot, _ = await platform.survey(await show("<h1>Elsewhere</h1>", url=url))
    assert platform.judge(snapshot, joined=False).state is state


@pytest.mark.parametrize(
    ("service", "url"),
    [
        (Service("gmeet"), "https://meet.google.com/landing"),
        (Service("gmeet"), "https://workspace.google.com/products/meet"),
        (Service("teams"), "https://teams.microsoft.com/postmeeting"),
        (Service("teams"), "https://www.example.org/"),
        (Service("zoom"), "https://app.zoom.us/wc/leave"),
        (Service("zoom"), "https://zoom.us/postattendee"),
        (Service("zoom"), "https://www.example.org/"),
    ],
)
async def test_a_call_may_end_by_its_address_alone(show: ShowPage, service: Service, url: str) -> None:
    platform = platform_of(service)
    snapshot, _ = await platform.survey(await show("<p>Thank you</p>", url=url))
    reading = platform.judge(snapshot, joined=True)
    assert (reading.state, reading.reason) == (PageState.OVER, StopReason.MEETING_ENDED), reading


@pytest.mark.parametrize("service", services())
async def test_an_error_of_the_server_is_the_sites_trouble(show: ShowPage, service: Service) -> None:
    platform = platform_of(service)
    snapshot, _ = await platform.survey(await show("", url=URLS[service], status=503))
    assert platform.judge(snapshot, joined=False).state is PageState.TROUBLE


async def test_a_page_that_paints_nothing_is_read_all_the_same(show: ShowPage) -> None:
    platform = platform_of(Service("gmeet"))
    lobby = "<h1>Asking to be let in</h1><p hidden>You can't join this video call</p>"
    snapshot, _ = await platform.survey(await show(f"<style>html{{display:none}}</style>{lobby}"))
    assert platform.judge(snapshot, joined=False).state is PageState.LOBBY
