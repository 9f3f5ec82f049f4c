"""Entity tags of resources that have ended: a caller who has the body gets a 304, and nothing large is read for it.

The tag stands for everything that the body is made of: the row as this caller sees it, its addresses included, and how
many children it has. Those of a bot or recording that has ended are never changed, only added to or deleted with it.
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
        parts: what else it depends on: how many children there are, what the query asks for.
    """
    text = json.dumps((__version__, values, *parts))
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def is_asked(request: Request) -> bool:
    """Return whether the caller has a body already, and wants to know whether it still holds."""
    return "if-none-match" in request.headers


def tag_of_gzip(etag: str) -> str:
    """Return the tag of the same body, compressed: by the standard it is another one."""
    return f'{etag[:-1]}-gzip"'


def held_tag(request: Request, etag: str) -> str | None:
    """Return the tag by which the caller has this body already, compressed or not; None where it has not."""
    tags = (tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(","))
    match = next((tag for tag in tags if tag in ("*", etag, tag_of_gzip(etag))), None)
    return etag if match == "*" else match


def headers_of(etag: str) -> dict[str, str]:
    """Return the headers of a body with a tag: private to the caller, and revalidated each time."""
    return {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}


def not_modified(etag: str) -> Response:
    """Answer that the caller's body still holds."""
    return Response(status_code=304, headers=headers_of(etag))
