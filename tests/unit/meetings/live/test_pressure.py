"""The kernel's word on who waits for a core."""

from pathlib import Path

from sederunt.meetings.live.pressure import BUSY_PERCENT, CpuPressure


def told(percent: float) -> str:
    return f"some avg10={percent:.2f} avg60=1.00 avg300=1.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"


def test_a_busy_machine_is_told_and_looked_at_every_two_seconds(tmp_path: Path) -> None:
    file, now = tmp_path / "cpu", [0.0]
    file.write_text(told(BUSY_PERCENT))
    pressure = CpuPressure(file, lambda: now[0])
    assert pressure.is_high()
    file.write_text(told(BUSY_PERCENT - 1))
    assert pressure.is_high()
    now[0] = 2.0
    assert not pressure.is_high()


def test_where_it_is_not_to_be_had_the_machine_counts_as_idle(tmp_path: Path) -> None:
    assert not CpuPressure(tmp_path / "nothing").is_high()
    (tmp_path / "odd").write_text("something else")
    assert not CpuPressure(tmp_path / "odd").is_high()
