"""The Zoom-shaped site: launch page, preview, waiting room, both ways of audio, and endings, in real Chromium."""

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import FrameLocator, Page, expect

from harness.practice_room import OpenRoom, Room
from sederunt.practice import clips
from sederunt.practice.script import ScriptedAct

FIRST_WORDS = (ScriptedAct(at_s=0.2, do="say", who="Ada Lovelace", clip="librivox_0880"),)
NAME = "#input-for-name"
JOIN = "button.preview-join-button:not(.disabled)"


async def ask(where: Page | FrameLocator) -> None:
    """Type the name and press the button."""
    await where.locator(NAME).fill("Minutes")
    await where.locator(JOIN).click()


async def enter(room: Room) -> Room:
    await ask(room.page)
    await room.page.locator(".join-audio-by-voip__join-btn").click()
    await room.meeting.wait_for("media_connected")
    return room


async def test_the_launch_page_leads_to_the_client(open_room: OpenRoom) -> None:
    room = await open_room("zoom")
    await room.page.get_by_text("Launch Meeting", exact=True).click()
    await room.page.get_by_text("Join from your browser").click()
    await room.page.wait_for_url(f"https://app.zoom.us/wc/{room.meeting.code}/join?pwd=practice.1")
    await enter(room)
    await expect(room.page.locator('button[aria-label="Leave"]')).to_be_attached()
    await expect(room.page.locator(".footer-button__number-counter")).to_have_text("3")


@pytest.mark.parametrize("offers", ["page", "server"])
async def test_speech_arrives_by_rtp_without_sources(open_room: OpenRoom, offers: str) -> None:
    room = await enter(await open_room("zoom", launcher=False, acts=FIRST_WORDS, offers=offers))
    await room.hears()
    streams = await room.page.evaluate("() => window.remembered.connections[0].remoteDescription.sdp")
    assert "%2BCS%2B" in streams
    sources = await room.page.evaluate(
        "() => window.remembered.connections[0].getReceivers()[0].getContributingSources()"
    )
    assert sources == []


@pytest.mark.parametrize("csp", ["strict", "trusted_types"])
async def test_speech_arrives_over_a_data_channel_without_any_receiver(open_room: OpenRoom, csp: str) -> None:
    room = await open_room("zoom", launcher=False, acts=FIRST_WORDS, audio="webaudio", csp=csp)
    await room.page.evaluate(
        """() => {
          const native = AudioNode.prototype.connect;
          window.played = 0;
          AudioNode.prototype.connect = function (target, ...rest) {
            if (target === this.context.destination && this.buffer) {
              window.played += this.buffer.getChannelData(0).some((value) => Math.abs(value) > 0.05) ? 1 : 0;
            }
            return native.call(this, target, ...rest);
          };
        }"""
    )
    await enter(room)
    await room.page.wait_for_function("() => window.played > 20")
    await room.meeting.wait_for("fell_silent")
    assert await room.page.evaluate("() => window.remembered.connections[0].getReceivers().length") == 0
    peer = room.meeting.visitor().peer
    assert peer is not None
    assert [packet.digest for packet in peer.sent] == [frame.digest for frame in clips.load("librivox_0880").frames]


async def test_nothing_is_negotiated_before_the_audio_is_joined(open_room: OpenRoom) -> None:
    room = await open_room("zoom", launcher=False)
    await ask(room.page)
    await room.meeting.wait_for("admitted")
    await expect(room.page.locator(".join-audio-by-voip__join-btn")).to_be_visible()
    assert await room.page.evaluate("() => window.remembered.connections.length") == 0


async def test_a_wrong_passcode_is_asked_for_again(open_room: OpenRoom) -> None:
    room = await open_room("zoom", launcher=False, passcode="314159", join_audio=False)
    await room.page.locator(NAME).fill("Minutes")
    await room.page.locator("#input-for-pwd").fill("1")
    await room.page.locator(JOIN).click()
    await expect(room.page.locator("#error-for-pwd")).to_have_text("Passcode wrong")
    await room.page.locator("#input-for-pwd").fill("314159")
    await ask(room.page)
    await room.meeting.wait_for("media_connected")


async def test_cookie_banner_and_media_prompt_stand_in_front(open_room: OpenRoom) -> None:
    room = await open_room("zoom", launcher=False, cookie_banner=True, media_prompt="both", join_audio=False)
    await room.page.locator("#onetrust-accept-btn-handler").click()
    await room.page.get_by_text("Continue without microphone and camera").click()
    await ask(room.page)
    await room.meeting.wait_for("media_connected")


async def test_the_client_may_sit_in_a_frame(open_room: OpenRoom) -> None:
    room = await open_room("zoom", launcher=False, frame=True, join_audio=False)
    await ask(room.page.frame_locator("iframe#webclient"))
    await room.meeting.wait_for("media_connected")


async def test_the_waiting_room_ends_with_admission(open_room: OpenRoom) -> None:
    room = await open_room("zoom", launcher=False, entry="knock", join_audio=False)
    await ask(room.page)
    await expect(room.page.locator(".waiting-room-container")).to_contain_text("the meeting host will let you in soon")
    room.meeting.admit(room.meeting.visitor())
    await room.meeting.wait_for("media_connected")


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("deny_after", "You have been removed from this meeting by the host."),
        ("blocked", "Automated bots aren't allowed to join this meeting."),
        ("locked", "Host has locked this meeting."),
        ("full", "Meeting capacity has been reached"),
    ],
)
async def test_refusals_are_modals(open_room: OpenRoom, entry: str, text: str) -> None:
    room = await open_room("zoom", launcher=False, entry=entry, after_s=0.1)
    await ask(room.page)
    await expect(room.page.locator(".zm-modal-body-title", has_text=text)).to_be_visible()


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("host_late", "Waiting for the host to start the meeting."),
        ("host_elsewhere", "The host has another meeting in progress"),
    ],
)
async def test_the_page_says_where_the_host_is(open_room: OpenRoom, entry: str, text: str) -> None:
    room = await open_room("zoom", launcher=False, entry=entry, after_s=5)
    await ask(room.page)
    await expect(room.page.get_by_text(text)).to_be_visible()


