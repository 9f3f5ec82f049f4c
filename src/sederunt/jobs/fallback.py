"""Fallback: if a vendor fails for good, the next model of the request (or of the settings) transcribes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sederunt import log
from sederunt.errors import ProviderError, ProviderFault
from sederunt.jobs.context import WorkerContext
from sederunt.jobs.job import Job
from sederunt.model.bot import Bot
from sederunt.model.history import TRANSCRIPTION_FALLBACK
from sederunt.model.recording import Recording
from sederunt.model.transcript import Transcript
from sederunt.transcription.model_options import option_faults
from sederunt.transcription.models import ModelRow, find, provider_of
from sederunt.transcription.plugins import is_installed

TRIES_EACH = 5  # attempts at a vendor that is away, before the next model: some eight minutes

logger = log.get(component="jobs")


class Chain:
    """The models that may transcribe one resource, and the current one.

    Past fallbacks are in the resource's history, so that a job whose worker was killed goes on with the same model.
    """

    def __init__(
        self,
        rows: Sequence[ModelRow],
        *,
        fallen_to: Sequence[str],
        job: Job,
        note: Callable[[Mapping[str, Any]], Awaitable[None]],
    ) -> None:
        self._rows, self._at, self._job, self._note = list(rows), 0, job, note
        for name in fallen_to:
            if name == self._rows[self._at].successor:
                self._insert_successor()
            self._at = min(self._at + 1, len(self._rows) - 1)

    @property
    def told(self) -> Mapping[str, Any]:
        """Return the last event's data about the model that transcribed; empty if it was the requested one."""
        return {"transcribed_by": self._rows[self._at].identifier} if self._at else {}

    async def first_that_can(self, transcribe: Callable[[ModelRow], Awaitable[Transcript]]) -> Transcript:
        """Return the transcript of the first model that does not fail for good. Raises the last one's ProviderError."""
        while True:
            try:
                return await transcribe(self._rows[self._at])
            except ProviderError as error:
                is_for_good = not error.retryable or self._job.delivered >= TRIES_EACH * (self._at + 1)
                next_row = self._following(error)
                if next_row is None or not is_for_good:
                    raise
                await self._go_on(error, next_row)

    def _following(self, error: ProviderError) -> ModelRow | None:
        """Return the next model: the successor if the vendor no longer has the current one, else the next in line."""
        if error.kind is ProviderFault.UNKNOWN_MODEL:
            self._insert_successor()
        return self._rows[self._at + 1] if self._at + 1 < len(self._rows) else None

    def _insert_successor(self) -> None:
        row = self._rows[self._at]
        if row.successor and (successor := find(row.successor)):
            # It may do no more than the requested model, against which the options were checked.
            self._rows.insert(self._at + 1, replace(successor, can=successor.can & row.can))

    async def _go_on(self, error: ProviderError, next_row: ModelRow) -> None:
        failed_row = self._rows[self._at]
        await self._note(
            {"model": failed_row.identifier, "next_model": next_row.identifier, "message": str(error)[:500]}
        )
        logger.warning(
            "the next model transcribes",
            action="transcription_fallback",
            id=str(self._job.id),
            model=failed_row.identifier,
            next_model=next_row.identifier,
            why=str(error),
        )
        self._at += 1


async def chain_of(resource: Bot | Recording, first: ModelRow, job: Job, context: WorkerContext) -> Chain:
    """Return the models that may transcribe a bot or a recording, beginning with `first`."""
    store = context.bots if isinstance(resource, Bot) else context.recordings

    async def note(data: Mapping[str, Any]) -> None:
        await store.add_event(resource.id, TRANSCRIPTION_FALLBACK, data)

    rows = [first, *_rows_after(resource, first, context)]
    history = await store.events(resource.id) if len(rows) > 1 or first.successor else ()
    fallen_to = [
        str((event.data or {}).get("next_model")) for event in history if event.event == TRANSCRIPTION_FALLBACK
    ]
    return Chain(rows, fallen_to=fallen_to, job=job, note=note)


def _rows_after(resource: Bot | Recording, first: ModelRow, context: WorkerContext) -> list[ModelRow]:
    """Return the fallback models: those of the request, else those of the settings that can do what it wants."""
    wish = resource.config.transcription_fallback
    names = context.settings.transcription.fallback if wish is None else wish
    rows: list[ModelRow] = []
    for row in map(find, names):
        if row is None or row.provider is None or row.realtime or row in (first, *rows):
            continue
        if is_installed(row.provider) and (wish is not None or _can(row, resource)):
            rows.append(row)
    return rows


def _can(row: ModelRow, resource: Bot | Recording) -> bool:
    provider = provider_of(row)
    config = resource.config
    return provider is not None and not option_faults(
        row, provider.title, lang=config.lang, vocabulary=config.custom_vocabulary
    )
