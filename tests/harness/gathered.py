"""Lists that come part by part, as a whole."""

from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


async def gathered(parts: AsyncIterator[Sequence[Item]]) -> list[Item]:
    """Everything that all parts hold."""
    return [item async for part in parts for item in part]
