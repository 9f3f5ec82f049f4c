"""Take one file through a vendor and submit it once, even if the worker is killed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from sederunt import log
from sederunt.errors import ProviderError, ProviderFault, SetupError
from sederunt.transcription.cloud.calls import VendorCall
from sederunt.transcription.cloud.client import GONE, Client, Unanswered
from sederunt.transcription.cloud.faults import Explained, names_unknown_model
from sederunt.transcription.cloud.reading import Unreadable, record, text
from sederunt.transcription.cloud.vendor import Ask

MOST_PAGES = 20  # of a listing, newest first, in which our job is looked for
NOT_FOUND = 404
NO_LISTING = frozenset({400, 404, 405, 422, 501})
# Answers to a request for the result of a finished job: not there yet, the wrong moment, a lock.
NOT_SHOWN = frozenset({404, 409, 423})

logger = log.get(component="transcription")

T = TypeVar("T")


class Progress(StrEnum):
    """The state of a job that has not failed."""

    RUNNING = "running"
    DONE = "done"


def _no_older(_listing: Any) -> None:
    """Return None, for a listing that has one page."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Find:
    """How to look up, by our reference, a job that may have been submitted."""

    call: VendorCall
    pick: Callable[[Any], Any]  # the listing's JSON → what the submit would have answered; None if it is not there
    older: Callable[[Any], VendorCall | None] = _no_older  # the listing's JSON → the request for older entries


async def looked_up(client: Client, find: Find) -> Any:
    """Return a job's entry in the vendor's listing; None if it has none. Raises ProviderError."""
    call = find.call
    for _ in range(MOST_PAGES):
        listing = await client.fetch(call, "list its jobs")
        entry, older = find.pick(listing), find.older(listing)
        if entry is not None or older is None:
            return entry
        call = older
    return None


class Notes:
    """The steps a job has taken, stored before and after each step that costs.

    Args:
        notes: plain values, `begun`, `lost`, `replies` and `copies`, from an earlier attempt; or empty.
        keep: stores them.
    """

    def __init__(self, notes: Mapping[str, Any], keep: Callable[[Mapping[str, Any]], None]) -> None:
        self._keep = keep
        self.begun: list[str] = list(notes.get("begun", ()))
        self.lost: list[str] = list(notes.get("lost", ()))  # steps whose answer was lost, once for each loss
        self.replies: dict[str, Any] = dict(notes.get("replies", {}))
        self.copies: list[str] = list(notes.get("copies", ()))

    def begin(self, step: str) -> None:
        self.begun = [*(name for name in self.begun if name != step), step]
        self.save()

    def answered(self, step: str, reply: Any) -> None:
        self.replies[step] = reply
        self.save()

    def lose(self, step: str) -> int:
        """Note that the answer of a step that may have been billed is lost; return how often that has happened."""
        self.lost.append(step)
        self.not_begun(step)
        return self.lost.count(step)

    def not_begun(self, step: str) -> None:
        self.begun = [name for name in self.begun if name != step]
        self.save()

    def forget(self) -> None:
        """Forget a failed job: the next attempt submits another. Copies remain to be deleted."""
        self.lost, self.begun = [], []
        self.forget_job()

    def forget_job(self) -> None:
        """Forget a job's answers, but not that it was submitted: it may have been billed, and may be found."""
        self.replies = {}
        self.save()

    def save(self) -> None:
        self._keep({"begun": self.begun, "lost": self.lost, "replies": self.replies, "copies": self.copies})


