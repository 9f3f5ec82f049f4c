"""Write an object of unknown length in parts as it arrives; it is finished or undone as a whole."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from types import TracebackType

import obstore
from obstore.store import ObjectStore

from sederunt.errors import StorageMissing

CHUNK_BYTES = 8 * 1024 * 1024  # S3 takes 10,000 parts: objects up to 80 GB
# Bytes per call to the store's client, which fills its parts itself. Joining whole parts of 8 MB here would block the
# process for 2 to 5 ms each (measured).
PIECE_BYTES = 1024 * 1024
UPLOADS = 2  # parts under way at once; together with the one being filled, this bounds memory


class Aborted(Exception):
    """The writer was asked to stop."""


class Writer:
    """One object being written. A small one is kept until it is complete; a larger one is sent in parts."""

    def __init__(
        self, store: ObjectStore, key: str, attributes: dict[str, str] | None, tidy: Callable[[], None]
    ) -> None:
        self._store, self._key, self._attributes, self._tidy = store, key, attributes, tidy
        self._gathered: list[bytes] = []
        self._gathered_bytes = 0
        self._pieces: asyncio.Queue[bytes | Aborted | None] = asyncio.Queue(maxsize=1)
        self._upload: asyncio.Task[object] | None = None
        self.size = 0  # bytes written so far

    async def write(self, data: bytes) -> None:
        """Take some bytes; waits if the store is slower than the writer. Raises the store's error."""
        self._gathered.append(data)
        self._gathered_bytes += len(data)
        self.size += len(data)
        if self._gathered_bytes >= (CHUNK_BYTES if self._upload is None else PIECE_BYTES):
            await self._send()

    async def close(self) -> int:
        """Finish the object, which then exists; returns its size in bytes."""
        if self._upload is None:
            data, self._gathered = b"".join(self._gathered), []
            with missing_nothing_but_the_bucket():
                await obstore.put_async(self._store, self._key, data, attributes=self._attributes)
        else:
            try:
                if self._gathered:
                    await self._send()
                await self._hand_over(None)
                await asyncio.shield(self._upload)
            except BaseException:
                await self.abort()
                raise
        return self.size

    async def abort(self) -> None:
        """Give up and remove what was sent. Does nothing after the end."""
        self._gathered, upload = [], self._upload
        if upload is not None and not upload.done():
            # The store's client undoes an upload whose source fails; a cancelled one leaves its parts behind.
            await self._hand_over(Aborted())
            await asyncio.wait({upload})
        if upload is not None and upload.done() and not upload.cancelled():
            upload.exception()
        self._tidy()

    async def __aenter__(self) -> "Writer":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            await self.close()
        else:
            await asyncio.shield(asyncio.ensure_future(self.abort()))

    async def _send(self) -> None:
        if self._upload is None:
            self._upload = asyncio.create_task(self._run_upload())
        chunks, self._gathered, self._gathered_bytes = self._gathered, [], 0
        for piece in _pieces(chunks):
            await self._hand_over(piece)

    async def _hand_over(self, piece: "bytes | Aborted | None") -> None:
        """Put a piece into the queue, or raise the error of an upload that has stopped reading it."""
        assert self._upload is not None
        put = asyncio.ensure_future(self._pieces.put(piece))
        try:
            await asyncio.wait({put, self._upload}, return_when=asyncio.FIRST_COMPLETED)
            if not put.done() and not isinstance(piece, Aborted):
                self._upload.result()
        finally:
            put.cancel()

    async def _run_upload(self) -> None:
        with missing_nothing_but_the_bucket():
            await obstore.put_async(
                self._store,
                self._key,
                self._source(),
                attributes=self._attributes,
                use_multipart=True,
                chunk_size=CHUNK_BYTES,
                max_concurrency=UPLOADS,
            )

    async def _source(self) -> AsyncIterator[bytes]:
        while (piece := await self._pieces.get()) is not None:
            if isinstance(piece, Aborted):
                raise piece
            yield piece


@contextlib.contextmanager
def missing_nothing_but_the_bucket() -> Iterator[None]:
    """Raise StorageMissing for a missing file: a write or a listing can miss only the bucket."""
    try:
        yield
    except FileNotFoundError as error:
        raise StorageMissing("The storage has no such bucket or folder, for now.") from error


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Join chunks into pieces of about PIECE_BYTES; a larger chunk stays as it is."""
    piece: list[bytes] = []
    size = 0
    for data in chunks:
        piece.append(data)
        size += len(data)
        if size >= PIECE_BYTES:
            yield piece[0] if len(piece) == 1 else b"".join(piece)
            piece, size = [], 0
    if piece:
        yield b"".join(piece)
