"""What a host lends a bot: its stores, its browsers, its clock."""

from dataclasses import dataclass
from uuid import UUID

from sederunt.browser.pool import BrowserPool
from sederunt.bus.connection import Bus
from sederunt.bus.feeds import EventPublisher
from sederunt.clock import Clock
from sederunt.database.bots import Bots
from sederunt.database.live_lines import LiveLineStore
from sederunt.errors import Superseded
from sederunt.meetings.join.identity import AccountSource
from sederunt.meetings.record.spool import PieceSpool
from sederunt.model.bot import Bot
from sederunt.settings import Settings
from sederunt.storage.objects import Objects


@dataclass(frozen=True, kw_only=True, slots=True)
class BotContext:
    settings: Settings
    bots: Bots
    objects: Objects
    pool: BrowserPool
    events: EventPublisher
    bus: Bus
    live_lines: LiveLineStore
    accounts: AccountSource
    clock: Clock
    host: str  # this host's name

    def spool_of(self, bot_id: UUID) -> PieceSpool:
        """Where a bot's pieces wait until storage has them."""
        return PieceSpool(self.settings.data / "spool", bot_id, self.objects)


async def still_ours(bot: Bot, context: BotContext) -> Bot:
    """The row as it stands now. Raises Superseded where it has another holder: by that one's epoch this one would write
    on, and knock beside it."""
    row = await context.bots.get(bot.id)
    if row.epoch != bot.epoch:
        raise Superseded(f"Bot {bot.id} is at epoch {row.epoch}, this holder at {bot.epoch}.")
    return row
