"""A host without browsers, as a process of its own: it takes bots as real hosts do, and its meetings are scripted.

Claims, transitions, the list of people, marks of speech, questions to the row and events for listeners go the way of
real ones (`Journal`, `Roster`, `Consumer`); pages, sound and pieces are left out. Arguments: data directory, seats,
changes of speaker per second and bot. A line on standard input ends all meetings. See `bench/load`.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

from sederunt.bus import embedded
from sederunt.bus.consume import Consumer
from sederunt.bus.heartbeat import beating
from sederunt.bus.held_job import Done, JobDelivery, Outcome
from sederunt.bus.streams import command_subject
from sederunt.bus.tasks import end
from sederunt.claims.claim import Extent, Source, Subject, here, speak
from sederunt.clock import SYSTEM_CLOCK, unix_ms
from sederunt.jobs.context import WorkerContext, open_context
from sederunt.meetings.journal import Journal
from sederunt.meetings.session.commands import Commands
from sederunt.meetings.session.roster import Roster
from sederunt.meetings.session.watcher import ASK_ROW_EVERY_S, TICK_S
from sederunt.model.status import StopReason, Trigger
from sederunt.settings import load

PEOPLE = tuple(
    Subject(key=f"p{number}", name=name)
    for number, name in enumerate(("Ada Lovelace", "Charles Babbage", "Mary Somerville"))
)


class ScriptedHost:
    """Seats bots until their meetings are over."""

    def __init__(self, context: WorkerContext, seats: int, changes_per_s: float) -> None:
        self._context, self._seats, self._changes_per_s = context, seats, changes_per_s
        self.over = asyncio.Event()
        self.consumer = Consumer(context.bus, "attend", self._attend, slots=seats)

    async def _attend(self, delivery: JobDelivery) -> Outcome:
        context, commands = self._context, Commands(delivery.cut_off)
        journal = await Journal.claim(
            UUID(delivery.message["id"]),
            context.name,
            bots=context.bots,
            live_lines=context.live_lines,
            feed=context.events,
            ledger=context.ledger,
        )
        answering = await context.bus.serve(command_subject(journal.bot.id), commands.carry_out)
        try:
            await journal.move(Trigger.LAUNCHED)
            await journal.move(Trigger.ADMITTED, changes={"recording_started_at": SYSTEM_CLOCK.now()})
            await self._sit(journal, commands)
            await journal.move(Trigger.ENDED, reason=StopReason.MEETING_ENDED)
            await journal.move(Trigger.LEFT)
        finally:
            journal.end_counting()
            await answering.close()
        return Done()

    async def _sit(self, journal: Journal, commands: Commands) -> None:
        roster, seconds, turns = Roster(), 0, 0.0
        journal.note(roster.take([here(Source.PROTOCOL, PEOPLE, _now_ms(), Extent.SNAPSHOT)]))
        while not (commands.stop.is_set() or self.over.is_set()):
            before, turns = int(turns), turns + self._changes_per_s * TICK_S
            if int(turns) > before:
                speaker = PEOPLE[int(turns) % len(PEOPLE)].key
                journal.note(roster.take([speak(Source.PROTOCOL, [speaker], _now_ms())]))
            journal.note(roster.pass_time(_now_ms()))
            await journal.write_roster(roster)
            if seconds % ASK_ROW_EVERY_S == 0 and await journal.is_stop_requested():
                return
            seconds += 1
            await commands.wait(self.over.wait(), within_s=TICK_S)

    async def facts(self) -> Mapping[str, object]:
        """Return what a host's heartbeat tells of its seats."""
        held = self.consumer.held
        seats = {"total": self._seats, "held": held, "free": self._seats - held}
        return {"parts": {"browser": "ok"}, "seats": seats, "cores": 1, "load": 0.0, "draining": False}


def _now_ms() -> int:
    return unix_ms(SYSTEM_CLOCK.now())


async def host(data: Path, seats: int, changes_per_s: float) -> None:
    """Take bots until standard input says that the meetings are over, and all have ended."""
    settings = load(data=data)
    known = settings.model_copy(update={"bus": embedded.address_of(settings.data, settings.bus)})
    async with open_context(known, role="host") as context:
        scripted = ScriptedHost(context, seats, changes_per_s)
        async with beating(context.bus, "host", context.name, scripted.facts):
            taking = asyncio.create_task(scripted.consumer.run())
            print(json.dumps({"ready": "scripted host"}), flush=True)
            await asyncio.to_thread(sys.stdin.readline)
            scripted.over.set()
            await scripted.consumer.drain(600)
            await end(taking)


def main() -> None:
    """Run as a program."""
    asyncio.run(host(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))


if __name__ == "__main__":
    main()
