"""Convert our errors to HTTP answers, in this module only. Every answer is JSON with a `message`."""

import asyncio
import errno
import json
import os
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from sederunt import log
from sederunt.bus.connection import BusAway
from sederunt.database.faults import is_away as database_is_away
from sederunt.errors import InvalidConfig, LimitReached, RequestError, SetupError, TooManyRequests
from sederunt.media.reader_processes import ReaderLost
from sederunt.storage.objects import is_away as storage_is_away

logger = log.get(component="api")

PIECE_BYTES = 256 * 1024
RETRY_AFTER_S = 5  # parts of the service that are temporarily away are usually back by then
ROOM_AFTER_S = 60  # the operator has to act
_EXHAUSTED = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN))
_NO_THREAD = "can't start new thread"
_NO_ROOM = (os.strerror(errno.ENOSPC), "database or disk is full")


def json_response(values: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with plain values. ASCII only, so that no string can break the encoding."""
    return text_response(json.dumps(values), status, headers)


def text_response(text: str | bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer of serialised JSON; large ones are sent in pieces, so that others are served in between."""
    response_class = _PiecewiseResponse if len(text) > PIECE_BYTES else Response
    return response_class(text, status, headers, media_type="application/json")


class _PiecewiseResponse(Response):
    """An answer that is sent as fast as its caller reads it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        body = memoryview(self.body)
        for start in range(0, len(body), PIECE_BYTES):
            piece = bytes(body[start : start + PIECE_BYTES])
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b""})


async def response_of_parts(parts: AsyncIterator[str]) -> Response:
    """Return JSON that is made as fast as its caller reads it; if it fits into one piece, it is made before sending."""
    first_parts: list[str] = []
    async for part in parts:
        first_parts.append(part)
        if sum(map(len, first_parts)) > PIECE_BYTES:
            return StreamingResponse(_going_on(first_parts, parts), media_type="application/json")
    return text_response("".join(first_parts))


async def _going_on(first_parts: list[str], parts: AsyncIterator[str]) -> AsyncIterator[str]:
    while first_parts:
        yield first_parts.pop(0)
    async for part in parts:
        yield part
        await asyncio.sleep(0)


def message_response(message: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return json_response({"message": message}, status, headers)


def answer_to(error: Exception) -> Response:
    """Return the answer to an error. Our own faults are logged here, with their traceback."""
    match error:
        case InvalidConfig():
            return json_response({"message": str(error), "errors": error.fields}, 400)
        case TooManyRequests():
            values = {"message": str(error), "budget": error.budget}
            return json_response(values, error.status, {"Retry-After": str(error.retry_after_s)})
        case LimitReached():
            return json_response({"message": str(error), "budget": error.budget}, error.status)
        case RequestError():
            headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
            return message_response(str(error), error.status, headers)
        case BusAway():
            logger.warning("a request could not be passed on", action="bus_away", error=str(error))
            sentence = "The service cannot reach its hosts right now: try again in a moment."
            return message_response(sentence, 503, {"Retry-After": str(RETRY_AFTER_S)})
        case ClientDisconnect():
            logger.info("caller hung up", action="request_aborted")
            return message_response("The request was not complete.", 400)
        case SetupError():
            logger.error("installation lacks something", action="setup_fault", error=str(error))
            return message_response(str(error), 500)
        case _ if _is_disk_full(error):
            logger.error("the disk is full", action="disk_full", error=str(error)[:200])
            sentence = "The service has no room left to store this; its operator has to make some."
            return message_response(sentence, 503, {"Retry-After": str(ROOM_AFTER_S)})
        case _ if (lack := _lack(error)) is not None:
            logger.error("the machine lacks something", action="machine_exhausted", error=repr(lack)[:200])
            sentence = "The service's machine has no files, memory or processes left for this: try again in a moment."
            return message_response(sentence, 503, {"Retry-After": str(RETRY_AFTER_S)})
        case _ if (part := _part_away(error)) is not None:
            logger.warning(
                "a part of the service is away",
                action="part_away",
                part=part,
                error=f"{type(error).__name__}: {error}".splitlines()[0][:200],
            )
            sentence = f"The service cannot reach its {part} right now: try again in a moment."
            return message_response(sentence, 503, {"Retry-After": str(RETRY_AFTER_S)})
        case _:
            logger.error("request failed", action="request_failed", exc_info=error)
            return message_response("Something went wrong on our side.", 500)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes: storage and database wrap system errors in different ways."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_disk_full(error: BaseException) -> bool:
    """Return whether an error or one of its causes is the system's ENOSPC or EDQUOT."""
    return any(
        (isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT))
        or any(words in str(cause) for words in _NO_ROOM)
        for cause in _causes(error)
    )


def _lack(error: BaseException) -> BaseException | None:
    """Return the error or cause which shows that the machine is exhausted or killed a process."""
    for cause in _causes(error):
        if isinstance(cause, MemoryError | ReaderLost) or str(cause) == _NO_THREAD:
            return cause
        if isinstance(cause, OSError) and cause.errno in _EXHAUSTED:
            return cause
    return None


def _part_away(error: BaseException) -> str | None:
    """Return the part of the installation that is away by this error or its causes; None for other faults."""
    for cause in _causes(error):
        if database_is_away(cause):
            return "database"
        if storage_is_away(cause):
            return "storage"
        if isinstance(cause, ConnectionError | TimeoutError | socket.gaierror):
            return "database or storage"
    return None


async def http_exception(request: Request, error: Exception) -> Response:
    """Answer Starlette's own refusals (no such path, wrong method) in our format."""
    status = getattr(error, "status_code", 500)
    headers = getattr(error, "headers", None)
    if status == 404:
        sentence = "There is nothing at this path."
    elif status == 405:
        sentence = f"{request.method} is not possible here; possible: {(headers or {}).get('Allow', 'nothing')}."
    else:
        sentence = HTTPStatus(status).phrase
    return message_response(sentence, status, headers)
