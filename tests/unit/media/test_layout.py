"""Who is large, who is small, and where."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.media.layout import MIN_TURN_S, Canvas, Spoke, Stage, Tile, arrange, fit

CANVAS = Canvas()


def test_one_picture_fills_the_canvas() -> None:
    assert arrange("a", [], CANVAS) == [Tile(source="a", x=0, y=0, width=1280, height=720)]


@given(st.integers(1, 30), st.sampled_from([Canvas(), Canvas(width=640, height=360), Canvas(width=1920, height=1080)]))
def test_tiles_lie_inside_and_beside_each_other(others: int, canvas: Canvas) -> None:
    tiles = arrange("main", [str(n) for n in range(others)], canvas)
    assert tiles[0].source == "main"
    assert len(tiles) == 1 + min(others, 4)
    for tile in tiles:
        assert 0 <= tile.x < tile.x + tile.width <= canvas.width
        assert 0 <= tile.y < tile.y + tile.height <= canvas.height
        assert [number % 2 for number in (tile.x, tile.y, tile.width, tile.height)] == [0, 0, 0, 0]
    for a, b in combinations(tiles, 2):
        assert a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y


@given(st.integers(1, 4000), st.integers(1, 4000))
def test_a_picture_keeps_its_shape_inside_its_tile(width: int, height: int) -> None:
    tile = Tile(source="a", x=960, y=180, width=320, height=180)
    place = fit(width, height, tile)
    assert place.x >= tile.x
    assert place.y >= tile.y
    assert place.x + place.width <= tile.x + tile.width
    assert place.y + place.height <= tile.y + tile.height
    if 0.1 < width / height < 10:
        assert place.width / place.height == pytest.approx(width / height, rel=0.2)
        assert place.width >= tile.width - 2 or place.height >= tile.height - 2


def test_the_speaker_is_large_and_stays_so_in_pauses() -> None:
    stage = Stage([Spoke(source="b", start=5, end=8), Spoke(source="c", start=12, end=20)], ())
    large = {at: stage.main(at, ["a", "b", "c"]) for at in range(25)}
    assert [large[at] for at in (0, 4, 5, 7, 10, 12, 24)] == ["a", "a", "b", "b", "b", "c", "c"]


def test_quick_interruptions_do_not_make_the_picture_jump() -> None:
    turns = [Spoke(source="ab"[n % 2], start=n * 0.4, end=n * 0.4 + 0.39) for n in range(50)]
    stage = Stage(turns, ())
    large = [stage.main(n / 15, ["a", "b"]) for n in range(300)]
    changes = [n / 15 for n in range(1, 300) if large[n] != large[n - 1]]
    assert all(b - a >= MIN_TURN_S - 0.01 for a, b in pairwise(changes))


def test_a_shared_screen_comes_before_every_speaker_at_once() -> None:
    stage = Stage([Spoke(source="a", start=0, end=100)], ["screen"])
    assert stage.main(0, ["a"]) == "a"
    assert stage.main(0.5, ["a", "screen"]) == "screen"
    assert stage.main(1.0, ["a"]) == "a"


def test_whoever_leaves_the_picture_is_replaced_and_nobody_is_nothing() -> None:
    stage = Stage([], ())
    assert stage.main(0, []) is None
    assert stage.main(1, ["a", "b"]) == "a"
    assert stage.main(1.1, ["b"]) == "b"
    assert stage.main(9, []) is None
