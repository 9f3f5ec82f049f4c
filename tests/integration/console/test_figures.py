"""What pages cost with ten thousand bots and a meeting of four hours: CPU-seconds of the server, printed."""

import re
import time
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select

from harness.api_room import ApiRoom
from harness.console_room import Furnished, Visitor, spoken, visitor
from sederunt.console.app import PAGES
from sederunt.database import tables as t
from sederunt.database.ids import new_id
from sederunt.model.transcript import Transcript

MOST_CPU_S = 0.1  # of a page; measured 0.001 to 0.042 on two busy cores
# What a browser on a host answers, and a stream without an end.
NO_PAGES = {"/bots/{id}/picture.png", "/sign-in-windows/{id}", "/bots/{id}/feed"}
TURNS = 2_880  # of five seconds
WORDS = ("so", "we", "thought", "about", "the", "road", "map", "and", "what", "it", "would", "take", "by", "friday")


async def test_pages_stay_cheap_with_ten_thousand_bots_and_four_hours(room: ApiRoom, furnished: Furnished) -> None:
    long_id, live_id, upload_id = furnished.finished["id"], furnished.live["id"], furnished.recording["id"]
    await furnish_much(room, UUID(furnished.refused["id"]), UUID(long_id))
    reader = await visitor(room)
    pages = [
        "/",
        "/bots",
        "/bots?search=nothing-like-it",
        "/bots/scheduled",
        "/bots/scheduled?on=2097-01-01",
        f"/bots/{long_id}",
        f"/bots/{live_id}",
        f"/bots/{long_id}/peaks.json",
        "/bots/new",
        "/checkup",
        f"/recordings/{upload_id}",
        f"/recordings/{upload_id}/peaks.json",
    ]
    pages += ["/calendars", "/recordings", f"/compare?first={long_id}&second={upload_id}", "/search?q=friday"]
    pages += [f"/bots/{long_id}/player.json", f"/recordings/{upload_id}/player.json"]
    pages += ["/webhooks", "/keys", "/usage", "/people", "/operations", "/reference"]
    assert {path for method, path, _, _ in PAGES if method == "GET"} - NO_PAGES == set(map(row_of, pages))
    dear = {}
    pages += await later_pieces(reader, f"/bots/{long_id}/player.json")
    for path in pages:
        tries = []
        for _ in range(4):
            before = time.process_time()
            assert (await reader.page(path)).status_code in (200, 202), path  # 202: a worker makes the waveform
            tries.append(time.process_time() - before)
        print(f"{path:90} {min(tries) * 1000:6.1f} ms")  # noqa: T201 — the figure is what is wanted
        if min(tries) > MOST_CPU_S:
            dear[path] = min(tries)
    assert dear == {}


def row_of(address: str) -> str:
    """The path of an address, as the table of pages has it."""
    return re.sub("[0-9a-f]{8}-[0-9a-f-]{27}", "{id}", address.partition("?")[0])


async def later_pieces(reader: Visitor, path: str) -> list[str]:
    """The addresses of the other pieces of a transcript; together they are all of it."""
    told = (await reader.page(path)).json()
    texts, found = [row["t"] for row in told["transcript"]], []
    while told["next"]:
        found.append(f"{path}?after={told['next']}")
        told = (await reader.page(found[-1])).json()
        texts += [row["t"] for row in told["transcript"]]
    assert len(texts) == TURNS
    assert texts[-1] == " ".join(WORDS[(TURNS - 1 + k) % len(WORDS)] for k in range(12))
    return [found[0], found[-1]]


async def furnish_much(room: ApiRoom, like: UUID, long_id: UUID) -> None:
    """Copies of a bot by SQL, and four hours of talk for another."""
    [row] = await room.database.query(select(t.bots).where(t.bots.c.id == like)).all()
    ages = [row["created_at"] - timedelta(seconds=n) for n in range(10_000)]
    await _write(room, t.bots, [{**row, "id": new_id(at), "created_at": at} for at in ages])
    segments = tuple(
        spoken(n * 5.0, " ".join(WORDS[(n + k) % len(WORDS)] for k in range(12)), ("Ada", "Charles")[n % 2])
        for n in range(TURNS)
    )
    await room.transcripts.save(long_id, Transcript(segments=segments, detected_lang="en"))
    began = (await room.bots.get(long_id)).recording_started_at
    assert began is not None
    [who, *_] = await room.bots.participants(long_id)
    zero_ms = round(began.timestamp() * 1000) + 2_000
    events = [(n * 5_000 + later, kind) for n in range(TURNS) for later, kind in _SPEAKING]
    rows = [{"bot_id": long_id, "participant": who.key, "at_ms": zero_ms + ms, "type": kind} for ms, kind in events]
    await _write(room, t.speaking_events, rows)


_SPEAKING = ((0, "started-speaking"), (4_000, "stopped-speaking"))


async def _write(room: ApiRoom, table: Any, rows: list[dict[str, Any]]) -> None:
    async with room.database.begin() as connection:
        for first in range(0, len(rows), 200):
            await connection.execute(insert(table).values(rows[first : first + 200]))
