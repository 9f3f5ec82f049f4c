"""What a host lends a bot: its stores, its browsers, its clock."""

from dataclasses import dataclass
from pathlib import Path

from sederunt.browser.pool import BrowserPool
from sederunt.bus.feeds import EventPublisher
from sederunt.clock import Clock
from sederunt.database.bots import Bots
from sederunt.settings import Settings
from sederunt.storage.objects import Objects


@dataclass(frozen=True, kw_only=True, slots=True)
class Seat:
    settings: Settings
    bots: Bots
    objects: Objects
    pool: BrowserPool
    events: EventPublisher
    clock: Clock
    host: str  # this host's name

    @property
    def spool(self) -> Path:
        """Where pieces wait until storage has them."""
        return self.settings.data / "spool"
