"""The Meet-shaped site during the call: media, roster, chat and endings, in real Chromium."""

import asyncio
import base64
import zlib

import pytest
from playwright.async_api import expect

from harness.practice_room import OpenRoom, Room
from sederunt.practice import clips
from sederunt.practice.script import ScriptedAct

FIRST_WORDS = (
    ScriptedAct(at_s=0.2, do="say", who="Ada Lovelace", clip="librivox_0880"),
    ScriptedAct(at_s=0.4, do="say", who="Charles Babbage", clip="superlative"),
)


async def enter(room: Room) -> Room:
    """Go in by name and wait for media."""
    await room.page.locator('input[aria-label="Your name"]').fill("Minutes")
    await room.page.get_by_text("Join now").click()
    await room.meeting.wait_for("media_connected")
    return room


@pytest.mark.parametrize("offers", ["page", "server"])
@pytest.mark.parametrize("csp", ["off", "strict", "trusted_types"])
async def test_speech_arrives_whoever_offers_and_whatever_the_policy(
    open_room: OpenRoom, offers: str, csp: str
) -> None:
    room = await enter(await open_room(acts=FIRST_WORDS, offers=offers, csp=csp))
    await room.hears()
    assert all(row["lost"] == 0 for row in await room.received())


async def test_each_slot_carries_one_voice_at_a_time(open_room: OpenRoom) -> None:
    room = await enter(await open_room(acts=FIRST_WORDS))
    await room.meeting.wait_for("fell_silent", who="Charles Babbage")
    peer = room.meeting.visitor().peer
    assert peer is not None
    by_slot = {slot: {packet.csrcs for packet in peer.sent if packet.slot == slot} for slot in range(3)}
    assert by_slot == {0: {(1001,)}, 1: {(1002,)}, 2: set()}
    spoken = [packet.digest for packet in peer.sent if packet.csrcs == (1001,)]
    assert spoken == [frame.digest for frame in clips.load("librivox_0880").frames]


async def test_packets_that_come_late_arrive_out_of_order_but_complete(open_room: OpenRoom) -> None:
    room = await enter(await open_room(acts=FIRST_WORDS[:1], late=0.2))
    await room.meeting.wait_for("fell_silent")
    peer = room.meeting.visitor().peer
    assert peer is not None
    await room.receives(len(peer.sent))


async def test_audio_can_come_without_any_receiver(open_room: OpenRoom) -> None:
    room = await enter(await open_room(acts=FIRST_WORDS[:1], audio="webaudio"))
    await room.meeting.wait_for("fell_silent")
    assert await room.page.evaluate("() => window.remembered.connections[0].getReceivers().length") == 0
    sounds = len(clips.load("librivox_0880").frames)
    await room.page.wait_for_function(
        """(sounds) => {
          const count = (label) => window.remembered.channels.filter((message) => message.label === label).length;
          return count("media-audio") >= sounds && count("dcrpc") >= 2 && count("collections");
        }""",
        arg=sounds,
    )
    frames = await room.page.evaluate("() => window.remembered.channels")
    labels = [frame["label"] for frame in frames]
    assert labels.count("media-audio") == sounds
    assert labels.count("dcrpc") == 2


async def test_the_page_shows_who_speaks(open_room: OpenRoom) -> None:
    room = await enter(await open_room(acts=FIRST_WORDS[1:]))
    tile = room.page.locator(".tile", has_text="Charles Babbage")
    await expect(tile.locator(".Oaajhc")).to_be_attached()
    await room.meeting.wait_for("fell_silent")
    await expect(tile.locator(".gjg47c")).to_be_attached()


async def test_audio_mixed_by_the_server_names_every_voice(open_room: OpenRoom) -> None:
    room = await enter(await open_room(acts=FIRST_WORDS, audio="mixed"))
    await room.meeting.wait_for("fell_silent", who="Charles Babbage")
    peer = room.meeting.visitor().peer
    assert peer is not None
    assert {packet.slot for packet in peer.sent} == {0}
    assert {(1001,), (1001, 1002), (1002,)} == {packet.csrcs for packet in peer.sent}


