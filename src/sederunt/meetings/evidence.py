"""What is kept of an ending that nobody ordered: picture, page text, address, last signals, the row that decided."""

import json
from collections.abc import Iterable
from uuid import UUID

from sederunt import log
from sederunt.browser.page import MeetingPage, Signal
from sederunt.errors import PageError
from sederunt.storage.objects import Objects

logger = log.get(room="meetings")


async def keep_evidence(
    bot_id: UUID,
    page: MeetingPage,
    signals: Iterable[Signal],
    *,
    row: str,
    seen: str,
    objects: Objects,
    answers: bool = True,
) -> dict[str, str]:
    """Store what the page shows now. Returns kind → object; a page that is gone gives what is left of it.

    Without `answers` the page is known to be dead or frozen and is not asked.
    """
    kept: dict[str, str] = {}
    try:
        if answers:
            kept["screenshot"] = await _put(objects, bot_id, "screenshot.png", await page.screenshot())
            kept["page_text"] = await _put(objects, bot_id, "page.txt", (await page.text()).encode())
    except PageError as error:
        seen = f"{seen} ({error})" if seen else str(error)
    facts = {
        "row": row,
        "seen": seen,
        "address": page.url.split("?")[0],
        "signals": [{"kind": s.kind, "at_ms": s.at_ms, "data": _brief(s)} for s in signals],
    }
    kept["signals"] = await _put(objects, bot_id, "signals.json", json.dumps(facts, indent=1).encode())
    return kept


async def _put(objects: Objects, bot_id: UUID, name: str, data: bytes) -> str:
    key = f"bots/{bot_id}/evidence/{name}"
    await objects.put(key, data)
    return key


def _brief(signal: Signal) -> dict[str, str]:
    """A signal's fields cut short; payloads as their size: evidence is for people."""
    return {
        name: f"{len(value)} bytes" if isinstance(value, bytes) else str(value)[:300]
        for name, value in signal.data.items()
    }
