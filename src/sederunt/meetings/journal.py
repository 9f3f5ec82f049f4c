"""Writes the record of one bot's stay and informs its listeners. Nothing else in a meeting writes to the database.

Row, events, gaps, roster, chat and live lines are written under this holder's epoch, so that a holder which has lost
its bot changes nothing. Listeners hear of a change only after it is written.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from sederunt import counters, log
from sederunt.accounting import Ledger
from sederunt.claims.changes import Change, PersonWrote
from sederunt.clock import unix_ms
from sederunt.database.bots import Bots
from sederunt.database.live_lines import LiveLineStore
from sederunt.errors import Superseded
from sederunt.meetings.live.messages import line_message, line_message_id, message_of
from sederunt.meetings.second_self import SecondSelf
from sederunt.meetings.session.roster import Roster, silenced
from sederunt.model.bot import HOST_LOST, PLANNED_MOVE, Bot, Gap
from sederunt.model.history import BUDGET_SPENT, CHAT_MESSAGE, LIVE_TROUBLE, PAGE_TROUBLE, RECORDING_GAP, seat_wait_s
from sederunt.model.participant import Participant
from sederunt.model.status import BotStatus, StopReason, Trigger
from sederunt.model.transcript import LiveLine
from sederunt.model.trouble import PageTrouble

# How many earlier stays of a bot keep their claims in its evidence.
MOST_STAYS = 5
# A bot that waited less than this for a host and found the meeting over would have been too late anyway.
LATE_S = 30.0

logger = log.get(component="meetings")


class Feed(Protocol):
    """Sends messages to a bot's listeners: `bus.feeds.EventPublisher`."""

    def put(self, bot_id: UUID, event: Mapping[str, Any], message_id: str | None = None) -> None:
        """Send an event, in order, until the bus has it. Never waits."""

    async def draft(self, bot_id: UUID, message: Mapping[str, Any]) -> None:
        """Send a `ts-draft` message to present listeners."""

    async def audio(self, bot_id: UUID, pcm: bytes) -> None:
        """Send mono PCM16 at 16 kHz to present listeners."""


