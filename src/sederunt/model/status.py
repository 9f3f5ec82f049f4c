"""The states of a bot and of a recording: one table of transitions, one function that reads it.

Triggers say what happened; only the table knows which status follows. No other code compares statuses one by one: the
other questions (is it over, may it be deleted, which reasons fit) are tables here too.
"""

from collections.abc import Mapping
from enum import StrEnum


class BotStatus(StrEnum):
    """Every status that a bot can report; the API fixes the values."""

    SCHEDULED = "scheduled"
    BOOTING = "booting"
    JOINING = "joining"
    RECORDING = "recording"
    PROCESSING = "processing"
    TRANSCRIBING = "transcribing"
    LEAVING = "leaving"
    FINISHED = "finished"
    NOT_ADMITTED = "not_admitted"
    BOT_DETECTED = "bot_detected"
    AUTH_REQUIRED = "auth_required"
    INVALID_CREDENTIALS = "invalid_credentials"
    FAILED = "failed"


class RecordingStatus(StrEnum):
    """Every status that a standalone recording can report."""

    TRANSCRIBING = "transcribing"
    FINISHED = "finished"
    FAILED = "failed"


class Trigger(StrEnum):
    """What happened to a bot."""

    DUE = "due"  # its start time came, or was removed
    LAUNCHED = "launched"  # a host took it and opened a page
    ADMITTED = "admitted"  # it sits in the meeting
    REFUSED = "refused"  # the meeting refused it, or there is no meeting; carries a stop reason
    SIGN_IN_NEEDED = "sign_in_needed"
    SIGN_IN_REJECTED = "sign_in_rejected"
    CHALLENGED = "challenged"  # the site detected it as an unwanted robot
    RETRIED = "retried"  # a challenged bot tries again on a fresh context
    STOPPED = "stopped"  # the caller asked it to leave
    ENDED = "ended"  # the meeting or a stop rule ended the stay
    LEFT = "left"  # it is out of the meeting
    LOST = "lost"  # its host died and it could not come back; what was captured is processed
    ASSEMBLED = "assembled"  # one recording is stored
    CLOSED = "closed"  # stored, and no transcript was asked for
    TRANSCRIBED = "transcribed"
    CRASHED = "crashed"  # our fault
    UNSEATED = "unseated"  # no host had room for it in time


class StopReason(StrEnum):
    """Why a bot finished or was not admitted; the API fixes the values."""

    INVALID_MEETING_URL = "invalid_meeting_url"
    WAITING_ROOM_TIMEOUT = "waiting_room_timeout"
    MANUALLY_STOPPED = "manually_stopped"
    CALL_ALREADY_FINISHED = "call_already_finished"
    REQUEST_DENIED = "request_denied"
    HOST_IN_ANOTHER_MEETING = "host_in_another_meeting"
    MEETING_ENDED = "meeting_ended"
    LAST_PERSON_DETECTED = "last_person_detected"
    SILENCE_DETECTION_TRIGGERED = "silence_detection_triggered"
    KICKED = "kicked"


MEETING_FULL = "meeting_full"  # the cause of a request_denied that nobody decided


_S, _T, _R = BotStatus, Trigger, StopReason

TRANSITIONS: Mapping[BotStatus, Mapping[Trigger, BotStatus]] = {
    _S.SCHEDULED: {_T.DUE: _S.BOOTING, _T.UNSEATED: _S.FAILED},
    _S.BOOTING: {
        _T.LAUNCHED: _S.JOINING,
        _T.REFUSED: _S.NOT_ADMITTED,
        _T.STOPPED: _S.NOT_ADMITTED,
        _T.CRASHED: _S.FAILED,
        _T.UNSEATED: _S.FAILED,
    },
    _S.JOINING: {
        _T.ADMITTED: _S.RECORDING,
        _T.REFUSED: _S.NOT_ADMITTED,
        _T.STOPPED: _S.NOT_ADMITTED,
        _T.CHALLENGED: _S.BOT_DETECTED,
        _T.SIGN_IN_NEEDED: _S.AUTH_REQUIRED,
        _T.SIGN_IN_REJECTED: _S.INVALID_CREDENTIALS,
        _T.CRASHED: _S.FAILED,
    },
    _S.BOT_DETECTED: {_T.RETRIED: _S.BOOTING},
    _S.RECORDING: {
        _T.ENDED: _S.LEAVING,
        _T.STOPPED: _S.LEAVING,
        _T.LOST: _S.LEAVING,
        _T.CRASHED: _S.FAILED,
    },
    _S.LEAVING: {_T.LEFT: _S.PROCESSING, _T.LOST: _S.PROCESSING, _T.CRASHED: _S.FAILED},
    _S.PROCESSING: {_T.ASSEMBLED: _S.TRANSCRIBING, _T.CLOSED: _S.FINISHED, _T.CRASHED: _S.FAILED},
    _S.TRANSCRIBING: {_T.TRANSCRIBED: _S.FINISHED, _T.CRASHED: _S.FAILED},
    _S.FINISHED: {},
    _S.NOT_ADMITTED: {},
    _S.AUTH_REQUIRED: {},
    _S.INVALID_CREDENTIALS: {},
    _S.FAILED: {},
}

