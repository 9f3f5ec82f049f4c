"""The store of bots. `record_transition` is the only code in the program that writes a status."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import and_, delete, insert, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt import log
from sederunt.clock import Clock
from sederunt.database import outbox, usage
from sederunt.database import tables as t
from sederunt.database.bot_reading import BotReading
from sederunt.database.bot_rows import (
    Seals,
    bot_of,
    columns_of,
    config_columns,
    fact_columns,
    metadata_digest,
    unknown_bot,
)
from sederunt.database.deliveries import enqueue, enqueue_asked
from sederunt.database.engine import Database, OutboxRow
from sederunt.database.event_rows import add_event, told_when_it_left
from sederunt.database.first_answers import FirstAnswer, keep_first_answer
from sederunt.database.holdings import (
    UNLIMITED,
    AccountLimits,
    Holding,
    forget_holding,
    note_holding,
    refuse_overfull,
)
from sederunt.database.retention import kept_until, row_is_there, write_receipt
from sederunt.database.seats import BookingLimits, lock_account, overbooked, refuse_booked_up, refuse_full, refuse_twin
from sederunt.errors import Conflict, NotFound, Superseded
from sederunt.model.bot import Bot, BotConfig
from sederunt.model.history import OVERBOOKED, STATUS_UPDATE, WHY, Event
from sederunt.model.participant import Participant
from sederunt.model.status import (
    ACTIVE,
    ENDINGS,
    MAX_CHALLENGES,
    STOPPABLE,
    BotStatus,
    ForbiddenTransition,
    StopReason,
    Trigger,
    advance,
)
from sederunt.tracing import carried

logger = log.get(component="database")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Move:
    """A requested transition."""

    trigger: Trigger
    reason: StopReason | None
    data: Mapping[str, Any]
    epoch: int | None
    changes: Mapping[str, Any]
    due_at: datetime | None = None


class _NotYet(Exception):
    """The bot was moved to a later time."""


class _LostRace(Exception):
    """Another writer changed the row between our read and our update."""


class Bots(BotReading):
    """Bots, their history, and the messages that must be sent when they change.

    `follow_ups`: status → subject of the job that a bot in this status needs (see jobs/follow_ups).
    """

    def __init__(
        self,
        database: Database,
        clock: Clock | None = None,
        *,
        follow_ups: Mapping[BotStatus, str] | None = None,
        seals: Seals | None = None,
    ) -> None:
        super().__init__(database, seals)
        self._clock = clock or database.clock
        self._follow_ups = follow_ups or {}

    async def create(
        self,
        bot: Bot,
        *,
        job: bool = True,
        most: int | None = None,
        booking: BookingLimits | None = None,
        limits: AccountLimits = UNLIMITED,
        holding: Holding | None = None,
        answer: FirstAnswer | None = None,
        twin_s: float = 0,
    ) -> Bot:
        """Store a new bot and, unless it is scheduled, the message for the job of its status.

        Args:
            most: bots that its account may have at work, or scheduled if this one is.
            booking: how many bots may be scheduled for one moment; one too many is refused, or noted in its history.
            limits: what its account may have stored when it asks for another bot.
            holding: what is stored for the bot already.
            answer: the response to the request, if it has an Idempotency-Key.
            twin_s: seconds for which the same key may not send a second bot into the meeting.

        Raises LimitReached, AnsweredBefore, TwinBot; nothing is stored then.
        """
        subject = self._follow_ups.get(bot.status) if job else None
        messages = [outbox.job(subject, "bot", bot.id, "created")] if subject else []
        async with self._database.begin() as connection:
            if answer is not None:
                await keep_first_answer(connection, answer, bot.created_at)
            if twin_s:
                await refuse_twin(connection, bot, twin_s)
            is_booked = bot.status is BotStatus.SCHEDULED
            if most is not None and is_booked:
                await refuse_booked_up(connection, bot.account_id, most)
            elif most is not None:
                await refuse_full(connection, bot.account_id, most, bot.created_at)
            overbooking = await overbooked(connection, bot, booking) if booking is not None and is_booked else None
            await refuse_overfull(connection, bot.account_id, limits)
            await connection.execute(insert(t.bots).values({**columns_of(bot, self._seals), "origin": carried()}))
            if overbooking is not None:
                await add_event(connection, bot.id, OVERBOOKED, overbooking, bot.created_at)
            if holding is not None:
                await note_holding(connection, holding)
            if bot.config.bot_avatar_object is not None:
                await row_is_there(connection, bot.id)
            await _index_metadata(connection, bot.id, bot.config)
            rows = await outbox.post(connection, messages, self._database)
        self._database.announce(rows)
        return bot

    async def record_transition(
        self,
        bot_id: UUID,
        trigger: Trigger,
        *,
        reason: StopReason | None = None,
        data: Mapping[str, Any] | None = None,
        epoch: int | None = None,
        changes: Mapping[str, Any] | None = None,
        due_at: datetime | None = None,
    ) -> Bot | None:
        """Move a bot by what happened to it: status, event, webhook and follow-up job in one transaction.

        `data` goes into the event beside old_status and new_status; `changes` are facts written with the status.

        Returns the bot as it is now, or None (logged) if the trigger means nothing in its status, or if the bot is no
        longer scheduled for `due_at` or earlier.

        Raises Superseded if the row has another `epoch`, NotFound if there is no such bot.
        """
        facts = fact_columns(changes or {})
        move = _Move(trigger=trigger, reason=reason, data=data or {}, epoch=epoch, changes=facts, due_at=due_at)
        while True:  # each lost race means that another writer made progress
            try:
                async with self._database.begin() as connection:
                    bot, rows = await self._move(connection, bot_id, move)
            except _LostRace:
                continue
            except (ForbiddenTransition, _NotYet) as refusal:
                logger.info(str(refusal), action="transition_refused", bot_id=str(bot_id), trigger=trigger.value)
                return None
            self._database.announce(rows)
            return bot

    async def _move(self, connection: AsyncConnection, bot_id: UUID, move: _Move) -> tuple[Bot, list[OutboxRow]]:
        row = await self._row(connection, bot_id, lock=move.due_at is not None)  # a change of its time must wait
        if move.epoch is not None and row["epoch"] != move.epoch:
            raise Superseded(f"Bot {bot_id} is at epoch {row['epoch']}, the writer at {move.epoch}.")
        if move.due_at is not None and (at := row["scheduled_for"]) is not None and at > move.due_at:
            raise _NotYet(f"Bot {bot_id} is due at {at}, not at {move.due_at}.")
        old_status = BotStatus(row["status"])
        new_status = advance(old_status, move.trigger)
        if row["delete_requested"] and old_status is not BotStatus.LEAVING:
            raise unknown_bot()
        now = self._clock.now()
        values = {**_consequences(row, new_status, move, now), **move.changes, "status": new_status.value}
        conditions = (
            t.bots.c.id == bot_id,
            t.bots.c.status == old_status.value,
            t.bots.c.epoch == row["epoch"],
            t.bots.c.delete_requested.is_(row["delete_requested"]),  # decides between receipt and next job
        )
        result = await connection.execute(update(t.bots).where(*conditions).values(values))
        if result.rowcount != 1:
            raise _LostRace
        bot = self._bot({**row, **values})
        if bot.status in ENDINGS:
            await usage.note_bot(connection, bot, now)
        return bot, await self._tell(connection, bot, old_status, move, now)

    async def _tell(
        self, connection: AsyncConnection, bot: Bot, old_status: BotStatus, move: _Move, now: datetime
    ) -> list[OutboxRow]:
        data = {**move.data, "old_status": old_status.value, "new_status": bot.status.value}
        if bot.stop_reason is not None:
            data["stop_reason"] = bot.stop_reason.value
        if bot.status in ENDINGS and WHY.isdisjoint(move.data):  # the ending alone must say why
            data |= await told_when_it_left(connection, bot.id)
        event = await add_event(connection, bot.id, STATUS_UPDATE, data, now)
        messages = outbox.feed(bot.id, event)
        if bot.config.webhook_url:
            await enqueue(
                connection,
                resource="bot",
                resource_id=bot.id,
                account_id=bot.account_id,
                url=bot.config.webhook_url,
                event=event,
                custom_metadata=bot.config.custom_metadata,
            )
            messages.append(outbox.deliver("bot", bot.id, event.id))
        if bot.delete_requested:  # requested while it was leaving; it is out now
            await write_receipt(connection, "bot", bot.id, bot.account_id, now)
        elif subject := self._follow_ups.get(bot.status):
            messages.append(outbox.job(subject, "bot", bot.id, event.id))
        return await outbox.post(connection, messages, self._database)

    async def _row(self, connection: AsyncConnection, bot_id: UUID, *, lock: bool = False) -> dict[str, Any]:
        statement = select(t.bots).where(t.bots.c.id == bot_id)
        row = (await connection.execute(statement.with_for_update() if lock else statement)).mappings().first()
        if row is None:
            raise unknown_bot()
        return dict(row)

    async def claim(self, bot_id: UUID, host: str, *, after: int | None = None) -> Bot:
        """Make `host` the holder, with an epoch one higher than before. Raises NotFound.

        Args:
            after: the epoch from which the host takes the bot over; raises Superseded if the bot is at another, or is
                no longer recording.
        """
        statement = update(t.bots).where(t.bots.c.id == bot_id).values(host=host, epoch=t.bots.c.epoch + 1)
        if after is not None:
            statement = statement.where(t.bots.c.epoch == after, t.bots.c.status == BotStatus.RECORDING.value)
        async with self._database.begin() as connection:
            row = (await connection.execute(statement.returning(*t.bots.c))).mappings().first()
        if row is not None:
            return self._bot(dict(row))
        bot = await self.get(bot_id)
        raise Superseded(f"Bot {bot_id} is {bot.status} at epoch {bot.epoch}: nobody takes it over from epoch {after}.")

    async def release(self, bot_id: UUID, epoch: int) -> None:
        """Write that the holder of this epoch gave the bot back in good order. A later holder keeps its bot."""
        statement = update(t.bots).where(t.bots.c.id == bot_id, t.bots.c.epoch == epoch).values(host=None)
        async with self._database.begin() as connection:
            await connection.execute(statement)

    async def mark(self, bot_id: UUID, *, epoch: int | None = None, **facts: Any) -> None:
        """Write facts (capture, gaps, evidence, verdict, …). Raises Superseded if the row has another `epoch`."""
        statement = update(t.bots).where(t.bots.c.id == bot_id).values(fact_columns(facts))
        if epoch is not None:
            statement = statement.where(t.bots.c.epoch == epoch)
        async with self._database.begin() as connection:
            if (await connection.execute(statement)).rowcount == 1:
                return
        await self.get(bot_id)
        raise Superseded(f"Bot {bot_id} has another holder than the one of epoch {epoch}.")

    async def update_config(
        self,
        before: Bot,
        config: BotConfig,
        scheduled_for: datetime | None,
        *,
        most: int | None = None,
        booking: BookingLimits | None = None,
        holding: Holding | None = None,
        limits: AccountLimits = UNLIMITED,
    ) -> bool:
        """Replace the config of a scheduled bot. Returns False, with nothing changed, if it was changed since it was
        read.

        Args:
            holding: what is stored for the bot from now on, if that changes.

        Raises Conflict if it is no longer scheduled, NotFound; LimitReached, with nothing changed, if its account has
        `most` bots at work already, `booking` refuses its new time, or something is to be stored and the account has as
        much as `limits` allow beside it.
        """
        async with self._database.begin() as connection:
            await lock_account(connection, before.account_id)  # always before the bot's own row: see `overbooked`
            if holding is not None and holding.stored_bytes:
                await refuse_overfull(connection, before.account_id, limits, but=before.id)
            if most is not None:
                await refuse_full(connection, before.account_id, most, self._clock.now(), but=before.id)
            row = await self._row(connection, before.id, lock=True)
            if row["delete_requested"]:
                raise unknown_bot()
            bot = self._bot(row)
            if bot.status is not BotStatus.SCHEDULED:
                raise Conflict(f"Only a scheduled bot can be changed; this one is {bot.status}.")
            if (bot.config, bot.scheduled_for) != (before.config, before.scheduled_for):
                return False
            moved_bot = replace(bot, scheduled_for=scheduled_for)
            if booking is not None and (overbooking := await overbooked(connection, moved_bot, booking)) is not None:
                await add_event(connection, bot.id, OVERBOOKED, overbooking, self._clock.now())
            columns = config_columns(before.id, config, self._seals)
            statement = update(t.bots).where(t.bots.c.id == before.id).values(scheduled_for=scheduled_for, **columns)
            await connection.execute(statement)
            await connection.execute(delete(t.bot_metadata).where(t.bot_metadata.c.bot_id == before.id))
            await _index_metadata(connection, before.id, config)
            if holding is not None:
                await note_holding(connection, holding)
        return True

    async def request_stop(self, bot_id: UUID, account_id: UUID | None = None) -> Bot:
        """Write down that the bot is to leave. Raises Conflict if it is not running, NotFound."""
        is_retrying = and_(
            t.bots.c.status == BotStatus.BOT_DETECTED.value,
            t.bots.c.attempts < MAX_CHALLENGES,
            t.bots.c.stop_requested.is_(False),
        )
        is_running = t.bots.c.status.in_([status.value for status in STOPPABLE])
        statement = update(t.bots).where(t.bots.c.id == bot_id, or_(is_running, is_retrying))
        if account_id is not None:
            statement = statement.where(t.bots.c.account_id == account_id)
        async with self._database.begin() as connection:
            row_count = (await connection.execute(statement.values(stop_requested=True))).rowcount
        bot = await self.get(bot_id, account_id)
        if not row_count:
            raise Conflict(f"Only a running bot can be stopped; this one is {bot.status}.")
        return bot

    async def request_deletion(self, bot_id: UUID, account_id: UUID) -> Bot:
        """Hide a bot and write the receipt by which housekeeping removes it; a leaving bot is removed once it is out.

        Raises Conflict in the active statuses, NotFound.
        """
        now = self._clock.now()
        async with self._database.begin() as connection:
            statement = (
                update(t.bots)
                .where(t.bots.c.id == bot_id, t.bots.c.account_id == account_id, t.bots.c.delete_requested.is_(False))
                .where(t.bots.c.status.not_in([status.value for status in ACTIVE]))
                .values(delete_requested=true())
                .returning(*t.bots.c)
            )
            row = (await connection.execute(statement)).mappings().first()
            if row is not None and row["status"] != BotStatus.LEAVING.value:
                await write_receipt(connection, "bot", bot_id, account_id, now)
        if row is not None:
            return bot_of(dict(row))
        bot = await self.get(bot_id, account_id)
        raise Conflict(f"A bot cannot be deleted while it is {bot.status}.")

    async def media_removed(self, bot_id: UUID) -> None:
        """Note that the bot's objects in storage expired and are deleted; the rest of the bot stays readable."""
        async with self._database.begin() as connection:
            await connection.execute(delete(t.live_segments).where(t.live_segments.c.bot_id == bot_id))
            await forget_holding(connection, bot_id)
            await connection.execute(
                update(t.bots)
                .where(t.bots.c.id == bot_id)
                .values(media_removed_at=self._clock.now(), recording_object=None, evidence=None)
            )

    async def save_participants(
        self,
        bot_id: UUID,
        participants: Sequence[Participant],
        sources: Mapping[str, str] | None = None,
        *,
        withdrawn: Mapping[str, int] | None = None,
        epoch: int | None = None,
    ) -> None:
        """Write the current roster; see Rosters.save. Raises Superseded, NotFound."""
        await self._rosters.save(bot_id, participants, sources, withdrawn=withdrawn, epoch=epoch)

    async def add_event(
        self,
        bot_id: UUID,
        event: str,
        data: Mapping[str, Any],
        *,
        epoch: int | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> Event:
        """Write an event that is no change of status, and the facts it reports, in one transaction.

        Raises Superseded, NotFound.
        """
        now = self._clock.now()
        async with self._database.begin() as connection:
            # Locked if the writer names its epoch: nobody becomes the holder between this read and the event.
            row = await self._row(connection, bot_id, lock=epoch is not None)
            if epoch is not None and row["epoch"] != epoch:
                raise Superseded(f"Bot {bot_id} is at epoch {row['epoch']}, the writer at {epoch}.")
            if changes:
                await connection.execute(update(t.bots).where(t.bots.c.id == bot_id).values(fact_columns(changes)))
            new_event = await add_event(connection, bot_id, event, data, now)
            messages = await enqueue_asked(connection, row, new_event)
            rows = await outbox.post(connection, messages, self._database)
        self._database.announce(rows)
        return new_event

    async def send_off(self, bot_ids: Sequence[UUID], until: datetime) -> list[UUID]:
        """Send scheduled bots to the hosts, unless moved beyond `until`. Concurrent callers send each bot once."""
        return [bot_id for bot_id in bot_ids if await self._send_off(bot_id, until)]

    async def _send_off(self, bot_id: UUID, until: datetime) -> bool:
        try:
            return await self.record_transition(bot_id, Trigger.DUE, due_at=until) is not None
        except NotFound:  # cancelled meanwhile
            return False


def _consequences(row: Mapping[str, Any], new_status: BotStatus, move: _Move, now: datetime) -> dict[str, Any]:
    """Return the columns that change with the status."""
    values: dict[str, Any] = {}
    if move.reason is not None:
        values["stop_reason"] = move.reason.value
    if new_status in ENDINGS:
        for_1_year = row["config"]["store_recording_for_1_year"]
        values["finished_at"] = now
        values["media_until"] = row["recording_available_until"] or kept_until("bot", for_1_year=for_1_year, since=now)
    if move.trigger is Trigger.ADMITTED and row["recording_started_at"] is None:
        values["recording_started_at"] = now
    if move.trigger is Trigger.RETRIED:
        values |= {"attempts": row["attempts"] + 1, "finished_at": None, "media_until": None, "stop_reason": None}
    return values


async def _index_metadata(connection: AsyncConnection, bot_id: UUID, config: BotConfig) -> None:
    entries = [{"bot_id": bot_id, "digest": metadata_digest(*entry)} for entry in config.custom_metadata.items()]
    if entries:
        await connection.execute(insert(t.bot_metadata), entries)
