"""Explain a bot's status in words: a sentence for each status, reason and verdict, and advice. Pure.

The console, the command line and the tools for agents all use these texts.
"""

from collections.abc import Mapping

from sederunt.model.status import MEETING_FULL

UNDER_WAY: Mapping[str, str] = {
    "scheduled": "It waits for its time.",
    "booting": "It waits for a host with a free place, which opens a browser for it.",
    "joining": "It is at the door of the meeting, or in the waiting room.",
    "recording": "It sits in the meeting and records.",
    "leaving": "It leaves the meeting.",
    "processing": "It has left; the recording is put together.",
    "transcribing": "It has left; the recording is being transcribed.",
}
# Stop reason → what happened, and advice.
REASONS: Mapping[str, tuple[str, str]] = {
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
# Cause → the same, if it says more than status and reason.
CAUSES: Mapping[str, tuple[str, str]] = {
    "time_limit": ("Its time was up.", "Raise stop_options.time_limit."),
    MEETING_FULL: ("The meeting was full.", "Send it again once somebody has left, or ask the host to make room."),
}
ENDED: Mapping[str, tuple[str, str]] = {
    "not_admitted": ("It was not let in; the site gave no reason.", "What the bot saw says more."),
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
VERDICTS: Mapping[str, str] = {
    "healthy": "Sound was recorded.",
    "silent_room": "The recording is whole; nobody spoke.",
    "capture_failed": "Somebody spoke, and the recording has nothing of it.",
    "engine_failed": "The recording is there; its transcript could not be made.",
    "never_admitted": "It was never in the meeting, so there is no recording.",
    "no_capacity": "No host had room for it in time; the meeting has nothing to do with it.",
}

# Cause of a `page_trouble` event → its meaning for the recording; for other causes the event's `seen` is enough.
TROUBLES: Mapping[str, str] = {
    "no_sound": "People are shown speaking, and no sound of them comes. The bot listens in another way, and once it "
    "enters the meeting anew.",
}


def why(status: str, stop_reason: str | None, *, cause: str | None, message: str | None) -> tuple[str, str | None]:
    """Return a sentence that explains a bot's status, and advice; None if there is nothing to do.

    Args:
        cause: the cause in the last change of status; see CAUSES.
        message: its text, for an ending without a stop reason of the API.
    """
    if status in UNDER_WAY:
        return UNDER_WAY[status], None
    if cause and cause in CAUSES:
        sentence, advice = CAUSES[cause]
    elif stop_reason and stop_reason in REASONS:
        sentence, advice = REASONS[stop_reason]
    elif status == "finished":
        sentence, advice = "It left.", ""
    else:
        sentence, advice = ENDED.get(status, (f"It is {status}.", ""))
        sentence = f"{sentence} {message}" if message else sentence
    return sentence, advice or None
