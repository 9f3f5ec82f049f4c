"""The error rate of a diarization, by hand."""

import pytest

from sederunt.bench.diarization import diarization_error
from sederunt.transcription.diarization.diarizer import VoiceSpan

SPOKEN = {"ada": [(0.0, 4.0)], "ben": [(3.0, 10.0)]}  # eleven seconds, one of them both at once


def spans(*found: tuple[int, float, float]) -> list[VoiceSpan]:
    return [VoiceSpan(start=start, end=end, voice=voice) for voice, start, end in found]


@pytest.mark.parametrize(
    ("found", "missed", "false", "confused"),
    [
        (spans((5, 0, 4), (2, 3, 10)), 0, 0, 0),
        (spans((0, 0, 4), (1, 4, 10)), 1, 0, 0),
        (spans((0, 0, 10)), 1, 0, 3),
        (spans((0, 0, 4), (1, 3, 12)), 0, 2, 0),
        (spans((0, 0, 4), (1, 3, 7), (2, 7, 10)), 0, 0, 3),
        ([], 11, 0, 0),
    ],
)
def test_each_kind_of_error_is_counted(found: list[VoiceSpan], missed: float, false: float, confused: float) -> None:
    error = diarization_error(SPOKEN, found, 12)
    assert (error.missed, error.false, error.confused) == pytest.approx(
        (missed / 11, false / 11, confused / 11), abs=0.003
    )
    assert error.rate == pytest.approx((missed + false + confused) / 11, abs=0.005)


def test_within_the_collar_nothing_counts() -> None:
    assert diarization_error(SPOKEN, spans((0, 0.2, 4), (1, 3.1, 9.9)), 12, collar_s=0.25).rate == 0
