"""Live sound: every stretch at its place, a mix that goes by the clock and never has a hole."""

from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from sederunt.media import opus
from sederunt.media.live import BEHIND_S, BLOCK, LATE_S, RATE, STALLED_S, LiveSound, Stretch
from sederunt.model.audio import Packet

HERTZ, LEVEL = 400.0, 0.3
TURN_S = 0.11  # blocks are asked for so often


def tone(start: float, seconds: float, source: str = "1", hertz: float = HERTZ, level: float = LEVEL) -> list[Packet]:
    times = np.arange(round(seconds * opus.RATE)) / opus.RATE
    encoder = opus.OpusEncoder(opus.RATE, 64_000)
    payloads = encoder.encode((level * 32_767 * np.sin(2 * np.pi * hertz * times)).astype(np.int16))
    return [
        Packet(source=source, start=start + n * 0.02, duration=0.02, payload=payload)
        for n, payload in enumerate([*payloads, *encoder.flush()])
    ]


def play(
    packets: Iterable[Packet],
    end_s: float,
    *,
    sound: LiveSound | None = None,
    delay: Callable[[Packet], float] = lambda packet: 0.06,
    busy_s: float = 0.0,
) -> tuple[npt.NDArray[np.float64], list[Stretch], list[float]]:
    """Let packets come at their time and a little later, a turn each 100 ms.

    The mix, what was heard, and how far behind each block's end was let go.
    """
    sound = sound or LiveSound(0.0)
    coming = sorted(packets, key=lambda packet: packet.start + delay(packet))
    blocks: list[bytes] = []
    heard: list[Stretch] = []
    behind: list[float] = []
    for turn in range(1, round(end_s * 10) + 1):
        now = turn / 10
        here = [p for p in coming if p.start + p.duration + delay(p) <= now]
        coming = coming[len(here) :]
        heard += sound.take(here)
        due = sound.blocks(now, busy_s=busy_s)
        blocks += due
        behind += [now - (sound.position - n * BLOCK) / RATE for n in reversed(range(len(due)))]
    blocks += sound.end(end_s)
    assert {len(block) for block in blocks} == {2 * BLOCK}
    return np.frombuffer(b"".join(blocks), dtype="<i2") / 32_768, heard, behind


def level(samples: npt.NDArray[np.float64], start: float, end: float) -> float:
    part = samples[round(start * RATE) : round(end * RATE)]
    return float(np.sqrt(np.mean(part**2)))


@pytest.mark.parametrize("start", [0.3, 1.2345, 2.7004])
def test_sound_lies_where_its_packets_say_in_the_mix_and_in_the_stretches(start: float) -> None:
    mix, heard, _ = play(tone(start, 2.0), 6)
    assert len(mix) == 6 * RATE
    assert level(mix, start + 0.05, start + 1.95) == pytest.approx(LEVEL / np.sqrt(2), rel=0.03)
    assert level(mix, 0, start - 0.01) == 0.0
    assert level(mix, start + 2.1, 6) == 0.0
    assert heard[0].start == pytest.approx(start, abs=1 / RATE)
    for earlier, later in pairwise(heard):
        assert later.start == pytest.approx(earlier.start + len(earlier.samples) / RATE, abs=1e-9)
    whole = np.concatenate([stretch.samples for stretch in heard]) / 32_768
    first = round(heard[0].start * RATE)
    assert np.array_equal(mix[first : first + len(whole)], whole), "one voice is in the mix as it was heard"


def test_a_tone_keeps_its_phase_over_every_seam() -> None:
    mix, _, _ = play(tone(0.5, 4.0, hertz=997), 5)
    part = mix[round(0.6 * RATE) : round(4.4 * RATE)]
    reference = np.exp(-2j * np.pi * 997 * np.arange(len(part)) / RATE)
    assert abs(np.mean(part * reference)) == pytest.approx(LEVEL / 2, rel=0.02)


def test_what_16_khz_cannot_hold_does_not_come_back_as_another_tone() -> None:
    heard, _, _ = play(tone(0.5, 2.0, hertz=11_000), 3)
    assert level(heard, 0.6, 2.4) < 0.002 * LEVEL + 1e-4


def test_the_mix_goes_on_by_the_clock_while_nobody_speaks() -> None:
    sound = LiveSound(0.0)
    counts = [len(sound.blocks(now / 10)) for now in range(1, 101)]
    assert sum(counts) == 98
    assert counts[2:] == [1] * 98
    assert len(sound.end(10.0)) == 2


