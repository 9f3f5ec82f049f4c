"""What a host lends a bot: its stores, its browsers, its clock."""

from dataclasses import dataclass
from uuid import UUID

from sederunt.browser.pool import BrowserPool
from sederunt.bus.connection import Bus
from sederunt.bus.feeds import EventPublisher
from sederunt.clock import Clock
from sederunt.database.bots import Bots
from sederunt.database.live_lines import LiveLines
from sederunt.errors import Superseded
from sederunt.meetings.sign_in import MeetingAccounts
from sederunt.meetings.spool import Spool
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
    live_lines: LiveLines
    accounts: MeetingAccounts
    clock: Clock
    host: str  # this host's name

    def spool_of(self, bot_id: UUID) -> Spool:
        """Where a bot's pieces wait until storage has them."""
        return Spool(self.settings.data / "spool", bot_id, self.objects)


async def still_ours(bot: Bot, context: BotContext) -> Bot:
    """The row as it stands now. Raises Superseded where it has another holder: by that one's epoch this one would write
    on, and knock beside it."""
    row = await context.bots.get(bot.id)
    if row.epoch != bot.epoch:
        raise Superseded(f"Bot {bot.id} is at epoch {row.epoch}, this holder at {bot.epoch}.")
    return row
