"""Reading a calendar (iCalendar, RFC 5545) in a process of its own: recurrences are programs that somebody else wrote.

A rule may ask for an event every second since the year 1, and a file may be anything. The reader gets the file and a
stretch of time, has little memory, some seconds of CPU and no network, and knows no secret. What it prints is judged
again on the other side.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sederunt.calendars.meeting import CalendarMeeting
from sederunt.errors import DestinationError

CPU_S = 20
STALLED_S = 120.0  # for a machine that is busy; CPU is what is limited
_CHILD = "sederunt.calendars.reader_child"
_REFUSED = "This is no calendar that we can read: {why}."


async def read_calendar(data: bytes, *, since: datetime, until: datetime) -> list[CalendarMeeting]:
    """Return the meetings with links that begin between two moments. Raises DestinationError (not retryable)."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", _CHILD, since.isoformat(), until.isoformat(), str(CPU_S)),
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},  # nothing of ours: it reads no setting
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(STALLED_S):
            said, _ = await child.communicate(data)
    except TimeoutError:
        raise _refused("it takes too long") from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode != 0:
        raise _refused("it is damaged, or its recurrences are endless")
    found = json.loads(said)
    if "fault" in found:
        raise _refused(str(found["fault"])[:200])
    return [_meeting(row) for row in found["meetings"]]


def _refused(why: str) -> DestinationError:
    return DestinationError(_REFUSED.format(why=why), retryable=False)


def _meeting(row: Mapping[str, Any]) -> CalendarMeeting:
    values = {**row, "starts_at": datetime.fromisoformat(row["starts_at"]), "people": tuple(row["people"])}
    return CalendarMeeting(**values)
