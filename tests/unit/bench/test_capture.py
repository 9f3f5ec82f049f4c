"""What is said of the capture figures: met, over target, or alarming, and which of these fails the command."""

from collections.abc import Mapping, Sequence

import pytest

from sederunt.bench.capture import CaptureResult, bench_capture, judged, report
from sederunt.bench.capture_cases import CASES, CaptureCase, CaptureLimit
from sederunt.errors import SetupError

CASE = CaptureCase(name="one", title="one bot", limits={"cpu_percent": CaptureLimit(6, 9), "lost": CaptureLimit(0, 0)})


def measured(*cpu_percent: float, lost: int = 0) -> Mapping[str, Sequence[CaptureResult]]:
    return {
        "one": [
            CaptureResult(
                case="one",
                cpu_percent=each,
                pss_mib=100,
                browsers_mib=60,
                start_cpu_s=1,
                first_audio_s=1,
                packets=1000,
                lost=lost,
            )
            for each in cpu_percent
        ]
    }


@pytest.mark.parametrize(
    ("cpu_percent", "verdict", "exit_code"),
    [(6.0, "met", 0), (6.1, "over target", 0), (9.0, "over target", 0), (9.1, "ALARM", 1)],
)
def test_a_missed_target_is_said_and_only_an_alarm_fails(cpu_percent: float, verdict: str, exit_code: int) -> None:
    results = measured(cpu_percent)
    assert [each.verdict for each in judged([CASE], results)] == [verdict, "met"]
    assert report([CASE], results) == exit_code


def test_the_median_is_judged_not_the_worst_run() -> None:
    assert report([CASE], measured(5.0, 5.5, 20.0)) == 0
    assert report([CASE], measured(5.0, 20.0, 20.0)) == 1


def test_a_lost_packet_is_an_alarm() -> None:
    assert report([CASE], measured(5.0, lost=1)) == 1


def test_target_and_alarm_are_both_shown(capsys: pytest.CaptureFixture[str]) -> None:
    report([CASE], measured(7.0))
    line = next(line for line in capsys.readouterr().err.splitlines() if "% of a core" in line)
    assert [cell.strip() for cell in line.strip("│").split("│")] == [
        "one bot",
        "% of a core per bot",
        "7",
        "≤ 6",
        "> 9",
        "over target",
    ]


def test_packets_that_were_not_captured_bit_by_bit_are_missing() -> None:
    (whole,) = measured(5.0)["one"]
    assert whole.missing == 0
    case = CaptureCase(name="one", title="one bot", limits={"missing": CaptureLimit(0, 0)})
    damaged = CaptureResult(
        case="one",
        cpu_percent=5,
        pss_mib=100,
        browsers_mib=60,
        start_cpu_s=1,
        first_audio_s=1,
        packets=1000,
        lost=0,
        exact=0.999,
    )
    assert report([case], {"one": [damaged]}) == 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_alarm_is_below_its_target(case: CaptureCase) -> None:
    assert all(limit.target <= limit.alarm for limit in case.limits.values())


async def test_a_case_that_there_is_not_is_named_beside_those_there_are() -> None:
    with pytest.raises(SetupError, match=r"no nonsense\. Known: encoded, shared"):
        await bench_capture(["shared", "nonsense"], 1, classical=False)
