"""One bot's line: what is counted, and how tracks of several frames are told apart."""

import json
from struct import pack

import pytest

from sederunt.browser.loopback import PageChannel
from sederunt.browser.page_budget import Overrun
from sederunt.browser.page_times import PageTimes
from sederunt.browser.signals import BrokenSignal, Signal
from sederunt.model.audio import CapturedFrame


def line_into(frames: list[CapturedFrame], signals: list[Signal], times: PageTimes | None = None) -> PageChannel:
    return PageChannel(
        token="t",
        on_frames=frames.extend,
        on_signal=signals.append,
        may_knock=lambda origin: True,
        times=times or PageTimes(lambda: 0, lambda: 0),
    )


def batch(sequence: int, at_ms: float = 0.0) -> bytes:
    frame = pack("<HBBIIHBxfII", 1, 0, 0, 5, 960, 3, 0, 0.0, 0, 4) + b"opus"
    return pack("<BBHId", 0x53, 1, 1, sequence, at_ms) + frame


def test_batches_that_never_came_are_counted() -> None:
    frames: list[CapturedFrame] = []
    line = line_into(frames, [])
    for sequence in (0, 1, 4, 5):
        line.take_media("a", batch(sequence))
    assert (line.gaps, line.batches, line.frames, len(frames)) == (2, 4, 4, 4)


def test_each_realm_counts_its_own_batches() -> None:
    line = line_into([], [])
    for realm in ("a", "b", "a", "b"):
        line.take_media(realm, batch(line.expected.get(realm, 0)))
    assert line.gaps == 0


def test_signals_and_frames_of_a_realm_name_a_track_alike() -> None:
    frames: list[CapturedFrame] = []
    signals: list[Signal] = []
    line = line_into(frames, signals)
    line.take_signal("top", '{"kind":"capture","data":{"event":"attached","track":1},"at_ms":1}')
    line.take_signal("frame", '{"kind":"capture","data":{"event":"attached","track":1},"at_ms":1}')
    line.take_media("frame", batch(0))
    first, second = (signal.data["track"] for signal in signals)
    assert first != second == frames[0].track == line.track("frame", 1)


def test_a_signal_that_names_no_track_by_a_number_is_none() -> None:
    line = line_into([], [])
    for track in (-1, "1", 1.5, True, 1 << 40, None, [1]):
        with pytest.raises(BrokenSignal):
            line.take_signal("top", json.dumps({"kind": "capture", "data": {"event": "x", "track": track}, "at_ms": 1}))


def test_lists_are_counted_by_what_stands_in_them() -> None:
    line = line_into([], [])
    keys = json.dumps({"kind": "speaking", "data": {"keys": [str(n) for n in range(2_000)]}, "at_ms": 1})
    for _ in range(50):
        line.take_signal("top", keys)
    line.budget.spend("people", 0)
    with pytest.raises(Overrun, match="people"):
        line.budget.spend("people", 5_000)


ZERO_MS, STEPS_MS = 1_790_000_000_000.0, (600_000.0, -600_000.0, 40 * 86_400_000.0)


@pytest.mark.parametrize("set_by_ms", STEPS_MS)
@pytest.mark.parametrize("late_ms", [3.0, 1_800.0])
def test_a_page_that_comes_after_the_clock_was_set_is_heard_by_the_clock_of_its_stay(
    set_by_ms: float, late_ms: float
) -> None:
    """The page before was loaded when the clock was right, and counts on; a word may wait while the machine is busy."""
    frames: list[CapturedFrame] = []
    signals: list[Signal] = []
    now_ms, machine_ms = ZERO_MS, ZERO_MS
    line = line_into(frames, signals, PageTimes(lambda: now_ms, lambda: machine_ms))
    line.take_media("before", batch(0, ZERO_MS - late_ms))
    now_ms, machine_ms = ZERO_MS + 40_000, ZERO_MS + 40_000 + set_by_ms
    line.take_media("before", batch(1, now_ms - late_ms))
    line.take_media("after", batch(0, machine_ms - late_ms))
    line.take_signal("after", json.dumps({"kind": "stage", "data": {"key": "x"}, "at_ms": machine_ms - late_ms}))
    now_ms, machine_ms = now_ms + 5_000, machine_ms + 5_000
    line.take_media("after", batch(1, machine_ms))
    assert [frame.at_ms - ZERO_MS for frame in frames] == [-late_ms, 40_000 - late_ms, 40_000 - late_ms, 45_000]
    assert signals[0].at_ms - ZERO_MS == 40_000 - late_ms


def test_a_page_is_believed_where_the_clock_was_set_before_it_and_its_stay() -> None:
    """A stay that began after the clock was set has the machine's time, as its pages have."""
    frames: list[CapturedFrame] = []
    line = line_into(frames, [], PageTimes(lambda: ZERO_MS, lambda: ZERO_MS + 900))
    line.take_media("a", batch(0, ZERO_MS + 850))
    assert frames[0].at_ms == ZERO_MS + 850, "a difference of less than two seconds is nobody's setting"