async def test_a_meeting_for_accounts_lets_one_in_after_signing_in(open_room: OpenRoom) -> None:
    room = await open_room("zoom", launcher=False, entry="sign_in", join_audio=False)
    await expect(room.page.locator("#prompt")).to_contain_text("Sign in to join this meeting")
    await room.page.locator("button.login-btn-zoom").click()
    await room.page.locator("#email").fill("minutes@example.com")
    await room.page.locator("#js_btn_login").click()
    await room.page.locator("#password").fill("secret")
    await room.page.locator("#js_btn_login").click()
    await room.page.locator(JOIN).click()
    await room.meeting.wait_for("media_connected", name="minutes")


async def test_an_unknown_meeting_has_an_error_for_a_title(open_room: OpenRoom) -> None:
    room = await open_room("zoom", launcher=False, entry="invalid")
    await expect(room.page.get_by_text("This meeting link is invalid (3,001)")).to_be_visible()
    await expect(room.page).to_have_title("Error - Zoom")


async def test_consent_is_a_visible_modal_beside_a_hidden_copy(open_room: OpenRoom) -> None:
    room = await open_room("zoom", launcher=False, consent=True, join_audio=False)
    await ask(room.page)
    modals = room.page.locator(".zm-modal", has_text="This meeting is being recorded")
    await expect(modals).to_have_count(2)
    await room.page.locator(".zm-modal:not(.template) button.zm-btn--primary").click()
    await room.meeting.wait_for("note", note="Got it")


async def test_the_control_socket_tells_roster_and_speakers(open_room: OpenRoom) -> None:
    room = await enter(await open_room("zoom", launcher=False))
    told: list[dict[str, Any]] = []
    # A Worker's socket is out of the page's sight. Nothing is said before it is overheard.
    room.meeting.visitor().line = _overhear(await _line_of(room), told)
    room.meeting.act(FIRST_WORDS[0])
    await room.meeting.wait_for("fell_silent")
    room.meeting.act(ScriptedAct(at_s=0, do="join", who="Mary Somerville"))
    speakers = [event["body"] for event in told if event["evt"] == 12033]
    ada = room.meeting.cast.people[0].csrc
    assert speakers == [{"asn1": ada}, {}]
    roster = next(event["body"] for event in told if event["evt"] == 7937)
    assert base64.b64decode(roster["add"][0]["dn2"]).decode() == "Mary Somerville"


async def test_the_newest_speaker_is_on_the_stage(open_room: OpenRoom) -> None:
    room = await enter(await open_room("zoom", launcher=False, acts=FIRST_WORDS))
    stage = room.page.locator(".single-main-container__video-frame .video-avatar__avatar-footer")
    await expect(stage).to_have_text("Ada Lovelace")


async def test_chat_and_participants_show_what_happens(open_room: OpenRoom) -> None:
    room = await open_room("zoom", launcher=False, join_audio=False)
    await ask(room.page)
    await room.meeting.wait_for("media_connected")
    await room.page.locator('button[aria-label="open the participants list pane"]').click()
    await expect(room.page.locator("#participants-ul .participants-li")).to_have_count(3)
    room.meeting.act(ScriptedAct(at_s=0, do="chat", who="Ada Lovelace", text="Good morning."))
    await room.page.locator('button[aria-label="open the chat panel"]').click()
    await expect(room.page.locator(".chat-rtf-box__display")).to_have_text("Good morning.")
    await room.page.locator(".tiptap.ProseMirror").click()
    await room.page.keyboard.type("I take the minutes.")
    await room.page.keyboard.press("Enter")
    assert (await room.meeting.wait_for("chat", sender="Minutes"))["text"] == "I take the minutes."


async def test_the_end_is_a_modal_and_its_button_leads_away(open_room: OpenRoom) -> None:
    room = await open_room("zoom", launcher=False, join_audio=False)
    await ask(room.page)
    await room.meeting.wait_for("media_connected")
    room.meeting.end()
    await expect(room.page.locator(".zm-modal-body-title", has_text="ended by host")).to_be_visible()
    await room.page.locator(".zm-modal:not(.template) button.zm-btn--primary").click()
    await room.page.wait_for_url("**/wc?ref_from=practice")


async def test_leaving_takes_two_presses(open_room: OpenRoom) -> None:
    room = await open_room("zoom", launcher=False, join_audio=False)
    await ask(room.page)
    await room.meeting.wait_for("media_connected")
    await room.page.locator('button[aria-label="Leave"]').click()
    await room.page.locator("button.leave-meeting-options__btn--danger").click()
    await room.meeting.wait_for("left")


async def _line_of(room: Room) -> Callable[[str], None]:
    """The server's end of the site's own socket, once it is open."""
    async with asyncio.timeout(60):
        while (line := room.meeting.visitor().line) is None:  # noqa: ASYNC110  # it has no event
            await asyncio.sleep(0.02)
    return line


def _overhear(line: Callable[[str], None], told: list[dict[str, Any]]) -> Callable[[str], None]:
    def send(text: str) -> None:
        told.append(json.loads(text))
        line(text)

    return send
