"""Who contributed to mixed tracks, stored beside the pieces as JSON, one object per recorded page."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from sederunt.media.timeline import Span
from sederunt.recordings.piece_keys import SPANS, files_prefix
from sederunt.storage.objects import Objects


def written_spans(spans: Sequence[Span]) -> bytes:
    """Return one page's spans as stored."""
    return json.dumps([asdict(span) for span in spans]).encode()


async def read_spans(objects: Objects, bot_id: UUID) -> list[Span]:
    """Return all spans of a bot, by start."""
    spans: list[Span] = []
    for key in await objects.keys(files_prefix(bot_id, SPANS)):
        spans += [Span(**span) for span in json.loads(await objects.get(key))]
    return sorted(spans, key=lambda span: span.start)
