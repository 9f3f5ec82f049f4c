"""What is left of a bot's gaps once the last pieces of lost hosts have come."""

import pytest

from sederunt.model.bot import HOST_LOST, Gap
from sederunt.recordings.assembly import remaining_gaps


@pytest.mark.parametrize(
    ("stays", "left"),
    [
        ([(0.2, 40.0), (67.1, 90.0)], [(40.0, 67.0)]),  # nothing came
        ([(0.2, 59.1), (67.1, 90.0)], [(59.1, 67.0)]),
        ([(0.2, 59.1), (66.9, 90.0)], [(59.1, 67.0)]),  # the next host's first packets were on their way as it entered
        ([(0.2, 66.4), (67.1, 90.0)], []),  # less than is marked at all
        ([(0.2, 68.0), (67.1, 90.0)], []),  # both hosts heard for a moment
        ([(0.2, 12.0), (15.0, 59.1), (67.1, 90.0), (95.0, 99.0)], [(59.1, 67.0)]),
        ([], [(40.0, 67.0)]),
    ],
)
def test_a_gap_of_a_lost_host_begins_where_its_sound_ends(
    stays: list[tuple[float, float]], left: list[tuple[float, float]]
) -> None:
    gaps = [Gap(start=40.0, end=67.0, cause=HOST_LOST)]
    assert [(gap.start, gap.end) for gap in remaining_gaps(gaps, stays)] == left


def test_a_gap_within_a_stay_stays_as_it_was_marked() -> None:
    gaps = (Gap(start=20.0, end=30.0, cause="connection_lost"), Gap(start=31.0, end=31.5, cause="page_crashed"))
    assert remaining_gaps(gaps, [(0.0, 90.0)]) == gaps