class VendorJob:
    """One file at a vendor: the argument of a vendor's `batch`."""

    def __init__(self, ask: Ask, sound: Path, client: Client, notes: Notes) -> None:
        self.ask = ask
        self._sound, self._client, self._notes = sound, client, notes

    async def once(
        self, step: str, call: VendorCall, name: str = "id", *, find: Find | None = None, act: str = "take the job"
    ) -> str:
        """Return the field of this name in the answer to a request with consequences, now or in an earlier attempt.

        The request is noted before it is sent. If it may have been accepted, but no answer with that field came, the
        job is looked up (`find`) before the request is sent again; a request without `find` costs nothing.
        Raises ProviderError.
        """

        def with_name(reply: Any) -> Any:
            if not text(record(reply).get(name)):
                raise Unreadable(f"it named no {name}")
            return reply

        if step not in self._notes.replies:
            reply = await self._found(find, step) if step in self._notes.begun and find is not None else None
            if reply is None:
                reply = await self._sent(step, call, with_name, find, act)
            # The other fields are of no use to a later attempt.
            self._notes.answered(step, {name: text(record(reply).get(name))})
        value = text(record(self._notes.replies[step]).get(name))
        if not value:
            raise self.failed(f"it named no {name}")
        return value

    async def hear(self, call: VendorCall, read: Callable[[Any], T], act: str = "transcribe") -> T:
        """Return what `read` makes of the answer to a request that transcribes while we wait. The transcript is stored,
        the answer is not.

        Nothing can be looked up: if the answer is lost, or has no transcript, the request is repeated once or not at
        all, as the operator chose.
        """
        if "hear" in self._notes.begun:
            self._lose("hear", "the worker was stopped meanwhile")
        return await self._sent("hear", call, read, None, act, is_billed=True)

    async def fetch(
        self, call: VendorCall, read: Callable[[Any], T], *, answer: Any = None, act: str = "hand out the transcript"
    ) -> T:
        """Return the result of a job, as `read` reads it from `answer`, or else from the answer to `call`.

        If the job is done but its result is not shown yet (404, the wrong moment, an answer without a field for it),
        the vendor is asked again for a while: it is paid. Raises ProviderError with the vendor's answer.
        """
        waited_s, pause_s = 0.0, self._client.manners.first_poll_s
        while True:
            try:
                answer = await self._client.fetch(call, act) if answer is None else answer
                return read(answer)
            except Unreadable as fault:
                error = self._unread(fault, answer, act)
            except ProviderError as refusal:
                if refusal.status not in NOT_SHOWN:
                    raise
                error = refusal
            if waited_s > self._client.manners.missing_for_s:
                raise error
            logger.info("vendor asked again", action="transcript_awaited", after_s=pause_s, why=str(error))
            await self._client.manners.pause(pause_s)
            answer, waited_s = None, waited_s + pause_s
            pause_s = min(self._client.manners.longest_poll_s, pause_s * 1.5)

    def _unread(self, fault: Unreadable, answer: Any, act: str) -> ProviderError:
        """Return the error for an answer without a transcript, with the vendor's message in it."""
        if answer is None:
            return self._client.speaker.error(ProviderFault.TRANSIENT, act, "its answer is empty")
        vendor_message = self._client.vendor.explain(200, answer).message if answer else json.dumps(answer)
        reason = f"{fault}: {vendor_message}" if vendor_message else str(fault)
        return self._client.speaker.error(ProviderFault.PROVIDER_FAILED, act, reason)

    async def poll(self, call: VendorCall, state: Callable[[Any], Progress | Explained]) -> Any:
        """Return the answer to this request when the job is done. Pauses grow, up to a share of the sound's length.

        A job that the vendor does not know is asked for again for a while: not all vendors show a new job at once.
        Raises ProviderError: what `state` explained; or, retryable, if the job takes too long (it is polled again
        later) or is gone (it is looked up, or submitted again as often as after a lost answer).
        """
        manners, waited_s, missing_s = self._client.manners, 0.0, 0.0
        pause_s = manners.first_poll_s
        longest_s = min(manners.longest_poll_s, max(3.0, self.ask.duration_s / 60))
        patience_s = max(manners.poll_for_s, 2 * self.ask.duration_s)
        while waited_s <= patience_s:
            await manners.pause(pause_s)
            waited_s, missing_s = waited_s + pause_s, missing_s + pause_s
            pause_s = min(longest_s, pause_s * 1.5)
            answer = await self._asked(call, is_final=missing_s > manners.missing_for_s)
            missing_s = missing_s if answer is None else 0.0
            verdict = state(answer)
            if verdict is Progress.DONE:
                return answer
            if isinstance(verdict, Explained):
                self._notes.forget()
                kind = verdict.kind or ProviderFault.PROVIDER_FAILED
                raise self._client.speaker.error(kind, "transcribe", " ".join((verdict.code, verdict.message)).strip())
        raise self._client.speaker.error(ProviderFault.TRANSIENT, "transcribe", f"not done after {round(waited_s)} s")

    def leaves(self, copy: str) -> None:
        """Note a copy that the vendor keeps until `Vendor.erase` deletes it, such as "job:1234"."""
        if copy not in self._notes.copies:
            self._notes.copies.append(copy)
            self._notes.save()

    async def erase(self, copy: str) -> None:
        """Delete a copy now. If that fails it stays noted, and is deleted with the recording."""
        try:
            for call in self._client.vendor.erase(self.ask.access, copy):
                await self._client.erase(call)
        except ProviderError as error:
            logger.warning("not deleted yet", action="vendor_copy_left", why=str(error))
            return
        self._notes.copies = [other for other in self._notes.copies if other != copy]
        self._notes.save()

    def failed(self, message: str, kind: ProviderFault = ProviderFault.PROVIDER_FAILED) -> ProviderError:
        """Return the error for a failure in an answer with a status of success."""
        self._notes.forget()
        return self._client.speaker.error(kind, "transcribe", message)

    async def _asked(self, call: VendorCall, *, is_final: bool) -> Any:
        """Return the state of a job; None if the vendor does not know it and `is_final` is False."""
        try:
            return await self._client.fetch(call, "tell how far it is")
        except ProviderError as error:
            if error.status not in GONE:
                raise
            if error.status == NOT_FOUND and not is_final:
                return None
            self._notes.forget_job()
            self._lose("job", "the job is gone")
            raise self._client.speaker.error(ProviderFault.TRANSIENT, "transcribe", "the job is gone") from error

    async def _sent(
        self,
        step: str,
        call: VendorCall,
        read: Callable[[Any], T],
        find: Find | None,
        act: str,
        *,
        is_billed: bool = False,
    ) -> T:
        """Return what `read` makes of the answer. One that it cannot read counts as lost, whatever its status."""
        number = 0
        while True:
            number += 1
            self._notes.begin(step)
            try:
                reply = await self._client.once(call, act, sound=self._sound, sound_s=self.ask.duration_s)
                return self._read(reply.body, read, act)
            except Unanswered as error:
                earlier_reply: T | None = await self._after(error, step, find, is_billed=is_billed)
                if earlier_reply is not None:
                    return earlier_reply
                if error.is_cut:
                    await self._client.see_refusal()
                if number < self._client.manners.tries and await self._client.pause_after(error, number):
                    continue
                raise
            except (ProviderError, SetupError) as error:
                self._notes.not_begun(step)
                if isinstance(error, ProviderError) and self._knows_no_model(error):
                    error.kind = ProviderFault.UNKNOWN_MODEL
                raise

    def _knows_no_model(self, error: ProviderError) -> bool:
        is_refused = error.kind is ProviderFault.INVALID_REQUEST
        return is_refused and names_unknown_model(str(error), self.ask.model.vendor_model)

    def _read(self, answer: Any, read: Callable[[Any], T], act: str) -> T:
        try:
            return read(answer)
        except Unreadable as fault:
            raise Unanswered(self._unread(fault, answer, act), may_count=True) from fault

    async def _after(self, error: Unanswered, step: str, find: Find | None, *, is_billed: bool) -> Any:
        """Return the answer of a submit whose answer did not come; None if it may be sent again."""
        if is_billed and error.is_lost:
            self._lose(step, str(error))
        elif find is None or not error.may_count:
            self._notes.not_begun(step)
        else:
            return await self._found(find, step, str(error) if error.is_lost else None)
        return None

    async def _found(self, find: Find, step: str, lost_reason: str | None = "the worker was stopped meanwhile") -> Any:
        """Return the answer to an earlier submit; None if the vendor has no such job. If the vendor has no listing and
        the answer was lost (`lost_reason`), another submit may be billed again.
        """
        try:
            entry = await looked_up(self._client, find)
        except ProviderError as error:
            if error.status not in NO_LISTING:
                raise
            if lost_reason is not None:
                self._lose(step, lost_reason)
            return None
        logger.info(
            "looked up", action="submit_looked_up", step=step, reference=self.ask.reference, found=entry is not None
        )
        return entry

    def _lose(self, step: str, reason: str) -> None:
        """Note a lost answer. Raises ProviderError if there are too many to send the file again."""
        if self._notes.lose(step) > self._client.repeats_lost:
            raise self._client.speaker.error(ProviderFault.IN_DOUBT, "transcribe", reason)
        logger.warning(
            "sent again, may be billed again", action="submit_repeated", step=step, reference=self.ask.reference
        )
