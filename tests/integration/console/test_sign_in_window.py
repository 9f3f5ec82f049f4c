"""A meeting account is signed in from the console, on a host's browser: a real host, a real window, a practice site."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.async_api import Page, Route, expect

from harness.api_room import ApiRoom, api_room, on_a_socket
from harness.console_browser import Reader, chromium, signed_in
from harness.console_room import link_for, visitor
from harness.journeys import unhurried
from sederunt.accounts.meeting_accounts import SignIn
from sederunt.accounts.sign_in import MemberRole
from sederunt.browser.pool import BrowserPool
from sederunt.browser.remote_window import RemoteWindow, remote_window
from sederunt.bus.heartbeat import beating
from sederunt.clock import SYSTEM_CLOCK
from sederunt.jobs import account_checks, sign_in_windows
from sederunt.jobs.attend import attend
from sederunt.jobs.context import open_context
from sederunt.jobs.job import Job
from sederunt.model.bot import Service
from sederunt.practice.script import Variant, demo
from sederunt.practice.server import PracticeServer
from sederunt.settings import BrowserSettings, BusSettings

pytestmark = pytest.mark.chromium


class Host:
    """A host that opens windows; `pages` are what stands in them, for a test to wait on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pages: asyncio.Queue[Page] = asyncio.Queue()
        monkeypatch.setattr(sign_in_windows, "remote_window", self._remote_window)

    @asynccontextmanager
    async def _remote_window(self, *arguments: Any, **options: Any) -> AsyncIterator[RemoteWindow]:
        async with remote_window(*arguments, **options) as window:
            self.pages.put_nowait(window._page)
            yield window

    async def page(self) -> Page:
        return await asyncio.wait_for(self.pages.get(), 60)


@pytest.fixture
async def practice() -> AsyncIterator[PracticeServer]:
    async with PracticeServer() as running:
        yield running


@pytest.fixture
async def room(tmp_path: Path, bus_settings: BusSettings, practice: PracticeServer) -> AsyncIterator[ApiRoom]:
    browser = BrowserSettings(host_rules=practice.host_rules, ignore_certificate_errors=True)
    api = {"public_url": None}
    async with api_room(tmp_path / "data", bus_settings, SYSTEM_CLOCK, browser=browser, api=api) as opened:
        yield opened


@pytest.fixture
async def host(room: ApiRoom, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Host]:
    async def facts() -> dict[str, Any]:
        return {"seats": {"free": 3}}

    made = Host(monkeypatch)
    async with (
        open_context(room.settings, role="host") as context,
        sign_in_windows.serving_windows(context),
        beating(context.bus, "host", context.name, facts),
    ):
        await known_to(room, context.name)
        yield made


async def known_to(room: ApiRoom, host: str) -> None:
    """Wait until the api has heard of a host."""
    owner = await visitor(room)
    async with asyncio.timeout(120):
        while host not in (await owner.page("/operations")).text:  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # a heartbeat comes to the api, which tells nobody


@pytest.fixture
async def reader(room: ApiRoom, host: Host) -> AsyncIterator[Reader]:
    async with (
        on_a_socket(room.app) as port,
        chromium() as browser,
        signed_in(browser, f"http://127.0.0.1:{port}{await link_for(room)}") as somebody,
    ):
        yield somebody


async def opened(reader: Reader, host: Host) -> Page:
    """Open a window for a Google account; the page that stands in it."""
    await reader.go("/keys")
    await reader.page.get_by_text("Add a meeting account").click()
    await reader.page.get_by_label("Email").first.fill("ada@example.org")
    await reader.page.get_by_role("button", name="Sign in here").click()
    await reader.page.wait_for_url("**/sign-in-windows/**", timeout=90_000)
    inside = await host.page()
    await inside.locator("#identifierId").wait_for()
    await expect(reader.page.locator("[data-picture]")).to_be_visible()
    await expect(reader.page.locator("[data-address]")).to_have_text("https://accounts.google.com/ServiceLogin")
    return inside


