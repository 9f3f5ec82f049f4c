"""Signed addresses of recordings, tracks, pictures and evidence: without a key, with ranges, without listing."""

from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from sederunt.api.context import ApiContext
from sederunt.api.failures import message_response
from sederunt.api.schemas.values import picture_type
from sederunt.api.transport.ranges import ByteRange, Unsatisfiable, requested_span
from sederunt.media.containers import media_type_of
from sederunt.storage.objects import CONTENT_TYPES

REDIRECT_S = 3600.0  # validity of an address in the bucket: longer than a download takes to begin

# Text from a meeting page must never run as a page of ours.
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'; media-src 'self'",
}
_FIRST_BYTES = 4096


async def get_file(context: ApiContext, request: Request) -> Response:
    """Answer GET and HEAD /files/{resource}/{id}/{name}"""
    key = _checked_key(context, request)
    size = await context.objects.size(key) if key else None
    if key is None or size is None:
        # The same answer for a wrong or expired signature and a missing file, so that guessing reveals nothing.
        return message_response("There is no such file, or its address has expired.", 404)
    redirects = context.settings.storage.redirect and may_redirect(request.method, request.headers)
    if redirects and (bucket_url := await context.objects.presigned(key, REDIRECT_S)):
        return RedirectResponse(bucket_url, 302, headers={"Cache-Control": "no-store"})
    try:
        span = requested_span(request.headers.get("range"), size)
    except Unsatisfiable:
        headers = {"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"}
        return message_response(f"The file has only {size} bytes.", 416, headers)
    headers = {**await _headers(context, key, size), **_SAFE}
    return _answer(context, request, key, size, span, headers)


def may_redirect(method: str, headers: Mapping[str, str]) -> bool:
    """Return whether this request may be redirected to the bucket.

    A HEAD may not, because the signature is for GET only; nor may the console's player, whose content policy allows
    its own origin only.
    """
    return method == "GET" and headers.get("sec-fetch-site") != "same-origin"


def _answer(
    context: ApiContext, request: Request, key: str, size: int, span: ByteRange | None, headers: Mapping[str, str]
) -> Response:
    whole = ByteRange(0, size)
    part = span or whole
    headers = {**headers, "Accept-Ranges": "bytes", "Content-Length": str(part.end - part.start)}
    if span is not None:
        headers["Content-Range"] = span.header(size)
    status = 206 if span is not None else 200
    if request.method == "HEAD" or size == 0:
        return Response(status_code=status, headers=headers)
    return StreamingResponse(context.objects.stream(key, part.start, part.end), status, headers)


def _checked_key(context: ApiContext, request: Request) -> str | None:
    """Return the file's storage key if we signed this address and it is still valid."""
    resource, id_, name = (request.path_params[part] for part in ("resource", "id", "name"))
    query = request.query_params
    try:
        links = context.links("")
        is_valid = links.check(
            resource,
            UUID(id_),
            name,
            until=query.get("until", ""),
            signature=query.get("signature", ""),
            now=context.clock.now(),
        )
    except ValueError:
        return None
    # Only the usual spelling of an id: UUID() also accepts braces, urn: and missing dashes.
    return f"{resource}/{id_}/{name}" if is_valid and id_ == str(UUID(id_)) else None


async def _headers(context: ApiContext, key: str, size: int) -> dict[str, str]:
    name = key.rsplit("/", 1)[1]
    stem, extension = Path(name).stem, Path(name).suffix
    kind = CONTENT_TYPES.get(extension)
    if kind is None:
        kind, extension = _sniffed(await context.objects.read_range(key, 0, min(size, _FIRST_BYTES)))
    id_ = key.split("/")[1]
    return {
        "Content-Type": kind,
        "Content-Disposition": f'inline; filename="{stem}-{id_[:8]}{extension}"',
        "Cache-Control": "private, max-age=300",
    }


def _sniffed(first: bytes) -> tuple[str, str]:
    """Return (media type, extension) of an upload, whose name says nothing about its type."""
    picture = picture_type(first)
    if picture:
        return picture, "." + picture.partition("/")[2]
    return media_type_of(first)
