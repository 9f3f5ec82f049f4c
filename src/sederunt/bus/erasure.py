"""Erase a deleted bot's events: the message server overwrites them in its files instead of only forgetting them.

Jobs hold only ids, and the server drops them once they are settled; a feed holds what was said and written.
"""

from uuid import UUID

from nats.errors import Error as NatsError
from nats.js.errors import NotFoundError

from sederunt.bus import streams
from sederunt.bus.connection import Bus, BusAway


async def erase_events(bus: Bus, bot_id: UUID | str) -> int:
    """Erase the events of a bot, one by one: a purge would leave their bytes in the file. Returns how many there were.

    Raises BusAway; what was erased until then stays erased.
    """
    count, position = 0, 0
    subject = streams.events_subject(bot_id)
    try:
        while True:
            message = await bus.js.get_msg(streams.FEEDS, seq=position + 1, subject=subject, direct=True, next=True)
            position = int(message.seq or 0)
            await bus.js.delete_msg(streams.FEEDS, position)
            count += 1
    except NotFoundError:
        return count
    except (NatsError, OSError) as error:
        raise BusAway(f"NATS did not erase the events of {bot_id}: {error}") from None
