"""Processes that each read one caller's file, forked from `reader_server`, which the first of them starts."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from sederunt.media.reader_server import LOST, STARTED, STOPPED_S
from sederunt.python_child import python_command

# Limits for a busy machine: until a server's first answer, and between two answers. A slower server counts as frozen
# and is replaced.
START_S, ANSWER_S = 120.0, 30.0
LIMIT_SLACK_S = 0.5  # the kernel accounts CPU time in steps
_NOBODY = "The process that readers of files are forked from does not answer."
_NO_ROOM = "There is no room for another process that reads a file, or for its descriptors."
_KILLED = "The process that read the file was killed."
_STOPPED = "The process that read the file was stopped by a signal, and did not go on."


class ReaderLost(RuntimeError):
    """A reader, or the process it was forked from, was stopped or killed; its file is not to blame."""


class ReaderProcess:
    """One reader: its output and its exit."""

    def __init__(self, output: BinaryIO, errors: BinaryIO, end_socket: socket.socket) -> None:
        self.output, self.errors, self._ended = output, errors, end_socket

    def wait(self, within_s: float, *, cpu_s: float = 0.0) -> int:
        """Return its exit status, or minus the signal that ended it. Raises TimeoutError, ReaderLost.

        Args:
            cpu_s: the kernel's CPU limit; a reader killed before reaching it was killed by something else.
        """
        self._ended.settimeout(within_s)
        report = self._ended.recv(64)
        if report in (b"", LOST):
            raise ReaderLost(_STOPPED if report else _NOBODY)
        status, used_s = report.split()
        if int(status) == -signal.SIGKILL and float(used_s) < cpu_s - LIMIT_SLACK_S:
            raise ReaderLost(_KILLED)
        return int(status)


@dataclass(eq=False, slots=True)
class _ServerProcess:
    """The process that readers are forked from, and the socket for requests to it."""

    process: subprocess.Popen[bytes]
    asking: socket.socket
    started_at: float = field(default_factory=time.monotonic)
    answered_at: float | None = None

    def answers_by(self, asked_at: float) -> float:
        """Return when an answer to a request made at `asked_at` is due, unless the server is frozen (monotonic)."""
        if self.answered_at is None:
            return self.started_at + START_S
        return max(asked_at, self.answered_at) + ANSWER_S

    def has_ended(self) -> bool:
        """Return whether the other end of the socket is closed; nothing is ever sent on it."""
        try:
            return not self.asking.recv(1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:  # reset, or closed here after its end
            return True


class ReaderServer:
    """Starts readers, from any thread. The process that they are forked from ends with this one, or when idle.

    Args:
        acts: the module whose `main` a reader runs, and whose `preload` loads what `main` needs.
        environment: the readers' entire environment.
    """

    def __init__(self, acts: str, environment: dict[str, str]) -> None:
        self._acts, self._environment = acts, environment
        self._lock = threading.Lock()
        self._server: _ServerProcess | None = None

    @contextmanager
    def reader(self, *request: str) -> Iterator[ReaderProcess]:
        """Have a reader for the duration of the block. Raises ReaderLost if none can be started."""
        for _ in range(2):  # an idle server may have ended just now
            output, output_end = os.pipe()
            errors, errors_end = os.pipe()
            end_socket, child_end_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with os.fdopen(output, "rb") as output_file, os.fdopen(errors, "rb") as errors_file, end_socket:
                try:
                    server = self._ask(request, output_end, errors_end, child_end_socket.fileno())
                finally:
                    os.close(output_end)
                    os.close(errors_end)
                    child_end_socket.close()
                message = _told(end_socket, server)
                if message == STARTED:
                    yield ReaderProcess(output_file, errors_file, end_socket)
                    return
            if message == LOST or (message is not None and not server.has_ended()):
                raise ReaderLost(_NO_ROOM)  # the server stays, as it serves other readers
            self._discard(server)
        raise ReaderLost(_NOBODY)

    def _ask(self, request: tuple[str, ...], *descriptors: int) -> _ServerProcess:
        with self._lock:
            if self._server is None:
                self._server = self._start()
            with contextlib.suppress(OSError):  # it has ended: `started` will not come
                socket.send_fds(self._server.asking, [json.dumps(request).encode()], descriptors)
            return self._server

    def _start(self) -> _ServerProcess:
        own_socket, child_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with child_socket:
            command = python_command("-m", "sederunt.media.reader_server", str(child_socket.fileno()), self._acts)
            process = subprocess.Popen(
                command, env=self._environment, pass_fds=[child_socket.fileno()], stdin=subprocess.DEVNULL
            )
        server = _ServerProcess(process, own_socket)
        threading.Thread(target=self._until_ended, args=[server], daemon=True).start()
        return server

    def _until_ended(self, server: _ServerProcess) -> None:
        end_where_stopped(server.process.pid)
        server.process.wait()
        self._forget(server)

    def _discard(self, server: _ServerProcess) -> None:
        """End this server; the next reader starts another one."""
        self._forget(server)
        server.process.kill()
        server.process.wait()

    def _forget(self, server: _ServerProcess) -> None:
        with self._lock:
            if self._server is server:
                server.asking.close()
                self._server = None


def end_where_stopped(child: int) -> None:
    """Wait until a child of this process has ended; kills a child that a signal stopped and that does not continue."""
    with contextlib.suppress(ChildProcessError):  # another thread has reaped it
        while _state(child, os.WEXITED | os.WSTOPPED) in (os.CLD_STOPPED, os.CLD_TRAPPED):
            time.sleep(STOPPED_S)
            if _state(child, os.WSTOPPED | os.WNOHANG):
                os.kill(child, signal.SIGKILL)


def _state(child: int, options: int) -> int | None:
    """Wait for a child's change of state, without consuming it."""
    change = os.waitid(os.P_PID, child, options | os.WNOWAIT)
    return change.si_code if change else None


def _told(end_socket: socket.socket, server: _ServerProcess) -> bytes | None:
    """Return the answer to a request; empty if none will come, None if the server is frozen.

    While the server answers others, the answer may still come.
    """
    asked_at = time.monotonic()
    while (remaining_s := server.answers_by(asked_at) - time.monotonic()) > 0:
        end_socket.settimeout(remaining_s)
        try:
            message = end_socket.recv(64)
        except TimeoutError:
            continue
        if message:
            server.answered_at = time.monotonic()
        return message
    return None
