"""One file on its way through a vendor: what is submitted is submitted once, though the worker may be killed."""

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

MOST_PAGES = 20  # of a listing are looked through for ours; newest first
NOT_FOUND = 404
NO_LISTING = frozenset({400, 404, 405, 422, 501})
# What a job that is done has come to: not there yet, the wrong moment, a lock.
NOT_SHOWN = frozenset({404, 409, 423})

logger = log.get(component="transcription")

T = TypeVar("T")


class Progress(StrEnum):
    """What a vendor says of a job that has not failed."""

    RUNNING = "running"
    DONE = "done"


def _no_older(_listing: Any) -> None:
    """Stand for a listing that has one page."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Find:
    """How a job that may have been submitted is looked up by our reference."""

    call: VendorCall
    pick: Callable[[Any], Any]  # the listing's JSON → what the submit would have answered; None where it is not there
    older: Callable[[Any], VendorCall | None] = _no_older  # the listing's JSON → the request for what is older


async def looked_up(client: Client, find: Find) -> Any:
    """Return what the vendor's list has of a job; None where it has none. Raises ProviderError."""
    call = find.call
    for _ in range(MOST_PAGES):
        listing = await client.fetch(call, "list its jobs")
        found, older = find.pick(listing), find.older(listing)
        if found is not None or older is None:
            return found
        call = older
    return None


class Notes:
    """What a job has done, kept before and after each step that costs.

    Args:
        notes: plain values, `begun`, `lost`, `replies` and `copies`; of an earlier try, or empty.
        keep: stores them.
    """

    def __init__(self, notes: Mapping[str, Any], keep: Callable[[Mapping[str, Any]], None]) -> None:
        self._keep = keep
        self.begun: list[str] = list(notes.get("begun", ()))
        self.lost: list[str] = list(notes.get("lost", ()))  # steps whose answer was lost, each time anew
        self.replies: dict[str, Any] = dict(notes.get("replies", {}))
        self.copies: list[str] = list(notes.get("copies", ()))

    def begin(self, step: str) -> None:
        self.begun = [*(name for name in self.begun if name != step), step]
        self.save()

    def answered(self, step: str, reply: Any) -> None:
        self.replies[step] = reply
        self.save()

    def lose(self, step: str) -> int:
        """Note that the answer of a step that may have been billed is lost; return how often it was."""
        self.lost.append(step)
        self.not_begun(step)
        return self.lost.count(step)

    def not_begun(self, step: str) -> None:
        self.begun = [name for name in self.begun if name != step]
        self.save()

    def forget(self) -> None:
        """Forget a job that came to nothing: the next try submits another. Copies remain to be deleted."""
        self.lost, self.begun = [], []
        self.forget_job()

    def forget_job(self) -> None:
        """Forget what a job answered, and not that it was submitted: it may have been billed, and may be found."""
        self.replies = {}
        self.save()

    def save(self) -> None:
        self._keep({"begun": self.begun, "lost": self.lost, "replies": self.replies, "copies": self.copies})


