"""What an account looks after by itself: keys with scopes, credentials, meeting accounts, webhooks, usage."""

import asyncio
import csv
import io
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import Table, insert, select
from standardwebhooks import Webhook

from harness.api_room import ApiRoom, api_room
from harness.fake_clock import FakeClock
from harness.receiver import Receiver
from harness.vendors.deepgram import Deepgram
from sederunt.accounts.sign_in import MemberRole, SignIns
from sederunt.api.routes import ROUTES
from sederunt.clock import SYSTEM_CLOCK
from sederunt.database import tables as t
from sederunt.database.deliveries import Attempt, Deliveries, DeliveryState
from sederunt.database.ids import new_id
from sederunt.model.budgets import BUDGETS, count_of
from sederunt.model.status import Trigger
from sederunt.settings import BusSettings, DatabaseSettings, PricingSettings

DAY = timedelta(days=1)
UNKNOWN = "0195f2c4-6a1e-7b3d-9f00-000000000001"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


async def made_key(room: ApiRoom, **fields: Any) -> dict[str, Any]:
    answer = await room.client.post("/key", json={"name": "tests", **fields})
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def test_a_key_does_what_its_scopes_say_and_nothing_else(room: ApiRoom) -> None:
    for scopes in (["read"], ["write"], ["live"], ["read", "live"], ["read", "write", "live"], ["admin"]):
        key = await made_key(room, scopes=scopes)
        assert key["scopes"] == sorted(scopes)
        async with room.client_of(key["key"]) as caller:
            for route in ROUTES:
                path = route.path.replace("{id}", UNKNOWN).replace("{correction}", UNKNOWN)
                answer = await caller.request(route.method, path, json={})
                may = "admin" in scopes if route.needed == "manage" else route.needed in scopes
                assert (answer.status_code == 403) is not may, (scopes, route.name, answer.text)
                if not may:
                    assert "scope" in answer.json()["message"]


async def test_only_a_key_that_may_act_sees_the_address_that_takes_orders(room: ApiRoom) -> None:
    bot = await room.bot(realtime_audio=True)
    async with room.client_of((await made_key(room, scopes=["read"]))["key"]) as reader:
        seen = (await reader.get(f"/bot/{bot['id']}")).json()
    assert bot["websocket_url"] is not None
    assert seen["websocket_url"] is None
    # Each key is told an address of its own, which ends with the key.
    one, other = (found["websocket_read_only_url"].rpartition("/") for found in (seen, bot))
    assert one[0] == other[0]
    assert one[2] != other[2]


async def test_a_key_is_rotated_and_the_old_one_works_on_for_the_overlap(
    tmp_path: Path, bus_settings: BusSettings
) -> None:
    clock = FakeClock()
    async with api_room(tmp_path / "data", bus_settings, clock) as room:
        old = await made_key(room, scopes=["read"], expires_in_days=10)
        clock.advance(timedelta(days=4).total_seconds())
        new = (await room.client.post(f"/key/{old['id']}/rotate", json={"overlap_hours": 1})).json()
        assert (new["name"], new["scopes"]) == ("tests", ["read"])
        assert datetime.fromisoformat(new["expires_at"]) == clock.now() + timedelta(days=10)
        async with room.client_of(old["key"]) as before, room.client_of(new["key"]) as after:
            assert [(await caller.get("/bot")).status_code for caller in (before, after)] == [200, 200]
            clock.advance(3601)
            assert [(await caller.get("/bot")).status_code for caller in (before, after)] == [401, 200]
        assert (await room.client.post(f"/key/{old['id']}/rotate", json={})).status_code == 404


async def test_a_key_expires_is_listed_and_can_be_revoked(tmp_path: Path, bus_settings: BusSettings) -> None:
    clock = FakeClock()
    async with api_room(tmp_path / "data", bus_settings, clock) as room:
        key = await made_key(room, expires_in_days=1)
        async with room.client_of(key["key"]) as caller:
            assert (await caller.get("/bot")).status_code == 200
            clock.advance(timedelta(days=1).total_seconds())
            assert (await caller.get("/bot")).status_code == 401
        other = await made_key(room)
        answer = await room.client.delete(f"/key/{other['id']}")
        assert answer.status_code == 200
        async with room.client_of(other["key"]) as caller:
            assert (await caller.get("/bot")).status_code == 401
        listed = {key["id"]: key for key in (await room.client.get("/key")).json()["data"]}
    assert "key" not in listed[key["id"]]
    assert listed[key["id"]]["expires_at"] is not None
    assert listed[other["id"]]["revoked_at"] is not None
    assert listed[other["id"]]["prefix"] == other["key"][:11]


