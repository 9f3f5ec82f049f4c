"""Bots through the interface: book, look, change, stop, speak, delete; each rule with its refusal."""

import asyncio
import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from nats.aio.msg import Msg

from harness.api_room import GOOD_BOT, WAYS, ApiRoom, api_room, tone_wav
from harness.fake_clock import FakeClock
from harness.meeting_links import CONTEXT, GMEET_FORMS, TEAMS_CLASSIC_FORMS, TEAMS_SHORT_FORMS, THREAD, ZOOM_FORMS
from sederunt.accounts.meeting_accounts import SignIn
from sederunt.api import checks
from sederunt.api.schemas.values import LATEST_MILLISECONDS
from sederunt.bus.connection import Bus, BusAway
from sederunt.database.bots import Bots
from sederunt.database.deliveries import Deliveries
from sederunt.database.holdings import Holdings
from sederunt.mcp.explanation import explain
from sederunt.model.bot import Bot, Service
from sederunt.model.status import ACTIVE, STOPPABLE, BotStatus, Trigger
from sederunt.settings import BusSettings
from sederunt.storage.objects import open_objects

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
DEEP = base64.urlsafe_b64encode(b"[" * 5_000).decode()  # what Python's JSON reader gives up in a way of its own


async def test_a_bot_that_was_just_booked_is_shown_the_same_everywhere(room: ApiRoom) -> None:
    made = await room.bot(custom_metadata={"room": "7"}, lang="de", video=True, custom_vocabulary=["Sederunt"])
    assert made["status"] == "booting"
    assert UUID(made["id"]).version == 7
    assert (made["lang"], made["video"], made["custom_metadata"]) == ("de", True, {"room": "7"})
    assert await room.look(made) == made


@pytest.mark.parametrize("path", ["/bot", "/bot/validate"])
async def test_models_that_help_out_are_judged_like_the_first(room: ApiRoom, path: str) -> None:
    async def faults(**fields: Any) -> list[str]:
        answer = await room.client.post(path, json={**GOOD_BOT, **fields})
        found: list[str] = answer.json().get("errors", {}).get("transcription_fallback", [])
        assert answer.status_code == (400 if found else 200), answer.text
        return found

    assert "No credential for Deepgram" in (await faults(transcription_fallback=["vendor2"]))[0]
    assert "tried before" in (await faults(transcription_fallback=["whisper"]))[0]
    assert "'none'" in (await faults(transcription_model="none", transcription_fallback=["whisper"]))[0]
    own = await room.credentials.add(room.account_id, "deepgram", "key-of-deepgram-1234567890")
    cloud = {"transcription_model": "vendor2", "transcription_credentials": str(own.id)}
    assert await faults(**cloud, transcription_fallback=["vendor2-v3", "whisper"]) == []
    too_long = [f"word{n}" for n in range(101)]
    with_words = await faults(transcription_fallback=["vendor2"], custom_vocabulary=too_long)
    assert any("at most" in sentence for sentence in with_words)


async def test_what_helps_out_can_be_changed_and_is_shown(room: ApiRoom) -> None:
    own = await room.credentials.add(room.account_id, "deepgram", "key-of-deepgram-1234567890")
    cloud = {"transcription_model": "vendor2", "transcription_credentials": str(own.id)}
    made = await room.bot_in("scheduled", **cloud, transcription_fallback=["whisper"])
    assert made["transcription_fallback"] == ["whisper"]
    changed = await room.client.patch(f"/bot/{made['id']}", json={"transcription_fallback": None})
    assert changed.json()["transcription_fallback"] == []


async def test_a_job_for_the_bot_is_on_its_way(room: ApiRoom) -> None:
    queued: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: Msg) -> None:
        await queued.put(message.subject)

    listening = await room.bus.subscribe("job.attend.>", on_message)
    made = await room.bot()
    assert await asyncio.wait_for(queued.get(), 10) == f"job.attend.{made['id']}"
    await listening.close()


async def test_a_configuration_with_faults_makes_no_bot_and_validate_says_the_same(room: ApiRoom) -> None:
    bad = {**GOOD_BOT, "meeting_url": "https://zoom.us/j/1", "stop_options": {"time_limit": 1}, "bot_name": None}
    refusals = [await room.client.post(path, json=bad) for path in ("/bot", "/bot/validate")]
    assert [answer.status_code for answer in refusals] == [400, 400]
    first, second = (answer.json() for answer in refusals)
    assert first == second
    assert list(first["errors"]) == ["meeting_url", "bot_name", "stop_options.time_limit"]
    assert first["message"] == first["errors"]["meeting_url"][0]
    assert (await room.client.get("/bot")).json()["data"] == []


