"""Sound that may be needed again: a minute in memory, the rest on disk; none is dropped unless asked for."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
MEMORY_S = 60.0

Samples = NDArray[np.int16]


@dataclass(slots=True)
class _Chunk:
    """A stretch of sound, in memory or at an offset in the file."""

    start: float
    count: int
    samples: Samples | None
    offset: int = 0

    @property
    def end(self) -> float:
        return self.start + self.count / RATE


class Backlog:
    """A queue of sound: added at one end, taken or dropped at the other.

    Args:
        folder: where to put the file for what exceeds `memory_s`; by default the system's temporary folder.
    """

    def __init__(self, folder: Path | None = None, *, memory_s: float = MEMORY_S) -> None:
        self._folder, self._most = folder, round(memory_s * RATE)
        self._on_disk: deque[_Chunk] = deque()
        self._in_memory: deque[_Chunk] = deque()
        self._held = 0
        self._file: BinaryIO | None = None

    def __bool__(self) -> bool:
        return bool(self._on_disk or self._in_memory)

    def seconds_after(self, at: float) -> float:
        """Return how much sound there is after this second."""
        return sum(max(0.0, chunk.end - max(chunk.start, at)) for chunk in (*self._on_disk, *self._in_memory))

    def append(self, start: float, samples: Samples) -> None:
        """Add the next samples, which begin at this second."""
        self._in_memory.append(_Chunk(start, len(samples), samples))
        self._held += len(samples)
        while self._held > self._most:
            self._spill(self._in_memory.popleft())

    def drop_until(self, at: float) -> None:
        """Drop chunks that end before this second."""
        for queue in (self._on_disk, self._in_memory):
            while queue and queue[0].end <= at:
                self._forget(queue)

    def take(self) -> tuple[float, Samples] | None:
        """Return the oldest chunk and drop it; None if there is none."""
        queue = self._on_disk or self._in_memory
        if not queue:
            return None
        oldest = queue[0].start, self._read(queue[0])
        self._forget(queue)
        return oldest

    def all(self) -> Iterator[tuple[float, Samples]]:
        """Return all chunks, oldest first, and keep them."""
        for chunk in (*self._on_disk, *self._in_memory):
            yield chunk.start, self._read(chunk)

    def clear(self) -> None:
        """Drop everything, and free the space on disk."""
        self._on_disk.clear()
        self._in_memory.clear()
        self._held = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def _spill(self, chunk: _Chunk) -> None:
        assert chunk.samples is not None
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="sederunt-sound-", dir=self._folder)  # noqa: SIM115 - as long as we
        chunk.offset = self._file.seek(0, 2)
        self._file.write(chunk.samples.tobytes())
        self._held -= chunk.count
        chunk.samples = None
        self._on_disk.append(chunk)

    def _read(self, chunk: _Chunk) -> Samples:
        if chunk.samples is not None:
            return chunk.samples
        assert self._file is not None
        self._file.seek(chunk.offset)
        return np.frombuffer(self._file.read(chunk.count * 2), np.int16)

    def _forget(self, queue: deque[_Chunk]) -> None:
        chunk = queue.popleft()
        if chunk.samples is not None:
            self._held -= chunk.count
        elif not self._on_disk and self._file is not None:
            self._file.close()
            self._file = None
