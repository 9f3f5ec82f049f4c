"""A cloud vendor as a provider: sound made ready, sent file by file, and what was heard put together again."""

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

CHECK_S = 25.0  # for the answer whether a key is good: somebody waits for it
LOOK_S = 0.2  # how soon a cancelled task is left

T = TypeVar("T")


class CloudProvider:
    """What a vendor's folder introduces: `PROVIDER = CloudProvider(VENDOR)`."""

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
        """Return None: nothing is lacking here but a key, and who brings it is known elsewhere."""
        from sederunt.transcription.cloud.addresses import rest_address

        given = settings.providers.get(self.row.name)
        try:
            rest_address(settings, self.row, given.region if given else None)
        except SetupError as fault:
            return str(fault)
        return None

    def language(self, _settings: Settings, _task: Task) -> str | None:
        """Return None: a vendor is not asked, it would be paid like a transcript."""
        return None

    def transcribe(self, settings: Settings, task: Task) -> Result:
        """Transcribe a file; where the vendor takes only shorter ones, in several, cut where it is quiet."""
        return self.transcribe_tracks(settings, task, [task.path], join=False)[0]

    def transcribe_tracks(
        self, settings: Settings, task: Task, tracks: Sequence[Path], *, join: bool = True
    ) -> list[Result]:
        """Transcribe several tracks as one file (or as few as may be), without their silence: one result each."""
        from sederunt.transcription.cloud.work import Work

        if task.access is None:
            raise SetupError(f"There is no key for {self.row.title}.")
        with tempfile.TemporaryDirectory(prefix="sederunt-") as scratch:
            work = Work(self.vendor, settings, task, Path(scratch), self._manners)
            heard = _on_a_loop(work.results(tracks, join=join), task)
        heap.give_back()  # what answers of megabytes left free; the transcript of hours is yet to be written
        return heard


class CloudAccount:
    """What else a key is good for."""

    def __init__(self, vendor: Vendor, manners: Manners | None) -> None:
        self._vendor, self._manners = vendor, manners

    def check(self, settings: Settings, access: Access) -> None:
        """Make the vendor's cheapest call that needs the key. Blocks. Raises ProviderError, SetupError."""
        from sederunt.transcription.cloud.client import Client, Manners

        async def ask() -> None:
            # One try: who asks is waiting, and can ask again.
            async with Client(self._vendor, settings, access, self._manners or Manners(tries=1)) as client:
                await client.fetch(self._vendor.check(access), "check the key")

        try:
            asyncio.run(asyncio.wait_for(ask(), CHECK_S))
        except TimeoutError:
            sentence = f"{self._vendor.row.title} did not answer within {CHECK_S:g} s."
            raise ProviderError(sentence, retryable=True, kind=ProviderFault.TRANSIENT) from None

    def erase(self, settings: Settings, access: Access, copy: str) -> None:
        """Delete a copy at the vendor; what is gone already is deleted. Blocks. Raises ProviderError, SetupError."""
        from sederunt.transcription.cloud.client import Client, Manners

        async def ask() -> None:
            async with Client(self._vendor, settings, access, self._manners or Manners()) as client:
                for each in await self._vendor.copies(client, copy):
                    for call in self._vendor.erase(access, each):
                        await client.erase(call)

        asyncio.run(ask())


def _on_a_loop(work: Coroutine[Any, Any, T], task: Task) -> T:
    """Run it on a loop of this thread's own, until it is done or the task is cancelled."""

    async def watched() -> T:
        running = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({running}, timeout=LOOK_S))[0]:
                if task.cancelled.is_set():
                    raise Cancelled("The transcription was stopped.")
            return running.result()
        finally:
            # Once is not enough: a cancellation that comes in the moment in which a connection is there is lost in it.
            while not running.done():
                running.cancel()
                await asyncio.wait({running}, timeout=LOOK_S)

    return asyncio.run(watched())


__all__ = ["CloudAccount", "CloudProvider"]