async def test_a_good_configuration_is_confirmed_without_starting_anything(room: ApiRoom) -> None:
    answer = await room.client.post("/bot/validate", json=GOOD_BOT)
    assert (answer.status_code, list(answer.json())) == (200, ["message"])
    assert (await room.client.get("/bot")).json()["data"] == []


async def test_a_link_of_another_service_says_whose_it_is(room: ApiRoom) -> None:
    body = {**GOOD_BOT, "service": "gmeet", "meeting_url": "https://zoom.us/j/12345678901"}
    refused = (await room.client.post("/bot/validate", json=body)).json()["message"]
    assert refused.startswith("The meeting_url is not on meet.google.com")
    assert refused.endswith("It is a link of 'zoom': send that as service.")


async def test_a_model_without_a_credential_says_how_to_add_one(room: ApiRoom) -> None:
    answer = await room.client.post("/bot", json={**GOOD_BOT, "transcription_model": "vendor2"})
    assert answer.status_code == 400
    sentence = answer.json()["errors"]["transcription_model"][0]
    assert "Deepgram" in sentence
    assert "sederunt credentials add deepgram" in sentence


@pytest.mark.parametrize("path", ["/bot", "/bot/validate"])
async def test_what_a_vendor_cannot_do_is_told_before_anybody_joins(room: ApiRoom, path: str) -> None:
    own = await room.credentials.add(room.account_id, "deepgram", "key-of-deepgram-1234567890")
    body = {**GOOD_BOT, "transcription_model": "vendor2", "transcription_credentials": str(own.id)}
    wishes = {"lang": "eo", "custom_vocabulary": [f"word{n}" for n in range(101)]}
    answer = await room.client.post(path, json={**body, **wishes})
    assert (answer.status_code, set(answer.json()["errors"])) == (400, {"lang", "custom_vocabulary"})
    assert (await room.client.post(path, json={**body, "lang": "de-CH"})).status_code == 200


async def test_a_model_whose_provider_is_not_installed_is_refused_at_once(
    room: ApiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "is_installed", lambda _name: False)
    own = await room.credentials.add(room.account_id, "deepgram", "key-of-deepgram-1234567890")
    for model, more in (("vendor2", {"transcription_credentials": str(own.id)}), ("whisper", {})):
        bot = await room.client.post("/bot/validate", json={**GOOD_BOT, "transcription_model": model, **more})
        body = {"transcription_model": model, "recording_url": "https://files.example/talk.mp3", **more}
        for answer in (bot, await room.client.post("/recording", json=body)):
            assert answer.status_code == 400
            assert list(answer.json()["errors"]) == ["transcription_model"]
            assert "not part of this installation" in answer.json()["message"]
    assert (await room.client.post("/bot", json={**GOOD_BOT, "transcription_model": "none"})).status_code == 200


async def test_a_credential_of_ones_own_is_taken_and_no_other(room: ApiRoom) -> None:
    own = await room.credentials.add(room.account_id, "deepgram", "key-of-deepgram-1234567890")
    body = {**GOOD_BOT, "transcription_model": "vendor2-v3", "transcription_credentials": str(own.id)}
    assert (await room.client.post("/bot", json=body)).status_code == 200
    for change in ({"transcription_model": "vendor3"}, {"transcription_credentials": str(uuid4())}):
        answer = await room.client.post("/bot", json={**body, **change})
        assert list(answer.json()["errors"]) == ["transcription_credentials"]
    free = await room.client.post("/bot/validate", json={**body, "transcription_model": "whisper"})
    assert free.json()["message"] == ("transcription_credentials is the id of a key for Deepgram; vendor1 needs none.")
    async with await room.other_account() as other:
        assert list((await other.post("/bot", json=body)).json()["errors"]) == ["transcription_credentials"]


async def test_a_meeting_account_must_be_ones_own_and_of_the_service(room: ApiRoom) -> None:
    sign_in = SignIn(service=Service("gmeet"), email="bot@example.com", password="secret")
    own = await room.meeting_accounts.add(room.account_id, sign_in)
    body = {**GOOD_BOT, "authentication": {"account_id": str(own.id), "always_authenticate": True}}
    answer = await room.client.post("/bot", json=body)
    assert answer.status_code == 200, answer.text
    assert "authentication" not in answer.json()
    teams = {**body, "service": "teams", "meeting_url": "https://teams.live.com/meet/9331234567890?p=abcdef"}
    zoom = {**body, "service": "zoom", "meeting_url": "https://zoom.us/j/12345678901"}
    unknown = {**body, "authentication": {"account_id": "nobody"}}
    for wrong in (teams, zoom, unknown):
        answer = await room.client.post("/bot/validate", json=wrong)
        assert list(answer.json()["errors"]) == ["authentication.account_id"], answer.text