class VendorJob:
    """What a vendor's `batch` is given."""

    def __init__(self, ask: Ask, sound: Path, client: Client, notes: Notes) -> None:
        self.ask = ask
        self._sound, self._client, self._notes = sound, client, notes

    async def once(
        self, step: str, call: VendorCall, name: str = "id", *, find: Find | None = None, act: str = "take the job"
    ) -> str:
        """Return what a request with consequences answered under this name, now or in an earlier try.

        That it is sent is noted before it is sent. Where no answer came, or one without the name, though it may have
        been taken, the job is looked up (`find`) before it is sent again; without `find` it costs nothing.
        Raises ProviderError.
        """

        def named(reply: Any) -> Any:
            if not text(record(reply).get(name)):
                raise Unreadable(f"it named no {name}")
            return reply

        if step not in self._notes.replies:
            reply = await self._found(find, step) if step in self._notes.begun and find is not None else None
            if reply is None:
                reply = await self._sent(step, call, named, find, act)
            # What else it says is of no use to a later try.
            self._notes.answered(step, {name: text(record(reply).get(name))})
        found = text(record(self._notes.replies[step]).get(name))
        if not found:
            raise self.failed(f"it named no {name}")
        return found

    async def hear(self, call: VendorCall, read: Callable[[Any], T], act: str = "transcribe") -> T:
        """Return what `read` makes of the answer to a request that transcribes while we wait. The answer is not kept:
        the transcript is.

        Nothing can be looked up: where the answer is lost, or holds no transcript, it is sent once more, or not, as
        the operator chose.
        """
        if "hear" in self._notes.begun:
            self._lose("hear", "the worker was stopped meanwhile")
        return await self._sent("hear", call, read, None, act, is_billed=True)

    async def fetch(
        self, call: VendorCall, read: Callable[[Any], T], *, answer: Any = None, act: str = "hand out the transcript"
    ) -> T:
        """Return what a job has come to, as `read` reads it: from `answer`, where that has it, else asked for.

        A vendor that is done and does not show it yet (404, the wrong moment, an answer without a place for it) is
        asked again for a while: it is paid. Raises ProviderError, which says what the vendor answered.
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

    def _unread(self, fault: Unreadable, told: Any, act: str) -> ProviderError:
        """Return the error for an answer without a transcript, with the words of the vendor that are no transcript."""
        if told is None:
            return self._client.speaker.error(ProviderFault.TRANSIENT, act, "its answer is empty")
        said = self._client.vendor.explain(200, told).message if told else json.dumps(told)
        why = f"{fault}: {said}" if said else str(fault)
        return self._client.speaker.error(ProviderFault.PROVIDER_FAILED, act, why)

    async def poll(self, call: VendorCall, state: Callable[[Any], Progress | Explained]) -> Any:
        """Return the JSON of this request when the job is done; asked for ever more seldom, up to a share of its
        length.

        A job that is not known is asked for again, for a while: what was taken is not shown at once everywhere.
        Raises ProviderError: what `state` explained, or retryable where the job takes too long (it is polled again
        later) or is gone (it is looked up, or submitted again as often as a lost answer may be).
        """
        manners, waited_s, missing_s = self._client.manners, 0.0, 0.0
        pause_s = manners.first_poll_s
        longest_s = min(manners.longest_poll_s, max(3.0, self.ask.duration_s / 60))
        patience_s = max(manners.poll_for_s, 2 * self.ask.duration_s)
        while waited_s <= patience_s:
            await manners.pause(pause_s)
            waited_s, missing_s = waited_s + pause_s, missing_s + pause_s
            pause_s = min(longest_s, pause_s * 1.5)
            told = await self._asked(call, is_final=missing_s > manners.missing_for_s)
            missing_s = missing_s if told is None else 0.0
            verdict = state(told)
            if verdict is Progress.DONE:
                return told
            if isinstance(verdict, Explained):
                self._notes.forget()
                kind = verdict.kind or ProviderFault.PROVIDER_FAILED
                raise self._client.speaker.error(kind, "transcribe", " ".join((verdict.code, verdict.message)).strip())
        raise self._client.speaker.error(ProviderFault.TRANSIENT, "transcribe", f"not done after {round(waited_s)} s")

    def leaves(self, copy: str) -> None:
        """Note something that the vendor keeps until `Vendor.erase` deletes it, such as "job:1234"."""
        if copy not in self._notes.copies:
            self._notes.copies.append(copy)
            self._notes.save()

    async def erase(self, copy: str) -> None:
        """Delete one of them now. Where that fails it stays noted, and is deleted with the recording."""
        try:
            for call in self._client.vendor.erase(self.ask.access, copy):
                await self._client.erase(call)
        except ProviderError as error:
            logger.warning("not deleted yet", action="vendor_copy_left", why=str(error))
            return
        self._notes.copies = [other for other in self._notes.copies if other != copy]
        self._notes.save()

    def failed(self, message: str, kind: ProviderFault = ProviderFault.PROVIDER_FAILED) -> ProviderError:
        """Return the error for a failure that hides in a success."""
        self._notes.forget()
        return self._client.speaker.error(kind, "transcribe", message)

    async def _asked(self, call: VendorCall, *, is_final: bool) -> Any:
        """Return how far a job is; None where the vendor does not know it and that is not yet final."""
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
        """Return what `read` makes of the answer. One that it cannot read has not come, whatever its status."""
        number = 0
        while True:
            number += 1
            self._notes.begin(step)
            try:
                reply = await self._client.once(call, act, sound=self._sound, sound_s=self.ask.duration_s)
                return self._read(reply.body, read, act)
            except Unanswered as error:
                found: T | None = await self._after(error, step, find, is_billed=is_billed)
                if found is not None:
                    return found
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

    def _read(self, told: Any, read: Callable[[Any], T], act: str) -> T:
        try:
            return read(told)
        except Unreadable as fault:
            raise Unanswered(self._unread(fault, told, act), may_count=True) from fault

    async def _after(self, error: Unanswered, step: str, find: Find | None, *, is_billed: bool) -> Any:
        """Return the answer of a submit whose answer did not come; None where it may be sent again."""
        if is_billed and error.is_lost:
            self._lose(step, str(error))
        elif find is None or not error.may_count:
            self._notes.not_begun(step)
        else:
            return await self._found(find, step, str(error) if error.is_lost else None)
        return None

    async def _found(self, find: Find, step: str, lost: str | None = "the worker was stopped meanwhile") -> Any:
        """Return what a submit had answered; None where the vendor has no such job. Where it cannot be asked and the
        answer was `lost`, sending it again may count twice.
        """
        try:
            found = await looked_up(self._client, find)
        except ProviderError as error:
            if error.status not in NO_LISTING:
                raise
            if lost is not None:
                self._lose(step, lost)
            return None
        logger.info(
            "looked up", action="submit_looked_up", step=step, reference=self.ask.reference, found=found is not None
        )
        return found

    def _lose(self, step: str, why: str) -> None:
        """Note a lost answer. Raises ProviderError where it is one too many to send the file again."""
        if self._notes.lose(step) > self._client.repeats_lost:
            raise self._client.speaker.error(ProviderFault.IN_DOUBT, "transcribe", why)
        logger.warning(
            "sent again, may be billed again", action="submit_repeated", step=step, reference=self.ask.reference
        )
