"""Signing in with a password: where it may be typed, how often, and what the pages mean."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.fake_clock import FakeClock
from sederunt.errors import PageCrashed, PageError
from sederunt.model.bot import Service
from sederunt.platforms.evidence import PageSnapshot
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.registry import platform_of
from sederunt.platforms.sign_in import (
    Credentials,
    SignInEnd,
    sign_in,
)
from sederunt.platforms.sign_in_pages import NOTHING_SENT, PASSWORD_DUE, SignInPages, for_account
from sederunt.platforms.targets import Act, FoundControl, Journey, Step, Target

ACCOUNT = Step(target=Target(id="account"), act=Act.FILL_ACCOUNT, most=6, again_s=1.0)
PASSWORD = Step(target=Target(id="password"), act=Act.FILL_PASSWORD, most=6, again_s=1.0)
NEXT = Step(target=Target(id="next"), most=6, again_s=10.0, knocks=True, beside=("account", "password"))
CREDENTIALS = Credentials(email="ada@example.org", password="staple")
HERE = "https://accounts.example/"


def pages_of(service: Service) -> SignInPages:
    pages = platform_of(service).accounts.pages
    assert pages is not None
    return pages


@pytest.mark.parametrize("service", [Service("gmeet"), Service("teams")])
def test_a_list_of_accounts_is_answered_with_ours_or_with_another_one(service: Service) -> None:
    steps = {step.id.rpartition(".")[2]: step for step in for_account(pages_of(service), 'a"b@x.org').journey.steps}
    ours, another = steps["ours"], steps["another"]
    assert ours.target.names == ours.target.holding == ('a"b@x.org',)
    assert ours.target.selectors[0] == '[data-identifier="a\\"b@x.org" i]'
    # Where no other account is offered, the address that a page shows is the way back from it.
    assert ours.beside == (another.id,)
    assert ours.id in another.apart


# --- tables ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("service", "url", "owned"),
    [
        (Service("gmeet"), "https://accounts.google.com/v3/signin/identifier?x=1", True),
        (Service("gmeet"), "https://accounts.google.com", True),
        (Service("gmeet"), "https://accounts.google.com:443/", True),
        (Service("gmeet"), "http://accounts.google.com/", False),
        (Service("gmeet"), "https://accounts.google.com.example.org/", False),
        (Service("gmeet"), "https://accounts.google.com:x@example.org/", False),
        (Service("gmeet"), "https://example.org/?https://accounts.google.com/", False),
        (Service("gmeet"), "https://accounts.google.example.org/", False),
        (Service("gmeet"), "https://meet.google.com/abc-defg-hij", False),
        (Service("teams"), "https://login.microsoftonline.com/common/oauth2", True),
        (Service("teams"), "https://login.live.com/", True),
        (Service("teams"), "https://www.office.com/login", True),
        (Service("teams"), "https://www.office.com/login?es=Click", True),
        (Service("teams"), "https://www.office.com/", False),
        (Service("teams"), "https://login.microsoftonline.com.example.org/", False),
        (Service("teams"), "https://login.live.com:x@example.org/", False),
        (Service("teams"), "https://adfs.example.org/adfs/ls", False),
        (Service("teams"), "https://teams.microsoft.com/v2/", False),
    ],
)
def test_a_password_may_be_typed_on_the_sites_own_hosts_alone(service: Service, url: str, owned: bool) -> None:
    assert pages_of(service).owns(url) is owned


BEGUN, DUE, GIVEN = (PASSWORD_DUE, NOTHING_SENT), (PASSWORD_DUE,), ()
G, M = "https://accounts.google.com", "https://login.microsoftonline.com"


@pytest.mark.parametrize(
    ("service", "url", "matches", "noted", "state"),
    [
        (Service("gmeet"), "https://mail.google.com/", (), GIVEN, "signed_in"),
        (Service("gmeet"), "https://mail.google.com/", (), DUE, "loading"),
        (Service("gmeet"), f"{G}/v3/signin/challenge/pwd", (), GIVEN, "loading"),
        (Service("gmeet"), f"{G}/v3/signin/challenge/totp", (), GIVEN, "sign_in_needed"),
        (Service("gmeet"), f"{G}/v3/signin/challenge/dp", ("password_field", "asks"), DUE, "dialog"),
        (Service("gmeet"), f"{G}/v3/signin/challenge/recaptcha", (), DUE, "challenged"),
        (Service("gmeet"), f"{G}/v3/signin/rejected", (), GIVEN, "challenged"),
        (Service("gmeet"), f"{G}/", ("refused", "captcha"), GIVEN, "challenged"),
        (Service("gmeet"), f"{G}/", ("refused", "verify"), GIVEN, "sign_in_rejected"),
        (Service("gmeet"), f"{G}/", ("refused", "asks"), BEGUN, "dialog"),
        (Service("gmeet"), f"{G}/", ("verify", "password_field", "asks"), DUE, "dialog"),
        (Service("gmeet"), "https://sso.example.org/", ("asks",), DUE, "sign_in_needed"),
        (Service("gmeet"), "https://accounts.youtube.com/accounts/SetSID", (), GIVEN, "loading"),
        (Service("teams"), "https://www.office.com/landing", (), GIVEN, "signed_in"),
        (Service("teams"), "https://m365.cloud.microsoft/", (), GIVEN, "signed_in"),
        (Service("teams"), "https://teams.microsoft.com/v2/", (), GIVEN, "signed_in"),
        (Service("teams"), "https://www.office.com/login", (), GIVEN, "loading"),
        (Service("teams"), "https://www.office.com/", (), DUE, "loading"),
        (Service("teams"), f"{M}/common", ("refused_field", "asks"), GIVEN, "sign_in_rejected"),
        (Service("teams"), f"{M}/common", ("verify",), GIVEN, "sign_in_needed"),
        (Service("teams"), "https://adfs.example.org/adfs/ls", ("asks",), DUE, "sign_in_needed"),
        (Service("teams"), "chrome-error://chromewebdata/", (), DUE, "trouble"),
    ],
)
def test_what_the_pages_mean(
    service: Service, url: str, matches: Sequence[str], noted: Sequence[str], state: str
) -> None:
    snapshot = PageSnapshot(url=url, matches={f"{service}.sign_in.{name}": ("x",) for name in matches})
    assert pages_of(service).judge(snapshot, joined=False, noted=noted).state == state


def test_credentials_tell_nothing_when_shown() -> None:
    assert "ada" not in repr(CREDENTIALS)
    assert "staple" not in repr(CREDENTIALS)


# --- the way -----------------------------------------------------------------------------------------------------


@dataclass
class Page:
    """What a page would do, written down."""

    url: str = HERE
    acts: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    closed: tuple[str, ...] = ()  # addresses that cannot be reached
    cookies: tuple[str, ...] = ()

    async def goto(self, url: str, *, deadline_s: float = 60) -> None:
        self.acts.append(f"goto {url}")
        if url in self.closed:
            raise PageError("not resolved")

    async def click(self, selectors: Sequence[str], *, deadline_s: float = 5) -> str | None:
        self.acts.append(f"click {selectors[0]}")
        return selectors[0]

    async def type_text(self, selectors: Sequence[str], text: str, *, deadline_s: float = 10) -> str | None:
        self.acts.append(f"type {selectors} {text}")
        self.values[selectors[0]] = text
        return selectors[0]

    async def evaluate_everywhere(
        self, script: str, argument: object = None, *, deadline_s: float = 5, keep: bool = False
    ) -> list[Any]:
        return [True]

    async def storage_state(self) -> Mapping[str, Any]:
        return {"cookies": [{"name": name} for name in self.cookies]}


@dataclass(frozen=True, kw_only=True, slots=True)
class Scripted(SignInPages):
    """Sign-in pages that show what the test says."""

    scene: Callable[[], tuple[PageState, Collection[str]] | Exception]
    page: Page
    noted: list[Collection[str]] = field(default_factory=list)

    async def survey(
        self, page: Any, targets: Sequence[Target] = ()
    ) -> tuple[PageSnapshot, Mapping[str, FoundControl]]:
        scene = self.scene()
        if isinstance(scene, Exception):
            raise scene
        state, there = scene
        value = self.page.values.get
        found = {n: FoundControl(id=n, handle=n, label="", value=value(n, ""), disabled=False) for n in there}
        return PageSnapshot(url=self.page.url, title=state), found

    def judge(self, snapshot: PageSnapshot, *, joined: bool, noted: Collection[str] = ()) -> Reading:
        self.noted.append(noted)
        return Reading(state=PageState(snapshot.title), row=f"x.{snapshot.title}", url=snapshot.url)


class Try:
    """One try to sign in, with time moved by hand."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock, self.page = clock, Page()
        self.show: Callable[[], tuple[PageState, Collection[str]] | Exception] = lambda: (PageState.LOADING, ())
        self.pages = Scripted(
            entry_urls=(HERE, "https://other.example/"),
            hosts=r"^https://accounts\.example/",
            rows=(),
            journey=Journey(steps=(ACCOUNT, PASSWORD, NEXT), loading_s=15.0),
            cookies=("SID",),
            scene=lambda: self.show(),
            page=self.page,
        )

    async def run(self, within_s: float = 300, **more: Any) -> SignInEnd:
        made = sign_in(self.pages, self.page, CREDENTIALS, clock=self.clock, on_state=lambda reading: None, **more)  # type: ignore[arg-type]
        task = asyncio.ensure_future(made)
        started = self.clock.monotonic()
        while not task.done() and self.clock.monotonic() - started < within_s:
            await asyncio.sleep(0)
            if self.clock.sleepers:
                self.clock.advance(0.25)
        if not task.done():
            task.cancel()
            raise TimeoutError(f"not done after {within_s} s: {self.page.acts}")
        return task.result()

    def acts(self) -> list[str]:
        return [act for act in self.page.acts if not act.startswith("goto")]

    def clicks(self) -> int:
        return sum(act == "click next" for act in self.page.acts)


