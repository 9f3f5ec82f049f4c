"""What others see of a bot: the picture it was given, as its camera."""

import asyncio
import base64
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import ANY

import httpx2
import pytest

from harness.journeys import look, reach, send_bot, unhurried
from harness.listener import listening
from harness.painted import picture
from harness.receiver import Receiver
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.practice.script import Service as Site
from sederunt.practice.script import Variant, demo

RED, GREEN = (200, 30, 40), (20, 180, 60)


@pytest.fixture
def picture_server() -> Iterator[str]:
    """The address of a green WebP picture."""
    data = picture(GREEN, "webp")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/me"  # no suffix: judged by its content
    server.shutdown()
    server.server_close()
    thread.join()


async def _shown(meeting: MeetingHandle, least: int, colour: object = ANY) -> dict[str, Any]:
    """The bot as the meeting sees it, once so many pictures of its camera have come and the last has this colour."""
    async with asyncio.timeout(90):
        while True:
            (bot,) = (await meeting.state())["bots"]
            if bot.get("camera_pictures", 0) >= least and bot["camera_colour"] == colour:
                return dict(bot)
            await asyncio.sleep(0.2)


@pytest.mark.parametrize(("site", "way"), [("gmeet", "file"), ("teams", "address"), ("zoom", "file")])
async def test_the_others_see_the_bots_picture(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, picture_server: str, site: Site, way: str
) -> None:
    script = demo(Variant(entry="knock"), service=site, turns=1)
    meeting = await meetings.open_meeting(unhurried(script, ends=False))
    given: dict[str, dict[str, str]] = {
        "file": {"bot_avatar_file": base64.b64encode(picture(RED)).decode()},
        "address": {"bot_avatar_url": picture_server},
    }
    bot = await send_bot(api, meeting.url, receiver, service=site, **given[way])
    await meeting.wait_for("knocked", timeout_s=60)
    await meeting.admit()
    await meeting.wait_for("camera_seen", timeout_s=60)
    seen = await _shown(meeting, 4)
    assert seen["camera_colour"] == pytest.approx(
        RED if way == "file" else GREEN, abs=40
    )  # colours pass through two conversions
    await meeting.end()
    await reach(receiver, bot, "finished")
    assert (await look(api, bot))["capture"]["packets"], "the camera costs no sound"


async def test_a_bot_whose_picture_cannot_be_had_goes_without_it(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting = await meetings.open_meeting(demo(turns=1))
    bot = await send_bot(api, meeting.url, receiver, bot_avatar_url=f"{receiver.url}/no-picture")
    await reach(receiver, bot, "finished")
    (seen,) = (await meeting.state())["bots"]
    assert "camera_pictures" not in seen
    assert seen["camera"] is False


@pytest.mark.parametrize(("site", "began_with"), [("gmeet", "a picture"), ("gmeet", "none"), ("zoom", "none")])
async def test_the_picture_can_be_changed_while_the_bot_sits(
    api: httpx2.AsyncClient,
    meetings: PracticeClient,
    receiver: Receiver,
    picture_server: str,
    site: Site,
    began_with: str,
) -> None:
    script = demo(Variant(entry="knock"), service=site, turns=1)
    meeting = await meetings.open_meeting(unhurried(script, ends=False))
    first = {"bot_avatar_file": base64.b64encode(picture(RED)).decode()} if began_with == "a picture" else {}
    bot = await send_bot(api, meeting.url, receiver, service=site, realtime_audio=True, **first)
    await meeting.wait_for("knocked", timeout_s=60)
    await meeting.admit()
    async with listening(bot["websocket_url"]) as listener:
        await listener.until("start")
        await listener.act("change-avatar", avatar_url=f"{receiver.url}/no-picture")
        assert "picture" in (await listener.until("error"))["data"]["message"]
        await listener.act("change-avatar", avatar_url=picture_server)
        await _shown(meeting, 1, pytest.approx(GREEN, abs=40))
        assert "error" not in listener.kinds[listener.kinds.index("error") + 1 :]
        await listener.act("stop")
        await reach(receiver, bot, "finished")
