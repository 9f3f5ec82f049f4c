"""A job given to this process: kept while its handler works, settled when that ends. See `consume`."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sederunt import log
from sederunt.bus import streams
from sederunt.bus.connection import Bus, Subscription
from sederunt.bus.tasks import end

logger = log.get(component="bus")

UNCONFIRMED = 5  # tries to settle a job with a server that is up, but may not know the job any more
_JUST_AFTER_S = 0.05
OFFER_S = 30.0  # after which an offered job may go to another process: the earlier taker has failed
FAULT_PAUSE_S = 10.0  # before a job whose handler raised is given out again


@dataclass(frozen=True, slots=True)
class Done:
    """Finished, or nothing to do: the job is removed."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Somebody else holds it: tell the server nothing. The server accepts answers from every holder that the job ever
    had, so a holder that was cut off would end the job for the one who works on it now.
    """


@dataclass(frozen=True, slots=True)
class Redeliver:
    """Give it out again, to anyone, after so many seconds."""

    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Drop:
    """It will never succeed: the job is removed, and the server counts it as ended without success."""


Outcome = Done | Leave | Redeliver | Drop


@dataclass(frozen=True, kw_only=True, slots=True)
class JobDelivery:
    """One delivery of a job to us."""

    kind: str
    message: Mapping[str, Any]  # the JSON that was published
    delivered: int  # how often it was given out, including this time, without this process's refusals
    published_at: datetime | None = None
    cut_off: asyncio.Event = field(default_factory=asyncio.Event)  # set when somebody else may hold it by now
    beside: bool = False  # its holder works on until we have taken its place: see `HeldJob.offer`


Handler = Callable[[JobDelivery], Awaitable[Outcome]]


def awake() -> float:
    """Return seconds that also count while this machine sleeps, as the server's clock does."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class JobOffer:
    """An offer of a job to its next holder, while the current one works on until its place is taken."""

    def __init__(self) -> None:
        self.is_made = False
        self._taker: tuple[str, float] | None = None  # the handle of its delivery, and when it took the offer

    def is_for(self, handle: str) -> bool:
        """Return whether the offer is for this asker: it is made to one at a time, and to another after `OFFER_S`."""
        taker = self._taker
        if taker is None or taker[0] == handle or awake() - taker[1] > OFFER_S:
            self._taker = handle, awake()
            return True
        return False


class HeldJob:
    """One running job: its handler, the task that keeps the job meanwhile, then the settling."""

    def __init__(
        self,
        bus: Bus,
        delivery: JobDelivery,
        key: tuple[int, str],
        handle: str,
        handler: Handler,
        on_cut_off: Callable[[], None],
    ) -> None:
        self.delivery = delivery
        self._sequence, self._id = key
        self._bus = bus
        self._handle = handle  # the subject on which the server hears about this delivery
        self.handing_back = False  # nobody works on it any more; the next holder shall
        self._offer = JobOffer()
        self._on_cut_off = on_cut_off
        self._confirmed_at = awake()
        self._nudge = asyncio.Event()
        self._settling = False
        self._keeper = asyncio.create_task(self._keep())
        # All state is in these tasks, so nobody answers for a job on which nobody works.
        self.task = asyncio.create_task(self._work(handler), name=f"{delivery.kind}:{self._id}")

    async def offer(self) -> bool:
        """Give the job out again while we work on: the next holder starts beside us, and takes our place when ready.

        From then on it settles the job. Returns False if the job has ended here.
        """
        if self._settling or self.task.done():
            return False
        self._offer.is_made = True
        await end(self._keeper)  # only the new holder shall tell the server about the job
        await self._bus.confirm(self._handle, nak(0), within_s=2)
        return True

    async def _answer(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._offer.is_made:
            return {"adopted": False, "handing_over": self._offer.is_for(str(question.get("handle")))}
        is_adopted = question.get("sequence") == self._sequence
        if is_adopted:
            self.adopt(str(question["handle"]))
        return {"adopted": is_adopted, "holder": self._bus.name}

    def adopt(self, handle: str) -> None:
        """Adopt a second delivery of our running job: the server hears about us by its handle from now on."""
        logger.info("running job delivered again", action="job_adopted", kind=self.delivery.kind, id=self._id)
        self._handle = handle
        self.extend_now()

    def extend_now(self) -> None:
        self._nudge.set()

    async def _work(self, handler: Handler) -> None:
        subscription: Subscription | None = None
        try:
            # From now on every process that is given this job learns that it is here.
            subscription = await self._bus.serve(streams.held_subject(self.delivery.kind, self._id), self._answer)
            outcome = await handler(self.delivery)
        except asyncio.CancelledError:
            outcome = Redeliver()
        except Exception:
            logger.exception("job failed", action="job_failed", kind=self.delivery.kind, id=self._id)
            outcome = Redeliver(FAULT_PAUSE_S)
        finally:
            await asyncio.shield(end(self._keeper))
        self._settling = True
        self.handing_back = isinstance(outcome, Redeliver | Leave)
        is_given_up = self.handing_back or self._offer.is_made
        if subscription is not None and is_given_up:
            await subscription.close()
        if not self._offer.is_made and not isinstance(outcome, Leave):
            await self._settle(outcome)
        if subscription is not None and not is_given_up:
            await subscription.close()

    async def _keep(self) -> None:
        looked_at = self._confirmed_at
        while True:
            await self._pause()
            was_asleep, looked_at = awake() - looked_at > self._bus.settings.ack_wait_s * 2, awake()
            is_confirmed = await self._bus.confirm(self._handle, b"+WPI", within_s=self._patience_s())
            is_silent = awake() - self._confirmed_at > self._bus.settings.ack_wait_s * 2
            if was_asleep or (is_silent and not is_confirmed and not self._bus.local):
                self._cut_off()
            if is_confirmed:
                self._confirmed_at = awake()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self._patience_s()):
                await self._nudge.wait()
        except TimeoutError:
            pass
        self._nudge.clear()

    def _patience_s(self) -> float:
        """Return a third of the ack wait, or less just before two ack waits, when somebody else takes the job."""
        third_s = self._bus.settings.ack_wait_s / 3
        left_s = self._confirmed_at + 2 * self._bus.settings.ack_wait_s - awake()
        return min(third_s, left_s + _JUST_AFTER_S) if left_s > 0 else third_s

    def _cut_off(self) -> None:
        if not self.delivery.cut_off.is_set():
            logger.warning("job may be held elsewhere", action="job_cut_off", kind=self.delivery.kind, id=self._id)
            self.delivery.cut_off.set()
            self._on_cut_off()

    async def _settle(self, outcome: Done | Redeliver | Drop) -> None:
        """Tell the server until it has confirmed; a lost message would bring the job back for nothing."""
        match outcome:
            case Done():
                message = b"+ACK"
            case Drop():
                message = b"+TERM"
            case Redeliver(after_s=after_s):
                message = nak(after_s)
        refusals = 0
        while not await self._bus.confirm(self._handle, message, within_s=2) and not self._bus.closed:
            refusals += self._bus.connected
            if refusals > UNCONFIRMED:
                logger.warning("job not settled", action="job_unsettled", kind=self.delivery.kind, id=self._id)
                return
            await self._pause()


def nak(after_s: float) -> bytes:
    """Return the refusal that makes the server give a job out again after a pause."""
    return b"-NAK" + (b" " + json.dumps({"delay": int(after_s * 1e9)}).encode() if after_s > 0 else b"")