@pytest.mark.parametrize("name", ["metadata", "custom_metadata"])
async def test_metadata_goes_in_by_either_name_and_out_by_one(room: ApiRoom, name: str) -> None:
    made = await room.bot(**{name: {"order": "7"}})
    assert made["custom_metadata"] == {"order": "7"}
    assert "metadata" not in made


async def test_scheduled_bots_are_a_bare_array_soonest_first(room: ApiRoom) -> None:
    times = [4_000_000_300, 4_000_000_100, 4_000_000_200]
    for at in times:
        await room.bot(scheduled_start_time=at)
    await room.bot()
    found = (await room.client.get("/bot/scheduled")).json()
    seen = [datetime.fromisoformat(bot["scheduled_for"]).timestamp() for bot in found]
    assert seen == sorted(times)
    assert {bot["status"] for bot in found} == {"scheduled"}
    assert found[0] == await room.look(found[0])


async def test_a_start_in_the_past_is_now(room: ApiRoom, clock: FakeClock) -> None:
    made = await room.bot(scheduled_start_time=int(clock.now().timestamp()) - 1)
    assert (made["status"], made["scheduled_for"]) == ("booting", None)


async def test_a_patch_changes_what_it_names_and_nothing_else(room: ApiRoom) -> None:
    made = await room.bot_in("scheduled", stop_options={"time_limit": 60}, lang="de", metadata={"a": "1"})
    patch = {"stop_options": {"silence_detection": 0}, "bot_name": "Other", "client": "x", "lang": None}
    answer = await room.client.patch(f"/bot/{made['id']}", json=patch)
    assert answer.status_code == 200, answer.text
    changed = answer.json()
    assert changed["stop_options"] == {**made["stop_options"], "silence_detection": 0}
    different = {name for name in made if made[name] != changed[name]}
    assert different == {"stop_options", "bot_name", "lang"}
    assert await room.look(made) == changed


async def test_patches_of_the_same_moment_are_all_kept(room: ApiRoom) -> None:
    made = await room.bot_in("scheduled")
    changes = {"bot_name": "Other", "lang": "de", "profanity_filter": True, "scheduled_start_time": 4_100_000_000}
    address = f"/bot/{made['id']}"
    answers = await asyncio.gather(*(room.client.patch(address, json={name: value}) for name, value in changes.items()))
    assert [answer.status_code for answer in answers] == [200] * len(changes)
    left = await room.look(made)
    assert (left["bot_name"], left["lang"], left["profanity_filter"]) == ("Other", "de", True)
    assert left["scheduled_for"] != made["scheduled_for"]


async def test_too_many_metadata_filters_are_refused(room: ApiRoom) -> None:
    asked = await room.client.get("/bot", params={f"metadata[{n}]": "1" for n in range(1_001)})
    assert (asked.status_code, list(asked.json()["errors"])) == (400, ["metadata"])
    assert (await room.client.get("/bot", params={f"metadata[{n}]": "1" for n in range(50)})).json()["data"] == []


async def test_a_patch_replaces_metadata_and_null_clears_it(room: ApiRoom) -> None:
    made = await room.bot_in("scheduled", metadata={"a": "1", "b": "2"})
    address = f"/bot/{made['id']}"
    assert (await room.client.patch(address, json={"metadata": {"c": "3"}})).json()["custom_metadata"] == {"c": "3"}
    assert (await room.client.get("/bot", params={"metadata[a]": "1"})).json()["data"] == []
    assert len((await room.client.get("/bot", params={"custom_metadata[c]": "3"})).json()["data"]) == 1
    assert (await room.client.patch(address, json={"custom_metadata": None})).json()["custom_metadata"] == {}