async def test_account_then_password_then_through(clock: FakeClock) -> None:
    attempt = Try(clock)
    scenes = [
        (PageState.DIALOG, ("account", "next")),
        (PageState.DIALOG, ("password", "next")),
        (PageState.SIGNED_IN, ()),
    ]
    attempt.show = lambda: scenes[attempt.clicks()]
    end = await attempt.run()
    assert (end.reading.state, end.password_sent) == (PageState.SIGNED_IN, True)
    assert attempt.acts() == [
        "type ['account'] ada@example.org",
        "click next",
        "type ['password'] staple",
        "click next",
    ]
    assert attempt.pages.noted[0] == (PASSWORD_DUE, NOTHING_SENT)
    assert attempt.pages.noted[-1] == ()


async def test_both_fields_are_filled_before_the_button(clock: FakeClock) -> None:
    attempt = Try(clock)
    attempt.show = lambda: (
        (PageState.SIGNED_IN, ()) if attempt.clicks() else (PageState.DIALOG, ("account", "password", "next"))
    )
    await attempt.run()
    assert attempt.acts() == ["type ['account'] ada@example.org", "type ['password'] staple", "click next"]


async def test_a_password_that_is_asked_for_again_is_not_called_wrong_and_not_typed_again(clock: FakeClock) -> None:
    attempt = Try(clock)

    def scene() -> tuple[PageState, Collection[str]]:
        if attempt.clicks():
            attempt.page.values.pop("password", None)
        return PageState.DIALOG, ("password", "next")

    attempt.show = scene
    end = await attempt.run()
    assert (end.reading.state, end.reading.row) == (PageState.SIGN_IN_NEEDED, "sign_in.asked_again")
    assert attempt.acts() == ["type ['password'] staple", "click next"]


