"""Store pieces on disk, and read them back in the order of their times."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import IO, Generic, Protocol, TypeVar

from sederunt import log
from sederunt.errors import BrokenMedia

logger = log.get(component="media")


class Timed(Protocol):
    @property
    def start(self) -> float: ...


Item = TypeVar("Item", bound=Timed)


class Fitting(Protocol[Item]):
    """Which of a recording's items are kept, and where."""

    def of(self, items: Iterable[Item], /) -> list[Item]:
        """Return the items to keep, at their places, in the given order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedPiece(Generic[Item]):
    """A piece that is kept only in part, or lies elsewhere than its times say."""

    data: bytes
    fit: Fitting[Item]


class Spool(Generic[Item]):
    """Copies pieces to a scratch file and yields their items by start, with only overlapping pieces in memory.

    Args:
        file: open for writing and reading, empty.
        read: returns a piece's items by start; raises BrokenMedia if damaged, or returns the rest with `salvage`.
    """

    def __init__(self, file: IO[bytes], read: Callable[[bytes, bool], list[Item]]) -> None:
        self._file, self._read = file, read
        self._index: list[tuple[float, int, int, Fitting[Item] | None]] = []  # first start, place, length, fit
        self.pieces = self.damaged = 0

    def fill(self, pieces: Iterable[bytes | FittedPiece[Item]]) -> None:
        """Take all pieces, one after another."""
        for piece in pieces:
            data, fit = (piece.data, piece.fit) if isinstance(piece, FittedPiece) else (piece, None)
            self.pieces += 1
            items = self._looked_into(data)
            if fit is not None:
                items = fit.of(items)
            if items:
                self._index.append((items[0].start, self._file.tell(), len(data), fit))
                self._file.write(data)
        self._index.sort(key=itemgetter(0))

    def _looked_into(self, data: bytes) -> list[Item]:
        try:
            return self._read(data, False)
        except BrokenMedia as error:
            items = self._read(data, True)
            self.damaged += 1
            logger.warning(
                "piece was damaged", action="piece_salvaged", reason=str(error), bytes=len(data), kept=len(items)
            )
            return items

    def items(self) -> Iterator[Item]:
        """Yield everything by start."""
        open_items: list[Item] = []
        for start, place, length, fit in self._index:
            ready_items = [item for item in open_items if item.start < start]
            yield from ready_items
            open_items = open_items[len(ready_items) :]
            self._file.seek(place)
            items = self._read(self._file.read(length), True)
            open_items.extend(items if fit is None else fit.of(items))
            open_items.sort(key=attrgetter("start"))
        yield from open_items