async def test_a_patch_moves_the_start_and_null_is_now(room: ApiRoom) -> None:
    made = await room.bot_in("scheduled")
    moved = (await room.client.patch(f"/bot/{made['id']}", json={"scheduled_start_time": 4_100_000_000_000})).json()
    assert moved["scheduled_for"] == datetime.fromtimestamp(4_100_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
    sent_off = (await room.client.patch(f"/bot/{made['id']}", json={"scheduled_start_time": None})).json()
    assert sent_off["status"] == "booting"
    assert [event["data"]["new_status"] for event in sent_off["events"]] == ["booting"]


async def test_a_patch_with_faults_changes_nothing(room: ApiRoom) -> None:
    made = await room.bot_in("scheduled")
    patches: list[object] = [{"bot_name": None}, {"service": "zoom"}, {"meeting_url": "https://zoom.us/j/1"}, [], "x"]
    for patch in patches:
        answer = await room.client.patch(f"/bot/{made['id']}", json=patch)
        assert answer.status_code == 400, answer.text
    assert await room.look(made) == made


async def test_a_picture_is_kept_and_served_and_wins_over_an_address(room: ApiRoom) -> None:
    file = "data:image/png;base64," + base64.b64encode(PNG).decode()
    made = await room.bot_in("scheduled", bot_avatar_file=file, bot_avatar_url="https://a.example/p.png")
    answer = await room.client_of(None).get(made["bot_avatar"])
    assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
    assert not await room.receipts()
    absences: list[dict[str, object]] = [{}, {"bot_avatar_file": {}}, {"bot_avatar_url": None}]
    for absence in absences:
        changed = (await room.client.patch(f"/bot/{made['id']}", json=absence)).json()
        assert "/avatar-" in changed["bot_avatar"], absence
    changed = (await room.client.patch(f"/bot/{made['id']}", json={"bot_avatar_file": None})).json()
    assert changed["bot_avatar"] is None
    instead = {"bot_avatar_file": file}, {"bot_avatar_url": "https://a.example/p.png"}
    for change in instead:
        changed = (await room.client.patch(f"/bot/{made['id']}", json=change)).json()
    assert changed["bot_avatar"] == "https://a.example/p.png"


async def test_pictures_of_waiting_bots_are_stored_by_their_account(tmp_path: Path, bus_settings: BusSettings) -> None:
    """Ten thousand of 5 MB each were nothing to `stored_gb`."""
    picture = {"bot_avatar_file": base64.b64encode(PNG + bytes(100_000)).decode()}
    async with api_room(tmp_path / "data", bus_settings, FakeClock(), limits={"stored_gb": 0.000_25}) as room:
        account_id, holdings = room.database.default_account_id, Holdings(room.database)
        plain = await room.bot_in("scheduled")
        made = [await room.bot_in("scheduled", **picture) for _ in range(3)]
        beyond = await room.client.post("/bot", json={**GOOD_BOT, "scheduled_start_time": 4_000_000_000, **picture})
        changed = await room.client.patch(f"/bot/{plain['id']}", json=picture)
        uploaded = await room.upload(tone_wav(seconds=1))
        for answer in (beyond, changed, uploaded):
            assert (answer.status_code, answer.json()["budget"]) == (403, "stored_gb")
        assert len(await open_objects(room.settings).keys("bots/")) == len(made)
        assert await holdings.stored_bytes(account_id) == 3 * len(PNG + bytes(100_000))
        one, other = (f"/bot/{bot['id']}" for bot in made[:2])
        assert (await room.client.patch(one, json={"bot_name": "Notes", **picture})).status_code == 200
        assert (await room.client.patch(other, json={"bot_avatar_file": None})).status_code == 200
        assert await holdings.stored_bytes(account_id) == 2 * len(PNG + bytes(100_000))
        assert (await room.client.patch(one, json={"bot_name": "Minutes"})).status_code == 200
        assert await holdings.stored_bytes(account_id) == 2 * len(PNG + bytes(100_000))
        assert (await room.upload(tone_wav(seconds=1))).status_code == 200


async def test_a_field_that_another_one_wins_over_does_not_count_whatever_it_holds(room: ApiRoom) -> None:
    file = "data:image/png;base64," + base64.b64encode(PNG).decode()
    made = await room.bot_in("scheduled", bot_avatar_file=file, bot_avatar_url="")
    assert "/avatar-" in made["bot_avatar"]
    nested = {"custom_metadata": {"room": "7"}, "metadata": {"room": 7, "tags": [1]}}
    changed = await room.client.patch(f"/bot/{made['id']}", json=nested)
    assert (changed.status_code, changed.json()["custom_metadata"]) == (200, {"room": "7"})


async def test_the_latest_moment_that_may_be_booked_can_be(room: ApiRoom) -> None:
    made = await room.bot(scheduled_start_time=LATEST_MILLISECONDS)
    answer = await room.client.patch(f"/bot/{made['id']}", json={"scheduled_start_time": LATEST_MILLISECONDS - 1})
    assert (made["status"], answer.status_code) == ("scheduled", 200)
    for path in ("/bot", "/bot/validate"):
        beyond = await room.client.post(path, json={**GOOD_BOT, "scheduled_start_time": LATEST_MILLISECONDS + 1})
        assert list(beyond.json()["errors"]) == ["scheduled_start_time"]


async def test_only_a_scheduled_bot_can_be_changed(room: ApiRoom) -> None:
    for status in WAYS:
        made = await room.bot_in(status)
        answer = await room.client.patch(f"/bot/{made['id']}", json={"bot_name": "Other"})
        assert (answer.status_code, status in answer.json()["message"]) == (409, True), status


async def test_deleting_is_refused_in_the_active_statuses_only(room: ApiRoom) -> None:
    for status in (*WAYS, "scheduled"):
        made = await room.bot_in(status)
        answer = await room.client.delete(f"/bot/{made['id']}")
        if BotStatus(status) in ACTIVE:
            assert (answer.status_code, status in answer.json()["message"]) == (409, True), status
            assert (await room.look(made))["status"] == status
            continue
        assert (answer.status_code, list(answer.json())) == (200, ["message"]), status
        for method in ("GET", "DELETE"):
            assert (await room.client.request(method, f"/bot/{made['id']}")).status_code == 404
    left = (await room.client.get("/bot")).json()["data"]
    assert {bot["status"] for bot in left} == ACTIVE


async def test_stopping_works_on_running_bots_only(room: ApiRoom) -> None:
    for status in (*WAYS, "scheduled"):
        made = await room.bot_in(status)
        answer = await room.client.post(f"/bot/{made['id']}/stop")
        if BotStatus(status) in STOPPABLE | {BotStatus.BOT_DETECTED}:  # it is about to try again
            assert (answer.status_code, list(answer.json())) == (200, ["message"]), status
            assert (await room.bots.get(UUID(made["id"]))).stop_requested
        else:
            assert (answer.status_code, status in answer.json()["message"]) == (409, True), status


async def test_a_bot_that_nobody_holds_is_stopped_at_once(room: ApiRoom) -> None:
    made = await room.bot()
    await room.client.post(f"/bot/{made['id']}/stop", headers={"Content-Type": "application/json"})
    found = await room.look(made)
    assert (found["status"], found["stop_reason"]) == ("not_admitted", "manually_stopped")


async def test_a_bot_that_nobody_holds_is_stopped_whether_or_not_the_message_server_answers(
    room: ApiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any, **__: Any) -> dict[str, Any]:
        raise BusAway("No answer.")

    made = await room.bot()
    monkeypatch.setattr(Bus, "command", away)
    assert (await room.client.post(f"/bot/{made['id']}/stop")).status_code == 200
    assert (await room.look(made))["status"] == "not_admitted"


async def test_a_bot_that_a_host_claims_while_it_is_stopped_is_left_to_that_host(
    room: ApiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await room.bot()
    request_stop = Bots.request_stop

    async def claimed_meanwhile(bots: Bots, bot_id: UUID, *asked: Any) -> Bot:
        found = await request_stop(bots, bot_id, *asked)
        await bots.claim(bot_id, "host")
        return found

    monkeypatch.setattr(Bots, "request_stop", claimed_meanwhile)
    assert (await room.client.post(f"/bot/{made['id']}/stop")).status_code == 200
    found = await room.bots.get(UUID(made["id"]))
    assert (found.status, found.stop_requested) == (BotStatus.BOOTING, True)


class Seat:
    """A host's end of the line."""

    def __init__(self, *answers: Mapping[str, Any]) -> None:
        self.heard: list[Mapping[str, Any]] = []
        self._answers = list(answers)

    async def __call__(self, order: Mapping[str, Any]) -> Mapping[str, Any]:
        self.heard.append(order)
        return self._answers.pop(0)


async def test_a_message_reaches_the_bot_in_its_meeting(room: ApiRoom) -> None:
    made = await room.bot_in("recording")
    seat = Seat({"ok": True})
    line = await room.bus.serve(f"bot.{made['id']}.do", seat)
    await room.bus.flush()
    answer = await room.client.post(f"/bot/{made['id']}/chat-message", json={"message": "Good morning"})
    assert (answer.status_code, list(answer.json())) == (200, ["message"])
    assert seat.heard == [{"do": "chat", "message": "Good morning"}]
    await line.close()


async def test_a_bot_that_was_just_let_in_is_asked_until_it_can_speak(room: ApiRoom) -> None:
    made = await room.bot_in("recording")
    seat = Seat({"ok": False, "later": True, "message": "Not yet."}, {"ok": True})
    line = await room.bus.serve(f"bot.{made['id']}.do", seat)
    assert (await room.client.post(f"/bot/{made['id']}/chat-message", json={"message": "Hello"})).status_code == 200
    assert len(seat.heard) == 2
    await line.close()


async def test_an_address_without_a_picture_is_the_callers_fault(room: ApiRoom) -> None:
    made = await room.bot_in("recording")
    why = "The picture is not shown: it answered 404."
    line = await room.bus.serve(f"bot.{made['id']}.do", Seat({"ok": False, "by_caller": True, "message": why}))
    await room.bus.flush()
    answer = await room.client.post(f"/bot/{made['id']}/avatar", json={"avatar_url": "https://a.example/none.png"})
    assert (answer.status_code, answer.json()["errors"]) == (400, {"avatar_url": [f"avatar_url: {why}"]})
    await line.close()


async def test_a_message_for_a_bot_that_leaves_meanwhile_is_refused_at_once(room: ApiRoom) -> None:
    made = await room.bot_in("recording")
    typing = asyncio.Event()

    async def type_on(_: Mapping[str, Any]) -> Mapping[str, Any]:
        typing.set()
        await asyncio.Event().wait()
        return {}

    line = await room.bus.serve(f"bot.{made['id']}.do", type_on)
    await room.bus.flush()
    posting = asyncio.create_task(room.client.post(f"/bot/{made['id']}/chat-message", json={"message": "Bye"}))
    await typing.wait()
    await room.bots.record_transition(UUID(made["id"]), Trigger.ENDED)
    await line.close()
    answer = await posting
    assert (answer.status_code, answer.json()["message"]) == (
        409,
        "It ended before this was done. The bot is leaving.",
    )


async def test_a_message_that_cannot_be_posted_says_why(room: ApiRoom) -> None:
    made = await room.bot_in("recording")
    address = f"/bot/{made['id']}/chat-message"
    assert (await room.client.post(address, json={})).json()["errors"] == {"message": ["message is required."]}
    nobody = await room.client.post(address, json={"message": "x"})
    assert (nobody.status_code, "recording" in nobody.json()["message"]) == (409, True)
    line = await room.bus.serve(f"bot.{made['id']}.do", Seat({"ok": False, "message": "The chat is closed."}))
    await room.bus.flush()
    closed = await room.client.post(address, json={"message": "x"})
    assert (closed.status_code, closed.json()["message"]) == (409, "The chat is closed. The bot is recording.")
    await line.close()
    waiting = await room.bot_in("joining")
    early = await room.client.post(f"/bot/{waiting['id']}/chat-message", json={"message": "x"})
    assert (early.status_code, "joining" in early.json()["message"]) == (409, True)


async def test_the_limit_of_bots_at_work_counts_seats_and_not_schedules(room: ApiRoom) -> None:
    most = room.settings.api.concurrent_bots
    await room.bot_in("finished")
    await room.bot_in("scheduled")
    many = await asyncio.gather(*(room.client.post("/bot", json=GOOD_BOT) for _ in range(most + 3)))
    assert sorted(answer.status_code for answer in many) == [200] * most + [403] * 3
    refused = next(answer for answer in many if answer.status_code == 403)
    assert str(most) in refused.json()["message"]
    seated = next(answer for answer in many if answer.status_code == 200).json()
    await room.bots.record_transition(UUID(seated["id"]), Trigger.CRASHED)
    assert (await room.client.post("/bot", json=GOOD_BOT)).status_code == 200


async def test_a_scheduled_bot_that_is_to_join_now_needs_a_seat_like_a_new_one(room: ApiRoom) -> None:
    waiting = await room.bot_in("scheduled")
    address = f"/bot/{waiting['id']}"
    picture = {"bot_avatar_file": base64.b64encode(PNG).decode()}
    shown = (await room.client.patch(address, json=picture)).json()["bot_avatar"].partition("?")[0]
    seated = [await room.bot() for _ in range(room.settings.api.concurrent_bots)]
    refused = await room.client.patch(address, json={"scheduled_start_time": None, "bot_name": "Late", **picture})
    assert refused.status_code == 403
    assert str(room.settings.api.concurrent_bots) in refused.json()["message"]
    found = (await room.client.get(address)).json()
    assert (found["status"], found["bot_name"]) == ("scheduled", waiting["bot_name"]), "nothing was changed"
    assert found["bot_avatar"].partition("?")[0] == shown
    assert (await room.client_of(None).get(found["bot_avatar"])).status_code == 200
    assert (await room.client.patch(address, json={"bot_name": "Later"})).status_code == 200
    await room.bots.record_transition(UUID(seated[0]["id"]), Trigger.CRASHED)
    joining = await room.client.patch(address, json={"scheduled_start_time": None})
    assert (joining.status_code, joining.json()["status"]) == (200, "booting")


async def test_no_more_bots_are_transcribed_live_than_the_machine_can_follow(room: ApiRoom) -> None:
    live = {**GOOD_BOT, "transcription_model": "vendor1-realtime"}
    await room.bot_in("finished", transcription_model="whisper-realtime")
    seated = [await room.bot(transcription_model=name) for name in ("vendor1-realtime", "whisper-realtime")]
    refused = await room.client.post("/bot", json=live)
    assert refused.status_code == 403
    assert "2 bots live" in refused.json()["message"]
    later = {**live, "scheduled_start_time": 4_000_000_000}
    assert (await room.client.post("/bot", json=later)).status_code == 200, "it is admitted when it is due"
    assert (await room.client.post("/bot", json={**GOOD_BOT, "realtime_audio": True})).status_code == 200
    assert (await room.client.post("/bot/validate", json=live)).status_code == 200, "nothing is wrong with it"
    await room.bots.record_transition(UUID(seated[0]["id"]), Trigger.CRASHED)
    assert (await room.client.post("/bot", json=live)).status_code == 200


async def test_the_list_goes_from_the_newest_to_the_oldest_in_pages(room: ApiRoom, clock: FakeClock) -> None:
    made = []
    for number in range(5):
        clock.advance(1)
        made.append(await room.bot_in("scheduled", custom_metadata={"n": str(number), "odd": str(number % 2)}))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        query = {"limit": "2", **({"cursor": cursor} if cursor else {})}
        page = (await room.client.get("/bot", params=query)).json()
        seen += [bot["id"] for bot in page["data"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [bot["id"] for bot in reversed(made)]
    await room.client.post("/bot", json=GOOD_BOT)
    filtered = (await room.client.get("/bot", params={"status": "scheduled", "metadata[odd]": "1"})).json()["data"]
    assert [bot["custom_metadata"]["n"] for bot in filtered] == ["3", "1"]
    assert (await room.client.get("/bot", params={"metadata[odd]": "1", "metadata[n]": "2"})).json()["data"] == []


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=201",
        "limit=x",
        "limit=",
        "status=late",
        "cursor=x",
        "limit=%00",
        "cursor=bm8",
        f"cursor={DEEP}",
    ],
)
async def test_a_query_that_makes_no_sense_is_named(room: ApiRoom, query: str) -> None:
    answer = await room.client.get(f"/bot?{query}")
    assert answer.status_code == 400, answer.text
    assert list(answer.json()["errors"]) == [query.partition("=")[0]]


async def test_speaker_events_are_a_wish(room: ApiRoom) -> None:
    made = await room.bot()
    assert (await room.look(made, **{"with-speaker-events": "true"})) == (
        await room.look(made, **{"with-speaker-events": "false"})
    )
    answer = await room.client.get(f"/bot/{made['id']}", params={"with-speaker-events": "maybe"})
    assert list(answer.json()["errors"]) == ["with-speaker-events"]


async def test_prices_are_the_operators_and_capacity_is_kept(room: ApiRoom) -> None:
    made = await room.bot()
    price = (await room.client.get(f"/bot/{made['id']}/pricing")).json()
    assert price["total"] == {"rate_per_hour": 0, "amount": None}
    assert price["transcription"] == {"model": "whisper", "rate_per_hour": 0, "byok": False}
    assert (await room.client.get("/reserved-capacity")).json() == {"reserved": 0, "available": 0}
    assert (await room.client.put("/reserved-capacity", json={"count": 3})).json() == {"reserved": 3, "available": 2}
    assert (await room.client.get("/reserved-capacity")).json() == {"reserved": 3, "available": 2}
    for wrong in (-1, 13, "3", None):
        answer = await room.client.put("/reserved-capacity", json={"count": wrong})
        assert list(answer.json()["errors"]) == ["count"]


async def test_secrets_of_a_bot_are_never_shown(room: ApiRoom) -> None:
    made = await room.bot(
        service="zoom", meeting_url="https://zoom.us/j/12345678901", authentication={"zoom_zak_token": "zak-7-secret"}
    )
    shown = json.dumps([made, await room.look(made), (await room.client.get("/bot")).json()])
    assert "zak-7-secret" not in shown


async def test_what_clients_of_the_hosted_service_send_is_taken_as_the_page_on_moving_says(room: ApiRoom) -> None:
    left_out = dict.fromkeys(("video", "realtime_audio", "webhook_url", "stop_options", "custom_metadata"))
    made = await room.bot(**left_out)
    assert (made["video"], made["custom_metadata"]) == (False, {})
    [listed] = (await room.client.get("/bot?cursor=")).json()["data"]
    assert listed["id"] == made["id"]
    refused = await room.client.post("/bot", json={})
    assert (refused.status_code, set(refused.json())) == (400, {"message", "errors"})
    priced = (await room.client.get(f"/bot/{made['id']}/pricing")).json()
    assert priced["total"]["rate_per_hour"] == 0  # free until the operator sets rates


@pytest.mark.parametrize("model", ["none", "whisper"])
@pytest.mark.parametrize(
    ("why", "summary"),
    [
        ({"cause": "time_limit"}, "Its time was up."),
        ({"cause": "host_lost"}, "It left."),
        ({"evidence": "gmeet.ended"}, "It left."),
    ],
)
async def test_the_last_change_of_a_finished_bot_tells_why_it_left(
    room: ApiRoom, model: str, why: dict[str, str], summary: str
) -> None:
    made = await room.bot(transcription_model=model, webhook_url="https://receiver.example/")
    bot_id = UUID(made["id"])
    ways = {"none": (Trigger.CLOSED,), "whisper": (Trigger.ASSEMBLED, Trigger.TRANSCRIBED)}
    for trigger in (Trigger.LAUNCHED, Trigger.ADMITTED):
        await room.bots.record_transition(bot_id, trigger)
    await room.bots.record_transition(bot_id, Trigger.ENDED, data=why)
    for trigger in (Trigger.LEFT, *ways[model]):
        await room.bots.record_transition(bot_id, trigger)
    seen = await room.look(made)
    (name, told), *_ = why.items()
    assert (seen["status"], seen["stop_reason"], seen["events"][-1]["data"].get(name)) == ("finished", None, told)
    assert (await Deliveries(room.database).of(bot_id, room.account_id))[-1].data.get(name) == told
    explained = explain(seen)
    assert explained.summary.startswith(summary)
    assert (explained.cause, explained.decided_by) == (why.get("cause"), why.get("evidence"))


async def test_a_transcription_that_failed_tells_its_own_cause(room: ApiRoom) -> None:
    made = await room.bot()
    for trigger in (Trigger.LAUNCHED, Trigger.ADMITTED):
        await room.bots.record_transition(UUID(made["id"]), trigger)
    left = {"cause": "time_limit", "evidence": "gmeet.ended"}
    await room.bots.record_transition(UUID(made["id"]), Trigger.ENDED, data=left)
    for trigger in (Trigger.LEFT, Trigger.ASSEMBLED):
        await room.bots.record_transition(UUID(made["id"]), trigger)
    await room.bots.record_transition(UUID(made["id"]), Trigger.CRASHED, data={"cause": "transcription_failed"})
    last = (await room.look(made))["events"][-1]["data"]
    assert last == {"old_status": "transcribing", "new_status": "failed", "cause": "transcription_failed"}


@pytest.mark.parametrize(
    ("service", "forms"),
    [("gmeet", GMEET_FORMS), ("zoom", ZOOM_FORMS), ("teams", TEAMS_CLASSIC_FORMS), ("teams", TEAMS_SHORT_FORMS)],
)
async def test_a_link_that_its_service_understands_is_taken(room: ApiRoom, service: str, forms: list[str]) -> None:
    for text in (text for text in forms if "://" in text):
        answer = await room.client.post("/bot/validate", json={**GOOD_BOT, "service": service, "meeting_url": text})
        assert answer.status_code == 200, (text, answer.text)


async def test_a_link_that_a_tool_decoded_is_shown_as_an_address(room: ApiRoom) -> None:
    plain = f"https://teams.microsoft.com/l/meetup-join/{THREAD}/0?context={CONTEXT}"
    for text in (plain, f"Join <{plain}>", f'Ada: "{plain}".', f"({plain})"):
        made = await room.bot(service="teams", meeting_url=text)
        shown = made["meeting_url"]
        assert shown == plain.replace("{", "%7B").replace('"', "%22").replace("}", "%7D"), text
        assert (await room.look(made))["meeting_url"] == shown
