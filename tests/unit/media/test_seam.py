"""Two recordings of one meeting, laid against each other by the packets that both have."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.media.seam import LEAST_PAIRS, Fit, seam
from sederunt.model.audio import Packet

PACKET_S = 0.02


def stretch(
    first: int, last: int, *, ahead_s: float = 0.0, source: str = "track-0", jitter_s: float = 0.0
) -> list[Packet]:
    """The packets of a sender by number, as somebody recorded them whose clock is ahead."""
    chance = random.Random(first)
    return [
        Packet(
            source=source,
            start=number * PACKET_S + ahead_s + chance.uniform(0, jitter_s),
            duration=PACKET_S,
            payload=number.to_bytes(2, "big") * 20,
        )
        for number in range(first, last)
    ]


def joined(earlier: list[Packet], later: list[Packet]) -> list[bytes]:
    """What is heard in the end, in order."""
    found = seam(earlier, later)
    before, after = (found.earlier, found.later) if found is not None else (Fit(), Fit())
    return [packet.payload for packet in sorted([*before.of(earlier), *after.of(later)], key=lambda each: each.start)]


@given(change=st.integers(50, 150), overlap=st.integers(LEAST_PAIRS, 100), ahead_ms=st.integers(-3000, 3000))
def test_nothing_is_lost_or_doubled_where_both_recorded_whatever_their_clocks_say(
    change: int, overlap: int, ahead_ms: int
) -> None:
    whole = [packet.payload for packet in stretch(0, 300)]
    later = stretch(change, 300, ahead_s=ahead_ms / 1000, source="track-7")
    assert joined(stretch(0, change + overlap), later) == whole


def test_a_little_jitter_is_no_clock() -> None:
    found = seam(stretch(0, 100, jitter_s=0.01), stretch(60, 200, jitter_s=0.01))
    assert found is not None
    assert abs(found.later.shift_s) < 0.005


def test_senders_that_are_placed_apart_from_each_other_lose_nothing_at_the_change() -> None:
    earlier = [*stretch(0, 120), *(replace(each, source="b") for each in stretch(1000, 1120, ahead_s=-20))]
    later = [*stretch(60, 200), *(replace(each, source="b") for each in stretch(1060, 1200, ahead_s=-19.93))]
    found = seam(earlier, later)
    assert found is not None
    kept = [packet.payload for packet in (*found.earlier.of(earlier), *found.later.of(later))]
    assert sorted(kept) == sorted(each.payload for each in (*stretch(0, 200), *stretch(1000, 1200)))


def test_stretches_that_do_not_overlap_are_left_as_they_are() -> None:
    assert seam(stretch(0, 100), stretch(120, 200)) is None
    assert seam(stretch(0, 100), []) is None
    assert seam([], stretch(0, 100)) is None


def test_without_packets_in_common_the_later_one_is_heard_from_its_first_packet_on() -> None:
    other = [Packet(source="pcm", start=1.5 + n * 0.04, duration=0.04, payload=bytes([n, 1]) * 40) for n in range(50)]
    found = seam(stretch(0, 100), other)
    assert found is not None
    assert found.earlier.until_s == pytest.approx(1.5)
    assert found.later.shift_s == 0.0


def test_silence_that_is_alike_everywhere_says_nothing_of_the_clocks() -> None:
    silence = [Packet(source="a", start=n * PACKET_S, duration=PACKET_S, payload=b"\xf8\xff\xfe") for n in range(100)]
    later = [Packet(source="a", start=1 + n * PACKET_S, duration=PACKET_S, payload=b"\xf8\xff\xfe") for n in range(50)]
    found = seam(silence, later)
    assert found is not None
    assert found.later.shift_s == 0.0
