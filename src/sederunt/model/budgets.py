"""The table of budgets: what one account, key, bot, receiver, address or job may use, and what happens beyond it.

Defaults are only here; an operator's setting takes its default from its row. `accounting` counts the use.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class BudgetOwner(StrEnum):
    """Whose use is counted."""

    ACCOUNT = "account"
    KEY = "key"
    BOT = "bot"
    DESTINATION = "destination"
    ADDRESS = "address"
    JOB = "job"
    LISTENER = "listener"
    WORKER = "worker"
    TRANSCRIPT = "transcript"
    PROCESS = "api process"
    INSTALLATION = "installation"


class CountedOver(StrEnum):
    """Where use is counted."""

    INSTALLATION = "the installation"
    PROCESS = "each process"


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """One budget.

    Args:
        name: as in events, answers and metrics.
        of: whose use is counted.
        unit: what is counted, in the plural.
        default: how many; for a rate how many at once.
        per_s: how many come back each second; 0 if use is given back when it ends.
        setting: the dotted path of the setting; empty if operators cannot change it.
        spent: what happens when it is spent.
        over: where the use of a holder that may use several processes at once is added up.
        zero_is_endless: whether 0 means no limit.
    """

    name: str
    of: BudgetOwner
    unit: str
    default: float
    spent: str
    per_s: float = 0.0
    setting: str = ""
    over: CountedOver = CountedOver.PROCESS
    zero_is_endless: bool = False


_A, _B, _J = BudgetOwner.ACCOUNT, BudgetOwner.BOT, BudgetOwner.JOB
_ALL = CountedOver.INSTALLATION
SPREAD = frozenset({_A, BudgetOwner.KEY, BudgetOwner.DESTINATION, BudgetOwner.ADDRESS})  # use several processes at once
_WAITS = "the job waits, others go first"
_PAGE = "the page is dropped; the bot joins again on a fresh one, twenty times at most"

ROWS: tuple[Budget, ...] = (
    Budget(
        name="bots_at_work", of=_A, unit="bots at work", default=100, setting="api.concurrent_bots", over=_ALL,
        spent="403; bots that are due wait and say so (`waiting_for_capacity`)",
    ),
    Budget(
        name="scheduled_bots", of=_A, unit="scheduled bots", default=10_000, setting="api.scheduled_bots", over=_ALL,
        spent="403",
    ),
    Budget(
        name="stored_gb", of=_A, unit="GB of recordings and what belongs to them", default=1_000,
        setting="limits.stored_gb", over=_ALL, zero_is_endless=True,
        spent="403 for new bots, pictures of bots and recordings; what runs or is booked goes on and is stored",
    ),
    Budget(
        name="transcription_minutes", of=_A, unit="minutes of sound that wait for their transcript, or are at it",
        default=30_000, setting="limits.transcription_minutes", over=_ALL, zero_is_endless=True,
        spent="403 for new recordings; those of meetings are always taken",
    ),
    Budget(
        name="live_bots", of=BudgetOwner.INSTALLATION, unit="bots that Whisper transcribes live, a core", default=3,
        setting="live.max_bots", spent="403; bots that are due wait",
    ),
    Budget(
        name="booked_seats", of=BudgetOwner.INSTALLATION, unit="bots booked for one half hour", default=0,
        setting="api.seats", zero_is_endless=True,
        spent="an event of the bot (`overbooked`), or 403 (`SEDERUNT_API__OVERBOOKING`)",
    ),
    Budget(
        name="requests", of=BudgetOwner.KEY, unit="requests in a minute", default=1_200,
        setting="api.requests_per_minute", over=_ALL, zero_is_endless=True, spent="429 with `Retry-After`",
    ),
    Budget(
        name="account_requests", of=_A, unit="requests in a minute with all keys and sessions, or five keys' worth",
        default=6_000, spent="429 with `Retry-After`",
    ),
    Budget(
        name="refusals", of=BudgetOwner.ADDRESS, unit="refused requests (of a key, where it was good lately)",
        default=600, per_s=20, spent="answers come up to 5 s later; then 429, and the connection is closed",
    ),
    Budget(
        name="sockets", of=_A, unit="realtime sockets, and live pages of the console", default=2_000,
        setting="api.sockets_per_account", over=_ALL, zero_is_endless=True, spent="429",
    ),
    Budget(
        name="uploads", of=_A, unit="uploads on their way", default=100, setting="limits.uploads",
        spent="429 with `Retry-After`",
    ),
    Budget(
        name="long_answers", of=_A, default=100,
        unit="transcripts in a format, searches, corrections and comparisons, of which one is made at a time",
        spent="429 with `Retry-After`",
    ),
    # While a megabyte of it is read or written everybody waits for 4 to 12 ms; a page of the console counts tenfold.
    Budget(
        name="bulk_bytes", of=_A, unit="bytes of bodies, lists and pages of the console", default=32e6, per_s=4e6,
        spent="parts of lists come later, others up to 10 s later; then 429 with `Retry-After`",
    ),
    Budget(
        name="key_checks", of=_A, unit="questions to vendors whether they take a key", default=4,
        spent="429 with `Retry-After`",
    ),
    Budget(
        name="transcriptions", of=_A, unit="transcriptions at work, of 16 places", default=12,
        setting="limits.transcriptions", spent=_WAITS,
    ),
    Budget(
        name="long_transcriptions", of=BudgetOwner.WORKER, unit="transcriptions of over half an hour, of 16 places",
        default=8, setting="limits.long_transcriptions", spent=_WAITS,
    ),
    Budget(name="fetches", of=_A, unit="fetches, of 16 places", default=4, setting="limits.fetches", spent=_WAITS),
    Budget(
        name="webhook_attempts", of=_A, unit="webhook attempts under way, of 32 places", default=12,
        setting="limits.webhook_attempts", spent=_WAITS,
    ),
    Budget(
        name="receiver_attempts", of=BudgetOwner.DESTINATION, unit="webhook attempts of one account under way",
        default=4, setting="limits.receiver_attempts", spent=_WAITS,
    ),
    Budget(
        name="calendar_feeds", of=_A, unit="calendar feeds", default=100, over=_ALL, spent="403",
        setting="limits.calendar_feeds",
    ),
    Budget(name="api_keys", of=_A, unit="API keys that work", default=1_000, over=_ALL, spent="403"),
    Budget(name="credentials", of=_A, unit="credentials", default=1_000, over=_ALL, spent="403"),
    Budget(name="meeting_accounts", of=_A, unit="meeting accounts", default=1_000, over=_ALL, spent="403"),
    Budget(
        name="members", of=_A, unit="people and links that let somebody in", default=1_000, over=_ALL, spent="403",
    ),
    Budget(
        name="sign_in_windows", of=_A, unit="sign-in windows on one host, of 3", default=2,
        spent="409; others find a window free",
    ),
    Budget(
        name="practice_meetings", of=_A, unit="practice meetings of the console", default=10, per_s=1 / 60,
        spent="429",
    ),
    Budget(
        name="half_open_connections", of=BudgetOwner.ADDRESS, unit="connections that have not sent a whole request",
        default=256, spent="the connection is closed",
    ),
    Budget(
        name="unread_mb", of=BudgetOwner.PROCESS, unit="MB of answers that callers do not read", default=128,
        spent="the largest of the address that has most is cut off",
    ),
    Budget(
        name="sign_in_tries", of=BudgetOwner.ADDRESS, unit="sign-ins in a minute", default=10, spent="429",
    ),
    Budget(
        name="password_checks", of=BudgetOwner.PROCESS, unit="passwords that wait for their check, 5 s at most",
        default=1_000, spent="429 with `Retry-After`",
    ),
    Budget(
        name="openid_answers", of=BudgetOwner.ADDRESS, unit="answers of a sign-in provider in a minute", default=60,
        spent="429",
    ),
    Budget(
        name="frames", of=BudgetOwner.LISTENER, unit="socket messages in a minute", default=300,
        spent="they are read later",
    ),
    Budget(
        name="account_frames", of=BudgetOwner.ACCOUNT, unit="socket messages in a minute, of all of its sockets",
        default=1_200, spent="they are read later",
    ),
    Budget(
        name="pieces", of=BudgetOwner.LISTENER, unit="pings, messages and pieces of messages on a socket",
        default=2_000, per_s=50, spent="the connection is closed",
    ),
    Budget(
        name="orders", of=BudgetOwner.LISTENER, unit="actions that wait for the one before", default=16,
        spent="an `error` message",
    ),
    Budget(name="metadata_keys", of=_B, unit="keys of `custom_metadata`", default=50, spent="400"),
    Budget(name="metadata_name", of=_B, unit="characters of such a key", default=200, spent="400"),
    Budget(name="metadata_value", of=_B, unit="characters of its value", default=500, spent="400"),
    Budget(name="corrections", of=BudgetOwner.TRANSCRIPT, unit="corrections", default=5_000, spent="403"),
    Budget(
        name="people", of=_B, unit="people of a meeting", default=5_000, spent="later ones are not told apart",
    ),
    Budget(
        name="chat_messages", of=_B, unit="chat messages of a stay", default=10_000, setting="limits.chat_messages",
        spent="later ones are not kept (`budget_spent`)",
    ),
    Budget(
        name="chat_bytes", of=_B, unit="bytes of such messages", default=8_000_000, setting="limits.chat_bytes",
        spent="later ones are not kept (`budget_spent`)",
    ),
    Budget(
        name="event_rows", of=_B, unit="events of a stay, changes of status not counted", default=20_000,
        setting="limits.event_rows", spent="later ones are not kept (`budget_spent`)",
    ),
    # A room of a hundred whose roster, speakers and chat all change sends some 50 signals a second; a hundred Opus
    # tracks 5,000 frames, three videos of 1080p 100 frames and 1.5 MB. Late pages send their backlog in one go.
    Budget(name="page_signals", of=_B, unit="signals of its page", default=5_000, per_s=300, spent=_PAGE),
    Budget(name="page_signal_bytes", of=_B, unit="bytes of signals", default=64e6, per_s=4e6, spent=_PAGE),
    Budget(name="page_people", of=_B, unit="people in lists of signals", default=100_000, per_s=3_000, spent=_PAGE),
    Budget(name="page_frames", of=_B, unit="frames of sound and pictures", default=200_000, per_s=15_000, spent=_PAGE),
    Budget(name="page_media_bytes", of=_B, unit="bytes of media", default=128e6, per_s=16e6, spent=_PAGE),
    Budget(name="page_realms", of=_B, unit="pages and frames of pages", default=200, spent=_PAGE),
    Budget(name="page_connections", of=_B, unit="connections of its page", default=32, spent=_PAGE),
    Budget(name="page_broken", of=_B, unit="messages that cannot be read", default=500, spent=_PAGE),
    # Ours take 0.02 to 0.2 a second on the practice sites; with pictures decoded on a slow machine, a meeting may take
    # a core for good. Beyond that a page gives way to all others after two minutes; eight endless loops are ended
    # after forty seconds.
    Budget(
        name="page_cpu_s", of=_B, unit="CPU-seconds of its page's process", default=240, per_s=2,
        setting="browser.page_cpu_s", zero_is_endless=True, spent="it gives way at half of both; then as above",
    ),
    Budget(
        name="readers", of=_A, unit="processes that read its files at once", default=2, setting="limits.readers",
        spent="the next file waits, others go first",
    ),
    Budget(
        name="reading_s", of=_A, unit="seconds of reading files", default=10, per_s=0.1,
        spent="its readers give way to all other processes",
    ),
    Budget(
        name="probe_cpu_s", of=_J, unit="CPU-seconds of probing a file", default=20,
        spent="400, or the recording ends as `not_transcribed`",
    ),
    Budget(
        name="decode_cpu_s", of=_J, unit="CPU-seconds of decoding a file, and a twentieth of its length", default=30,
        spent="the recording ends as `not_transcribed`",
    ),
    Budget(
        name="picture_cpu_s", of=_J, unit="CPU-seconds of drawing a bot's picture", default=10,
        spent="the bot goes without it, or keeps the one it has",
    ),
    Budget(
        name="fetch_s", of=_J, unit="seconds of one try to fetch", default=3_600, spent="tried again, six times in all",
    ),
    Budget(
        name="job_minutes", of=_J, unit="minutes of one transcription, whatever its length", default=60,
        setting="limits.job_minutes", spent="the transcription ends; the recording stays (`budget_spent`)",
    ),
    Budget(
        name="job_times_length", of=_J, unit="times its length that a transcription may last beyond them", default=8,
        setting="limits.job_times_length", spent="the transcription ends; the recording stays (`budget_spent`)",
    ),
    Budget(
        name="job_cpu_minutes", of=_J, unit="minutes of one core that Whisper may read for one transcription",
        default=10, setting="limits.job_cpu_minutes",
        spent="the transcription ends; the recording stays (`budget_spent`)",
    ),
    Budget(
        name="job_cpu_times_length", of=_J, unit="CPU-seconds per second of sound that it may read beyond them",
        default=8, setting="limits.job_cpu_times_length",
        spent="the transcription ends; the recording stays (`budget_spent`)",
    ),
)  # fmt: skip

BUDGETS: Mapping[str, Budget] = MappingProxyType({row.name: row for row in ROWS})


def default_of(name: str) -> float:
    """Return a budget's default."""
    return BUDGETS[name].default


def count_of(name: str) -> int:
    """Return the default of a budget that counts things."""
    return int(BUDGETS[name].default)
