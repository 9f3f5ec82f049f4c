"""Stores evidence of how a stay ended: the claims of every stay with their reasons and, if nobody asked the bot to
leave, what the page showed (screenshot, text, address, last signals, the row that decided).

Callers see it as the bot's `evidence`.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from uuid import UUID

from sederunt import log
from sederunt.browser.page import MeetingPage, Signal
from sederunt.claims.journal import report
from sederunt.errors import NotFound, PageError, Superseded
from sederunt.meetings.journal import Journal
from sederunt.meetings.session.roster import Roster
from sederunt.storage.objects import Objects

# When a stay's claims are stored first, and the longest interval after that.
FIRST_CLAIMS_S, CLAIMS_EVERY_S = 15.0, 600.0

logger = log.get(component="meetings")


async def keep_diagnostics(
    bot_id: UUID,
    page: MeetingPage,
    signals: Iterable[Signal],
    *,
    row: str,
    seen: str,
    objects: Objects,
    answers: bool = True,
) -> dict[str, str]:
    """Store what the page shows now. Returns kind → object; for a page that is gone, only what is still known.

    Without `answers` the page is dead or frozen and is not asked.
    """
    keys_by_kind: dict[str, str] = {}
    files: dict[str, tuple[str, Callable[[], Awaitable[bytes]]]] = {
        "screenshot": ("screenshot.png", page.screenshot),
        "page_text": ("page.txt", lambda: _text(page)),
    }
    for kind, (name, read) in files.items() if answers else ():
        try:
            keys_by_kind |= await _put(objects, bot_id, kind, name, await read())
        except PageError as error:
            seen = f"{seen} ({error})" if seen else str(error)
    # These files are for people, so fields are cut short, and addresses omit the query, which may be secret.
    facts = {
        "row": row,
        "seen": seen,
        "address": page.url.split("?")[0],
        "signals": [
            {
                "kind": signal.kind,
                "at_ms": signal.at_ms,
                "data": {name: _word(name, value) for name, value in signal.data.items()},
            }
            for signal in signals
        ],
    }
    return keys_by_kind | await _put(objects, bot_id, "signals", "signals.json", json.dumps(facts, indent=1).encode())


async def keep_claims(bot_id: UUID, stay: str, roster: Roster, objects: Objects) -> dict[str, str]:
    """Store the claims of a stay and the conclusions from them with reasons. Returns kind → object.

    `sederunt bots replay` replays the claims.
    """
    reasons = json.dumps(report(roster.fold), indent=1).encode()
    claims = await _put(objects, bot_id, "claims", f"claims-{stay}.jsonl.gz", roster.claims.packed())
    return claims | await _put(objects, bot_id, "why", f"why-{stay}.json", reasons)


async def keep_claims_meanwhile(
    journal: Journal, stay: str, roster: Roster, objects: Objects, *, first_s: float = FIRST_CLAIMS_S
) -> None:
    """Store the claims of a stay and their reasons while it lasts, because a killed host can store nothing.

    Runs until its task is cancelled. The longer a stay lasts, the rarer it stores: thirty times in four hours.
    """
    stored_count, pause_s = 0, first_s
    while True:
        await asyncio.sleep(pause_s)
        if roster.claims.count == stored_count:
            continue
        stored_count, pause_s = roster.claims.count, min(2 * pause_s, CLAIMS_EVERY_S)
        try:
            await journal.keep_evidence(await keep_claims(journal.bot.id, stay, roster, objects))
        except (Superseded, NotFound):
            return
        except Exception:
            logger.exception("claims not kept", action="evidence_failed", bot_id=str(journal.bot.id), kind="claims")


async def _text(page: MeetingPage) -> bytes:
    return (await page.text()).encode()


async def _put(objects: Objects, bot_id: UUID, kind: str, name: str, data: bytes) -> dict[str, str]:
    # Returns {} if storage fails, because the ending must still be reported.
    key = f"bots/{bot_id}/evidence/{name}"
    try:
        await objects.put(key, data)
    except Exception:
        logger.exception("evidence not kept", action="evidence_failed", bot_id=str(bot_id), kind=kind)
        return {}
    return {kind: key}


def _word(name: str, value: object) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return str(value).split("?")[0] if name == "url" else str(value)[:300]