class Journal:
    """The record of one bot, kept by one holder. Every method may raise Superseded once another host holds the bot.

    Args:
        bot: the row as claimed. `journal.bot` is the row as this holder last read or moved it.
    """

    def __init__(
        self, bot: Bot, *, bots: Bots, live_lines: LiveLineStore, feed: Feed, ledger: Ledger | None = None
    ) -> None:
        self.bot = bot
        self._ledger = ledger or Ledger()
        self._spent: set[str] = set()  # budgets that were reported as spent
        self._second_self = SecondSelf()
        self._bots, self._live_lines, self._feed = bots, live_lines, feed
        self.away_cause = HOST_LOST  # why the bot was away when this holder took it over
        self.is_holder = True  # False for a host that is about to take the bot over and writes nothing yet
        self._is_claiming = False
        self._untold: list[Change] = []
        self._troubles: list[PageTrouble] = []  # not written yet
        self._written_sources: dict[str, str] = {}  # audio source → participant key, as in the database

    @classmethod
    async def claim(
        cls, bot_id: UUID, host: str, *, bots: Bots, live_lines: LiveLineStore, feed: Feed, ledger: Ledger | None = None
    ) -> "Journal":
        """Make `host` the holder of a bot: its epoch is one higher than any before. Raises NotFound."""
        previous = await bots.get(bot_id)
        journal = cls(await bots.claim(bot_id, host), bots=bots, live_lines=live_lines, feed=feed, ledger=ledger)
        journal.away_cause = PLANNED_MOVE if previous.epoch and previous.host is None else HOST_LOST
        return journal

    async def take_over(self, host: str) -> None:
        """Make `host` the bot's holder instead of the one in the row. Raises Superseded if that one is no longer the
        holder, or the bot has ended.

        Changes from this page so far are dropped, because the previous holder has reported them. Chat messages that it
        had not reported yet are kept.
        """
        self._is_claiming = True
        try:
            self.bot = await self._bots.claim(self.bot.id, host, after=self.bot.epoch)
            self.is_holder = True
        finally:
            self._is_claiming = False
        self._untold = unheard([event.data for event in await self._bots.events(self.bot.id)], self._untold)

    async def expect_second_self(self) -> None:
        """Note that another page of this bot joins, or has joined. People who appear under the bot's own name from now
        on are not participants; participants known before stay.
        """
        if not self._second_self.is_expected:
            self._second_self.expect(person.key for person in await self.participants())

    def end_second_self(self) -> None:
        """Note that the other page has left: a person who joins under the bot's name now is somebody else."""
        self._second_self.end()

    async def note_move(self, at_s: float) -> None:
        """Write that another host took the bot over as planned, at a second of the recording."""
        data = {"at": round(at_s, 3), "cause": PLANNED_MOVE}
        await self._bots.add_event(self.bot.id, PLANNED_MOVE, data, epoch=self.bot.epoch)

    async def release(self) -> None:
        """Write that this holder gives its bot back in good order, so that the time away counts as a planned move."""
        await self._bots.release(self.bot.id, self.bot.epoch)

    # --- the row -------------------------------------------------------------------------------------------------

    async def refresh(self) -> Bot:
        """Read the row again.

        Raises Superseded if it has another holder: with that one's epoch this holder could write, and would knock too.
        """
        row = await self._bots.get(self.bot.id)
        self._refuse_stale(row)
        self.bot = row
        return row

    async def waited_for_seat(self) -> bool:
        """Return whether the bot waited for a host so long that it may have missed its meeting."""
        return seat_wait_s(await self._bots.events(self.bot.id)) >= LATE_S

    async def left_while_away(self) -> tuple[str, datetime] | None:
        """Return why the bot was away when its status became leaving, and when that was; None if it was in the meeting,
        or was told to leave.
        """
        if self.bot.recording_ended_at is not None or self.bot.stop_requested:
            return None
        leaving_events = [
            event for event in await self._bots.events(self.bot.id) if event.data.get("new_status") == BotStatus.LEAVING
        ]
        return (
            (str(leaving_events[-1].data.get("cause", HOST_LOST)), leaving_events[-1].created_at)
            if leaving_events
            else None
        )

    async def is_stop_requested(self) -> bool:
        """Ask the row whether the bot is to leave. Returns False if the database is away; it is asked again later.

        Raises Superseded if the row has another holder.
        """
        try:
            row = await self._bots.get(self.bot.id)
        except Exception:
            logger.exception("row not read", action="row_unread", bot_id=str(self.bot.id))
            return False
        if row.epoch != self.bot.epoch and self._lingers():
            return False
        self._refuse_stale(row)
        return row.stop_requested

    async def check_holder(self) -> None:
        """Raise Superseded if the row has another holder. While the database is unreachable there can be none."""
        await self.is_stop_requested()

    def _lingers(self) -> bool:
        return self._second_self.may_linger(asyncio.get_running_loop().time())

    def _refuse_stale(self, row: Bot) -> None:
        if row.epoch != self.bot.epoch and not self._is_claiming:
            raise Superseded(f"Bot {row.id} is at epoch {row.epoch}, this holder at {self.bot.epoch}.")

    async def move(
        self,
        trigger: Trigger,
        *,
        reason: StopReason | None = None,
        data: Mapping[str, Any] | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> None:
        """Record a status transition with its event. A transition that the status forbids changes nothing."""
        bot = await self._bots.record_transition(
            self.bot.id, trigger, reason=reason, data=data, epoch=self.bot.epoch, changes=changes
        )
        self.bot = bot or self.bot

    async def mark(self, **facts: Any) -> None:
        """Write facts such as `capture`, `evidence` or `detected_lang`."""
        await self._bots.mark(self.bot.id, epoch=self.bot.epoch, **facts)

    async def keep_evidence(self, objects: Mapping[str, str]) -> None:
        """Replace the bot's evidence (kind → object), except for the claims of earlier stays."""
        evidence = with_earlier(self.bot.evidence, objects)
        self.bot = replace(self.bot, evidence=evidence)  # first: a write may take effect although it is cancelled
        await self.mark(evidence=evidence)

    async def add_gap(self, start_s: float, end_s: float, cause: str) -> None:
        """Write a gap: nothing was recorded between two seconds of the recording."""
        gap = Gap(start=round(start_s, 3), end=round(end_s, 3), cause=cause)
        gaps = (*self.bot.gaps, gap)
        data = {"start": gap.start, "end": gap.end, "cause": cause}
        await self._bots.add_event(self.bot.id, RECORDING_GAP, data, epoch=self.bot.epoch, changes={"gaps": gaps})
        self.bot = replace(self.bot, gaps=gaps)
        counters.add("recording_gaps", cause)
        counters.add("recording_gap_seconds", cause, gap.end - gap.start)

    def note_trouble(self, trouble: PageTrouble) -> None:
        """Note a trouble of the page for `write_troubles`. Callable from anywhere; never waits."""
        action = {"action": "page_trouble", "bot_id": str(self.bot.id), "cause": trouble.cause}
        logger.warning(trouble.seen, recovery=trouble.recovery, **action)
        self._troubles.append(trouble)

    async def write_troubles(self) -> None:
        """Write the troubles queued since the last call; later, if the database is unreachable. Raises Superseded."""
        while self._troubles and self.is_holder:
            trouble = self._troubles[0]
            data = {"cause": trouble.cause, "seen": trouble.seen[:500], "recovery": trouble.recovery}
            try:
                await self._bots.add_event(self.bot.id, PAGE_TROUBLE, data, epoch=self.bot.epoch)
            except Superseded:
                if not self._lingers():
                    raise
                return
            except Exception:
                logger.exception("trouble not written", action="trouble_kept", bot_id=str(self.bot.id))
                return
            self._troubles.pop(0)

    # --- the roster ----------------------------------------------------------------------------------------------

    async def participants(self, *, with_events: bool = False) -> list[Participant]:
        """Read the participants that this holder or an earlier one has written."""
        return await self._bots.participants(self.bot.id, with_events=with_events)

    def begin_page(self) -> None:
        """Drop unwritten changes of this holder's previous page: the next page has its own roster."""
        self._untold, self._written_sources = [], {}

    def note(self, changes: Iterable[Change]) -> None:
        """Note changes of the roster; `write_roster` sends them to the listeners."""
        self._untold.extend(changes)

    async def write_roster(self, roster: Roster) -> None:
        """Write the changes since the last call, then tell the listeners.

        An unreachable database does not end the meeting: what could not be written is written by a later call.
        """
        self._second_self.find(roster, self.bot.config.bot_name)
        (changes, self._untold), sent_count = (
            ([item for item in self._untold if not self._second_self.is_of(item)], []),
            0,
        )
        (people, withdrawals), sources = roster.fold.take_changed(), dict(roster.fold.sources)
        people = tuple(person for person in people if person.key not in self._second_self.keys)
        try:
            if people or changes or sources != self._written_sources:
                await self._bots.save_participants(
                    self.bot.id, people, sources, withdrawn=withdrawals, epoch=self.bot.epoch
                )
                self._written_sources = sources
            for change in changes:
                if isinstance(change, PersonWrote):
                    if not await self._may_keep(change.message.content):
                        sent_count += 1
                        continue
                    data = {"username": change.message.username, "content": change.message.content}
                    await self._bots.add_event(self.bot.id, CHAT_MESSAGE, data, epoch=self.bot.epoch)
                self.tell(message_of(change))
                sent_count += 1
        except Superseded:
            if not self._lingers():
                raise
        except Exception:
            logger.exception("roster not written, kept for later", action="journal_kept", bot_id=str(self.bot.id))
            roster.fold.keep_changed(people, withdrawals)
            self._untold = [*changes[sent_count:], *self._untold]

    async def _may_keep(self, text: str) -> bool:
        # False once a budget is spent, which is reported once.
        amounts = {"chat_messages": 1, "chat_bytes": len(text.encode("utf-8", "replace")), "event_rows": 1}
        spent_budget = next(
            (name for name, n in amounts.items() if not self._ledger.has_room(name, self.bot.id, n)), None
        )
        if spent_budget is None:
            for name, amount in amounts.items():
                self._ledger.take(name, self.bot.id, amount)
        elif spent_budget not in self._spent:
            data = {"budget": spent_budget, "limit": self._ledger.limit(spent_budget)}
            await self._bots.add_event(self.bot.id, BUDGET_SPENT, data, epoch=self.bot.epoch)
            self._spent.add(spent_budget)
        return spent_budget is None

    def end_counting(self) -> None:
        """Forget what this stay has used of its budgets."""
        self._ledger.forget(self.bot.id)

    async def end_open_speech(self, at_s: float, *, except_for: Collection[str] = ()) -> None:
        """End every speaking mark that is open at a second of the recording, except those of some participants.

        Nobody is known to have kept speaking while the bot was away, and an open mark would also cover others' words.
        """
        assert self.bot.recording_started_at is not None, "a bot that was never inside heard nobody speak"
        at_ms = unix_ms(self.bot.recording_started_at) + round(at_s * 1000)
        open_marks = silenced(await self.participants(with_events=True), at_ms)
        changes = [change for change in open_marks if change.participant.key not in except_for]
        if changes:
            participants = [change.participant for change in changes]
            await self._bots.save_participants(self.bot.id, participants, epoch=self.bot.epoch)
        for change in changes:
            self.tell(message_of(change))

    # --- live ----------------------------------------------------------------------------------------------------

    def tell(self, message: Mapping[str, Any], message_id: str | None = None) -> None:
        """Send an event to the bot's listeners. The feed drops an event with the id of an earlier one."""
        self._feed.put(self.bot.id, message, message_id)

    async def tell_draft(self, message: Mapping[str, Any]) -> None:
        """Send words that are still being spoken to present listeners."""
        await self._feed.draft(self.bot.id, message)

    async def lines(self) -> list[LiveLine]:
        """Read the lines of transcript that this holder or an earlier one has written, by time."""
        return await self._live_lines.of(self.bot.id)

    async def write_lines(self, lines: Sequence[LiveLine]) -> None:
        """Write lines, replacing those with the same ids. Raises NotFound, and what the database raises."""
        await self._live_lines.save(self.bot.id, lines, epoch=self.bot.epoch)

    def tell_line(self, line: LiveLine) -> None:
        """Publish a line that has been written. Publishing the same revision twice makes one event."""
        self.tell(line_message(line), line_message_id(self.bot.id, line))

    async def write_trouble(self, message: str) -> None:
        """Write that live transcription may have missed words; the transcript is then made again after the meeting."""
        await self._bots.add_event(self.bot.id, LIVE_TROUBLE, {"message": message[:500]}, epoch=self.bot.epoch)


def unheard(history: Iterable[Mapping[str, Any]], changes: Iterable[Change]) -> list[Change]:
    """Return the chat messages among changes that are not in a bot's history; one written twice is there twice."""
    counts = Counter((data.get("username"), data["content"]) for data in history if "content" in data)
    missing: list[Change] = []
    for change in changes:
        if isinstance(change, PersonWrote):
            message = (change.message.username, change.message.content)
            counts[message] -= 1
            if counts[message] < 0:
                missing.append(change)
    return missing


def with_earlier(evidence: Mapping[str, str], current: Mapping[str, str]) -> dict[str, str]:
    """Return the current evidence together with the claims of the bot's earlier stays, which its last host left.

    Those of the latest stay are under `claims` and `why`, earlier ones under `claims-<stay>` and `why-<stay>`.
    """
    earlier: dict[str, str] = {}
    for name, key in evidence.items():
        kind = name.partition("-")[0]
        if kind in ("claims", "why") and key not in current.values():
            earlier[key.rsplit("/", 1)[-1].removesuffix(".json").removesuffix(".jsonl.gz")] = key
    return dict(sorted(earlier.items())[-2 * MOST_STAYS :]) | dict(current)