async def test_a_page_with_a_transform_of_its_own_still_plays(open_room: OpenRoom) -> None:
    room = await enter(await open_room(acts=FIRST_WORDS, transform="page", csp="trusted_types"))
    await room.hears()


@pytest.mark.parametrize("transform", ["streams", "plays"])
async def test_a_page_that_plays_its_frames_by_itself_shows_who_speaks(open_room: OpenRoom, transform: str) -> None:
    room = await enter(await open_room(acts=FIRST_WORDS[1:], transform=transform, csp="trusted_types"))
    tile = room.page.locator(".tile", has_text="Charles Babbage")
    await expect(tile.locator(".Oaajhc")).to_be_attached()
    await room.meeting.wait_for("fell_silent")
    await expect(tile.locator(".gjg47c")).to_be_attached()


@pytest.mark.parametrize("announce_ssrc", [True, False])
async def test_the_ssrc_can_change_in_mid_call(open_room: OpenRoom, announce_ssrc: bool) -> None:
    acts = tuple(ScriptedAct(at_s=0.2 + at, do="say", who="Ada Lovelace", clip="librivox_0880") for at in (0, 3.1))
    room = await enter(await open_room(acts=acts, new_ssrc_every_s=1, announce_ssrc=announce_ssrc))
    first = await room.meeting.wait_for("fell_silent")
    await room.meeting.wait_for("fell_silent", after=first["number"])
    peer = room.meeting.visitor().peer
    assert peer is not None
    assert len({packet.ssrc for packet in peer.sent}) == 2
    seen = {row["ssrc"] for row in await room.received()}
    # Chromium lists one stream per receiver where the SDP names none.
    assert seen <= {packet.ssrc for packet in peer.sent}
    assert len(seen) == (2 if announce_ssrc else 1)


async def test_lost_packets_are_in_the_log_and_missing_at_the_page(open_room: OpenRoom) -> None:
    room = await enter(await open_room(acts=FIRST_WORDS[:1], loss=0.1))
    await room.meeting.wait_for("fell_silent")
    peer = room.meeting.visitor().peer
    assert peer is not None
    lost = sum(packet.lost for packet in peer.sent)
    assert lost > 5
    await room.receives(len(peer.sent) - lost)


async def test_video_is_sent_to_pages_that_take_it(open_room: OpenRoom) -> None:
    room = await enter(await open_room(video=2))
    await room.hears("video")


async def test_the_collections_channel_tells_who_is_here_and_whose_source_is_whose(open_room: OpenRoom) -> None:
    room = await enter(await open_room())
    room.meeting.act(ScriptedAct(at_s=0, do="join", who="Mary Somerville"))
    await room.page.wait_for_function("() => window.remembered.channels.length >= 2")
    frames = await room.page.evaluate("() => window.remembered.channels")
    assert {frame["label"] for frame in frames} == {"collections"}
    told = b"".join(zlib.decompress(base64.b64decode(frame["data"])) for frame in frames)
    for expected in (b"Ada Lovelace", b"Mary Somerville", b"Minutes", b"spaces/", b"1001"):
        assert expected in told


async def test_the_people_panel_lists_everybody(open_room: OpenRoom) -> None:
    room = await enter(await open_room())
    await room.page.locator('button[aria-label="Show everyone"]').click()
    rows = room.page.locator('div[aria-label="Participants"][role="list"] > div[role="listitem"]')
    await expect(rows).to_have_count(3)
    room.meeting.act(ScriptedAct(at_s=0, do="share", who="Ada Lovelace"))
    await expect(rows).to_have_count(4)
    room.meeting.act(ScriptedAct(at_s=0, do="leave", who="Charles Babbage"))
    await expect(rows).to_have_count(3)
    assert await rows.first.get_attribute("aria-label") == "Ada Lovelace"
    assert "/devices/" in (await rows.first.get_attribute("data-participant-id") or "")


