"""The Meet-shaped site before the call: every way in and every refusal, in real Chromium."""

import re

import pytest
from playwright.async_api import Page, expect

from harness.practice_room import OpenRoom

NAME = 'input[type="text"][aria-label="Your name"]'


async def ask(page: Page, name: str = "Minutes") -> None:
    """Type the name and press the button that leads in."""
    await page.locator(NAME).fill(name)
    await page.locator("//button[.//span[text()='Ask to join' or text()='Join now']]").click()


async def test_an_open_meeting_lets_the_bot_in_at_once(open_room: OpenRoom) -> None:
    room = await open_room(entry="open")
    await ask(room.page)
    await room.meeting.wait_for("media_connected")
    for label in ("Turn on captions", "Chat with everyone", "Show everyone", "Leave call"):
        await expect(room.page.locator(f'button[aria-label="{label}"]')).to_be_attached()
    assert [visitor.name for visitor in room.meeting.in_call()] == ["Minutes"]


async def test_a_second_press_while_the_screen_is_late_changes_nothing(open_room: OpenRoom) -> None:
    room = await open_room(entry="open", slow_s=0.5)
    await room.page.locator(NAME).fill("Minutes")
    join = room.page.locator("//button[.//span[text()='Join now']]")
    await join.evaluate("(button) => { button.click(); button.click(); }")  # two of ours could take longer than 0.5 s
    await room.meeting.wait_for("media_connected")
    assert [visitor.standing for visitor in room.meeting.visitors.values()] == ["in_call"]


async def test_a_bot_that_knocks_waits_in_the_lobby_until_it_is_admitted(open_room: OpenRoom) -> None:
    room = await open_room(entry="knock")
    await ask(room.page)
    await room.meeting.wait_for("knocked", name="Minutes")
    await expect(room.page.get_by_text("Asking to be let in")).to_be_visible()
    room.meeting.admit(room.meeting.visitor(standing="knocking"))
    await room.meeting.wait_for("media_connected")
    await expect(room.page.locator('[data-self-name="Minutes"]')).to_be_attached()


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("deny_after", "Someone in the call denied your request to join"),
        ("server_timeout", "No one responded to your request to join the call"),
        ("locked", "You can't join this video call"),
        ("full", "You can't join this meeting"),
        ("problem", "There is a problem connecting to this video call"),
    ],
)
async def test_a_refusal_is_shown_after_the_knock(open_room: OpenRoom, entry: str, text: str) -> None:
    room = await open_room(entry=entry, after_s=0.1)
    await ask(room.page)
    await expect(room.page.get_by_text(text)).to_be_visible()


@pytest.mark.parametrize(
    ("entry", "text"), [("invalid", "Check your meeting code"), ("ended", "This meeting has ended")]
)
async def test_some_refusals_come_before_any_name_is_asked(open_room: OpenRoom, entry: str, text: str) -> None:
    room = await open_room(entry=entry)
    await expect(room.page.get_by_text(text)).to_be_visible()
    await expect(room.page.locator(NAME)).to_have_count(0)


async def test_a_late_host_lets_everyone_in_on_arrival(open_room: OpenRoom) -> None:
    room = await open_room(entry="host_late", after_s=0.2)
    await ask(room.page)
    await room.meeting.wait_for("media_connected")


async def test_the_hard_block_sends_the_page_off_the_host(open_room: OpenRoom) -> None:
    room = await open_room(entry="blocked", redirect_s=5)
    await ask(room.page)
    await expect(room.page.get_by_text("You can't join this video call")).to_be_visible()
    await room.page.wait_for_url(re.compile(r"https://workspace\.google\.com/"))


async def test_a_challenge_shows_a_large_recaptcha_frame(open_room: OpenRoom) -> None:
    room = await open_room(entry="captcha")
    await ask(room.page)
    box = await room.page.locator('iframe[src*="recaptcha"]').bounding_box()
    assert box is not None
    assert box["width"] > 120
    assert box["height"] > 40


async def test_a_meeting_for_accounts_leads_to_the_sign_in_page_and_back(open_room: OpenRoom) -> None:
    room = await open_room(entry="sign_in")
    assert room.page.url.startswith("https://accounts.google.com/")
    await room.page.locator("#identifierId").fill("minutes@example.com")
    await room.page.get_by_text("Next").click()
    await room.page.locator('input[type="password"]').fill("wrong")
    await room.page.get_by_text("Next").click()
    await expect(room.page.get_by_text("Wrong password")).to_be_visible()
    await room.page.locator('input[type="password"]').fill("secret")
    await room.page.get_by_text("Next").click()
    await room.page.wait_for_url(room.meeting.url)
    await expect(room.page.locator(NAME)).to_have_count(0)
    await room.page.get_by_text("Join now").click()
    await room.meeting.wait_for("media_connected", name="minutes")


async def test_stale_credentials_are_told(open_room: OpenRoom) -> None:
    room = await open_room(entry="sign_in")
    await room.page.context.add_cookies([{"name": "SID", "value": "stale", "domain": ".google.com", "path": "/"}])
    await room.page.goto(room.meeting.url)
    await expect(room.page.get_by_text("Your sign-in credentials might have changed")).to_be_visible()


async def test_the_media_prompt_stands_before_the_name(open_room: OpenRoom) -> None:
    room = await open_room(media_prompt="both", curly=True)
    await room.page.get_by_text("Continue without microphone and camera").click()
    await expect(room.page.get_by_text("What’s your name?")).to_be_visible()
    await ask(room.page)
    await room.meeting.wait_for("media_connected")


async def test_the_join_button_can_insist_on_a_click_of_a_person(open_room: OpenRoom) -> None:
    room = await open_room(trusted_clicks=True)
    await room.page.locator(NAME).fill("Minutes")
    join = room.page.locator("//button[.//span[text()='Join now']]")
    await join.dispatch_event("click")
    await join.click()
    await room.meeting.wait_for("media_connected")
    assert len(room.meeting.events.after(kind="knocked")) == 1


async def test_screens_may_come_late(open_room: OpenRoom) -> None:
    room = await open_room(slow_s=0.5)
    await ask(room.page)
    await room.meeting.wait_for("media_connected")
    arrived, knocked = (room.meeting.events.after(kind=kind)[0] for kind in ("arrived", "knocked"))
    assert knocked.at_ms - arrived.at_ms >= 500


async def test_a_page_that_stays_blank_is_cured_by_a_reload(open_room: OpenRoom) -> None:
    room = await open_room(stalls=1)
    await room.meeting.wait_for("arrived")
    await expect(room.page.locator("#screen")).to_be_empty()
    await room.page.reload()
    await expect(room.page.locator(NAME)).to_be_visible()


async def test_a_bot_that_closes_its_page_has_left(open_room: OpenRoom) -> None:
    room = await open_room()
    await ask(room.page)
    await room.meeting.wait_for("media_connected")
    await room.page.close()
    await room.meeting.wait_for("left", name="Minutes")
    assert not room.meeting.in_call()
