"""A cloud vendor as a provider: prepare sound, send it file by file, and join the results."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sederunt.errors import Cancelled, ProviderError, ProviderFault, SetupError
from sederunt.settings import Settings
from sederunt.transcription import heap
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.vendor import Vendor
from sederunt.transcription.provider import Result, Task, VendorAccount
from sederunt.transcription.rows import ModelRow, ProviderRow
from sederunt.transcription.sessions import RealtimeProvider

if TYPE_CHECKING:
    from sederunt.transcription.cloud.client import Manners

CHECK_S = 25.0  # for the check of a key: somebody waits for it
LOOK_S = 0.2  # how soon a cancelled task is left

T = TypeVar("T")


class CloudProvider:
    """The provider of a vendor's folder: `PROVIDER = CloudProvider(VENDOR)`."""

    def __init__(self, vendor: Vendor, manners: Manners | None = None) -> None:
        self.vendor, self._manners = vendor, manners

    @property
    def row(self) -> ProviderRow:
        return self.vendor.row

    @property
    def models(self) -> tuple[ModelRow, ...]:
        return self.vendor.models

    @property
    def account(self) -> VendorAccount:
        return CloudAccount(self.vendor, self._manners)

    @property
    def realtime(self) -> RealtimeProvider | None:
        if self.vendor.live is None:
            return None
        from sederunt.transcription.cloud.live import CloudRealtime

        return CloudRealtime(self.vendor, self.vendor.live)

    def fault(self, settings: Settings, _model: ModelRow) -> str | None:
        """Return why the vendor has no usable address; None if it has one. Keys are checked elsewhere."""
        from sederunt.transcription.cloud.addresses import rest_address

        provider_settings = settings.providers.get(self.row.name)
        try:
            rest_address(settings, self.row, provider_settings.region if provider_settings else None)
        except SetupError as fault:
            return str(fault)
        return None

    def language(self, _settings: Settings, _task: Task) -> str | None:
        """Return None: asking a vendor would cost as much as a transcript."""
        return None

    def transcribe(self, settings: Settings, task: Task) -> Result:
        """Transcribe a file; if the vendor takes only shorter ones, in several, cut where it is quiet."""
        return self.transcribe_tracks(settings, task, [task.path], join=False)[0]

    def transcribe_tracks(
        self, settings: Settings, task: Task, tracks: Sequence[Path], *, join: bool = True
    ) -> list[Result]:
        """Transcribe several tracks as one file (or as few as possible), without their silence: one result each."""
        from sederunt.transcription.cloud.work import Work

        if task.access is None:
            raise SetupError(f"There is no key for {self.row.title}.")
        with tempfile.TemporaryDirectory(prefix="sederunt-") as scratch:
            work = Work(self.vendor, settings, task, Path(scratch), self._manners)
            results = _on_a_loop(work.results(tracks, join=join), task)
        heap.give_back()  # megabytes of answers were freed; the transcript of hours is yet to be written
        return results


class CloudAccount:
    """Checks keys, and deletes copies."""

    def __init__(self, vendor: Vendor, manners: Manners | None) -> None:
        self._vendor, self._manners = vendor, manners

    def check(self, settings: Settings, access: Access) -> None:
        """Make the vendor's cheapest call that needs the key. Blocks. Raises ProviderError, SetupError."""
        from sederunt.transcription.cloud.client import Client, Manners

        async def ask() -> None:
            # One attempt: the caller is waiting, and can try again.
            async with Client(self._vendor, settings, access, self._manners or Manners(tries=1)) as client:
                await client.fetch(self._vendor.check(access), "check the key")

        try:
            asyncio.run(asyncio.wait_for(ask(), CHECK_S))
        except TimeoutError:
            sentence = f"{self._vendor.row.title} did not answer within {CHECK_S:g} s."
            raise ProviderError(sentence, retryable=True, kind=ProviderFault.TRANSIENT) from None

    def erase(self, settings: Settings, access: Access, copy: str) -> None:
        """Delete a copy at the vendor, if it is still there. Blocks. Raises ProviderError, SetupError."""
        from sederunt.transcription.cloud.client import Client, Manners

        async def ask() -> None:
            async with Client(self._vendor, settings, access, self._manners or Manners()) as client:
                for each in await self._vendor.copies(client, copy):
                    for call in self._vendor.erase(access, each):
                        await client.erase(call)

        asyncio.run(ask())


def _on_a_loop(work: Coroutine[Any, Any, T], task: Task) -> T:
    """Run `work` on a new loop in this thread, until it is done or the task is cancelled."""

    async def watched() -> T:
        running = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({running}, timeout=LOOK_S))[0]:
                if task.cancelled.is_set():
                    raise Cancelled("The transcription was stopped.")
            return running.result()
        finally:
            # Once is not enough: a cancellation at the moment a connection is made gets lost.
            while not running.done():
                running.cancel()
                await asyncio.wait({running}, timeout=LOOK_S)

    return asyncio.run(watched())


__all__ = ["CloudAccount", "CloudProvider"]
