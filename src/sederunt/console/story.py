"""What happened to a bot, in one sentence, with what decided. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sederunt.database.bot_view import BotView
from sederunt.model.history import STATUS_UPDATE, deciding_row
from sederunt.model.status import ENDINGS, BotStatus, StopReason

_UNDER_WAY: Mapping[BotStatus, str] = {
    BotStatus.SCHEDULED: "Waits for its time.",
    BotStatus.BOOTING: "Waits for a host with a free place, which opens a browser for it.",
    BotStatus.JOINING: "Is at the door of the meeting.",
    BotStatus.RECORDING: "Sits in the meeting and records.",
    BotStatus.LEAVING: "Leaves the meeting.",
    BotStatus.PROCESSING: "The recording is put together.",
    BotStatus.TRANSCRIBING: "The recording is being transcribed.",
}
_REASONS: Mapping[StopReason, str] = {
    StopReason.MEETING_ENDED: "the meeting ended",
    StopReason.MANUALLY_STOPPED: "it was asked to leave",
    StopReason.LAST_PERSON_DETECTED: "everyone else had left",
    StopReason.SILENCE_DETECTION_TRIGGERED: "nothing was to be heard any more",
    StopReason.KICKED: "somebody removed it from the meeting",
    StopReason.INVALID_MEETING_URL: "there is no such meeting",
    StopReason.WAITING_ROOM_TIMEOUT: "nobody let it in",
    StopReason.CALL_ALREADY_FINISHED: "the meeting was over already",
    StopReason.REQUEST_DENIED: "somebody refused to let it in",
    StopReason.HOST_IN_ANOTHER_MEETING: "the host was in another meeting",
}
_ENDED: Mapping[BotStatus, str] = {
    BotStatus.BOT_DETECTED: "The site took it for a robot and did not let it in.",
    BotStatus.AUTH_REQUIRED: "The meeting is open only to people who are signed in; give the bot a meeting account.",
    BotStatus.INVALID_CREDENTIALS: "The site did not accept the meeting account; sign it in again.",
    BotStatus.FAILED: "Something went wrong on our side.",
}


@dataclass(frozen=True, slots=True)
class StoryStep:
    """One status, since when, and what led to it."""

    status: str
    at: datetime
    cause: str | None
    evidence: str | None  # the row that decided
    is_now: bool


@dataclass(frozen=True, slots=True)
class Story:
    """What happened."""

    sentence: str
    steps: tuple[StoryStep, ...]


def story_of(view: BotView) -> Story:
    """Return the story of a bot so far."""
    changes = [event for event in view.events if event.event == STATUS_UPDATE]
    first = changes[0].data["old_status"] if changes else view.bot.status.value
    steps = [StoryStep(str(first), view.bot.created_at, None, None, is_now=not changes)]
    for number, event in enumerate(changes, 1):
        data = event.data
        evidence = data.get("evidence")
        steps.append(
            StoryStep(
                str(data["new_status"]),
                event.created_at,
                data.get("cause") or data.get("stop_reason"),
                deciding_row(evidence),
                is_now=number == len(changes),
            )
        )
    return Story(_sentence(view), tuple(steps))


def _sentence(view: BotView) -> str:
    bot = view.bot
    if bot.status not in ENDINGS:
        return _UNDER_WAY[bot.status]
    reason = _REASONS.get(bot.stop_reason) if bot.stop_reason else None
    if bot.status is BotStatus.FINISHED:
        minutes = _minutes(view)
        why = f"It left because {reason}." if reason else "It left when its time was up."
        people = len(view.participants)
        met = f"with {people} {'person' if people == 1 else 'people'}" if people else "alone"
        return f"Recorded {minutes} {met}. {why}{_verdict(view)}"
    if bot.status is BotStatus.NOT_ADMITTED:
        return f"It was not let in: {reason or 'the site gave no reason'}."
    message = next((e.data["message"] for e in reversed(view.events) if e.data.get("message")), None)
    return f"{_ENDED[bot.status]}{f' {message}' if message else ''}"


def _verdict(view: BotView) -> str:
    match view.bot.verdict:
        case "silent_room":
            return " Nobody spoke."
        case "capture_failed":
            return " Somebody spoke, and the recording has nothing of it."
        case "engine_failed":
            return " The transcript could not be made; the recording is there."
    return ""


def _minutes(view: BotView) -> str:
    began, ended = view.bot.recording_started_at, view.bot.recording_ended_at or view.bot.finished_at
    if began is None or ended is None:
        return "nothing"
    seconds = round((ended - began).total_seconds())
    return f"{seconds} seconds" if seconds < 90 else f"{round(seconds / 60)} minutes"