# Lists of an account's own things: what makes a row, and the table that it is in.
LISTS: dict[str, tuple[dict[str, Any], Table]] = {
    "/key": ({"name": "tests"}, t.api_keys),
    "/credential": ({"provider": "deepgram", "key": "k" * 40}, t.credentials),
    "/meeting-account": ({"service": "gmeet", "email": "a@example.org", "password": "x"}, t.meeting_accounts),
}


async def listed(client: httpx2.AsyncClient, path: str, limit: int) -> list[list[str]]:
    """The ids of a list, page by page."""
    pages: list[list[str]] = []
    query: dict[str, Any] = {"limit": limit}
    while True:
        answer = await client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        pages.append([row["id"] for row in answer.json()["data"]])
        query["cursor"] = answer.json()["next_cursor"]
        if query["cursor"] is None:
            return pages


@pytest.mark.parametrize("path", LISTS)
async def test_lists_of_an_account_come_page_by_page_the_oldest_first(
    room: ApiRoom, clock: FakeClock, path: str
) -> None:
    expected = [id_ for page in await listed(room.client, path, 200) for id_ in page]
    for _ in range(5):
        clock.advance(1)
        expected.append((await room.client.post(path, json=LISTS[path][0])).json()["id"])
    pages = await listed(room.client, path, 2)
    assert [id_ for page in pages for id_ in page] == expected
    assert all(len(page) == 2 for page in pages[:-1])
    for query in ({"cursor": "x"}, {"limit": "0"}, {"limit": "201"}):
        refused = await room.client.get(path, params=query)
        assert (refused.status_code, list(refused.json()["errors"])) == (400, list(query))
    async with await room.other_account() as other:
        assert not {id_ for page in await listed(other, path, 200) for id_ in page} & set(expected)


async def test_people_come_page_by_page_the_oldest_first(room: ApiRoom, clock: FakeClock) -> None:
    people, made = SignIns(room.database).people, []
    for number in range(5):
        clock.advance(1)
        made.append(str(await people.add(f"Person {number}", room.account_id, MemberRole.VIEWER)))
    assert await listed(room.client, "/member", 2) == [made[:2], made[2:4], made[4:]]
    changed = await room.client.patch(f"/member/{made[3]}", json={"role": "member"})
    assert (changed.status_code, changed.json()["id"], changed.json()["role"]) == (200, made[3], "member")


async def filled(room: ApiRoom, table: Table, count: int) -> None:
    """Multiply the newest row of a table until it has so many more."""
    newest = select(table).order_by(table.c.created_at.desc()).limit(1)
    async with room.database.begin() as connection:
        row = dict((await connection.execute(newest)).mappings().one())
        others = [{**row, "id": new_id(row["created_at"])} for _ in range(count)]
        if "digest" in row:
            others = [{**other, "digest": other["id"].bytes * 2} for other in others]
        await connection.execute(insert(table).values(others))


@pytest.mark.parametrize("path", LISTS)
async def test_an_account_has_so_many_keys_credentials_and_meeting_accounts(room: ApiRoom, path: str) -> None:
    body, table = LISTS[path]
    budget = table.name
    made = (await room.client.post(path, json=body)).json()
    await filled(room, table, count_of(budget) - sum(map(len, await listed(room.client, path, 200))))
    refused = await room.client.post(path, json=body)
    assert (refused.status_code, refused.json()["budget"]) == (403, budget)
    if path == "/key":
        assert (await room.client.post(f"{path}/{made['id']}/rotate", json={})).status_code == 403
    async with await room.other_account() as other:
        assert (await other.post(path, json=body)).status_code == 200
    assert (await room.client.delete(f"{path}/{made['id']}")).status_code == 200
    assert (await room.client.post(path, json=body)).status_code == 200


