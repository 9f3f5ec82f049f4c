"""Why a bot is where it is, in sentences: from its status, its reason, its verdict and what decided. Pure.

Reads a bot as the API answers it, so it serves who asks over the network, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sederunt.model.history import deciding_row

_UNDER_WAY: Mapping[str, str] = {
    "scheduled": "It waits for its time.",
    "booting": "It waits for a host with a free place, which opens a browser for it.",
    "joining": "It is at the door of the meeting, or in the waiting room.",
    "recording": "It sits in the meeting and records.",
    "leaving": "It leaves the meeting.",
    "processing": "It has left; the recording is put together.",
    "transcribing": "It has left; the recording is being transcribed.",
}
# Stop reason → what happened, and what would help.
_REASONS: Mapping[str, tuple[str, str]] = {
    "meeting_ended": ("The meeting ended.", ""),
    "manually_stopped": ("It was asked to leave.", ""),
    "last_person_detected": (
        "Everyone else had left.",
        "If people were there, raise stop_options.last_person_detection.",
    ),
    "silence_detection_triggered": (
        "Nothing was to be heard for as long as stop_options.silence_detection says.",
        "Raise stop_options.silence_detection for meetings with long pauses; 0 switches it off.",
    ),
    "kicked": (
        "Somebody removed it from the meeting.",
        "Ask the host; a greeting may tell people what the bot is for.",
    ),
    "invalid_meeting_url": ("There is no such meeting.", "Check the link; it may be of another day or tenant."),
    "waiting_room_timeout": (
        "Nobody let it in from the waiting room in time.",
        "Ask the host to admit it, raise stop_options.waiting_room_timeout, or let it sign in with a meeting account.",
    ),
    "call_already_finished": ("The meeting was over when it came.", "Send it again at the meeting's time."),
    "request_denied": ("Somebody refused to let it in.", "Ask the host, then send it again."),
    "host_in_another_meeting": ("The host was in another meeting, so this one had not begun.", "Send it again later."),
}
_ENDED: Mapping[str, tuple[str, str]] = {
    "bot_detected": (
        "The site took it for a robot and did not let it in.",
        "It tries again by itself up to three times; a meeting account (authentication.account_id) helps.",
    ),
    "auth_required": (
        "The meeting is open only to people who are signed in.",
        "Give the bot a meeting account: authentication.account_id.",
    ),
    "invalid_credentials": ("The site did not accept the meeting account.", "Sign the account in again."),
    "failed": (
        "Something went wrong on the service's side.",
        "The events, the evidence and the service's log say what.",
    ),
}
_VERDICTS: Mapping[str, str] = {
    "healthy": "Sound was recorded.",
    "silent_room": "The recording is whole; nobody spoke.",
    "capture_failed": "Somebody spoke, and the recording has nothing of it.",
    "engine_failed": "The recording is there; its transcript could not be made.",
    "never_admitted": "It was never in the meeting, so there is no recording.",
    "no_capacity": "No host had room for it in time; the meeting has nothing to do with it.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why a bot is where it is."""

    summary: str
    advice: str | None
    cause: str | None
    decided_by: str | None  # the row of the site's evidence table
    steps: tuple[str, ...]


def explain(bot: Mapping[str, Any]) -> Explanation:
    """Return the explanation of a bot."""
    changes = [event for event in bot.get("events", ()) if event["event"] == "status_update"]
    last: Mapping[str, Any] = changes[-1]["data"] if changes else {}
    told, advice = _ending(bot, last)
    parts = [told]
    if bot.get("verdict"):
        parts.append(_VERDICTS.get(bot["verdict"], f"Verdict: {bot['verdict']}."))
    for gap in bot.get("recording_gaps", ()):
        parts.append(f"It was away from {gap['start']:.0f} s to {gap['end']:.0f} s of the recording ({gap['cause']}).")
    return Explanation(
        summary=" ".join(parts),
        advice=advice or None,
        cause=_newest(changes, "cause"),
        decided_by=deciding_row(last.get("evidence")),
        steps=tuple(_step(event) for event in bot.get("events", ())),
    )


def _ending(bot: Mapping[str, Any], last: Mapping[str, Any]) -> tuple[str, str]:
    status, reason = bot["status"], bot.get("stop_reason") or ""
    if status in _UNDER_WAY:
        return _UNDER_WAY[status], ""
    if reason in _REASONS:
        return _REASONS[reason]
    if status == "finished":
        is_limit = last.get("cause") == "time_limit"
        return ("Its time was up.", "Raise stop_options.time_limit.") if is_limit else ("It left.", "")
    told, advice = _ENDED.get(status, (f"It is {status}.", ""))
    message = last.get("message")
    return (f"{told} {message}" if message else told), advice


def _newest(changes: Sequence[Mapping[str, Any]], name: str) -> str | None:
    return next((str(event["data"][name]) for event in reversed(changes) if event["data"].get(name)), None)


def _step(event: Mapping[str, Any]) -> str:
    data = event["data"]
    if event["event"] != "status_update":
        return f"{event['created_at']} {event['event']}"
    facts = [str(data[name]) for name in ("stop_reason", "cause", "message") if data.get(name)]
    row = deciding_row(data.get("evidence"))
    told = "; ".join([*facts, *([f"decided by {row}"] if row else [])])
    return f"{event['created_at']} {data.get('old_status')} → {data.get('new_status')}{f' ({told})' if told else ''}"
