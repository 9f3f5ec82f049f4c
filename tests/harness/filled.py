"""A database as it is after so many meetings, and what its reads cost there in work instead of time."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Table, insert, text

from harness.some_bot import NINE
from sederunt.database import search
from sederunt.database import tables as t
from sederunt.database.bot_rows import NoSeals, columns_of, metadata_digest
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.status import BotStatus
from sederunt.model.transcript import Segment

_STEPS = 20  # instructions of SQLite's machine between two calls of its progress handler
_CHUNK = 1_000  # bots of one transaction
DAY = timedelta(days=1)


async def fill(database: Database, account_id: UUID, bots: int, *, transcripts: int = 0, lines: int = 200) -> None:
    """Store so many ended bots of one account, the last one today: each with a holding, a use, metadata and two
    webhooks, one of which every twentieth was not rid of; the first of them with transcripts.
    """
    for first in range(0, bots, _CHUNK):
        rows: dict[Table, list[dict[str, Any]]] = {}
        for number in range(first, min(first + _CHUNK, bots)):
            for table, row in _rows(account_id, number, bots):
                rows.setdefault(table, []).append(row)
        async with database.begin() as connection:
            for table, values in rows.items():
                await connection.execute(insert(table), values)
            if first < transcripts:
                for number, bot in enumerate(rows[t.bots][: transcripts - first], first):
                    segments = [_segment(number * lines + place, place) for place in range(lines)]
                    indexed = search.lines_of(segments, account_id, is_sqlite=database.is_sqlite)
                    await search.index(connection, "bot", bot["id"], account_id, indexed)

    if not database.is_sqlite:  # as its autovacuum does by and by; SQLite's statistics are never made
        async with database.begin() as connection:
            await connection.execute(text("ANALYZE"))


def _segment(number: int, place: int) -> Segment:
    words = f"the budget of project{number} is agreed by part{place % 5}"
    return Segment(start=place, end=place + 1, speaker=0, confidence=0.9, transcript=words, speaker_name="Ada")


def _rows(account_id: UUID, number: int, bots: int) -> Iterator[tuple[Table, dict[str, Any]]]:
    at = NINE - timedelta(minutes=bots - number)
    config = BotConfig(
        service=Service("gmeet"),
        meeting_url="https://meet.google.com/abc-defg-hij",
        bot_name=f"Minutes of {number}",
        transcription_model="none",
    )
    bot = Bot(id=new_id(at), account_id=account_id, status=BotStatus.FINISHED, created_at=at, config=config)
    media = {"recording_object": "recording.m4a", "media_until": at + 7 * DAY, "media_removed_at": at + 7 * DAY}
    yield t.bots, columns_of(bot, NoSeals()) | {"origin": {}} | media
    yield t.bot_metadata, {"bot_id": bot.id, "digest": metadata_digest("team", "everybody")}
    if number % (bots // 3) == 0:
        yield t.bot_metadata, {"bot_id": bot.id, "digest": metadata_digest("team", "few")}
    yield (
        t.usage,
        {
            "resource_id": bot.id,
            "account_id": account_id,
            "resource": "bot",
            "model": "none",
            "ended_at": at,
            "own_key": False,
            "video": False,
            "realtime_audio": False,
            "for_1_year": False,
            "minutes": 30,
            "waiting_minutes": 0,
        },
    )
    for place in range(2):
        given_up = place == 0 and number % 20 == 0
        delivery = {
            "id": new_id(at),
            "account_id": account_id,
            "resource": "bot",
            "resource_id": bot.id,
            "url": "https://a.b",
            "type": "bot.status_update",
            "data": {},
            "custom_metadata": {},
            "created_at": at,
            "state": "given_up" if given_up else "delivered",
        }
        yield t.deliveries, delivery
        yield t.delivery_attempts, {"delivery_id": delivery["id"], "at": at, "status": 200, "ms": 5, "answer": ""}


class Work:
    """What the reads of a database cost: instructions of SQLite's virtual machine, or pages that PostgreSQL looked at.

    Used as the database's driver: it does each read twice, and notes the costs of one.
    """

    def __init__(self, database: Database) -> None:
        self._database, self._driver = database, database._reader()
        self.done = 0
        database._driver = self

    async def fetch(self, sql: str, arguments: Sequence[Any]) -> Sequence[Sequence[Any]]:
        self.done += await self._cost(sql, arguments)
        return await self._driver.fetch(sql, arguments)

    async def fetch_aside(self, sql: str, arguments: Sequence[Any], row_of: Any) -> Any:
        self.done += await self._cost(sql, arguments)
        return await self._driver.fetch_aside(sql, arguments, row_of)

    async def close(self) -> None:
        await self._driver.close()

    async def _cost(self, sql: str, arguments: Sequence[Any]) -> int:
        if self._database.is_sqlite:
            return _instructions(str(self._database.url.database), sql, arguments)
        found = await self._driver.fetch(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", arguments)
        plan = json.loads(found[0][0])[0]["Plan"]
        return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def _instructions(file: str, sql: str, arguments: Sequence[Any]) -> int:
    count = 0

    def step() -> int:
        nonlocal count
        count += _STEPS
        return 0

    with closing(sqlite3.connect(file)) as connection:
        connection.set_progress_handler(step, _STEPS)
        connection.execute(sql, arguments).fetchall()
    return count
