"""Answer with a body that has a tag; a large one is compressed for callers who take that."""

import asyncio
import gzip
import re
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from sederunt.api.failures import text_response
from sederunt.api.transport.body_cache import LEAST_BYTES, BodyCache
from sederunt.api.transport.etags import headers_of, held_tag, not_modified, tag_of_gzip

LEVEL = 1  # of a transcript 17 % are left, in a millisecond per 200 kB; the usual level leaves 14 % in two and a half
_REFUSED = re.compile(r";\s*q=0(\.0*)?\s*$")


def takes_gzip(accept_encoding: str) -> bool:
    """Return whether a caller says that compressed bodies are welcome."""
    words = [word.strip().lower() for word in accept_encoding.split(",")]
    return any(re.split(r"[;\s]", word)[0] in ("gzip", "*") and not _REFUSED.search(word) for word in words)


async def known_response(request: Request, cache: BodyCache, resource_id: UUID, etag: str) -> Response | None:
    """Return the answer to a caller who has this body, or whose body is kept here; None where it has to be made."""
    if (held_etag := held_tag(request, etag)) is not None:
        return not_modified(held_etag)
    body = cache.get(etag)
    return None if body is None else await tagged_response(request, cache, resource_id, etag, body)


async def tagged_response(request: Request, cache: BodyCache, resource_id: UUID, etag: str, body: bytes) -> Response:
    """Return the answer with this body; it is kept for the next caller, and so is what was compressed.

    Args:
        resource_id: of the bot or recording that it tells of.
    """
    cache.keep(resource_id, etag, body)
    if len(body) < LEAST_BYTES or not takes_gzip(request.headers.get("accept-encoding", "")):
        return text_response(body, headers=headers_of(etag))
    etag = tag_of_gzip(etag)
    compressed = cache.get(etag)
    if compressed is None:
        compressed = await asyncio.to_thread(gzip.compress, body, LEVEL, mtime=0)
        cache.keep(resource_id, etag, compressed, least_bytes=1)
    return text_response(compressed, headers={**headers_of(etag), "Content-Encoding": "gzip"})
