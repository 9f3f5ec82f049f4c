"""Run `sederunt doctor` as a child process and parse its findings: it costs seconds of CPU."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from sederunt.bus.tasks import end
from sederunt.python_child import python_command
from sederunt.settings import Settings

LONGEST_S = 180.0


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of a check-up; empty while it is under way."""

    rows: tuple[dict[str, Any], ...] = ()
    fault: str = ""
    under_way: bool = False


class DoctorRun:
    """Runs a check-up at the first request, and again on demand."""

    def __init__(self) -> None:
        self._findings = Findings()
        self._running: asyncio.Task[None] | None = None

    @property
    def was_asked(self) -> bool:
        """Return whether a check-up was ever started."""
        return self._running is not None

    def look(self, settings: Settings, *, again: bool = False) -> Findings:
        """Return the findings so far; start a check-up if there was none, or if `again` is set."""
        is_idle = self._running is None or self._running.done()
        if is_idle and (again or not (self._findings.rows or self._findings.fault)):
            self._findings = Findings(under_way=True)
            self._running = asyncio.create_task(self._run(settings))
        return self._findings

    async def close(self) -> None:
        """End the check-up, since its result is no longer wanted."""
        if self._running is not None:
            await end(self._running)

    async def _run(self, settings: Settings) -> None:
        command = python_command("-m", "sederunt.cli.main", "doctor", "--json", "--data", str(settings.data))
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            output, _ = await asyncio.wait_for(child.communicate(), LONGEST_S)
            self._findings = Findings(rows=tuple(json.loads(output)))
        except (TimeoutError, ValueError):
            self._findings = Findings(fault="The check-up did not end. Run `sederunt doctor` on the machine.")
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
