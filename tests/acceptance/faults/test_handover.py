"""A host drains while its bot sits in a meeting: the bot's next page sits before this one leaves, and nothing is lost.

The practice site notes each packet that it sends to each page, so the recording is compared with what the meeting
played packet by packet, and no clock is asked.
"""

import hashlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.journeys import back, download, ffprobe, largest_hole_s, look, reach, send_bot, unhurried
from harness.receiver import Receiver
from harness.service import Service, running_role
from sederunt.media.pieces import read_piece
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.practice.script import Variant, demo

END_PACKETS = 25  # that were on their way when the meeting ended


@pytest.fixture(scope="module")
def draining(start_service: Callable[..., Service]) -> Service:
    return start_service(drain_s=60)  # which is all for the move: a busy machine takes its time for a page


@contextmanager
def second_host(service: Service, folder: Path) -> Iterator[None]:
    """Run another host of the same installation, as on another machine: with a data directory of its own."""
    nats = json.loads((service.data / "run/nats.json").read_text())
    environment = {
        **service.environment,
        "SEDERUNT_DATA": str(folder),
        "SEDERUNT_HOST__NAME": "second",
        "SEDERUNT_BUS__URL": f"nats://127.0.0.1:{nats['port']}",
        "SEDERUNT_BUS__TOKEN": nats["token"],
        "SEDERUNT_DATABASE__URL": f"sqlite+aiosqlite:///{service.data}/sederunt.db",
        "SEDERUNT_STORAGE__URL": f"file://{service.data}/objects",
        "SEDERUNT_SECRET_KEYS": json.dumps([(service.data / "sealing.key").read_text().strip()]),
    }
    with running_role(["host", "--drain-timeout", "1"], environment, folder / "host.log"):
        yield


def kept(service: Service, bot: dict[str, Any]) -> list[str]:
    """The packets of a bot's tracks by time, as the site names them."""
    tracks = (service.data / "objects/bots" / bot["id"] / "tracks").glob("*.mka")
    packets = sorted((packet.start, packet.payload) for track in tracks for packet in read_piece(track.read_bytes()))
    return [hashlib.sha256(payload).hexdigest() for _, payload in packets]


async def played(meeting: MeetingHandle, *pages: dict[str, Any]) -> list[str]:
    """What the site sent, in order: to the first page, and on to the next one where the first was gone."""
    whole: list[str] = []
    for page in pages:
        sent = [packet["digest"] for packet in await meeting.packets(page["bot"])]
        shared = next(
            count for count in range(min(len(sent), len(whole)), -1, -1) if whole[len(whole) - count :] == sent[:count]
        )
        assert not whole or shared, "both sat at once"
        whole += sent[shared:]
    return whole


def place(part: list[str], whole: list[str]) -> int | None:
    """Where a stretch lies in a longer one, in one piece; None where it does not."""
    return next((at for at in range(len(whole) - len(part) + 1) if whole[at : at + len(part)] == part), None)


def chat_of(found: dict[str, Any]) -> list[str]:
    return [event["data"]["content"] for event in found["events"] if event["event"] == "chat_message"]


async def moved(api: Any, service: Service, meeting: MeetingHandle) -> tuple[dict[str, Any], dict[str, Any]]:
    """Have the host of the first page drain, and wait until the second one sits and the first is gone."""
    first = await meeting.wait_for("media_connected")
    since = (await meeting.wait_for("fell_silent"))["number"]
    os.kill(service.pid("host"), signal.SIGTERM)
    second = await meeting.wait_for("media_connected", after=max(first["number"], since), timeout_s=120)
    await meeting.wait_for("left", bot=first["bot"], timeout_s=120)
    return first, second


async def test_a_planned_move_loses_and_doubles_nothing(
    draining: Service, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    meeting = await meetings.open_meeting(unhurried(demo(turns=18, pause_s=0.1), ends=False))
    async with draining.client() as api:
        bot = await send_bot(api, meeting.url, receiver, initial_chat_message="I take notes.")
        await reach(receiver, bot, "recording")
        with second_host(draining, tmp_path):
            first, second = await moved(api, draining, meeting)
            order = [(event["kind"], event["bot"]) for event in await meeting.events() if event.get("bot")]
            assert order.index(("media_connected", second["bot"])) < order.index(("left", first["bot"]))
            await meeting.chat("Ada Lovelace", "Are you still there?")
            since = (await meeting.events())[-1]["number"]
            for _ in range(2):
                since = (await meeting.wait_for("fell_silent", after=since))["number"]
            await meeting.end()
            await reach(receiver, bot, "finished", timeout_s=240)
        found = await look(api, bot)
    assert found["recording_gaps"] == []
    kinds = [event["event"] for event in found["events"]]
    assert kinds.count("planned_move") == 1
    assert chat_of(found).count("Are you still there?") == 1
    # A busy page may have been left before it said its greeting; no page says it a second time.
    assert len([event for event in await meeting.events(kind="chat") if event["bot"]]) <= 1
    assert receiver.statuses(bot["id"]).count("recording") == 1
    assert "Minutes" not in {person["name"] for person in found["participants"]}
    assert largest_hole_s(ffprobe(await download(found["recording_url"], tmp_path / "recording.webm"))) < 0.001
    whole, heard = await played(meeting, first, second), kept(draining, bot)
    at = place(heard, whole)
    assert at is not None, "nothing is missing in the middle, and nothing is there twice"
    assert len(whole) - at - len(heard) <= END_PACKETS


async def test_a_site_that_lets_no_second_one_in_is_left_before_the_bot_joins_again(
    draining: Service, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    script = demo(Variant(one_of_a_name=True), turns=18, pause_s=0.1)
    meeting = await meetings.open_meeting(unhurried(script, ends=False))
    async with draining.client() as api:
        bot = await send_bot(api, meeting.url, receiver)
        await reach(receiver, bot, "recording")
        first = await meeting.wait_for("media_connected")
        with second_host(draining, tmp_path):
            os.kill(draining.pid("host"), signal.SIGTERM)
            await meeting.wait_for("left", bot=first["bot"], timeout_s=120)
            await meeting.wait_for("media_connected", after=first["number"], timeout_s=120)
            await back(api, bot)
            await meeting.end()
            await reach(receiver, bot, "finished", timeout_s=240)
        found = await look(api, bot)
    (gap,) = found["recording_gaps"]
    assert gap["cause"] == "planned_move"
    assert receiver.statuses(bot["id"]).count("recording") == 1