async def test_an_account_has_so_many_people_and_links_that_let_somebody_in(room: ApiRoom) -> None:
    invited = {"name": "Ada", "role": "viewer"}
    links = [
        {
            "digest": n.to_bytes(32, "big"),
            "account_id": room.account_id,
            **invited,
            "expires_at": room.clock.now() + DAY,
        }
        for n in range(count_of("members") - 1)
    ]
    async with room.database.begin() as connection:
        await connection.execute(insert(t.sign_in_links).values(links))
    assert (await room.client.post("/member", json=invited)).status_code == 200
    refused = await room.client.post("/member", json=invited)
    assert (refused.status_code, refused.json()["budget"]) == (403, "members")


async def test_long_bodies_of_an_account_are_read_at_a_rate_and_others_beside_them(
    room: ApiRoom, clock: FakeClock
) -> None:
    body = {"initial_chat_message": "x" * 990_000}
    for _ in range(int(BUDGETS["bulk_bytes"].default) // 990_000 + 1):
        assert (await room.client.post("/bot/validate", json=body)).status_code == 400
    waiting = asyncio.create_task(room.client.post("/bot/validate", json=body))
    sleepers = clock.sleepers
    async with asyncio.timeout(60):
        while clock.sleepers == sleepers:  # noqa: ASYNC110  # a clock has no event for who goes to sleep
            await asyncio.sleep(0)
    async with await room.other_account() as other:
        assert (await other.post("/bot/validate", json=body)).status_code == 400
    assert not waiting.done()
    clock.advance(1)
    assert (await waiting).status_code == 400


async def test_credentials_and_meeting_accounts_never_show_their_secrets(room: ApiRoom) -> None:
    credential = await room.client.post("/credential", json={"provider": "deepgram", "key": "s3cret-key-of-deepgram"})
    password = {"service": "gmeet", "email": "bot@example.org", "password": "s3cret-password"}
    account = await room.client.post("/meeting-account", json=password)
    for path, made in (("/credential", credential), ("/meeting-account", account)):
        assert made.status_code == 200, made.text
        listed = await room.client.get(path)
        assert [row["id"] for row in listed.json()["data"]] == [made.json()["id"]]
        assert "s3cret" not in made.text + listed.text
        assert (await room.client.delete(f"{path}/{made.json()['id']}")).status_code == 200
        assert (await room.client.get(path)).json()["data"] == []
    refused = await room.client.post("/credential", json={"provider": "whisper", "key": ""})
    assert set(refused.json()["errors"]) == {"provider", "key"}
    bad_state = {"service": "gmeet", "email": "a@example.org", "state": {"cookies": 1}}
    assert set((await room.client.post("/meeting-account", json=bad_state)).json()["errors"]) == {"state"}


async def test_a_key_is_checked_with_its_vendor_when_it_is_entered(tmp_path: Path, bus_settings: BusSettings) -> None:
    nowhere = {"url": "http://127.0.0.1:9"}
    with Deepgram() as vendor:
        settings = {"providers": {"deepgram": {"url": vendor.url}, "gladia": nowhere}}
        async with api_room(tmp_path / "data", bus_settings, FakeClock(), **settings) as room:

            async def entered(provider: str, key: str) -> httpx2.Response:
                return await room.client.post("/credential", json={"provider": provider, "key": key, "check": True})

            good, bad, unasked = [
                await entered("deepgram", vendor.key),
                await entered("deepgram", "not-a-key-of-deepgram"),
                await entered("gladia", "perhaps-a-key"),
            ]
            assert (good.status_code, good.json()["verdict"]) == (200, "accepted")
            assert (bad.status_code, list(bad.json()["errors"])) == (400, ["key"])
            assert "not-a-key" not in bad.text
            assert (unasked.status_code, unasked.json()["verdict"]) == (200, "unreachable")
            assert len((await room.client.get("/credential")).json()["data"]) == 2
            vendor.keys.clear()
            for made, verdict in ((good, "rejected"), (unasked, "unreachable")):
                told = (await room.client.post(f"/credential/{made.json()['id']}/check")).json()
                assert told["verdict"] == verdict, told


async def test_what_takes_threads_and_connections_of_all_is_shared(tmp_path: Path, bus_settings: BusSettings) -> None:
    """Somebody who says nothing keeps one for half a minute; a few such of one account kept all of a process."""
    came, most = asyncio.Semaphore(0), count_of("key_checks")

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.release()
        await over.wait()
        writer.close()

    over, server = asyncio.Event(), await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    silent = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    given: dict[str, Any] = {"providers": {"deepgram": {"url": silent}}, "limits": {"webhook_attempts": 1}}
    async with server, api_room(tmp_path / "data", bus_settings, None, **given, allow_private_addresses=True) as room:
        key, hook = {"provider": "deepgram", "key": "k", "check": True}, {"webhook_url": f"{silent}/hook"}
        for path, body, count in (("/credential", key, most), ("/webhook/test", hook, 1)):
            waiting = [asyncio.create_task(room.client.post(path, json=body)) for _ in range(count)]
            for _ in waiting:
                await came.acquire()
            refused = await room.client.post(path, json=body)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "5"), refused.text
            over.set()
            assert {(await one).status_code for one in waiting} == {200}
            over.clear()


