"""A request sent twice: with an Idempotency-Key, and by a client that sends none; on both engines."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import func, select

from harness.api_room import GOOD_BOT, ApiRoom, api_room
from harness.fake_clock import FakeClock
from sederunt.accounts.keys import Scope
from sederunt.database import tables as t
from sederunt.database.recordings import Recordings
from sederunt.database.retention import Deletion, Deletions
from sederunt.settings import BusSettings, DatabaseSettings

KEY = {"Idempotency-Key": "retry-1"}
PICTURE = "iVBORw0KGgo" + "A" * 53


async def _bots(room: ApiRoom) -> int:
    return len((await room.client.get("/bot")).json()["data"])


async def _post(room: ApiRoom, key: str = "retry-1", path: str = "/bot", **fields: Any) -> httpx2.Response:
    return await room.client.post(path, json={**GOOD_BOT, **fields}, headers={"Idempotency-Key": key})


async def test_the_same_request_is_answered_as_the_first_time(room: ApiRoom) -> None:
    first = await _post(room, custom_metadata={"a": "1", "b": "2"})
    await room.client.post(f"/bot/{first.json()['id']}/stop")  # the bot goes on; the answer does not
    body = {"custom_metadata": {"b": "2", "a": "1"}, **GOOD_BOT}
    again = await room.client.post("/bot", json=body, headers=KEY)
    assert (again.status_code, again.text) == (200, first.text)
    assert (first.headers.get("Idempotency-Replayed"), again.headers["Idempotency-Replayed"]) == (None, "true")
    assert await _bots(room) == 1


async def test_what_is_kept_opens_no_socket_and_each_key_is_told_its_own(room: ApiRoom) -> None:
    first = (await _post(room, realtime_audio=True)).json()
    kept = await room.database.query(select(t.first_answers.c.body)).all()
    assert first["websocket_url"].rpartition("/")[2] not in str(kept)
    assert (await _post(room, realtime_audio=True)).json() == first
    text, _ = await room.keys.create(room.account_id, "no orders", scopes={Scope.READ, Scope.WRITE})
    async with room.client_of(text) as other:
        again = await other.post("/bot", json={**GOOD_BOT, "realtime_audio": True}, headers=KEY)
    assert (again.headers["Idempotency-Replayed"], again.json()["id"]) == ("true", first["id"])
    assert again.json()["websocket_url"] is None
    assert again.json()["websocket_audio_url"] != first["websocket_audio_url"]


async def test_another_request_with_the_key_is_refused(room: ApiRoom) -> None:
    await _post(room)
    other = await _post(room, bot_name="Another")
    assert other.status_code == 422
    assert "Idempotency-Key" in other.json()["message"]
    recording = await room.client.post("/recording", json={"recording_url": "https://x.test/a.mp3"}, headers=KEY)
    assert recording.status_code == 422
    assert await _bots(room) == 1


async def test_requests_at_once_make_one_bot(room: ApiRoom) -> None:
    answers = await asyncio.gather(*(_post(room, bot_avatar_file=PICTURE) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    assert await _bots(room) == 1
    (picture,) = await room.objects.keys("bots/")
    assert answers[0].json()["id"] in picture


async def test_the_last_place_is_taken_once_by_requests_at_once(room: ApiRoom) -> None:
    for _ in range(room.settings.api.concurrent_bots - 1):
        await room.bot()
    answers = await asyncio.gather(*(_post(room) for _ in range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4
    assert (await _post(room, "another")).status_code == 403
    assert (await _post(room)).text == answers[0].text  # as long as it is kept, whatever the places


async def test_what_was_refused_may_be_corrected_under_its_key(room: ApiRoom) -> None:
    assert (await _post(room, service="skype")).status_code == 400
    assert (await _post(room)).status_code == 200


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\tbed"])
async def test_a_key_that_is_none_is_refused(room: ApiRoom, key: str) -> None:
    answer = await _post(room, key)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["Idempotency-Key"])


async def test_a_key_is_its_accounts_own(room: ApiRoom) -> None:
    async with await room.other_account() as other:
        one, two = await _post(room), await other.post("/bot", json=GOOD_BOT, headers=KEY)
    assert two.status_code == 200
    assert one.json()["id"] != two.json()["id"]


async def test_a_key_expires(room: ApiRoom, clock: FakeClock) -> None:
    first = await _post(room)
    clock.advance(room.settings.api.idempotency_hours * 3600 + 1)
    second = await _post(room)
    assert first.json()["id"] != second.json()["id"]
    kept = await room.database.query(select(func.count().label("rows")).select_from(t.first_answers)).first()
    assert kept is not None
    assert kept["rows"] == 1


async def test_nothing_is_told_of_what_was_deleted(room: ApiRoom) -> None:
    made = (await _post(room, scheduled_start_time=4_000_000_000)).json()
    assert (await room.client.delete(f"/bot/{made['id']}")).status_code == 200
    (receipt,) = await room.receipts()
    await Deletions(room.database).finish(Deletion(**receipt))
    again = await _post(room, scheduled_start_time=4_000_000_000)
    assert (again.status_code, "deleted" in again.json()["message"]) == (404, True)


async def test_an_upload_sent_again_is_stored_once(room: ApiRoom, wav: bytes) -> None:
    async def upload(data: bytes) -> httpx2.Response:
        files = {"recording_file": ("talk.wav", data)}
        form = {"transcription_model": "whisper"}
        return await room.client.post("/recording", data=form, files=files, headers=KEY)

    answers = await asyncio.gather(*(upload(wav) for _ in range(3)))
    assert [answer.status_code for answer in answers] == [200] * 3
    made = UUID(answers[0].json()["id"])
    assert {answer.json()["id"] for answer in answers} == {str(made)}
    assert await room.objects.keys("recordings/") == [f"recordings/{made}/source"]
    assert await room.receipts() == []
    assert (await upload(wav + b"\x00\x00")).status_code == 422


@pytest.mark.parametrize("error", [ConnectionError("closed in the middle of it"), asyncio.CancelledError()])
async def test_an_upload_whose_commit_was_done_and_not_heard_of_keeps_its_file(
    room: ApiRoom, wav: bytes, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Sent again with the same key, it was answered as a recording that was there, without its file."""

    async def upload() -> httpx2.Response:
        files, form = {"recording_file": ("talk.wav", wav)}, {"transcription_model": "whisper"}
        return await room.client.post("/recording", data=form, files=files, headers=KEY)

    create = Recordings.create

    async def unheard(self: Recordings, *given: Any, **named: Any) -> None:
        await create(self, *given, **named)
        raise error

    with monkeypatch.context() as lost:
        lost.setattr(Recordings, "create", unheard)
        with suppress(BaseException):
            await upload()
    again = await upload()
    assert again.status_code == 200
    assert await room.objects.keys("recordings/") == [f"recordings/{again.json()['id']}/source"]


