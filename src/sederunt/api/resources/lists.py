"""Paged lists, made in parts: other callers are served between two parts, and each account has its share of time."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.responses import Response

from sederunt.api.call import Call
from sederunt.api.failures import response_of_parts
from sederunt.api.schemas.views import page_json
from sederunt.database.paging import ListPage, ListPageRequest
from sederunt.database.parts import PART_ROWS

LOOK_BYTES = 10_000  # the cost of a list query, in bytes of an answer
T = TypeVar("T")


@asynccontextmanager
async def looking(call: Call) -> AsyncIterator[None]:
    """Wait until the account may run another list query. Raises TooManyRequests."""
    await call.context.bulk.begin(call.account_id, LOOK_BYTES)
    async with call.context.bulk.look(call.account_id):
        yield


async def list_response(call: Call, parts: AsyncIterator[str]) -> Response:
    """Answer with JSON in parts, each sent as soon as the account's rate allows."""

    async def spaced() -> AsyncIterator[str]:
        async for part in parts:
            await call.context.bulk.go_on(call.account_id, len(part))
            yield part

    return await response_of_parts(spaced())


async def page_of_list(
    call: Call,
    read: Callable[[ListPageRequest], Awaitable[ListPage[T]]],
    values: Callable[[T], Mapping[str, Any]],
) -> Response:
    """Answer with the requested page of a list. Raises InvalidConfig, TooManyRequests."""
    async with looking(call):
        page = await read(call.page())
    return await list_response(call, page_json(texts_of(page.items, values), page.cursor))


async def texts_of(items: Sequence[T], values: Callable[[T], Mapping[str, Any]]) -> AsyncIterator[list[str]]:
    """Yield items as JSON, part by part."""
    for start in range(0, len(items), PART_ROWS):
        yield [json.dumps(values(item)) for item in items[start : start + PART_ROWS]]