async def test_a_new_webhook_secret_signs_beside_the_old_one(room: ApiRoom) -> None:
    first = (await room.client.get("/webhook-secret")).json()
    assert first["secret_before"] is None
    rotated = (await room.client.post("/webhook-secret/rotate", json={"overlap_hours": 1})).json()
    assert rotated["secret"] != first["secret"] == rotated["secret_before"]
    at_once = (await room.client.post("/webhook-secret/rotate", json={"overlap_hours": 0})).json()
    assert (at_once["secret_before"], at_once["secret_before_until"]) == (None, None)


async def test_a_receiver_is_tried_with_a_webhook_that_both_secrets_verify(
    tmp_path: Path, bus_settings: BusSettings, receiver: Receiver
) -> None:
    async with api_room(tmp_path / "data", bus_settings, SYSTEM_CLOCK, allow_private_addresses=True) as room:
        old = (await room.client.get("/webhook-secret")).json()["secret"]
        new = (await room.client.post("/webhook-secret/rotate", json={})).json()["secret"]
        answer = (await room.client.post("/webhook/test", json={"webhook_url": receiver.url})).json()
        assert answer["state"] == "delivered", answer
        assert [attempt["http_status"] for attempt in answer["attempts"]] == [200]
        [heard] = receiver.deliveries
        for secret in (old, new):
            assert Webhook(secret).verify(heard.raw, dict(heard.headers))["type"] == "test"
        listed = (await room.client.get("/webhook-delivery")).json()["data"]
        assert listed == [answer]
        assert (await room.client.get(f"/webhook-delivery/{answer['id']}")).json() == answer


async def test_a_receiver_on_a_private_network_is_not_reached_by_a_test(room: ApiRoom, receiver: Receiver) -> None:
    answer = (await room.client.post("/webhook/test", json={"webhook_url": receiver.url})).json()
    assert (answer["state"], answer["attempts"][0]["http_status"]) == ("given_up", None)
    assert receiver.deliveries == []


async def test_deliveries_are_listed_and_sent_once_more(room: ApiRoom) -> None:
    bot = await room.bot_in("recording", webhook_url="https://a.example/hook")
    other = await room.bot_in("joining", webhook_url="https://a.example/hook")
    deliveries = Deliveries(room.database)
    failed = Attempt(at=room.clock.now(), status=410, ms=3, answer="Gone.")
    for delivery in await deliveries.of(UUID(bot["id"]), room.account_id):
        await deliveries.record_attempt(delivery.id, failed, state=DeliveryState.GIVEN_UP)
    page = (await room.client.get("/webhook-delivery", params={"limit": "2"})).json()
    rest = (await room.client.get("/webhook-delivery", params={"cursor": page["next_cursor"]})).json()
    assert [d["resource_id"] for d in page["data"] + rest["data"]] == [other["id"], bot["id"], bot["id"]]
    assert rest["next_cursor"] is None
    of_bot = (await room.client.get("/webhook-delivery", params={"resource_id": bot["id"]})).json()["data"]
    assert [d["payload"]["data"]["new_status"] for d in of_bot] == ["recording", "joining"]
    assert of_bot[0]["attempts"][0]["answer"] == "Gone."
    again = (await room.client.post(f"/webhook-delivery/{of_bot[0]['id']}/replay")).json()
    assert again["state"] == "pending"
    replayed = (await room.client.post("/webhook-delivery/replay", json={"since": 0})).json()
    assert replayed == {"replayed": 1}
    pending = (await room.client.get("/webhook-delivery", params={"state": "pending"})).json()["data"]
    assert len(pending) == 3


