"""Read a calendar (iCalendar, RFC 5545) in its own process: recurrences are programs that somebody else wrote.

A rule may ask for an event every second since the year 1, and a file may be anything. The reader gets the file and a
period, has little memory, some seconds of CPU and no network, and knows no secret. It prints the meetings that are to
have a bot and, up to a number, titles and reasons of the others, without their people and text: recurrences in a file
of some kilobytes can expand to hundreds of megabytes.
"""

import asyncio
import contextlib
import json
from dataclasses import asdict
from datetime import datetime

from sederunt.calendars.meeting import CalendarMeeting, CalendarReading, FeedChoice
from sederunt.errors import DestinationError
from sederunt.python_child import python_command

CPU_S = 20
STALLED_S = 120.0  # long, for a busy machine; the real limit is that of CPU time
MOST_SAID = 16_000_000  # bytes; two thousand meetings with the longest ids and titles are 12 MB
_CHILD = "sederunt.calendars.reader_child"
_REFUSED = "This is no calendar that we can read: {why}."


async def read_calendar(
    data: bytes, *, since: datetime, until: datetime, choice: FeedChoice, time_zone: str = ""
) -> CalendarReading:
    """Return the meetings that begin between two moments. Raises DestinationError (not retryable).

    Args:
        time_zone: the zone of times that name none.
    """
    child = await asyncio.create_subprocess_exec(
        *python_command("-m", _CHILD, since.isoformat(), until.isoformat(), str(CPU_S)),
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},  # none of our variables: it reads no setting
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(STALLED_S):
            output = await _said(child, json.dumps({**asdict(choice), "time_zone": time_zone}).encode() + b"\n" + data)
            await child.wait()
    except TimeoutError:
        raise _refused("it takes too long") from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode != 0:
        raise _refused("it is damaged, or its recurrences are endless")
    answer = json.loads(output)
    if "fault" in answer:
        raise _refused(str(answer["fault"])[:200])
    meetings = [
        CalendarMeeting(**{**row, "starts_at": datetime.fromisoformat(row["starts_at"])}) for row in answer["meetings"]
    ]
    return CalendarReading(meetings=meetings, left_out=answer["left_out"], warnings=answer["warnings"])


async def _said(child: asyncio.subprocess.Process, request: bytes) -> bytes:
    # Returns the child's output for a request. Raises DestinationError if the output is too long.
    assert child.stdin is not None
    assert child.stdout is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its output, or its exit code, says why
        child.stdin.write(request)
        await child.stdin.drain()
        child.stdin.close()
    output = bytearray()
    while block := await child.stdout.read(1 << 16):
        output += block
        if len(output) > MOST_SAID:
            raise _refused("its meetings have too much text")
    return bytes(output)


def _refused(why: str) -> DestinationError:
    return DestinationError(_REFUSED.format(why=why), retryable=False)
