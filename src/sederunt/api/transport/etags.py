"""Entity tags of resources that have ended: a caller who has the body gets a 304, for which nothing large is read.

The tag depends on everything in the body: the row as this caller sees it, including its addresses, and the number of
its children. Children of an ended bot or recording are never changed, only added, or deleted together with it.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sederunt import __version__


def etag_of(values: Mapping[str, Any], *parts: object) -> str:
    """Return the tag of a body.

    Args:
        values: its own fields, without children.
        parts: everything else that it depends on: the number of children, the query's parameters.
    """
    text = json.dumps((__version__, values, *parts))
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def is_asked(request: Request) -> bool:
    """Return whether the caller has a body already and asks whether it is still valid."""
    return "if-none-match" in request.headers


def tag_of_gzip(etag: str) -> str:
    """Return the tag of the same body when compressed: the standard requires a different one."""
    return f'{etag[:-1]}-gzip"'


def held_tag(request: Request, etag: str) -> str | None:
    """Return the tag under which the caller has this body already, compressed or not; None if it has not."""
    tags = (tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(","))
    match = next((tag for tag in tags if tag in ("*", etag, tag_of_gzip(etag))), None)
    return etag if match == "*" else match


def headers_of(etag: str) -> dict[str, str]:
    """Return the headers of a body with a tag: private to the caller, and revalidated each time."""
    return {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}


def not_modified(etag: str) -> Response:
    """Answer that the caller's body is still valid."""
    return Response(status_code=304, headers=headers_of(etag))
