"""The Teams-shaped site: launcher, prejoin, lobby, call and endings, in real Chromium."""

import asyncio
import base64
import json
import zlib
from typing import Any

import pytest
from playwright.async_api import FrameLocator, Page, expect

from harness.practice_room import OpenRoom, Room
from sederunt.practice.quirks import Quirks
from sederunt.practice.script import ScriptedAct

FIRST_WORDS = (ScriptedAct(at_s=0.2, do="say", who="Ada Lovelace", clip="librivox_0880"),)
NAME = '[data-tid="prejoin-display-name-input"]'
JOIN = '[data-tid="prejoin-join-button"]'


async def ask(where: Page | FrameLocator) -> None:
    """Type the name and press the button."""
    await where.locator(NAME).fill("Minutes")
    await where.locator(JOIN).click()


async def enter(room: Room) -> Room:
    await ask(room.page)
    await room.meeting.wait_for("media_connected")
    return room


async def frames(room: Room) -> list[dict[str, Any]]:
    """Frames of the site's own socket, decoded."""
    sockets = await room.page.evaluate("() => window.remembered.sockets")
    texts = [entry["data"] for entry in sockets if "trouter" in entry["url"]]
    assert all(text.startswith("3:::") for text in texts)
    return [json.loads(text.removeprefix("3:::")) for text in texts]


async def line_is_open(room: Room) -> None:
    """Wait for the site's own socket: what is to be signalled before is never told."""
    async with asyncio.timeout(60):
        while room.meeting.visitor().line is None:  # noqa: ASYNC110  # it has no event
            await asyncio.sleep(0.02)


async def end_of_conversation(room: Room) -> dict[str, Any]:
    """What the site's own socket says of the end; the text on the page comes by another and may be there before."""
    await room.page.wait_for_function("window.remembered.sockets.some((s) => s.data.includes('conversationEnd'))")
    end = next(frame for frame in await frames(room) if "conversationEnd" in frame["url"])
    told: dict[str, Any] = json.loads(end["body"])
    return told


async def test_the_launcher_leads_to_the_client(open_room: OpenRoom) -> None:
    room = await open_room("teams")
    await room.page.get_by_text("Continue on this browser").click()
    await room.page.wait_for_url("**/v2/?meetingjoin=true#/meet/**")
    await enter(room)
    for selector in ("#hangup-button", "#roster-button", "#chat-button", "#callingButtons-showMoreBtn"):
        await expect(room.page.locator(selector)).to_be_attached()


async def test_other_forms_of_the_link_lead_there_too(open_room: OpenRoom) -> None:
    room = await open_room("teams", launcher=False)
    code = room.meeting.code
    thread = f"19%3ameeting_{code}%40thread.v2"
    for link in (
        f"https://teams.microsoft.com/l/meetup-join/{thread}/0?context=%7b%22Tid%22%3a%22t%22%7d",
        f"https://teams.microsoft.com/v2/?meetingjoin=true#/l/meetup-join/{thread}/0?anon=true",
        f"https://teams.live.com/meet/{code}?p=x",
    ):
        await room.page.goto(link)
        await expect(room.page.locator(NAME)).to_be_visible()


async def test_who_keeps_the_choice_without_audio_is_sent_none(open_room: OpenRoom) -> None:
    room = await enter(await open_room("teams", launcher=False, acts=FIRST_WORDS, quirks=Quirks(soundless=True)))
    await room.meeting.wait_for("fell_silent")
    peer = room.meeting.visitor().peer
    assert peer is not None
    assert not peer.sent


async def test_speech_arrives_on_one_track_named_main_audio(open_room: OpenRoom) -> None:
    room = await enter(await open_room("teams", launcher=False, acts=FIRST_WORDS, offers="server"))
    await room.hears()
    rows = await room.received()
    assert len(rows) == 1
    track = await room.page.evaluate("() => window.remembered.connections[0].getReceivers()[0].track.id")
    assert track.startswith("mainAudio")


async def test_the_roster_comes_by_trouter_and_speakers_by_main_channel(open_room: OpenRoom) -> None:
    room = await enter(await open_room("teams", launcher=False, acts=FIRST_WORDS))
    await room.meeting.wait_for("fell_silent")
    await room.page.wait_for_function("() => window.remembered.channels.length >= 2")
    await room.page.wait_for_function("window.remembered.sockets.some((s) => s.data.includes('rosterUpdate'))")
    rosters = [frame for frame in await frames(room) if frame["url"].endswith("rosterUpdate/")]
    told: dict[str, Any] = {}
    for frame in rosters:
        told |= json.loads(zlib.decompress(base64.b64decode(frame["body"])))["participants"]
    assert {entry["details"]["displayName"] for entry in told.values()} == {
        "Ada Lovelace",
        "Charles Babbage",
        "Minutes",
    }
    messages = await room.page.evaluate("() => window.remembered.channels")
    history = [json.loads(base64.b64decode(message["data"])[4:])[0]["history"] for message in messages]
    ada = next(entry for entry in told.values() if entry["details"]["displayName"] == "Ada Lovelace")
    source = next(iter(ada["endpoints"].values()))["call"]["mediaStreams"][0]["sourceId"]
    assert history == [[source], []]
    peer = room.meeting.visitor().peer
    assert peer is not None
    assert {packet.csrcs for packet in peer.sent} == {(source,)}


