"""What a host provides to one bot: its journal, a browser, storage, the clock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import UUID

from sederunt.browser.page import MeetingPage, Signal
from sederunt.browser.page_request import PageRequest
from sederunt.clock import Clock
from sederunt.media.readers import Readers
from sederunt.meetings.join.identity import AccountSource
from sederunt.meetings.journal import Feed, Journal
from sederunt.meetings.record.spool import PieceSpool
from sederunt.model.audio import CapturedFrame
from sederunt.model.trouble import PageTrouble
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.transcription.access import Access
from sederunt.transcription.rows import ProviderRow


class PageOpener(Protocol):
    """Gives out fresh pages: `browser.pool.BrowserPool`."""

    async def open(
        self,
        request: PageRequest,
        *,
        on_frames: Callable[[Sequence[CapturedFrame]], None],
        on_signal: Callable[[Signal], None],
        on_trouble: Callable[[PageTrouble], None],
        now_ms: Callable[[], float],
    ) -> MeetingPage:
        """Open a page with the in-page scripts in place, on the clock `now_ms` (Unix milliseconds).

        `on_trouble` is called for faults of the browser that the page survives.

        Raises SetupError, PageStuck, PageCrashed.
        """


class VendorKeys(Protocol):
    """Gives out keys of transcription vendors: `accounts.vendor_access.VendorAccess`."""

    async def of(self, account_id: UUID, credential_id: UUID | None, provider: ProviderRow) -> Access | None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class BotContext:
    """Everything that one bot needs from its host. The lifecycle passes parts of it to what it calls."""

    journal: Journal
    settings: Settings
    objects: Objects
    pool: PageOpener
    feed: Feed
    accounts: AccountSource
    clock: Clock
    readers: Readers  # of callers' pictures
    spools: Path  # of all bots of this host
    vendor_keys: VendorKeys | None = None  # of live transcription

    def spool(self) -> PieceSpool:
        """Open the folder where the bot's pieces wait for storage."""
        return PieceSpool(self.spools, self.journal.bot.id, self.objects)
