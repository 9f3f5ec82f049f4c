"""The log output of a process: lines that nobody reads are lost, and never block the process."""

import json
import os
import select
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TextIO

PATIENCE_S = 0.5  # for a slow reader; one that is gone costs this once …
RENEWED_AFTER_S = 60.0  # … per this time
_SURE = 4096  # bytes that a writable pipe takes without blocking (PIPE_BUF)


class LogOutput:
    """A stream for log lines that never waits long for its reader.

    A pipe that nobody reads would block its writer for ever; a pipe without a reader and a full disk raise errors. In
    each case lines are lost here, and the next line that is written says how many.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lost = 0
        self._torn = False  # the last line was written only in part
        self._patient_from = 0.0

    def write(self, text: str) -> int:
        """Write a line with its line end, or lose it."""
        try:
            file = self._stream.fileno()
        except (OSError, ValueError):  # it has no descriptor: a test's stream, or a closed one
            with suppress(OSError, ValueError):
                self._stream.write(text)
            return len(text)
        notice = lost_line(self._lost) if self._lost else ""
        line = ("\n" if self._torn else "") + notice + text
        if self._taken(file, line.encode(errors="replace")):
            self._lost = 0
        else:
            self._lost += 1
        return len(text)

    def flush(self) -> None:
        """Flush the stream's own buffer, which is empty for a file."""
        with suppress(OSError, ValueError):
            self._stream.flush()

    def _taken(self, file: int, data: bytes) -> bool:
        """Write the data; return whether all of it was written."""
        try:
            while data:
                if not self._has_room(file):
                    return False
                data = data[os.write(file, data[:_SURE]) :]
                self._torn = True
        except OSError:
            return False
        self._torn = False
        return True

    def _has_room(self, file: int) -> bool:
        poll = select.poll()
        poll.register(file, select.POLLOUT)
        if poll.poll(0):
            return True
        now = time.monotonic()
        if now < self._patient_from:
            return False
        if poll.poll(PATIENCE_S * 1000):
            return True
        self._patient_from = now + RENEWED_AFTER_S
        return False


def lost_line(count: int) -> str:
    """Return the line that says how many were lost."""
    fields = {"event": "log lines were lost: nobody took them", "level": "warning", "action": "log_lines_lost"}
    return (
        json.dumps({**fields, "lines": count, "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z")}) + "\n"
    )
