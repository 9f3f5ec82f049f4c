"""Sending scheduled bots off as housekeeping does where seats are not counted."""

from datetime import datetime
from uuid import UUID

from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.waiting import WaitingBots


async def sent_off(database: Database, bots: Bots, at: datetime) -> list[UUID]:
    """Send off everything that is due; the ids of those that went."""
    return await bots.send_off([entry.id for entry in await WaitingBots(database).due(at)], at)
