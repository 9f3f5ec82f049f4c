"""A host drains while its bot sits in a meeting: the bot's next page sits before this one leaves, and nothing is lost.

The practice site notes each packet that it sends to each page, so each speaker's track is compared with what the
meeting played packet by packet, and no clock is asked: on a machine on which pages stall, speakers are placed apart
from each other by up to a quarter of a second, which is more than the pause between them.
"""

import asyncio
import hashlib
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.journeys import back, download, ffprobe, largest_hole_s, look, reach, send_bot, unhurried
from harness.receiver import Receiver
from harness.service import Service, running_role, until
from sederunt.media.pieces import read_piece
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.practice.script import Variant, demo

TALK = Path(__file__).parents[3] / "src/sederunt/practice/speech/jfk.wav"
END_PACKETS = 25  # that were on their way when the meeting ended
TURNS = 120  # a quarter of an hour: people must not have said all before a busy machine has moved a bot twice


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


def kept(service: Service, bot: dict[str, Any]) -> list[list[str]]:
    """The packets of each of a bot's tracks by time, as the site names them."""
    folder = service.data / "objects/bots" / bot["id"] / "tracks"
    tracks = (sorted(read_piece(path.read_bytes()), key=lambda packet: packet.start) for path in folder.glob("*.mka"))
    return [[hashlib.sha256(packet.payload).hexdigest() for packet in track] for track in tracks]


async def played(meeting: MeetingHandle, *pages: dict[str, Any]) -> list[tuple[int, str]]:
    """What was sent, (speaker, packet) in order: to the first page, and on to the next where the first was gone."""
    whole: list[tuple[int, str]] = []
    for page in pages:
        sent = [(packet["csrcs"][0], packet["digest"]) for packet in await meeting.packets(page["bot"])]
        shared = next(
            count for count in range(min(len(sent), len(whole)), -1, -1) if whole[len(whole) - count :] == sent[:count]
        )
        assert not whole or shared, "both sat at once"
        whole += sent[shared:]
    return whole


def lacking_at_the_end(tracks: list[list[str]], whole: list[tuple[int, str]]) -> int:
    """How many packets the tracks lack at their ends. From the first that was heard on, they must lack no other."""
    at = {packet: number for number, (_, packet) in reversed(list(enumerate(whole)))}
    first = min(at[track[0]] for track in tracks)
    lacking = 0
    for track in tracks:
        sent = [packet for speaker, packet in whole[first:] if speaker == whole[at[track[0]]][0]]
        missing = [number for number, packet in enumerate(sent) if packet not in set(track)]
        twice = len(track) - len(set(track))
        assert track == sent[: len(track)], f"of {len(sent)} packets {missing[:99]} are missing, {twice} there twice"
        lacking += len(sent) - len(track)
    return lacking


def chat_of(found: dict[str, Any]) -> list[str]:
    return [event["data"]["content"] for event in found["events"] if event["event"] == "chat_message"]


async def reloaded(service: Service, api: httpx2.AsyncClient) -> None:
    """Have the roles replaced, while callers ask all the time, and one sends a file that the old api began to take."""
    over = asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        head = (
            b'--b\r\nContent-Disposition: form-data; name="transcription_model"\r\n\r\nwhisper\r\n'
            b'--b\r\nContent-Disposition: form-data; name="recording_file"; filename="talk.wav"\r\n\r\n'
        )
        body = TALK.read_bytes()
        yield head + body[: len(body) // 2]
        await replaced(service, api=old_api)
        yield body[len(body) // 2 :] + b"\r\n--b--\r\n"

    async def ask() -> set[int]:
        answers = set()
        while not over.is_set():
            answers.add((await api.get("/bot/scheduled", headers={"Connection": "close"})).status_code)
            await asyncio.sleep(0.05)
        return answers

    form = {"Content-Type": "multipart/form-data; boundary=b"}
    old_api, old_worker = service.pid("api"), service.pid("worker")
    asking = asyncio.create_task(ask())
    reloading = asyncio.create_task(asyncio.to_thread(service.run, "reload", timeout_s=900))
    await replaced(service, worker=old_worker)
    sent = await api.post("/recording", content=slowly(), headers=form)
    await reloading
    over.set()
    assert sent.status_code == 200, sent.text
    assert await asking == {200}


async def replaced(service: Service, **pids: int) -> None:
    """Wait until these roles have other processes."""
    others = lambda: all(service.pid(role) != pid for role, pid in pids.items())  # noqa: E731
    await asyncio.to_thread(until, others, f"others than {pids}", 600)


async def sits_before(meeting: MeetingHandle, page: dict[str, Any]) -> dict[str, Any]:
    """Wait until a next page sits and this one is gone: in this order."""
    after = await meeting.wait_for("media_connected", after=page["number"], timeout_s=120)
    await meeting.wait_for("left", bot=page["bot"], timeout_s=120)
    order = [(event["kind"], event["bot"]) for event in await meeting.events() if event.get("bot")]
    assert order.index(("media_connected", after["bot"])) < order.index(("left", page["bot"]))
    return after


async def test_planned_moves_lose_and_double_nothing(
    draining: Service, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    meeting = await meetings.open_meeting(unhurried(demo(turns=TURNS, pause_s=0.1), ends=False))
    async with draining.client() as api:
        bot = await send_bot(api, meeting.url, receiver, initial_chat_message="I take notes.")
        await reach(receiver, bot, "recording")
        pids = {role: draining.pid(role) for role in ("host", "worker", "api", "nats")}
        first = await meeting.wait_for("media_connected")
        await meeting.wait_for("fell_silent")
        await reloaded(draining, api)
        second = await sits_before(meeting, first)
        assert {role for role, pid in pids.items() if draining.pid(role) == pid} == {"nats"}
        assert draining.log.read_text().count("serve_went_on") == 1
        with second_host(draining, tmp_path):
            os.kill(draining.pid("host"), signal.SIGTERM)
            third = await sits_before(meeting, second)
            await meeting.chat("Ada Lovelace", "Are you still there?")
            since = (await meeting.events())[-1]["number"]
            for _ in range(2):
                since = (await meeting.wait_for("fell_silent", after=since))["number"]
            await meeting.end()
            await reach(receiver, bot, "finished", timeout_s=240)
        found = await look(api, bot)
    assert found["recording_gaps"] == []
    kinds = [event["event"] for event in found["events"]]
    assert kinds.count("planned_move") == 2
    assert chat_of(found).count("Are you still there?") == 1
    # A busy page may have been left before it said its greeting; no page says it a second time.
    assert len([event for event in await meeting.events(kind="chat") if event["bot"]]) <= 1
    assert receiver.statuses(bot["id"]).count("recording") == 1
    assert "Minutes" not in {person["name"] for person in found["participants"]}
    assert largest_hole_s(ffprobe(await download(found["recording_url"], tmp_path / "recording.webm"))) < 0.001
    assert lacking_at_the_end(kept(draining, bot), await played(meeting, first, second, third)) <= END_PACKETS


async def test_a_site_that_lets_no_second_one_in_is_left_before_the_bot_joins_again(
    draining: Service, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    script = demo(Variant(one_of_a_name=True), turns=TURNS, pause_s=0.1)
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