async def test_signing_in_begins_where_the_meeting_leads_and_goes_on_at_the_sites_own_pages(clock: FakeClock) -> None:
    attempt = Try(clock)
    meeting = "https://meeting.example/1"
    attempt.show = lambda: (PageState.LOADING, ())
    with contextlib.suppress(TimeoutError):
        await attempt.run(within_s=40, led_by=meeting)
    assert [act for act in attempt.page.acts if act.startswith("goto")][:2] == [f"goto {meeting}", f"goto {HERE}"]


async def test_nothing_is_typed_or_pressed_on_another_host(clock: FakeClock) -> None:
    attempt = Try(clock)
    attempt.page.url = "https://accounts.example.evil/"
    attempt.show = lambda: (PageState.DIALOG, ("account", "password", "next"))
    end = await attempt.run()
    assert (end.reading.state, end.password_sent, attempt.acts()) == (PageState.TROUBLE, False, [])


async def test_a_door_that_cannot_be_reached_or_shows_nothing_leads_to_the_next(clock: FakeClock) -> None:
    shut = Try(clock)
    shut.page.closed = (HERE,)
    shut.show = lambda: (PageState.CHALLENGED, ())
    await shut.run()
    silent = Try(FakeClock())
    silent.show = lambda: (PageState.CHALLENGED if len(silent.page.acts) > 1 else PageState.LOADING, ())
    await silent.run()
    assert shut.page.acts == silent.page.acts == [f"goto {HERE}", "goto https://other.example/"]


async def test_where_no_door_can_be_reached_the_page_is_at_fault(clock: FakeClock) -> None:
    attempt = Try(clock)
    attempt.page.closed = attempt.pages.entry_urls
    with pytest.raises(PageError):
        await attempt.run()


@pytest.mark.parametrize(("cookies", "state"), [(("SID",), "signed_in"), (("NID",), "sign_in_needed")])
async def test_after_the_password_an_unknown_page_is_judged_by_cookies(
    clock: FakeClock, cookies: tuple[str, ...], state: str
) -> None:
    attempt = Try(clock)
    attempt.page.cookies = cookies
    attempt.show = lambda: (PageState.LOADING, ()) if attempt.clicks() else (PageState.DIALOG, ("password", "next"))
    end = await attempt.run()
    assert (end.reading.state, end.password_sent) == (state, True)


async def test_cookies_from_before_the_password_prove_nothing(clock: FakeClock) -> None:
    attempt = Try(clock)
    attempt.page.cookies = ("SID",)
    assert (await attempt.run()).reading.state is PageState.TROUBLE


async def test_a_crash_ends_the_try_at_once(clock: FakeClock) -> None:
    attempt = Try(clock)
    attempt.show = lambda: PageCrashed("gone")
    with pytest.raises(PageCrashed):
        await attempt.run()


def test_a_platform_that_signs_nobody_in_says_so() -> None:
    assert platform_of(Service("zoom")).accounts.pages is None