async def test_an_upload_of_which_nobody_can_say_whether_it_has_a_row_goes_after_a_day(
    room: ApiRoom, wav: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise ConnectionError("the database is away")

    with monkeypatch.context() as lost:
        lost.setattr(Recordings, "create", away)
        lost.setattr(Recordings, "account_of", away)
        with suppress(ConnectionError):
            await room.upload(wav)
    (receipt,) = await room.receipts()
    assert await room.objects.keys("recordings/") == [f"recordings/{receipt['resource_id']}/source"]


@pytest.fixture
async def guarded(tmp_path: Path, bus_settings: BusSettings, clock: FakeClock, address: str) -> Any:
    """Where a key may not send a second bot into a meeting within ten seconds."""
    database = DatabaseSettings(url=address)
    async with api_room(tmp_path / "data", bus_settings, clock, api={"twin_bots_s": 10}, database=database) as opened:
        yield opened


async def test_a_second_bot_so_soon_is_a_conflict(guarded: ApiRoom, clock: FakeClock) -> None:
    answers = await asyncio.gather(*(guarded.client.post("/bot", json=GOOD_BOT) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    made = next(answer for answer in answers if answer.status_code == 200).json()["id"]
    assert all(made in answer.json()["message"] for answer in answers if answer.status_code == 409)
    others: list[dict[str, Any]] = [
        {"meeting_url": "https://meet.google.com/xyz-defg-hij"},
        {"scheduled_start_time": 4_000_000_000},
    ]
    for fields in others:  # another meeting, the same one at another time
        assert (await guarded.client.post("/bot", json={**GOOD_BOT, **fields})).status_code == 200
    key, _ = await guarded.keys.create(guarded.account_id, "another")
    async with guarded.client_of(key) as other:
        assert (await other.post("/bot", json=GOOD_BOT)).status_code == 200
    clock.advance(11)
    assert (await guarded.client.post("/bot", json=GOOD_BOT)).status_code == 200


async def test_a_bot_that_failed_may_be_sent_again_at_once(guarded: ApiRoom) -> None:
    await guarded.bot_in("failed")
    assert (await guarded.client.post("/bot", json=GOOD_BOT)).status_code == 200


async def test_a_second_request_may_be_answered_with_the_first_bot(
    tmp_path: Path, bus_settings: BusSettings, clock: FakeClock
) -> None:
    api = {"twin_bots_s": 10, "twin_bots_answer": "first"}
    async with api_room(tmp_path / "data", bus_settings, clock, api=api) as room:
        one, two = [await room.bot() for _ in range(2)]
        assert one == two
        assert await _bots(room) == 1
