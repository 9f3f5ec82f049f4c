"""Two channels with a person each are told from every other stereo, and each keeps only its own speech."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sederunt.media.channels import RATE, CallChannel, Samples, Stereo, one_channel, separate_channels

DURATION_S = 20
CALL = CallChannel(number=1, levels_db=(-13.0, -13.0))


def talk(*turns: tuple[float, float], level: float = 0.3) -> Samples:
    """Somebody who speaks in these seconds, and draws breath every third of one."""
    rng = np.random.default_rng(round(100 * turns[0][0]))
    seconds = np.arange(DURATION_S * RATE) / RATE
    said = np.any([(seconds >= start) & (seconds < end) for start, end in turns], axis=0)
    return np.asarray(level * rng.normal(0, 1, len(seconds)) * said * (seconds % 0.33 < 0.25), np.float32)


def noise(level: float) -> Samples:
    return np.random.default_rng(9).normal(0, level, DURATION_S * RATE).astype(np.float32)


AGENT, CUSTOMER = talk((0, 6), (11, 13)), talk((6.3, 10.5), (12.5, 19))
BOTH = AGENT + CUSTOMER


def side_by_side(left: Samples, right: Samples) -> Stereo:
    return np.stack([left, right], axis=1)


def blocks(sound: Stereo, size: int = 5 * RATE) -> list[Stereo]:
    return [sound[at : at + size] for at in range(0, len(sound), size)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(AGENT, CUSTOMER, id="digital silence between"),
        pytest.param(AGENT + noise(0.001), 0.02 * CUSTOMER + noise(0.0001), id="one end far softer"),
        pytest.param(AGENT, CUSTOMER + noise(0.05), id="one end noisy"),
        pytest.param(AGENT + 0.05 * CUSTOMER, CUSTOMER + 0.05 * AGENT, id="an echo of the other"),
    ],
)
def test_a_person_in_each_channel_is_heard(left: Samples, right: Samples) -> None:
    found = separate_channels(blocks(side_by_side(left, right)))
    assert found is not None
    assert [channel.number for channel in found] == [0, 1]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(BOTH, BOTH, id="the same in both"),
        pytest.param(BOTH, 0.4 * np.roll(BOTH, 50), id="later and softer, as in a room"),
        pytest.param(AGENT + 0.4 * CUSTOMER, CUSTOMER + 0.4 * AGENT, id="panned"),
        pytest.param(BOTH, np.zeros_like(BOTH), id="one channel silent"),
        pytest.param(BOTH, noise(0.001), id="one channel nothing but noise"),
        pytest.param(BOTH, talk((7, 7.5)), id="one word in the other"),
        pytest.param(BOTH[:0], BOTH[:0], id="nothing"),
    ],
)
def test_other_stereo_is_left_alone(left: Samples, right: Samples) -> None:
    assert separate_channels(blocks(side_by_side(left, right))) is None


def test_an_echo_of_the_other_is_silence_and_ones_own_speech_is_not() -> None:
    sound = side_by_side(AGENT, CUSTOMER + 0.05 * AGENT)
    heard = np.concatenate(list(one_channel(blocks(sound), CALL)))
    assert len(heard) == len(sound)
    assert not heard[RATE : 5 * RATE].any()  # the agent alone
    for start, end in ((6.3, 10.5), (12.5, 19)):  # into the agent's last words, too
        own = slice(round(start * RATE), round(end * RATE))
        assert np.array_equal(heard[own], sound[own, 1])


def test_what_is_soft_while_the_other_is_silent_is_kept() -> None:
    sound = side_by_side(0 * AGENT, 0.01 * CUSTOMER)
    assert np.array_equal(np.concatenate(list(one_channel(blocks(sound), CALL))), sound[:, 1])


@settings(deadline=None, max_examples=25)
@given(size=st.integers(100, 3 * RATE), length=st.integers(0, 4 * RATE))
def test_the_cut_of_the_blocks_changes_nothing(size: int, length: int) -> None:
    sound = side_by_side(AGENT, CUSTOMER + 0.05 * AGENT)[4 * RATE : 4 * RATE + length]
    cut = [*one_channel(blocks(sound, size), CALL), np.zeros(0, np.float32)]
    whole = [*one_channel([sound], CALL), np.zeros(0, np.float32)]
    assert np.array_equal(np.concatenate(cut), np.concatenate(whole))
