"""The history of a bot or a recording, as shown in its `events` array."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sederunt.model.status import BotStatus

STATUS_UPDATE = "status_update"
CHAT_MESSAGE = "chat_message"
RECORDING_GAP = "recording_gap"  # the bot was away for a while
WAITING_FOR_CAPACITY = "waiting_for_capacity"  # it waits for a seat at a host; with its place in the line
OVERBOOKED = "overbooked"  # when it was scheduled, its time had more bookings than seats
BUDGET_SPENT = "budget_spent"  # something was left out because the budget named by `budget` is spent
LIVE_TROUBLE = "live_trouble"  # live transcription may have missed something
PAGE_TROUBLE = "page_trouble"  # a fault of the bot's page, or of what it needs: cause, what was seen, what is done
TRANSCRIPTION_FALLBACK = "transcription_fallback"  # a model failed for good, and the next one began
TRANSCRIPTION_PROGRESS = "transcription_progress"  # a part of a recording is transcribed


# What webhooks send besides every change of status, if a bot's caller asks for it.
TOLD_WHEN_ASKED = (CHAT_MESSAGE, RECORDING_GAP, LIVE_TROUBLE, PAGE_TROUBLE, WAITING_FOR_CAPACITY, BUDGET_SPENT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One line of history. `id` rises with time and never repeats."""

    id: int
    event: str
    data: Mapping[str, Any]
    created_at: datetime


def seat_wait_s(history: Sequence[Event]) -> float:
    """Return the seconds that a bot waited for a host: from its first notice to the event after the last, else 0."""
    positions = [number for number, event in enumerate(history) if event.event == WAITING_FOR_CAPACITY]
    if not positions or positions[-1] + 1 == len(history):
        return 0.0
    return (history[positions[-1] + 1].created_at - history[positions[0]].created_at).total_seconds()


# Fields of a change of status that explain it, beside its reason.
WHY = frozenset({"cause", "evidence"})


def why_it_left(changes: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the explaining fields of the change to `leaving`; empty if there was none."""
    leaving_changes = [data for data in changes if data["new_status"] == BotStatus.LEAVING]
    return {name: value for name, value in leaving_changes[-1].items() if name in WHY} if leaving_changes else {}


def deciding_row(evidence: object) -> str | None:
    """Return the row of the evidence table that an event's `evidence` names; None if it names none."""
    if isinstance(evidence, Mapping):
        return str(evidence.get("row") or evidence.get("id") or "") or None
    return str(evidence) if evidence else None


# Statuses of a bot that is in its meeting.
_INSIDE = frozenset({BotStatus.RECORDING, BotStatus.LEAVING})
# Fields of a change that listeners hear.
_SHOWN_LIVE = ("old_status", "new_status", "stop_reason", "cause")


def live_messages(change: Event) -> tuple[Mapping[str, Any], ...]:
    """Return a `status_update` for realtime listeners, followed by `start` if it brings the bot into its meeting, or by
    `stop` if it takes the bot out.

    Each comes at most once: a bot that comes back after its host died is still `recording`.
    """
    data = {name: change.data[name] for name in _SHOWN_LIVE if name in change.data}
    was_in, is_in = (BotStatus(change.data[name]) in _INSIDE for name in ("old_status", "new_status"))
    update = {"type": "status-update", "data": data}
    if was_in == is_in:
        return (update,)
    return (update, {"type": "start" if is_in else "stop"})
