"""Answer with a body that has an entity tag; large bodies are compressed for callers that accept it."""

import asyncio
import gzip
import re
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from sederunt.api.failures import text_response
from sederunt.api.transport.body_cache import LEAST_BYTES, BodyCache
from sederunt.api.transport.etags import headers_of, held_tag, not_modified, tag_of_gzip

LEVEL = 1  # leaves 17 % of a transcript, in 1 ms per 200 kB; the usual level leaves 14 % in 2.5 ms
_REFUSED = re.compile(r";\s*q=0(\.0*)?\s*$")


def takes_gzip(accept_encoding: str) -> bool:
    """Return whether a caller accepts compressed bodies."""
    words = [word.strip().lower() for word in accept_encoding.split(",")]
    return any(re.split(r"[;\s]", word)[0] in ("gzip", "*") and not _REFUSED.search(word) for word in words)


async def known_response(request: Request, cache: BodyCache, resource_id: UUID, etag: str) -> Response | None:
    """Return the answer if the caller has this body or it is cached; None if it has to be made."""
    if (held_etag := held_tag(request, etag)) is not None:
        return not_modified(held_etag)
    body = cache.get(etag)
    return None if body is None else await tagged_response(request, cache, resource_id, etag, body)


async def tagged_response(request: Request, cache: BodyCache, resource_id: UUID, etag: str, body: bytes) -> Response:
    """Return the answer with this body, and cache it, both plain and compressed.

    Args:
        resource_id: the id of the bot or recording.
    """
    cache.keep(resource_id, etag, body)
    if len(body) < LEAST_BYTES or not takes_gzip(request.headers.get("accept-encoding", "")):
        return text_response(body, headers=headers_of(etag))
    etag = tag_of_gzip(etag)
    gzip_body = cache.get(etag)
    if gzip_body is None:
        gzip_body = await asyncio.to_thread(gzip.compress, body, LEVEL, mtime=0)
        cache.keep(resource_id, etag, gzip_body, least_bytes=1)
    return text_response(gzip_body, headers={**headers_of(etag), "Content-Encoding": "gzip"})
