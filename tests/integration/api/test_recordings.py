"""Standalone recordings through the interface: three ways in, looking, listing, deleting."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from harness.api_room import ApiRoom, api_room, tone_wav
from harness.fake_clock import FakeClock
from sederunt.api.checks import Checks
from sederunt.api.schemas.requests import RecordingFields
from sederunt.api.schemas.views import moment
from sederunt.database.holdings import Holdings
from sederunt.errors import NotFound
from sederunt.model.status import Trigger
from sederunt.settings import BusSettings
from sederunt.transcription.models import models, providers

URL = "https://files.example/talk.mp3"


async def bot_with_recording(room: ApiRoom, **fields: Any) -> dict[str, Any]:
    made = await room.bot_in("processing", **fields)
    key = f"bots/{made['id']}/recording.webm"
    await room.objects.put(key, b"sound")
    await room.bots.record_transition(UUID(made["id"]), Trigger.CLOSED, changes={"recording_object": key})
    return made


async def test_an_address_is_taken_and_fetched_by_a_job(room: ApiRoom, clock: FakeClock) -> None:
    body = {"recording_url": URL, "transcription_model": "vendor1", "lang": "en", "custom_vocabulary": ["Sederunt"]}
    answer = await room.client.post("/recording", json=body)
    assert answer.status_code == 200, answer.text
    made = answer.json()
    assert made["status"] == "transcribing"
    assert (made["transcription_model"], made["lang"], made["custom_vocabulary"]) == ("vendor1", "en", ["Sederunt"])
    assert made["recording_url"] is None
    assert made["recording_available_until"] == moment(clock.now() + timedelta(days=1))
    assert (await room.client.get(f"/recording/{made['id']}")).json() == made


async def test_a_year_is_kept_when_asked(room: ApiRoom, clock: FakeClock, wav: bytes) -> None:
    made = await room.recording(wav, store_recording_for_1_year="true")
    assert made["recording_available_until"] == moment(clock.now() + timedelta(days=365))


async def test_a_form_without_a_file_may_name_an_address(room: ApiRoom) -> None:
    files = {"recording_url": (None, URL), "transcription_model": (None, "whisper")}
    answer = await room.client.post("/recording", files=files)
    assert answer.status_code == 200, answer.text
    assert not await room.receipts(), "it is not to be removed"


@pytest.mark.parametrize("name", ["", "empty.wav"])
@pytest.mark.parametrize("source", ["recording_file", "recording_url", "meeting_bot_id", "recording_id"])
async def test_a_page_may_send_its_other_inputs_empty(room: ApiRoom, wav: bytes, source: str, name: str) -> None:
    sources: dict[str, Any] = {
        "recording_file": ("talk.wav", wav),
        "recording_url": (None, URL),
        "meeting_bot_id": (None, (await bot_with_recording(room))["id"]),
        "recording_id": (None, (await room.recording(wav))["id"]),
    }
    keys = await room.objects.keys("recordings")
    empty = dict.fromkeys(RecordingFields.model_fields, (None, "")) | {"recording_file": (name, b"")}
    sent = {**empty, "transcription_model": (None, "whisper"), source: sources[source]}
    answer = await send_form(room, sent)
    assert answer.status_code == 200, answer.text
    stored = [f"recordings/{answer.json()['id']}/source"] if source == "recording_file" else []
    assert sorted(await room.objects.keys("recordings")) == sorted([*keys, *stored])
    assert not await room.receipts()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("empty.wav", "recording_file cannot be used: The file is empty."),
        ("", "Exactly one of recording_file, recording_url, meeting_bot_id and recording_id is required."),
    ],
)
async def test_an_empty_file_alone_is_no_recording(room: ApiRoom, name: str, sentence: str) -> None:
    answer = await send_form(room, {"recording_file": (name, b""), "transcription_model": (None, "whisper")})
    assert (answer.status_code, answer.json()["errors"]) == (400, {"recording_file": [sentence]})
    assert not await room.objects.keys("recordings")
    assert not await room.receipts()


async def test_a_file_with_something_in_it_is_a_source_whatever_its_name(room: ApiRoom, wav: bytes) -> None:
    for name in ("", "talk.wav"):
        others = {"recording_url": (None, URL), "transcription_model": (None, "whisper")}
        answer = await send_form(room, {"recording_file": (name, wav), **others})
        assert answer.status_code == 400
        assert answer.json()["message"].startswith("Exactly one of")


async def send_form(room: ApiRoom, parts: Mapping[str, tuple[str | None, Any]]) -> httpx2.Response:
    """The answer to a form as pages send it: a file input in which nobody chose a file has an empty name."""
    boundary, body = "7f3a", b""
    for field, (name, value) in parts.items():
        file = "" if name is None else f'; filename="{name}"'
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"{file}\r\n\r\n'.encode()
        body += (value.encode() if isinstance(value, str) else value) + b"\r\n"
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return await room.client.post("/recording", content=body + f"--{boundary}--\r\n".encode(), headers=headers)


async def test_copies_are_counted_before_they_are_made(tmp_path: Path, bus_settings: BusSettings) -> None:
    """A thousand of them in a minute were nothing each, and filled the disk."""
    limits = {"stored_gb": 0.0003, "transcription_minutes": 0}
    async with api_room(tmp_path / "data", bus_settings, FakeClock(), limits=limits) as room:
        first = await room.recording(tone_wav(seconds=4))
        held = await Holdings(room.database).of(UUID(first["id"]))
        assert held is not None
        asked = {"recording_id": first["id"], "transcription_model": "whisper"}
        answers = [await room.client.post("/recording", json=asked) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 403]
        assert answers[-1].json()["message"].startswith("This account has 0.0 GB of recordings stored")
        copied = await Holdings(room.database).of(UUID(answers[0].json()["id"]))
        assert copied is not None
        assert (copied.stored_bytes, copied.sound_s) == (held.stored_bytes, held.sound_s)


@pytest.mark.parametrize(
    ("body", "faulty"),
    [
        ({}, ["recording_file", "transcription_model"]),
        ({"transcription_model": "whisper"}, ["recording_file"]),
        ({"transcription_model": "none", "recording_url": URL}, ["transcription_model"]),
        ({"transcription_model": "vendor1-realtime", "recording_url": URL}, ["transcription_model"]),
        ({"transcription_model": "vendor2-v3", "recording_url": URL}, ["transcription_model"]),
        ({"transcription_model": "vendor2", "recording_url": URL}, ["transcription_model"]),
        ({"recording_url": "talk.mp3"}, ["transcription_model", "recording_url"]),
        ({"recording_url": URL, "transcription_model": "whisper", "recording_file": {}}, ["recording_file"]),
        ({"transcription_model": "whisper", "recording_file": "UklGRg=="}, ["recording_file"]),
        ({"recording_id": "0195f2c4-6a1e-7b3d-9f00-000000000001"}, ["recording_id"]),
        ({"meeting_bot_id": "7"}, ["meeting_bot_id"]),
        ({"meeting_bot_id": "0195f2c4-6a1e-7b3d-9f00-000000000001"}, ["meeting_bot_id"]),
        (
            {"meeting_bot_id": "0195f2c4-6a1e-7b3d-9f00-000000000001", "recording_url": URL,
             "transcription_model": "whisper"},
            ["recording_file"],
        ),
    ],
)  # fmt: skip
async def test_what_cannot_be_transcribed_is_refused_by_name(
    room: ApiRoom, body: dict[str, Any], faulty: list[str]
) -> None:
    answer = await room.client.post("/recording", json=body)
    assert answer.status_code == 400, answer.text
    assert sorted(answer.json()["errors"]) == sorted(faulty)
    assert answer.json()["message"] in next(iter(answer.json()["errors"].values()))


async def test_the_recording_of_a_bot_brings_its_settings(room: ApiRoom) -> None:
    bot = await bot_with_recording(
        room, lang="de", profanity_filter=True, custom_vocabulary=["Sederunt"], webhook_url="https://a.example/bot"
    )
    made = (await room.client.post("/recording", json={"meeting_bot_id": bot["id"]})).json()
    assert (made["transcription_model"], made["lang"], made["profanity_filter"], made["custom_vocabulary"]) == (
        "whisper", "de", True, ["Sederunt"],
    )  # fmt: skip
    assert made["webhook_url"] is None
    body = {
        "meeting_bot_id": bot["id"],
        "transcription_model": "vendor1",
        "lang": "en",
        "profanity_filter": False,
        "custom_vocabulary": [],
    }
    other = (await room.client.post("/recording", json=body)).json()
    assert (other["transcription_model"], other["lang"], other["profanity_filter"], other["custom_vocabulary"]) == (
        "vendor1", "en", False, [],
    )  # fmt: skip


async def test_a_bots_model_that_recordings_have_not_must_be_replaced(room: ApiRoom) -> None:
    bot = await bot_with_recording(room, transcription_model="none")
    answer = await room.client.post("/recording", json={"meeting_bot_id": bot["id"]})
    assert list(answer.json()["errors"]) == ["transcription_model"]
    body = {"meeting_bot_id": bot["id"], "transcription_model": "whisper"}
    assert (await room.client.post("/recording", json=body)).status_code == 200


async def _own_keys(room: ApiRoom, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A credential for each vendor, all of them fit for their models."""
    monkeypatch.setattr(Checks, "_fault", lambda *_: None)
    added = {
        row.name: await room.credentials.add(
            room.account_id,
            row.name,
            f"key-{row.name}-1234567890",
            organisation="o" if row.needs_organisation else None,
        )
        for row in providers().values()
        if row.needs_key
    }
    return {name: str(credential.id) for name, credential in added.items()}


