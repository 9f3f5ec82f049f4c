"""Who contributed to mixed tracks, kept beside the pieces: JSON, one object per holder of the bot."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from sederunt.media.timeline import Span
from sederunt.storage.objects import Objects


def spans_key(bot_id: UUID, epoch: int) -> str:
    return f"bots/{bot_id}/spans/{epoch:06d}.json"


async def keep_spans(objects: Objects, bot_id: UUID, epoch: int, spans: Sequence[Span]) -> None:
    """Write one holder's spans, in place of what it wrote before."""
    await objects.put(spans_key(bot_id, epoch), json.dumps([asdict(span) for span in spans]).encode())


async def read_spans(objects: Objects, bot_id: UUID) -> list[Span]:
    """The spans of all holders, by start."""
    spans: list[Span] = []
    for key in await objects.keys(f"bots/{bot_id}/spans/"):
        spans += [Span(**span) for span in json.loads(await objects.get(key))]
    return sorted(spans, key=lambda span: span.start)
