"""The shapes that are written and the shapes that are documented are the same."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from harness.fake_clock import FakeClock
from sederunt.api.openapi import document
from sederunt.api.schemas.answers import ANSWERS
from sederunt.api.schemas.views import (
    Addresses,
    bot_json,
    bot_summary,
    bot_values,
    event_values,
    moment,
    plain_bot_json,
    plain_recording_json,
    recording_json,
    recording_summary,
)
from sederunt.database.bot_view import BotView
from sederunt.database.recordings import RecordingView
from sederunt.model.bot import Bot, BotConfig, Gap, Service, Verdict
from sederunt.model.history import Event
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.recording import Recording, RecordingConfig
from sederunt.model.status import BotStatus, RecordingStatus, StopReason
from sederunt.realtime.addresses import SocketKind, may_open, socket_addresses, socket_token
from sederunt.storage.links import Links

BASE = "https://minutes.example"
HOLDER = b"k" * 16


@pytest.fixture
def addresses(clock: FakeClock) -> Addresses:
    return Addresses(base_url=BASE, links=Links(b"s" * 32, BASE), now=clock.now())


@pytest.fixture
def bot(clock: FakeClock) -> Bot:
    config = BotConfig(
        service=Service("teams"),
        meeting_url="https://teams.live.com/meet/9331",
        bot_name="Minutes",
        transcription_model="vendor2-realtime",
        bot_avatar_object=f"bots/{UUID(int=1)}/avatar",
        custom_metadata={"room": "7"},
        custom_vocabulary=("Sederunt",),
    )
    return Bot(
        id=UUID(int=1),
        account_id=UUID(int=2),
        config=config,
        status=BotStatus.FINISHED,
        stop_reason=StopReason.KICKED,
        created_at=clock.now(),
        finished_at=clock.now() + timedelta(minutes=5, microseconds=7),
        scheduled_for=clock.now(),
        recording_object=f"bots/{UUID(int=1)}/recording.webm",
        recording_available_until=clock.now() + timedelta(days=7),
        verdict=Verdict.HEALTHY,
        gaps=(Gap(start=1.0, end=2.5, cause="host_lost"),),
        evidence={"screenshot": f"bots/{UUID(int=1)}/evidence/screenshot.png"},
        capture={"packets": 7},
        secret="house-secret",
    )


@pytest.fixture
def recording(clock: FakeClock) -> Recording:
    return Recording(
        id=UUID(int=3),
        account_id=UUID(int=2),
        config=RecordingConfig(transcription_model="whisper"),
        status=RecordingStatus.FINISHED,
        created_at=clock.now(),
        recording_object=f"recordings/{UUID(int=3)}/source",
        recording_available_until=clock.now() + timedelta(days=1),
    )


def keys(schema: str) -> set[str]:
    return set(ANSWERS[schema]["properties"])


def test_a_bot_has_the_documented_fields_in_the_documented_order(bot: Bot, addresses: Addresses) -> None:
    shown = json.loads(plain_bot_json(bot, addresses))
    in_order = "views.bot_values and answers._BOT have the same fields in the same order"
    assert list(shown) == list(ANSWERS["Bot"]["properties"]) == ANSWERS["Bot"]["required"], in_order
    assert set(bot_summary(bot, addresses)) == keys("BotSummary")


def test_a_recording_has_the_documented_fields_in_the_documented_order(
    recording: Recording, addresses: Addresses
) -> None:
    shown = json.loads(plain_recording_json(recording, addresses))
    assert list(shown) == list(ANSWERS["Recording"]["properties"])
    assert set(recording_summary(recording, addresses)) == keys("RecordingSummary")


@pytest.mark.parametrize("with_events", [True, False])
def test_history_people_and_transcript_have_the_documented_fields(
    bot: Bot, addresses: Addresses, clock: FakeClock, with_events: bool
) -> None:
    person = Participant(
        key="p1",
        name="Ada",
        avatar=None,
        first_seen_at=clock.now(),
        events=(SpeakingEvent(type=SpeakingKind.STARTED, timestamp=1_772_442_000_000),),
    )
    event = Event(id=1, event="status_update", data={"old_status": "joining"}, created_at=clock.now())
    view = BotView(
        bot=bot, events=(event,), participants=(person,), segments_json='[{"start": 0}]', transcript_lang="en"
    )
    shown = json.loads(bot_json(view, addresses, with_speaker_events=with_events))
    assert set(shown["events"][0]) == keys("Event")
    assert set(shown["participants"][0]) == keys("Participant") - (set() if with_events else {"events"})
    if with_events:
        assert shown["participants"][0]["events"] == [{"type": "started-speaking", "timestamp": 1_772_442_000_000}]
    assert shown["transcript"] == [{"start": 0}]
    assert set(shown["recording_gaps"][0]) == keys("Gap")
    assert set(shown["stop_options"]) == keys("StopOptions")


def test_a_recording_shows_its_history(recording: Recording, addresses: Addresses, clock: FakeClock) -> None:
    event = Event(id=1, event="transcription_progress", data={"seconds_done": 1, "seconds": 2}, created_at=clock.now())
    view = RecordingView(recording=recording, events=(event,), segments_json="[]", transcript_lang=None)
    shown = json.loads(recording_json(view, addresses))
    assert shown["events"] == [event_values(event)]


def test_sockets_are_given_for_realtime_models_and_on_request(bot: Bot, addresses: Addresses) -> None:
    names = ("websocket_url", "websocket_read_only_url", "websocket_audio_url")
    realtime = bot_values(bot, addresses)
    assert realtime["realtime_audio"] is True, "it comes with the model, though nobody asked for it"
    assert len({realtime[name] for name in names}) == 3
    assert all(realtime[name].startswith("wss://minutes.example/realtime/") for name in names)
    plain = replace(bot, config=replace(bot.config, transcription_model="vendor1"))
    assert [bot_values(plain, addresses)[name] for name in names] == [None] * 3
    assert bot_values(plain, addresses)["realtime_audio"] is False
    asked = replace(plain, config=replace(plain.config, realtime_audio=True))
    assert None not in [bot_values(asked, addresses)[name] for name in names]


def test_files_are_shown_as_signed_addresses_and_secrets_not_at_all(bot: Bot, addresses: Addresses) -> None:
    text = plain_bot_json(bot, addresses)
    shown = json.loads(text)
    for address in (shown["bot_avatar"], shown["recording_url"], shown["evidence"]["screenshot"]):
        assert address.startswith(f"{BASE}/files/bots/{bot.id}/")
        assert "signature=" in address
    assert bot.secret not in text
    assert "account" not in text


def test_an_uploaded_picture_is_shown_before_an_address(bot: Bot, addresses: Addresses) -> None:
    config = replace(bot.config, bot_avatar_object=None, bot_avatar_url="https://a.example/p.png")
    assert bot_values(replace(bot, config=config), addresses)["bot_avatar"] == "https://a.example/p.png"


def test_the_address_of_a_thing_without_a_time_is_the_same_all_day(bot: Bot, addresses: Addresses) -> None:
    later = replace(addresses, now=addresses.now + timedelta(hours=14))
    assert bot_values(bot, addresses)["bot_avatar"] == bot_values(bot, later)["bot_avatar"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (datetime(2026, 3, 2, 9, tzinfo=UTC), "2026-03-02T09:00:00.000000Z"),
        (datetime(2026, 3, 2, 9, 0, 0, 1, tzinfo=UTC), "2026-03-02T09:00:00.000001Z"),
    ],
)
def test_times_are_utc_with_microseconds(value: datetime | None, shown: str | None) -> None:
    assert moment(value) == shown


def test_every_reference_of_the_document_leads_somewhere() -> None:
    described = document()

    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return own + [found for value in part.values() for found in references(value)]
        return [found for value in part for found in references(value)] if isinstance(part, list) else []

    schemas = described["components"]["schemas"]
    assert {reference.rsplit("/", 1)[1] for reference in references(described)} <= set(schemas)


def test_who_reads_the_database_alone_opens_no_socket(bot: Bot, addresses: Addresses) -> None:
    sockets = socket_addresses(BASE, bot, HOLDER, addresses.links.derive)
    token = sockets.events.rpartition("/")[2]
    assert may_open(bot, SocketKind.EVENTS, token, addresses.links.derive)
    assert not may_open(bot, SocketKind.AUDIO, token, addresses.links.derive)
    assert not may_open(bot, SocketKind.EVENTS, token, Links(b"another installation", BASE).derive)
    from_the_row_alone = socket_token(bot.secret.encode(), SocketKind.EVENTS, HOLDER)
    assert not may_open(bot, SocketKind.EVENTS, from_the_row_alone, addresses.links.derive)
