"""Who contributed to mixed tracks, kept beside the pieces: JSON, one object per page that was recorded."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from sederunt.media.timeline import Span
from sederunt.storage.objects import Objects


def spans_key(bot_id: UUID, stay: str) -> str:
    return f"bots/{bot_id}/spans/{stay}.json"


async def keep_spans(objects: Objects, bot_id: UUID, stay: str, spans: Sequence[Span]) -> None:
    """Write one page's spans, in place of what was written of them before."""
    await objects.put(spans_key(bot_id, stay), json.dumps([asdict(span) for span in spans]).encode())


async def read_spans(objects: Objects, bot_id: UUID) -> list[Span]:
    """Return all spans of a bot, by start."""
    spans: list[Span] = []
    for key in await objects.keys(f"bots/{bot_id}/spans/"):
        spans += [Span(**span) for span in json.loads(await objects.get(key))]
    return sorted(spans, key=lambda span: span.start)
