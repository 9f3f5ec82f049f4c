"""Signing in by hand: a window on a display of the test's own, and the test as the person in front of it."""

import asyncio
import os
import stat
from uuid import uuid4

from playwright.async_api import Page

from harness.browser_room import WHEN_THERE
from sederunt.browser.display import Display
from sederunt.browser.page_request import PageRequest
from sederunt.browser.pool import BrowserPool
from sederunt.browser.window import sign_in_by_hand
from sederunt.practice.script import Script, Variant
from sederunt.practice.server import PracticeServer
from sederunt.settings import BrowserSettings

START = "https://accounts.google.com/ServiceLogin?continue=https%3A%2F%2Fmeet.google.com%2F"


async def _person(page: Page) -> None:
    await page.fill("#identifierId", "ada@example.org")
    await page.click("#identifierNext")
    await page.fill('input[name="Passwd"]', "right")
    await page.click("#passwordNext")
    await page.wait_for_url("https://meet.google.com/**")
    await page.close()


async def test_what_a_person_signed_in_by_hand_lets_a_bot_into_a_meeting_that_demands_it(
    practice: PracticeServer, pool: BrowserPool
) -> None:
    settings = BrowserSettings(host_rules=practice.host_rules, ignore_certificate_errors=True)
    async with Display() as display:
        state = await sign_in_by_hand(settings, START, display=display.name, authority=display.authority, shown=_person)
    assert "SID" in {cookie["name"] for cookie in state["cookies"]}
    meeting = await practice.open_meeting(Script(variant=Variant(entry="sign_in")))
    request = PageRequest(
        bot_id=uuid4(), mode="shell", watch={}, hosts=("https://meet.google.com",), storage_state=state
    )
    page = await pool.open(request, on_frames=lambda frames: None, on_signal=lambda signal: None)
    await page.goto(meeting.url)
    await page.evaluate(WHEN_THERE, "button[jsname]", deadline_s=60)
    assert await page.click(['button:has-text("Join now")'])
    assert (await meeting.wait_for("admitted"))["name"] == "ada"


async def _nobody(page: Page) -> None:
    await page.wait_for_load_state()  # Chromium may lose the driver's order to close while a page is on its way
    await page.close()


async def test_a_window_that_is_closed_at_once_leaves_nothing(practice: PracticeServer) -> None:
    settings = BrowserSettings(host_rules=practice.host_rules, ignore_certificate_errors=True)
    async with Display() as display:
        state = await sign_in_by_hand(settings, START, display=display.name, authority=display.authority, shown=_nobody)
    assert state == {"cookies": [], "origins": []}


async def _client(display: Display, authority: str) -> int:
    """The exit code of a program that asks for a window there."""
    client = await asyncio.create_subprocess_exec(
        *("ffmpeg", "-loglevel", "error", "-f", "x11grab", "-video_size", "16x16", "-i", display.name),
        *("-frames:v", "1", "-f", "null", "-"),
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "XAUTHORITY": authority},
        stderr=asyncio.subprocess.DEVNULL,
    )
    return await client.wait()


async def test_nobody_sees_the_screen_without_its_cookie() -> None:
    async with Display() as display:
        authority = display.authority
        assert stat.S_IMODE(authority.stat().st_mode) == 0o600
        assert await _client(display, str(authority)) == 0
        assert await _client(display, "/dev/null") != 0
    assert not authority.exists()