@pytest.mark.parametrize("editable", [False, True])
async def test_chat_goes_both_ways(open_room: OpenRoom, editable: bool) -> None:
    room = await enter(await open_room(chat_editable=editable))
    room.meeting.act(ScriptedAct(at_s=0, do="chat", who="Ada Lovelace", text="Good morning."))
    await room.page.locator('button[aria-label="Chat with everyone"]').click()
    await expect(room.page.locator(".jO4O1", has_text="Good morning.")).to_be_visible()
    composer = room.page.locator('textarea[aria-label="Send a message"], [contenteditable][role=textbox]')
    await composer.click()
    await room.page.keyboard.type("I take the minutes.")
    await room.page.keyboard.press("Enter")
    said = await room.meeting.wait_for("chat", sender="Minutes")
    assert said["text"] == "I take the minutes."
    await expect(room.page.locator(".chmVPb .jO4O1", has_text="I take the minutes.")).to_be_visible()


async def test_a_bot_that_is_put_out_sees_it_and_its_roster_says_so(open_room: OpenRoom) -> None:
    room = await enter(await open_room())
    await room.page.wait_for_function("() => window.remembered.channels.length === 1")  # the roster on entering
    room.meeting.kick(room.meeting.visitor())
    await expect(room.page.locator(".roSPhc", has_text="You've been removed from the meeting")).to_be_visible()
    await room.meeting.wait_for("kicked")
    await room.page.wait_for_function("() => window.remembered.channels.length === 2")


async def test_the_end_for_everyone_is_shown(open_room: OpenRoom) -> None:
    room = await enter(await open_room(acts=(ScriptedAct(at_s=0.1, do="end"),), curly=True))
    await expect(room.page.get_by_text("Your host ended the meeting for everyone")).to_be_visible()


async def test_the_leave_button_leaves(open_room: OpenRoom) -> None:
    room = await enter(await open_room())
    await room.page.locator('button[aria-label="Leave call"]').click()
    await room.meeting.wait_for("left", name="Minutes")
    await expect(room.page.get_by_text("You left the meeting")).to_be_visible()


async def test_a_lost_network_is_shown_until_it_is_back(open_room: OpenRoom) -> None:
    room = await enter(await open_room())
    room.meeting.network(room.meeting.visitor(), "lost")
    await expect(room.page.get_by_text("Reconnecting")).to_be_visible()
    room.meeting.network(room.meeting.visitor(), "back")
    await expect(room.page.get_by_text("Reconnecting")).to_have_count(0)


async def test_the_recording_notice_can_be_answered(open_room: OpenRoom) -> None:
    room = await enter(await open_room())
    room.meeting.act(ScriptedAct(at_s=0, do="record"))
    await room.page.locator('button[data-mdc-dialog-action="ok"]').click()
    await room.meeting.wait_for("note", note="Join now")


async def test_a_page_can_be_frozen_from_outside(open_room: OpenRoom) -> None:
    room = await enter(await open_room())
    room.meeting.visitor().tell({"command": "freeze"})
    room.is_frozen = True
    async with asyncio.timeout(60):
        while await _answers(room):
            pass


async def test_a_renderer_can_be_crashed_from_outside(open_room: OpenRoom) -> None:
    room = await enter(await open_room())
    crashed = asyncio.Event()
    room.page.on("crash", lambda _page: crashed.set())
    room.meeting.visitor().tell({"command": "crash"})
    await asyncio.wait_for(crashed.wait(), 60)
    await room.meeting.wait_for("left")


async def _answers(room: Room) -> bool:
    """Whether the page answers a question within three seconds."""
    asked = asyncio.ensure_future(room.page.evaluate("1"))
    await asyncio.wait({asked}, timeout=3)
    return asked.done() or not asked.cancel()
