"""Whether this machine is overloaded, as its kernel measures it."""

import time
from collections.abc import Callable
from pathlib import Path

_FILE = Path("/proc/pressure/cpu")  # on Linux; without it the machine counts as idle
LOOK_EVERY_S = 2.0
BUSY_PERCENT = 40.0  # share of the last ten seconds in which a task was ready to run and had no core


class CpuPressure:
    """Tells whether tasks wait for a core much of the time. Cheap to ask: it reads the file every two seconds."""

    def __init__(self, file: Path = _FILE, now: Callable[[], float] = time.monotonic) -> None:
        self._file, self._now = file, now
        self._looked_at, self._busy = float("-inf"), False

    def is_high(self) -> bool:
        if self._now() - self._looked_at >= LOOK_EVERY_S:
            self._looked_at = self._now()
            self._busy = self._percent() >= BUSY_PERCENT
        return self._busy

    def _percent(self) -> float:
        try:
            text = self._file.read_text(encoding="ascii")
            return float(text.partition("avg10=")[2].split()[0])
        except (OSError, ValueError, IndexError):
            return 0.0
