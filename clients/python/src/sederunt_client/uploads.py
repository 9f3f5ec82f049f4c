"""A file on its way to the service: read piece by piece, counted, and read again from its beginning for another try."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sederunt_client.errors import SederuntClientError

Source = str | os.PathLike[str] | IO[bytes]
Progress = Callable[[int, "int | None"], None]

_BLOCK = 65_536


class Upload:
    """A field of a form that is a file."""

    def __init__(self, field: str, source: Source, on_progress: Progress | None) -> None:
        self._field = field
        self._source = source
        self._on_progress = on_progress

    @classmethod
    def of(cls, field: str, source: Source | None, on_progress: Progress | None) -> "Upload | None":
        """Return the upload; None where there is no file."""
        return None if source is None else cls(field, source, on_progress)

    @property
    def can_rewind(self) -> bool:
        """Return whether another try could send it from its beginning."""
        return isinstance(self._source, (str, os.PathLike)) or self._source.seekable()

    @contextmanager
    def opened(self) -> Iterator[dict[str, tuple[str, IO[bytes]]]]:
        """Provide the form's file, from its beginning."""
        if isinstance(self._source, (str, os.PathLike)):
            with Path(self._source).open("rb") as file:
                yield self._form(Path(self._source).name, file)
            return
        if self._source.seekable():
            self._source.seek(0)
        yield self._form(Path(str(getattr(self._source, "name", "recording"))).name, self._source)

    def _form(self, name: str, file: IO[bytes]) -> dict[str, tuple[str, IO[bytes]]]:
        counted = _Counted(file, self._on_progress) if self._on_progress else file
        sent = counted if self.can_rewind else _Stream(counted)
        return {self._field: (name, sent)}  # type: ignore[dict-item]  # what is asked of a file, it has


class _Stream:
    """Something to read whose length nobody can tell: the size that a pipe's descriptor has is 0."""

    def __init__(self, file: "IO[bytes] | _Counted") -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def __iter__(self) -> Iterator[bytes]:
        while block := self.read(_BLOCK):
            yield block


class _Counted:
    """A file that tells how much of it was read."""

    def __init__(self, file: IO[bytes], on_progress: Progress) -> None:
        self._file = file
        self._on_progress = on_progress
        self._sent = 0
        self._total = _size(file)

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self._sent += len(block)
        if block:
            self._on_progress(self._sent, self._total)
        return block

    def seek(self, offset: int, whence: int = 0) -> int:
        self._sent = 0
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return self._file.seekable()

    def __iter__(self) -> Iterator[bytes]:
        while block := self.read(_BLOCK):
            yield block


def refuse_changed(error: Exception) -> None:
    """Raise SederuntClientError for the complaint that more, or less, was sent than had been announced."""
    if type(error).__module__.partition(".")[0] == "h11":
        raise SederuntClientError(f"The file changed while it was sent: {error}.") from error


def _size(file: IO[bytes]) -> int | None:
    if not file.seekable():
        return None
    here = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(here)
    return end
