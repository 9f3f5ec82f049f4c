"""The tables of the jobs: which job follows which status, which role does it, how many at once, how often it is tried.

To add a kind of job: a queue in `bus/streams`, a row in KINDS here. Its module is imported when a role that takes it
starts, so that a worker loads no browser.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from sederunt.model.status import TRANSITIONS, BotStatus, RecordingStatus
from sederunt.settings import Settings

_S = BotStatus

# Status → kind of the job that must be queued or at work while the status lasts. Housekeeping puts it back if the queue
# lost it.
NEEDED: Mapping[BotStatus, str] = {
    _S.BOOTING: "attend",
    _S.JOINING: "attend",
    _S.RECORDING: "attend",
    _S.LEAVING: "attend",
    _S.PROCESSING: "assemble",
    _S.TRANSCRIBING: "transcribe",
}
# Status → subject of the job that starts on entering it, written into the outbox with the status. A status that needs
# the same job as the previous one continues that job.
FOLLOW_UPS: Mapping[BotStatus, str] = {
    status: f"job.{kind}"
    for status, kind in NEEDED.items()
    if kind not in {NEEDED.get(old_status) for old_status, row in TRANSITIONS.items() if status in row.values()}
}
NEEDED_BY_RECORDINGS: Mapping[RecordingStatus, str] = {RecordingStatus.TRANSCRIBING: "transcribe"}


# A job that kills its worker raises nothing: it is only delivered again. Faults use up at most `times` deliveries. As
# many again may have other causes, which the queue counts likewise: a drain handed the job back, everything was
# restarted, or another job killed the same worker.
DEADLY_AFTER = 2  # × times
TRANSCRIBING = 16  # concurrent transcriptions of a worker; accounts and long ones have shares of them


@dataclass(frozen=True, kw_only=True, slots=True)
class JobKind:
    """One kind of job."""

    kind: str
    role: Literal["host", "worker"]
    work: str  # "module:function", async (Job, WorkerContext) -> None
    give_up: str | None  # async (Job, WorkerContext, error) -> None: the row learns that the job will never succeed
    slots: Callable[[Settings], int]  # jobs at once in one process
    pauses_s: tuple[float, ...]  # before the second, third, … attempt; the last one repeats
    times: int | None  # deliveries at most; None: the handler decides by the row
    # Fewer if the storage answers but lacks what the job works on, because that rarely changes.
    times_missing: int | None = None
    budget: str | None = None  # of an account: its places in one process; None: as many as there are
    long_budget: str | None = None  # the places of jobs with long sound, of all accounts

    def pause_s(self, delivered: int) -> float:
        """Return how many seconds to wait after the `delivered`-th attempt failed."""
        return self.pauses_s[min(delivered, len(self.pauses_s)) - 1]

    def is_last(self, delivered: int, *, missing: bool = False) -> bool:
        """Return whether the `delivered`-th attempt was the last one.

        Args:
            missing: whether the storage lacked what the job works on.
        """
        times = self.times_missing if missing and self.times_missing is not None else self.times
        return times is not None and delivered >= times

    def is_deadly(self, delivered: int) -> bool:
        """Return whether a job delivered for the `delivered`-th time must have ended its workers before."""
        return self.times is not None and delivered > self.times * DEADLY_AFTER


KINDS: Mapping[str, JobKind] = {
    kind.kind: kind
    for kind in (
        # A bot returns to its meeting as long as the row says so: every minute of waiting is lost sound.
        JobKind(
            kind="attend",
            role="host",
            work="sederunt.jobs.attend:attend",
            give_up="sederunt.jobs.attend:give_up",
            slots=lambda settings: settings.host.max_bots,
            pauses_s=(1, 5, 15, 30),
            times=None,
        ),
        # If storage or database are away, the pieces are still there in an hour. Sound takes seconds and must not wait
        # behind video, which takes minutes of a core; `meetings.assemble` limits how many are composed at once.
        JobKind(
            kind="assemble",
            role="worker",
            work="sederunt.jobs.assemble:assemble",
            give_up="sederunt.jobs.assemble:give_up",
            slots=lambda _: 8,
            pauses_s=(2, 10, 60, 300, 900),
            times=12,
        ),
        # A vendor job mostly waits, and Whisper gives all jobs windows in turn: there are many places, so that no job
        # has to wait for the end of a four-hour file.
        JobKind(
            kind="transcribe",
            role="worker",
            work="sederunt.jobs.transcribe:transcribe",
            give_up="sederunt.jobs.transcribe:give_up",
            slots=lambda _: TRANSCRIBING,
            pauses_s=(5, 30, 120, 300, 900, 1800),
            times=12,
            times_missing=5,  # after about eight minutes
            budget="transcriptions",
            long_budget="long_transcriptions",
        ),
        JobKind(
            kind="fetch",
            role="worker",
            work="sederunt.jobs.fetch:fetch",
            give_up="sederunt.jobs.fetch:give_up",
            slots=lambda _: 16,
            pauses_s=(5, 30, 120, 600),
            times=6,
            budget="fetches",  # an address may deliver slowly for an hour; others' recordings must not wait for it
        ),
        # Attempts at a receiver and their pauses are rows (webhooks/schedule); here only our own faults count.
        # A slow receiver occupies its place for ten seconds; most answer within one.
        JobKind(
            kind="deliver",
            role="worker",
            work="sederunt.jobs.deliver:deliver",
            give_up=None,
            slots=lambda _: 32,
            pauses_s=(1, 5, 30, 120),
            times=None,
        ),
        # Somebody looks at a player without a waveform. Nothing depends on it.
        JobKind(
            kind="peaks",
            role="worker",
            work="sederunt.jobs.peaks:peaks",
            give_up="sederunt.jobs.peaks:give_up",
            slots=lambda _: 1,
            pauses_s=(5, 60),
            times=6,
        ),
    )
}