def test_it_tells_when_to_look_for_the_next_block_and_then_has_it() -> None:
    sound, now, looks = LiveSound(0.0), 0.0, 0
    got = 0
    while now < 10:
        now += sound.due_in_s(now) or 0.05
        looks += 1
        got += len(sound.blocks(now))
    assert got >= 97
    assert looks <= got + 5, "a look for each block, not two"


def test_the_mix_begins_at_the_block_in_which_the_stay_does() -> None:
    sound = LiveSound(12.34)
    assert sound.position == round(12.3 * RATE)
    mix, _, _ = play(tone(13.0, 0.5), 15, sound=sound)
    assert len(mix) == round((15 - 12.3) * RATE)
    assert level(mix, 0.75, 1.15) == pytest.approx(LEVEL / np.sqrt(2), rel=0.05)


def test_prompt_packets_are_let_go_promptly() -> None:
    _, _, behind = play(tone(0.5, 3.0), 3.4)
    assert max(behind) <= BEHIND_S + TURN_S


def stalled(source: str, since: float, until: float) -> Callable[[Packet], float]:
    """What a source said since a moment comes all at once."""

    def delay(packet: Packet) -> float:
        held = packet.source == source and since <= packet.start < until
        return max(0.06, until - packet.start - packet.duration) if held else 0.06

    return delay


def test_a_page_that_stands_still_is_waited_for() -> None:
    mix, _, behind = play(tone(0.5, 3.0), 5, delay=stalled("1", 1.5, 2.3))
    assert 0.6 < max(behind) <= STALLED_S + TURN_S
    assert level(mix, 0.55, 3.45) == pytest.approx(LEVEL / np.sqrt(2), rel=0.02)
    assert behind[-1] <= BEHIND_S + TURN_S, "and the mix is back in time afterwards"


def test_a_page_that_stands_still_is_waited_for_longer_on_a_busy_machine() -> None:
    late = stalled("1", 1.5, 3.0)
    lost, _, _ = play(tone(0.5, 4.0), 6, delay=late)
    assert level(lost, 1.6, 1.8) == 0.0
    mix, _, behind = play(tone(0.5, 4.0), 6, delay=late, busy_s=2.0)
    assert STALLED_S < max(behind) <= STALLED_S + 2.0
    assert level(mix, 0.55, 4.45) == pytest.approx(LEVEL / np.sqrt(2), rel=0.02)


def test_nobody_is_waited_for_long_while_others_speak_and_what_comes_then_is_heard_all_the_same() -> None:
    packets = [*tone(0.5, 3.0), *tone(0.5, 4.0, "2", 900)]
    mix, heard, behind = play(packets, 4.4, delay=stalled("1", 1.0, 2.5))
    assert max(behind) <= LATE_S + TURN_S
    assert len(mix) == 4.4 * RATE
    assert sum(len(stretch.samples) for stretch in heard if stretch.source == "1") >= 2.95 * RATE


def test_a_voice_that_ended_is_waited_for_once() -> None:
    packets = [*tone(0.5, 1.0), *tone(0.5, 4.0, "2", 900)]
    _, _, behind = play(packets, 4.4)
    assert max(behind) <= LATE_S + TURN_S
    assert sum(each > BEHIND_S + TURN_S for each in behind) <= LATE_S / 0.1


def test_short_losses_are_concealed_and_long_ones_are_silence() -> None:
    packets = tone(0.5, 4.0)
    kept = [p for p in packets if not (1.5 <= p.start < 1.55 or 2.5 <= p.start < 3.0)]
    mix, heard, _ = play(kept, 6)
    assert level(mix, 1.49, 1.56) > 0.1
    assert level(mix, 2.6, 2.95) == 0.0
    assert level(mix, 3.05, 4.4) == pytest.approx(LEVEL / np.sqrt(2), rel=0.05)
    assert max(later.start - earlier.start - len(earlier.samples) / RATE for earlier, later in pairwise(heard)) > 0.4


def test_many_loud_voices_stay_within_range() -> None:
    mix, _, _ = play([p for n in range(5) for p in tone(0.5, 1.0, str(n), 300 + 110 * n, 0.6)], 3)
    assert 0.3 < np.abs(mix).max() <= 0.9
    assert level(mix, 0.7, 1.3) > 0.2


def test_damaged_packets_cost_only_themselves() -> None:
    packets = [
        Packet(source=p.source, start=p.start, duration=p.duration, payload=b"\xff\xff\xff" if n == 30 else p.payload)
        for n, p in enumerate(tone(0.5, 2.0))
    ]
    mix, _, _ = play(packets, 4)
    assert level(mix, 1.2, 2.4) == pytest.approx(LEVEL / np.sqrt(2), rel=0.05)