async def press_there(reader: Reader, inside: Page, selector: str) -> None:
    """Press with the pointer where the picture shows something."""
    place = await inside.locator(selector).bounding_box()
    box = await reader.page.locator("[data-picture]").bounding_box()
    size = inside.viewport_size
    assert place
    assert box
    assert size
    across = (place["x"] + place["width"] / 2) / size["width"]
    down = (place["y"] + place["height"] / 2) / size["height"]
    await reader.page.mouse.click(box["x"] + across * box["width"], box["y"] + down * box["height"])


async def focus_there(reader: Reader, inside: Page, selector: str) -> None:
    """Press until a field has the focus: what is pressed while the page before is still shown is passed over."""
    field = inside.locator(selector)
    await field.blur()
    async with asyncio.timeout(60):
        while not await field.evaluate("(field) => field === document.activeElement"):
            async with reader.page.expect_response("**/input"):
                await press_there(reader, inside, selector)


async def test_an_owner_signs_an_account_in_and_a_bot_enters_as_it(
    room: ApiRoom, practice: PracticeServer, host: Host, reader: Reader
) -> None:
    page, inside = reader.page, await opened(reader, host)
    await page.get_by_role("button", name="Keep it").click()
    await expect(page.get_by_role("alert")).to_contain_text("not signed anybody in yet")
    await focus_there(reader, inside, "#identifierId")
    await page.keyboard.type("adaX@example.org")
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight", "Delete"):
        await page.keyboard.press(key)
    await expect(inside.locator("#identifierId")).to_have_value("ada@example.org")
    assert await reader.findings() == []
    await page.keyboard.press("Enter")
    await inside.locator('input[name="Passwd"]').wait_for()
    await focus_there(reader, inside, 'input[name="Passwd"]')
    await page.get_by_label("Type into the field").fill("Trombone-84 stäple")
    await page.get_by_role("button", name="Type it").click()
    await expect(inside.locator('input[name="Passwd"]')).to_have_value("Trombone-84 stäple")
    await page.get_by_role("button", name="Enter").click()
    await expect(page.locator("[data-address]")).to_have_text("https://meet.google.com/", timeout=30_000)
    await page.get_by_role("button", name="Keep it anyway").click()
    await page.wait_for_url("**/keys")
    await expect(page.get_by_role("button", name="Sign in again")).to_be_visible()
    [kept] = await room.meeting_accounts.of(room.account_id)
    secret = await room.meeting_accounts.open(kept.id, room.account_id)
    assert secret.state is not None
    assert "SID" in {cookie["name"] for cookie in secret.state["cookies"]}
    assert secret.password is None
    owner = await visitor(room)
    deeds = (await owner.ask("GET", "/audit")).json()["data"]
    assert [(deed["who"], deed["action"]) for deed in deeds] == [
        ("Grace Hopper", "keepMeetingAccount"),
        ("Grace Hopper", "openSignInWindow"),
    ]
    assert deeds[0]["target"] == str(kept.id)
    assert [said for said in reader.complaints if "404" not in said] == []
    await enters_as(room, practice, kept.id, "ada")


async def enters_as(room: ApiRoom, practice: PracticeServer, account: UUID, name: str) -> None:
    """Send a bot into a meeting that takes no guests, with a meeting account: whom the meeting lets in."""
    meeting = await practice.open_meeting(unhurried(demo(Variant(entry="sign_in"), turns=0), ends=False))
    authentication = {"account_id": str(account), "always_authenticate": True}
    bot = await room.bot(meeting_url=meeting.url, authentication=authentication)
    job = Job(kind="attend", id=UUID(bot["id"]), resource="bot", delivered=1, cut_off=asyncio.Event())
    async with (
        BrowserPool(room.settings.browser) as pool,
        open_context(room.settings, role="host", pool=pool, spools=room.settings.data / "spool") as context,
    ):
        attending = asyncio.create_task(attend(job, context))
        assert (await meeting.wait_for("admitted", timeout_s=120))["name"] == name
        assert (await room.client.post(f"/bot/{bot['id']}/stop")).status_code == 200
        await asyncio.wait_for(attending, 120)
    assert "invalid_credentials" not in str((await room.look(bot))["events"])


