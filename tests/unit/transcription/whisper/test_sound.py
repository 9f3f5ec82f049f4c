"""Samples read once, front to back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from sederunt.transcription.whisper.sound import LEAD_S, UnreadSound
from sederunt.transcription.whisper.speech import RATE, Samples


@dataclass
class Block:
    start_s: float
    samples: Samples


class Tape:
    """A source that notes how far it was read."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks, self.taken, self.opened_at = blocks, 0, -1.0

    def __call__(self, start_s: float) -> Iterable[Block]:
        self.opened_at = start_s
        for block in self.blocks:
            if block.start_s + len(block.samples) / RATE > start_s:
                self.taken += 1
                yield block


def tone(start_s: float, seconds: float, level: float = 0.1) -> Block:
    return Block(start_s, np.full(round(seconds * RATE), level, np.float32))


def test_looking_does_not_move_and_skipping_does() -> None:
    sound = UnreadSound(Tape([tone(0, 4), tone(4, 4)]))
    samples, last = sound.look(6)
    assert (len(samples), last) == (6 * RATE, False)
    sound.skip(5)
    assert sound.position_s == 5
    samples, last = sound.look(6)
    assert (len(samples), last) == (3 * RATE, True)


def test_time_that_no_block_covers_is_silence() -> None:
    sound = UnreadSound(Tape([tone(0, 1), tone(3, 1)]))
    samples, last = sound.look(10)
    assert last
    assert len(samples) == 4 * RATE
    assert not samples[RATE : 3 * RATE].any()
    assert samples[3 * RATE :].all()


def test_a_block_that_overlaps_the_last_gives_only_what_is_new() -> None:
    sound = UnreadSound(Tape([tone(0, 2, 0.1), tone(1, 2, 0.2)]))
    samples, _ = sound.look(10)
    assert len(samples) == 3 * RATE
    assert samples[RATE + RATE // 2] == np.float32(0.1)


def test_silence_is_skipped_up_to_just_before_the_next_sound() -> None:
    sound = UnreadSound(Tape([Block(0, np.zeros(25 * RATE, np.float32)), tone(25, 5)]))
    sound.skip_silence()
    assert sound.position_s == pytest.approx(25 - LEAD_S, abs=0.04)


def test_an_hour_without_any_block_is_jumped_over() -> None:
    sound = UnreadSound(Tape([tone(0, 1), tone(3600, 1)]))
    sound.skip(sound.look(1)[0].size / RATE)
    sound.skip_silence()
    assert sound.position_s == pytest.approx(3600 - LEAD_S, abs=0.04)
    samples, last = sound.look(10)
    assert last
    assert samples.any()


def test_at_the_end_of_silence_nothing_is_left() -> None:
    sound = UnreadSound(Tape([Block(0, np.zeros(70 * RATE, np.float32))]))
    sound.skip_silence()
    assert sound.look(5)[0].size == 0
    assert sound.position_s == 70


def test_a_source_is_opened_where_the_rest_begins_and_read_no_further_than_needed() -> None:
    tape = Tape([tone(n * 10, 10) for n in range(10)])
    sound = UnreadSound(tape, 40.0)
    assert tape.opened_at == 40
    assert sound.position_s == 40
    sound.look(15)
    assert tape.taken <= 3


def test_an_empty_source_is_at_its_end_at_once() -> None:
    sound = UnreadSound(Tape([]))
    sound.skip_silence()
    samples, last = sound.look(5)
    assert not len(samples)
    assert last
