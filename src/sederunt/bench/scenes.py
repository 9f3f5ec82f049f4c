"""Scripted meetings as hosts publish them, from a process of their own; see `bench/listeners`.

Arguments: data directory, events per second and bot, seconds. On standard input: the ids of the bots, as JSON.
"""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sederunt.bus import embedded
from sederunt.bus.connection import Bus
from sederunt.bus.feeds import EventPublisher
from sederunt.bus.tasks import end
from sederunt.settings import load

PEOPLE = ("Ada Lovelace", "Charles Babbage", "Mary Somerville")
# What happens again and again: someone begins to speak, says something, stops.
_ROUND = ("started-speaking", "ts", "ts", "stopped-speaking", "chat-message")
_SENTENCE = "The engine weaves algebraical patterns just as the loom weaves flowers and leaves."


def event(number: int) -> dict[str, Any]:
    """Return the event of a meeting with this number; it tells when it was made."""
    kind = _ROUND[number % len(_ROUND)]
    name = PEOPLE[number // len(_ROUND) % len(PEOPLE)]
    data: dict[str, Any] = {"number": number, "made_ns": time.monotonic_ns()}
    match kind:
        case "ts":
            said = {"transcript": _SENTENCE, "start": number, "end": number + 0.9, "speaker": 0, "speaker_name": name}
            data |= {"segment_id": f"s-{number}", **said}
        case "chat-message":
            data |= {"username": name, "content": _SENTENCE, "user_avatar": None}
        case _:
            data |= {"participantId": name, "participantName": name, "timestamp": time.time_ns() // 1_000_000}
    return {"type": kind, "data": data}


async def publish(data: Path, bots: Sequence[str], per_s: float, count: int) -> None:
    """Publish each bot's events at an even pace, the bots one after another in each interval."""
    settings = load(data=data)
    bus = await Bus.connect(embedded.address_of(settings.data, settings.bus), name="scenes")
    events = EventPublisher(bus)
    sending = asyncio.create_task(events.run())
    began = time.monotonic()
    for number in range(count):
        for place, bot in enumerate(bots):
            at = began + (number + place / len(bots)) / per_s
            if (early := at - time.monotonic()) > 0:
                await asyncio.sleep(early)
            events.put(bot, event(number))
    await events.flush(60)
    await end(sending)
    await bus.close()


def main() -> None:
    data, per_s, seconds = Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    bots = json.loads(sys.stdin.readline())
    asyncio.run(publish(data, bots, per_s, round(per_s * seconds)))
    print(json.dumps({"published": True}))


if __name__ == "__main__":
    main()