async def test_each_bots_recording_can_be_transcribed_again_as_it_was(
    room: ApiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = await _own_keys(room, monkeypatch)
    for row in models():
        if row.provider is None or not row.for_bots:
            continue
        own = {"transcription_credentials": keys[row.provider]} if row.provider in keys else {}
        bot = await bot_with_recording(room, transcription_model=row.identifier, **own)
        answer = await room.client.post("/recording", json={"meeting_bot_id": bot["id"]})
        if row.realtime:
            assert list(answer.json()["errors"]) == ["transcription_model"], row.identifier
        else:
            assert (answer.status_code, answer.json()["transcription_model"]) == (200, row.identifier), answer.text
            made = answer.json()["id"]
            await room.recordings.mark(UUID(made), recording_object=f"recordings/{made}/source")
            again = await room.client.post("/recording", json={"recording_id": made})
            assert (again.status_code, again.json()["transcription_model"]) == (200, row.identifier), again.text
        await room.client.delete(f"/bot/{bot['id']}")


async def test_a_bots_models_that_help_out_are_taken_over_whole(room: ApiRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = await _own_keys(room, monkeypatch)
    own = {"transcription_model": "vendor2", "transcription_credentials": keys["deepgram"]}
    bot = await bot_with_recording(room, **own, transcription_fallback=["vendor2-v3", "whisper"])
    made = (await room.client.post("/recording", json={"meeting_bot_id": bot["id"]})).json()
    assert made["transcription_fallback"] == ["vendor2-v3", "whisper"]


async def test_a_model_for_bots_alone_is_no_callers_to_name_for_a_recording(
    room: ApiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = await _own_keys(room, monkeypatch)
    bot = await bot_with_recording(room)
    asked = {"meeting_bot_id": bot["id"], "transcription_credentials": keys["deepgram"]}
    named = await room.client.post("/recording", json={**asked, "transcription_model": "vendor2-v3"})
    assert "transcription_model" in named.json()["errors"]
    helping = {"transcription_model": "vendor2", "transcription_fallback": ["vendor2-v3"]}
    answer = await room.client.post("/recording", json={**asked, **helping})
    assert list(answer.json()["errors"]) == ["transcription_fallback"]


@pytest.mark.parametrize("status", ["scheduled", "booting", "recording", "not_admitted", "failed"])
async def test_a_bot_without_a_recording_is_named_with_its_status(room: ApiRoom, status: str) -> None:
    bot = await room.bot_in(status)
    answer = await room.client.post("/recording", json={"meeting_bot_id": bot["id"]})
    assert list(answer.json()["errors"]) == ["meeting_bot_id"]
    assert status in answer.json()["message"]


async def test_a_recording_is_deleted_while_it_is_transcribed(room: ApiRoom, wav: bytes) -> None:
    made = await room.recording(wav)
    assert made["status"] == "transcribing"
    assert (await room.client.delete(f"/recording/{made['id']}")).status_code == 200
    assert (await room.client.delete(f"/recording/{made['id']}")).status_code == 404
    with pytest.raises(NotFound):
        await room.recordings.record_transition(UUID(made["id"]), Trigger.TRANSCRIBED)


async def test_a_recording_is_gone_once_it_is_deleted(room: ApiRoom, wav: bytes) -> None:
    made = await room.recording(wav)
    await room.recordings.record_transition(UUID(made["id"]), Trigger.TRANSCRIBED, changes={"detected_lang": "en"})
    found = (await room.client.get(f"/recording/{made['id']}")).json()
    assert (found["status"], found["detected_lang"]) == ("finished", "en")
    assert [event["data"] for event in found["events"]] == [{"old_status": "transcribing", "new_status": "finished"}]
    done = await room.client.delete(f"/recording/{made['id']}")
    assert (done.status_code, list(done.json())) == (200, ["message"])
    for method in ("GET", "DELETE"):
        assert (await room.client.request(method, f"/recording/{made['id']}")).status_code == 404
    async with room.client_of(None) as anyone:
        assert (await anyone.get(found["recording_url"])).status_code == 404


async def test_progress_is_among_the_events(room: ApiRoom, wav: bytes) -> None:
    made = await room.recording(wav)
    await room.recordings.add_event(UUID(made["id"]), "transcription_progress", {"seconds_done": 30.0, "seconds": 60.0})
    (event,) = (await room.client.get(f"/recording/{made['id']}")).json()["events"]
    assert (event["event"], event["data"]) == ("transcription_progress", {"seconds_done": 30.0, "seconds": 60.0})


async def test_the_list_goes_from_the_newest_to_the_oldest_in_pages(
    room: ApiRoom, clock: FakeClock, wav: bytes
) -> None:
    made = []
    for _ in range(3):
        clock.advance(1)
        made.append(await room.recording(wav))
    first = (await room.client.get("/recording", params={"limit": "2"})).json()
    second = (await room.client.get("/recording", params={"limit": "2", "cursor": first["next_cursor"]})).json()
    assert [r["id"] for r in first["data"] + second["data"]] == [r["id"] for r in reversed(made)]
    assert second["next_cursor"] is None
    assert (await room.client.get("/recording", params={"status": "failed"})).json()["data"] == []
    assert (await room.client.get("/recording", params={"status": "late"})).status_code == 400