async def test_realtime_sockets_are_on_top_for_models_alone_that_are_not_realtime(
    tmp_path: Path, bus_settings: BusSettings, clock: FakeClock, address: str
) -> None:
    pricing = PricingSettings(base_per_hour=0.6, realtime_audio_per_hour=0.4)
    database = DatabaseSettings(url=address)
    async with api_room(tmp_path / "data", bus_settings, clock, pricing=pricing, database=database) as room:
        for model, asked, rate in (
            ("whisper-realtime", {}, 0.6),
            ("whisper-realtime", {"realtime_audio": False}, 0.6),
            ("whisper-realtime", {"realtime_audio": True}, 0.6),
            ("whisper", {}, 0.6),
            ("whisper", {"realtime_audio": True}, 1.0),
        ):
            made = await room.bot(transcription_model=model, **asked)
            for trigger in (Trigger.LAUNCHED, Trigger.ADMITTED):
                await room.bots.record_transition(UUID(made["id"]), trigger)
            clock.advance(3600)
            ended = {"recording_ended_at": clock.now()}
            await room.bots.record_transition(UUID(made["id"]), Trigger.ENDED, changes=ended)
            for trigger in (Trigger.LEFT, Trigger.CLOSED):
                await room.bots.record_transition(UUID(made["id"]), trigger)
            price = (await room.client.get(f"/bot/{made['id']}/pricing")).json()
            assert price["total"] == {"rate_per_hour": rate, "amount": rate}, (model, asked)
            assert bool(price["addons"]) == (rate > 0.6), (model, asked)
        usage = (await room.client.get("/usage")).json()["data"]
        amounts = {row["transcription_model"]: row["amount"] for row in usage}
        assert amounts == {"whisper-realtime": 1.8, "whisper": 1.6}


async def test_usage_counts_minutes_by_key_and_model_at_the_operators_rates(
    tmp_path: Path, bus_settings: BusSettings, clock: FakeClock
) -> None:
    pricing = PricingSettings(currency="EUR", base_per_hour=0.6, models_per_hour={"vendor1": 0.3})
    async with api_room(tmp_path / "data", bus_settings, clock, pricing=pricing) as room:
        await room.client.post("/key", json={"name": "=HYPERLINK()"})
        await room.bot_in("finished")
        await room.bot_in("finished", transcription_model="none")
        month = f"{clock.now():%Y-%m}"
        usage = (await room.client.get("/usage")).json()
        by_model = {row["transcription_model"]: row for row in usage["data"]}
        assert by_model.keys() == {"whisper", "none"}
        row = by_model["whisper"]
        assert (row["period"], row["count"], row["key_name"], row["currency"]) == (month, 1, "tests", "EUR")
        assert row["amount"] == round(row["minutes"] / 60 * 0.9, 4)
        day = f"{clock.now():%Y-%m-%d}"
        daily = (await room.client.get("/usage", params={"group": "day", "from": day, "to": day})).json()
        assert {row["period"] for row in daily["data"]} == {day}
        text = (await room.client.get("/usage", params={"format": "csv"})).text
        assert [line["transcription_model"] for line in csv.DictReader(io.StringIO(text))] == ["none", "whisper"]
        for query in ({"from": "2026-02-31"}, {"from": "2020-01-01", "to": "2026-01-01"}, {"group": "year"}):
            assert (await room.client.get("/usage", params=query)).status_code == 400