RECORDING_TRANSITIONS: Mapping[RecordingStatus, Mapping[Trigger, RecordingStatus]] = {
    RecordingStatus.TRANSCRIBING: {
        Trigger.TRANSCRIBED: RecordingStatus.FINISHED,
        Trigger.CRASHED: RecordingStatus.FAILED,
    },
    RecordingStatus.FINISHED: {},
    RecordingStatus.FAILED: {},
}

# Deletion is refused in these (interface.md, Resources). Not in `leaving`: the bot finishes that and is then deleted.
ACTIVE: frozenset[BotStatus] = frozenset({_S.BOOTING, _S.JOINING, _S.RECORDING, _S.PROCESSING, _S.TRANSCRIBING})

# A bot in one of these is in a meeting or on its way there, and counts against the concurrency limit.
AT_WORK: frozenset[BotStatus] = frozenset({_S.BOOTING, _S.JOINING, _S.RECORDING, _S.LEAVING})

# A bot in one of these can be stopped.
STOPPABLE: frozenset[BotStatus] = frozenset({_S.BOOTING, _S.JOINING, _S.RECORDING})

# Retries of a bot detected as a robot; it can also be stopped in the pauses before them.
MAX_CHALLENGES = 3

# These are final, except for the retries of a detected bot.
ENDINGS: frozenset[BotStatus] = frozenset(
    {_S.FINISHED, _S.NOT_ADMITTED, _S.BOT_DETECTED, _S.AUTH_REQUIRED, _S.INVALID_CREDENTIALS, _S.FAILED}
)

# The reasons that each ending may have. An ending may also have none: a time limit has no reason.
REASONS: Mapping[BotStatus, frozenset[StopReason]] = {
    _S.FINISHED: frozenset(
        {
            _R.MANUALLY_STOPPED,
            _R.MEETING_ENDED,
            _R.LAST_PERSON_DETECTED,
            _R.SILENCE_DETECTION_TRIGGERED,
            _R.KICKED,
        }
    ),
    _S.NOT_ADMITTED: frozenset(
        {
            _R.INVALID_MEETING_URL,
            _R.WAITING_ROOM_TIMEOUT,
            _R.MANUALLY_STOPPED,
            _R.CALL_ALREADY_FINISHED,
            _R.REQUEST_DENIED,
            _R.HOST_IN_ANOTHER_MEETING,
        }
    ),
}


class ForbiddenTransition(Exception):
    """The table has no transition for this trigger in this status."""

    def __init__(self, status: StrEnum, trigger: Trigger) -> None:
        super().__init__(f"'{trigger}' leads nowhere from '{status}'")
        self.status = status
        self.trigger = trigger


def advance(status: BotStatus, trigger: Trigger) -> BotStatus:
    """Return the status that follows. Raises ForbiddenTransition if the table has no row."""
    try:
        return TRANSITIONS[status][trigger]
    except KeyError:
        raise ForbiddenTransition(status, trigger) from None


def advance_recording(status: RecordingStatus, trigger: Trigger) -> RecordingStatus:
    """Return the status that follows for a standalone recording. Raises ForbiddenTransition."""
    try:
        return RECORDING_TRANSITIONS[status][trigger]
    except KeyError:
        raise ForbiddenTransition(status, trigger) from None


def shown_reason(status: BotStatus, reason: StopReason | None) -> StopReason | None:
    """Return the stop reason that a caller may see with this status: None unless REASONS allows it."""
    return reason if reason in REASONS.get(status, frozenset()) else None
