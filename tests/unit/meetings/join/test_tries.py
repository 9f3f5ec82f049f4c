"""How long a bot waits before it knocks once more."""

from sederunt.meetings.join.tries import pause_before_s


def test_pauses_begin_at_two_seconds_grow_and_are_never_the_same() -> None:
    drawn = [[pause_before_s(again) for _ in range(50)] for again in (1, 2, 3, 9)]
    for least, most, pauses in zip((2, 4, 8, 30), (3, 6, 12, 45), drawn, strict=True):
        assert least <= min(pauses) < max(pauses) <= most