async def test_a_window_is_its_openers_alone_and_leads_nowhere_private(
    room: ApiRoom, host: Host, reader: Reader
) -> None:
    page, inside = reader.page, await opened(reader, host)
    window = page.url.partition("?")[0].rpartition("/")[2]
    stranger = await visitor(room, account_id=(await room.accounts.create("other")).id)
    colleague, member = await visitor(room), await visitor(room, MemberRole.MEMBER)
    for one, status in ((colleague, 404), (stranger, 404), (member, 403)):
        for method, path in (("GET", "/picture?after=0"), ("POST", "/input"), ("POST", "/keep"), ("DELETE", "")):
            answer = await one.ask(method, f"/sign-in-window/{window}{path}", {"inputs": [["type", "x"]]})
            assert (answer.status_code, len(answer.content) < 20_000) == (status, True), (path, answer.text)
        assert (await one.page(f"/sign-in-windows/{window}")).status_code == status
    for method, path in (("GET", "/picture"), ("POST", "/input"), ("POST", "/keep"), ("DELETE", "")):  # a key is a key
        keyed = await room.client.request(method, f"/sign-in-window/{window}{path}", json={"inputs": []})
        assert keyed.status_code == 404, path
    forged = await colleague.client.post(f"/api/v1/sign-in-window/{window}/input", json={"inputs": []})
    assert forged.status_code == 403
    assert (await colleague.ask("GET", f"/sign-in-window/{UUID(int=7)}/picture")).status_code == 404
    assert await inside.locator("#identifierId").input_value() == ""
    with pytest.raises(Exception, match="ERR_ADDRESS_UNREACHABLE"):
        await inside.goto(f"{reader.base}/sign-in")
    await expect(page.locator("[data-address]")).to_contain_text("chrome-error:")
    await inside.goto("https://meet.google.com/")
    # Later than its own answer: the window goes where the popup would have led, and takes the call with it.
    async with inside.expect_popup() as popping:
        await inside.evaluate("() => { setTimeout(() => window.open('https://accounts.google.com/ServiceLogin')) }")
    await expect(page.locator("[data-address]")).to_have_text("https://accounts.google.com/ServiceLogin")
    popup = await popping.value
    if not popup.is_closed():  # it goes on its own, which may be later than the window moves
        await popup.wait_for_event("close")
    assert len(inside.context.pages) == 1
    async with inside.expect_event("close", timeout=30_000):
        await page.get_by_role("button", name="Close").click()
    assert await room.meeting_accounts.of(room.account_id) == []


async def test_what_is_typed_goes_to_the_page_that_is_shown(host: Host, reader: Reader) -> None:
    """The window moves on by itself, to an address whose escapes stand for no text, while a picture is on its way."""
    page, inside = reader.page, await opened(reader, host)
    await focus_there(reader, inside, "#identifierId")
    held: asyncio.Queue[Route] = asyncio.Queue()
    await page.route("**/picture?*", held.put)
    waiting = await held.get()
    await inside.goto("https://accounts.google.com/ServiceLogin/%ff?another")
    await inside.evaluate("() => { document.body.innerHTML = '<input id=trap>' }")
    trap = inside.locator("#trap")
    await trap.focus()
    for key in ("s", "Shift", "e"):
        async with page.expect_response("**/input"):
            await page.keyboard.press(key)
    await expect(trap).to_have_value("")
    await waiting.continue_()
    await page.unroute("**/picture?*")
    await expect(page.locator("[data-address]")).to_have_text("https://accounts.google.com/ServiceLogin/%ff")
    await focus_there(reader, inside, "#trap")
    await page.keyboard.type("yes")
    await expect(trap).to_have_value("yes")


