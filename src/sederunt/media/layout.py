"""Place pictures on the canvas, and choose the large one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

MIN_TURN_S = 2.0  # the large picture stays at least this long, however quickly speakers change


@dataclass(frozen=True, kw_only=True, slots=True)
class Canvas:
    width: int = 1280
    height: int = 720
    fps: int = 15


@dataclass(frozen=True, kw_only=True, slots=True)
class Tile:
    source: str
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Spoke:
    """A stretch in which somebody spoke, with the source of their picture."""

    source: str
    start: float  # seconds
    end: float


def arrange(main: str, others: Sequence[str], canvas: Canvas) -> list[Tile]:
    """Arrange the pictures: one alone fills the canvas; else `main` takes three quarters, others a right column."""
    if not others:
        return [Tile(source=main, x=0, y=0, width=canvas.width, height=canvas.height)]
    main_width = _even(canvas.width * 3 // 4)
    column = canvas.width - main_width
    tile_height = _even(column * 9 // 16)
    visible = others[: canvas.height // tile_height]
    top = _even((canvas.height - tile_height * len(visible)) // 2)
    return [
        Tile(source=main, x=0, y=0, width=main_width, height=canvas.height),
        *(
            Tile(source=source, x=main_width, y=top + tile_height * number, width=column, height=tile_height)
            for number, source in enumerate(visible)
        ),
    ]


def fit(width: int, height: int, tile: Tile) -> Tile:
    """Return the largest centred place for a picture in a tile, in even numbers, as the colour planes need."""
    scale = min(tile.width / width, tile.height / height)
    fitted_width, fitted_height = max(2, _even(round(width * scale))), max(2, _even(round(height * scale)))
    return Tile(
        source=tile.source,
        x=tile.x + _even((tile.width - fitted_width) // 2),
        y=tile.y + _even((tile.height - fitted_height) // 2),
        width=min(fitted_width, tile.width),
        height=min(fitted_height, tile.height),
    )


class Stage:
    """Chooses the large picture: first a shared screen, else the last speaker, else the previous choice.

    Times must not go back.
    """

    def __init__(self, spoken: Sequence[Spoke], screens: Collection[str]) -> None:
        self._spoken = sorted(spoken, key=lambda spoke: spoke.start)
        self._screens = frozenset(screens)
        self._next = 0
        self._talking: list[Spoke] = []
        self._main: str | None = None
        self._since_s = 0.0

    def main(self, at_s: float, visible: Sequence[str]) -> str | None:
        """Return the source to show large among these; None if nothing is visible."""
        while self._next < len(self._spoken) and self._spoken[self._next].start <= at_s:
            self._talking.append(self._spoken[self._next])
            self._next += 1
        self._talking = [spoke for spoke in self._talking if spoke.end > at_s]
        choice = self._wanted(visible)
        is_resting = self._main in visible and at_s - self._since_s < MIN_TURN_S and choice not in self._screens
        if choice != self._main and not is_resting:
            self._main, self._since_s = choice, at_s
        return self._main

    def _wanted(self, visible: Sequence[str]) -> str | None:
        for source in visible:
            if source in self._screens:
                return source
        speakers = [spoke.source for spoke in self._talking if spoke.source in visible]
        if self._main in speakers:
            return self._main  # an interruption changes nothing until one of them stops
        if speakers:
            return speakers[-1]
        return self._main if self._main in visible else (visible[0] if visible else None)


def _even(number: int) -> int:
    return number & ~1
