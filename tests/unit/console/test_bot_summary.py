"""What happened, in one sentence."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from sederunt.console.bot_summary import summary_of
from sederunt.database.bot_view import BotView
from sederunt.model.bot import Bot, BotConfig, Service, Verdict
from sederunt.model.history import PAGE_TROUBLE, STATUS_UPDATE, Event
from sederunt.model.participant import Participant
from sederunt.model.status import BotStatus, StopReason

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
BOT = Bot(
    id=UUID(int=1),
    account_id=UUID(int=2),
    config=BotConfig(service=Service("gmeet"), meeting_url="https://m", bot_name="N", transcription_model="none"),
    status=BotStatus.FINISHED,
    stop_reason=StopReason.LAST_PERSON_DETECTED,
    created_at=NOW,
    recording_started_at=NOW,
    recording_ended_at=NOW + timedelta(minutes=12),
)


def view(bot: Bot = BOT, *events: Event, people: int = 0) -> BotView:
    seen = [Participant(key=str(n), name=str(n), avatar=None, first_seen_at=NOW) for n in range(people)]
    return BotView(bot=bot, events=events, participants=tuple(seen), segments_json="[]", transcript_lang=None)


def test_a_finished_bot_tells_how_long_with_whom_and_why_it_left() -> None:
    told = summary_of(view(people=3)).sentence
    assert told == "Recorded 12 minutes with 3 people. Everyone else had left."


def test_a_recording_without_what_was_said_is_told() -> None:
    told = summary_of(view(replace(BOT, verdict=Verdict.CAPTURE_FAILED), people=1)).sentence
    assert told.endswith("with 1 person. Everyone else had left. Somebody spoke, and the recording has nothing of it.")


def test_what_would_help_is_said_where_something_went_wrong() -> None:
    assert summary_of(view(replace(BOT, verdict=Verdict.HEALTHY))).advice is None
    refused = replace(BOT, status=BotStatus.NOT_ADMITTED, stop_reason=StopReason.WAITING_ROOM_TIMEOUT)
    assert "waiting_room_timeout" in (summary_of(view(refused)).advice or "")


def test_each_status_and_each_reason_has_its_words() -> None:
    for status in BotStatus:
        assert summary_of(view(replace(BOT, status=status, stop_reason=None))).sentence
    for reason in StopReason:
        bot = replace(BOT, status=BotStatus.NOT_ADMITTED, stop_reason=reason)
        assert "not_admitted" not in summary_of(view(bot)).sentence


@pytest.mark.parametrize("evidence", [{"row": "gmeet.ended"}, "gmeet.ended"])
def test_the_steps_name_what_decided(evidence: object) -> None:
    data = {"old_status": "recording", "new_status": "leaving", "evidence": evidence, "cause": "meeting_ended"}
    event = Event(id=1, event=STATUS_UPDATE, data=data, created_at=NOW)
    first, last = summary_of(view(BOT, event)).steps
    assert (first.status, first.is_now) == ("recording", False)
    assert (last.status, last.cause, last.evidence, last.is_now) == ("leaving", "meeting_ended", "gmeet.ended", True)


def test_what_befell_the_page_stands_in_its_place_among_the_steps() -> None:
    change = {"old_status": "joining", "new_status": "recording"}
    trouble = {"cause": "no_sound", "seen": "Nothing came.", "recovery": "none"}
    other = {"cause": "sockets_closed", "seen": "The page has no sockets.", "recovery": "by_site"}
    events = [
        Event(id=n, event=kind, data=data, created_at=NOW + timedelta(seconds=n))
        for n, (kind, data) in enumerate(
            [(STATUS_UPDATE, change), (PAGE_TROUBLE, trouble), (PAGE_TROUBLE, other)], start=1
        )
    ]
    steps = summary_of(view(replace(BOT, status=BotStatus.RECORDING, stop_reason=None), *events)).steps
    assert [step.status for step in steps] == ["joining", "recording", PAGE_TROUBLE, PAGE_TROUBLE]
    assert [step.is_now for step in steps] == [False, True, False, False]
    told, as_seen = (step.seen for step in steps[2:])
    assert told is not None
    assert told.startswith("People are shown speaking, and no sound")
    assert as_seen == "The page has no sockets."