async def test_a_window_that_nobody_looks_at_closes(room: ApiRoom, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    wish = {"service": "gmeet", "email": "ada@example.org"}
    refused = await room.client.post("/sign-in-window", json={"service": "zoom", "email": "a@b.example"})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["service"])
    monkeypatch.setattr(sign_in_windows, "MOST", 0)
    full = await room.client.post("/sign-in-window", json=wish)
    assert (full.status_code, "Other people are signing in" in full.text) == (409, True), full.text
    monkeypatch.setattr(sign_in_windows, "MOST", 1)
    monkeypatch.setattr(sign_in_windows, "UNSEEN_S", 0.5)
    made = await room.client.post("/sign-in-window", json=wish)
    assert made.status_code == 200, made.text
    window = f"/sign-in-window/{made.json()['id']}"
    unknown: list[Any] = [7, [["fly", 1]], ["type"], [[]], [[[]]], [["type", "x" * 2_001]], [["wheel", 10**400]]]
    for wrong in (*unknown, [["back"]] * 201):
        odd = await room.client.post(f"{window}/input", json={"inputs": wrong})
        assert (odd.status_code, list(odd.json()["errors"])) == (400, ["inputs"]), wrong
    inside = await host.page()
    if not inside.is_closed():
        await inside.wait_for_event("close", timeout=60_000)
    assert (await room.client.get(f"{window}/picture")).status_code == 404


async def test_an_account_is_tried_at_its_site(
    room: ApiRoom, practice: PracticeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remembered(value: str) -> dict[str, Any]:
        cookie = {"name": "SID", "value": value, "domain": ".google.com", "path": "/", "expires": -1}
        return {"cookies": [{**cookie, "httpOnly": False, "secure": True, "sameSite": "Lax"}], "origins": []}

    async def said_of(email: str, password: str | None, state: dict[str, Any] | None) -> tuple[str, str]:
        sign_in = SignIn(service=Service("gmeet"), email=email, password=password, state=state)
        kept = await room.meeting_accounts.add(room.account_id, sign_in)
        answer = await room.client.post(f"/meeting-account/{kept.id}/check")
        assert answer.status_code == 200, answer.text
        shown = (await room.client.get(f"/meeting-account/{kept.id}")).json()
        assert (shown["email"], "password" in str(shown)) == (email, False)
        if answer.json()["verdict"] == "accepted":
            now = (await room.meeting_accounts.open(kept.id, room.account_id)).state
            assert now is not None
            assert any("ada@" in cookie["value"] for cookie in now["cookies"])
        return answer.json()["verdict"], answer.json()["row"].removeprefix("gmeet.sign_in.")

    async with (
        BrowserPool(room.settings.browser) as pool,
        open_context(room.settings, role="host", pool=pool) as context,
        account_checks.serving_account_checks(context),
        beating(context.bus, "host", context.name, no_facts),
    ):
        await known_to(room, context.name)
        assert await said_of("ada@example.org", None, remembered("stale")) == ("rejected", "asks")
        assert await said_of("ada@example.org", "Trombone-84", remembered("stale")) == ("accepted", "through")
        assert await said_of("ada@example.org", "wrong", None) == ("rejected", "refused")
        monkeypatch.setattr(account_checks, "MOST", 0)
        [kept, *_] = await room.meeting_accounts.of(room.account_id)
        full = await room.client.post(f"/meeting-account/{kept.id}/check")
        assert (full.status_code, "try again" in full.text) == (409, True)
    other = await room.other_account()
    for method, path in (("GET", ""), ("POST", "/check")):
        assert (await other.request(method, f"/meeting-account/{kept.id}{path}")).status_code == 404


async def no_facts() -> dict[str, Any]:
    return {}
