"""Download a recording through the guard for callers' addresses into a file, up to a size limit."""

import asyncio
from pathlib import Path
from time import monotonic

import httpx2

from sederunt.addresses import blocks_of, opened
from sederunt.errors import DestinationError
from sederunt.model.budgets import default_of
from sederunt.tracing import traced

DOWNLOAD_S = default_of("fetch_s")  # for the whole body; the client's own timeout ends a stalled connection sooner
# A slower download is given up: it would hold a place that others need.
WINDOW_S, LEAST_BYTES_S = 30.0, 10_000


@traced("download")
async def download(client: httpx2.AsyncClient, url: str, path: Path, *, most_bytes: int, allow_private: bool) -> int:
    """Fetch an address into a file; returns its size in bytes.

    Raises DestinationError, not retryable if the address is refused or the file too large.
    """
    size = window_start_size = 0
    window_ends = monotonic() + WINDOW_S
    try:
        async with (
            asyncio.timeout(DOWNLOAD_S),
            opened(client, url, allow_private=allow_private) as response,
        ):
            stated_length = response.headers.get("content-length", "")
            if stated_length.isdecimal() and int(stated_length) > most_bytes:
                raise too_large(most_bytes)
            with path.open("wb") as file:
                async for block in blocks_of(response):
                    size += len(block)
                    if size > most_bytes:
                        raise too_large(most_bytes)
                    await asyncio.to_thread(file.write, block)
                    if monotonic() > window_ends:
                        if size - window_start_size < WINDOW_S * LEAST_BYTES_S:
                            raise too_slow()
                        window_start_size, window_ends = size, monotonic() + WINDOW_S
    except TimeoutError:
        raise DestinationError(f"The address did not deliver within {DOWNLOAD_S:g} s.", retryable=True) from None
    return size


def too_slow() -> DestinationError:
    sentence = f"The address delivers less than {LEAST_BYTES_S / 1000:g} kB a second."
    return DestinationError(sentence, retryable=True)


def too_large(most_bytes: int) -> DestinationError:
    return DestinationError(f"The recording is larger than {most_bytes / 1e6:,.0f} MB.", retryable=False)
