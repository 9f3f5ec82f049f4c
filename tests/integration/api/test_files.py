"""Signed addresses: no key, ranges, and one answer for everything that is not to be had."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import httpx2
import pytest

from harness.api_room import ApiRoom, api_room
from harness.fake_clock import FakeClock
from harness.faulty_bucket import faulty_bucket
from sederunt.model.status import Trigger
from sederunt.settings import BusSettings

SOUND = bytes(range(256)) * 8192  # 2 MiB


@pytest.fixture
async def anyone(room: ApiRoom) -> httpx2.AsyncClient:
    return room.client_of(None)


@pytest.fixture
async def finished(room: ApiRoom, clock: FakeClock) -> dict[str, Any]:
    """A bot with a recording and a screenshot of its end."""
    made = await room.bot_in("processing")
    for name in ("recording.webm", "evidence/page.txt"):
        await room.objects.put(f"bots/{made['id']}/{name}", SOUND)
    changes = {
        "recording_object": f"bots/{made['id']}/recording.webm",
        "recording_available_until": clock.now() + timedelta(days=7),
        "evidence": {"page_text": f"bots/{made['id']}/evidence/page.txt"},
    }
    await room.bots.record_transition(UUID(made["id"]), Trigger.CLOSED, changes=changes)
    return await room.look(made)


async def test_a_recording_is_had_without_a_key_and_is_what_was_stored(
    anyone: httpx2.AsyncClient, finished: dict[str, Any]
) -> None:
    answer = await anyone.get(finished["recording_url"])
    assert (answer.status_code, answer.content) == (200, SOUND)
    assert answer.headers["content-type"] == "video/webm"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"] == f'inline; filename="recording-{finished["id"][:8]}.webm"'


async def test_text_of_a_page_can_never_run_as_a_page(anyone: httpx2.AsyncClient, finished: dict[str, Any]) -> None:
    answer = await anyone.get(finished["evidence"]["page_text"])
    assert answer.headers["content-type"].startswith("text/plain")
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("header", "start", "end"),
    [("bytes=0-0", 0, 1), ("bytes=100-", 100, len(SOUND)), ("bytes=-7", len(SOUND) - 7, len(SOUND)),
     ("bytes=1000000-1999999", 1_000_000, 2_000_000), ("bytes=0-99999999", 0, len(SOUND))],
)  # fmt: skip
async def test_a_part_is_given_as_asked(
    anyone: httpx2.AsyncClient, finished: dict[str, Any], header: str, start: int, end: int
) -> None:
    answer = await anyone.get(finished["recording_url"], headers={"Range": header})
    assert (answer.status_code, answer.content) == (206, SOUND[start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(SOUND)}"
    assert answer.headers["content-length"] == str(end - start)


async def test_a_part_behind_the_end_is_416(anyone: httpx2.AsyncClient, finished: dict[str, Any]) -> None:
    answer = await anyone.get(finished["recording_url"], headers={"Range": f"bytes={len(SOUND)}-"})
    assert answer.status_code == 416
    assert answer.headers["content-range"] == f"bytes */{len(SOUND)}"
    assert list(answer.json()) == ["message"]


async def test_a_head_tells_the_size_and_sends_nothing(anyone: httpx2.AsyncClient, finished: dict[str, Any]) -> None:
    answer = await anyone.head(finished["recording_url"])
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == str(len(SOUND))


async def test_forged_and_expired_addresses_and_gone_files_look_the_same(
    room: ApiRoom, anyone: httpx2.AsyncClient, finished: dict[str, Any], clock: FakeClock
) -> None:
    good = finished["recording_url"]
    until = parse_qs(urlsplit(good).query)["until"][0]
    forged = [
        good.replace("recording.webm", "evidence%2Fpage.txt"),
        good.replace(until, str(int(until) + 9_999_999)),
        good.replace(until, ""),
        good.replace(until, "x" * 5000),
        good.replace(finished["id"], "0195f2c4-6a1e-7b3d-9f00-000000000001"),
        good.replace(finished["id"], "nobody"),
        *(good.replace(finished["id"], other) for other in (f"{{{finished['id']}}}", f"urn:uuid:{finished['id']}")),
        good.replace("/files/bots/", "/files/recordings/"),
        good.replace("/files/bots/", "/files/../"),
        good[:-1] + ("A" if good[-1] != "A" else "B"),
        good.partition("?")[0],
        good + "%00",
        good + "é",
    ]
    answers = [await anyone.get(address) for address in forged]
    assert {answer.status_code for answer in answers} == {404}
    clock.advance(7 * 86400 + 1)
    answers.append(await anyone.get(good))
    clock.advance(-8 * 86400)
    await room.objects.delete(f"bots/{finished['id']}/recording.webm")
    answers.append(await anyone.get(good))
    assert {answer.json()["message"] for answer in answers if "files" in str(answer.url)} == {
        "There is no such file, or its address has expired."
    }


async def test_a_deleted_bots_addresses_lead_nowhere_at_once(
    room: ApiRoom, anyone: httpx2.AsyncClient, finished: dict[str, Any]
) -> None:
    assert (await room.client.delete(f"/bot/{finished['id']}")).status_code == 200
    for address in (finished["recording_url"], finished["evidence"]["page_text"]):
        assert (await anyone.get(address)).status_code == 404
    assert await room.objects.keys(f"bots/{finished['id']}") == []


async def test_another_methods_than_reading_are_refused(anyone: httpx2.AsyncClient, finished: dict[str, Any]) -> None:
    assert (await anyone.delete(finished["recording_url"])).status_code == 405


async def test_a_file_in_a_bucket_that_is_missing_may_be_asked_for_again(
    tmp_path: Path, bus_settings: BusSettings, clock: FakeClock
) -> None:
    """A 404 would say that the recording is gone."""
    with faulty_bucket() as bucket:
        async with api_room(tmp_path / "data", bus_settings, clock, storage=bucket.settings) as room:
            made = await room.bot_in("processing")
            key = f"bots/{made['id']}/recording.webm"
            changes = {"recording_object": key, "recording_available_until": clock.now() + timedelta(days=7)}
            await room.bots.record_transition(UUID(made["id"]), Trigger.CLOSED, changes=changes)
            address = (await room.look(made))["recording_url"]
            for exists, status in ((True, 404), (False, 503)):
                bucket.exists = exists
                assert (await room.client_of(None).get(address)).status_code == status