@pytest.mark.parametrize("when", ["before", "after", "both"])
async def test_the_devices_modal_stands_before_or_after_the_join_button(open_room: OpenRoom, when: str) -> None:
    room = await open_room("teams", launcher=False, devices_modal=when)
    proceed = room.page.get_by_role("button", name="Continue without audio or video")
    if when != "after":
        await proceed.click()
    await ask(room.page)
    if when != "before":
        await proceed.click()
        await expect(room.page.locator(JOIN)).to_be_enabled()
        await room.page.locator(JOIN).click()
    await room.meeting.wait_for("media_connected")


async def test_the_client_may_sit_in_a_frame(open_room: OpenRoom) -> None:
    room = await open_room("teams", launcher=False, frame=True)
    await ask(room.page.frame_locator("iframe.client"))
    await room.meeting.wait_for("media_connected")
    assert len(room.meeting.visitors) == 1


async def test_the_lobby_ends_with_a_denial_and_its_code(open_room: OpenRoom) -> None:
    room = await open_room("teams", launcher=False, entry="knock")
    await ask(room.page)
    await expect(room.page.locator('[data-tid="lobby-screen"]')).to_contain_text("Someone will let you in shortly")
    await line_is_open(room)
    room.meeting.deny(room.meeting.visitor())
    await expect(room.page.get_by_text("you were denied access to the meeting")).to_be_visible()
    assert (await end_of_conversation(room))["subCode"] == 5854


async def test_a_removal_names_who_did_it(open_room: OpenRoom) -> None:
    room = await enter(await open_room("teams", launcher=False))
    await line_is_open(room)
    room.meeting.kick(room.meeting.visitor())
    await expect(room.page.locator("#calling-retry-screen-title")).to_have_text("You've been removed from this meeting")
    body = await end_of_conversation(room)
    assert body["subCode"] == 5000
    assert body["sender"].startswith("8:")


async def test_the_end_for_everyone_offers_to_rejoin(open_room: OpenRoom) -> None:
    room = await enter(await open_room("teams", launcher=False))
    room.meeting.end()
    await expect(room.page.get_by_text("The meeting has ended")).to_be_visible()
    await expect(room.page.locator('[data-tid="anon-meeting-end-screen-rejoin-button"]')).to_be_visible()


async def test_a_site_that_gives_up_goes_back_to_the_name(open_room: OpenRoom) -> None:
    room = await open_room("teams", launcher=False, entry="server_timeout", after_s=0.2)
    await ask(room.page)
    await room.meeting.wait_for("denied", screen="nobody_answered")
    await expect(room.page.locator(NAME)).to_be_visible()
    assert not await room.page.evaluate("window.remembered.sockets.some((s) => s.data.includes('conversationEnd'))")


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("invalid", "Looks like the meeting URL is incorrect"),
        ("sign_in", "you need to be signed in to an account"),
        ("captcha", "Verify you're a real person"),
        ("ended", "The meeting has ended"),
    ],
)
async def test_refusals_at_the_door(open_room: OpenRoom, entry: str, text: str) -> None:
    room = await open_room("teams", launcher=False, entry=entry)
    await expect(room.page.get_by_text(text)).to_be_visible()


async def test_a_tenant_without_guests_lets_an_account_in(open_room: OpenRoom) -> None:
    room = await open_room("teams", entry="sign_in")
    assert "login.microsoftonline.com" in room.page.url
    await room.page.locator('input[name="loginfmt"][type="email"]').fill("nobody@example.com")
    await room.page.locator("#idSIButton9").click()
    await expect(room.page.locator("#usernameError")).to_be_visible()
    await room.page.locator('input[name="loginfmt"]').fill("minutes@example.com")
    await room.page.locator("#idSIButton9").click()
    await room.page.locator('input[name="passwd"]').fill("secret")
    await room.page.locator("#idSIButton9").click()
    await expect(room.page.get_by_text("Stay signed in?")).to_be_visible()
    await room.page.locator("#idSIButton9").click()
    await room.page.get_by_text("Continue on this browser").click()
    await expect(room.page.locator(NAME)).to_have_count(0)
    await room.page.locator(JOIN).click()
    await room.meeting.wait_for("media_connected", name="minutes")


async def test_chat_and_people_show_what_happens(open_room: OpenRoom) -> None:
    room = await enter(await open_room("teams", launcher=False))
    await expect(room.page.locator('[data-tid="toolbar-item-badge"]')).to_have_text("3")
    await room.page.locator("#roster-button").click()
    await expect(room.page.locator('[aria-label="Attendees"] [data-cid="roster-participant"]')).to_have_count(3)
    room.meeting.act(ScriptedAct(at_s=0, do="chat", who="Ada Lovelace", text="Good morning."))
    await room.page.locator("#chat-button").click()
    await expect(room.page.locator('[data-tid="messageBodyContent"]')).to_have_text("Good morning.")
    await room.page.locator('[aria-label="Type a message"]').click()
    await room.page.keyboard.type("I take the minutes.")
    await room.page.keyboard.press("Enter")
    assert (await room.meeting.wait_for("chat", sender="Minutes"))["text"] == "I take the minutes."
