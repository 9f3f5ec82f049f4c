"""The process that readers of callers' files are forked from: `python -m sederunt.media.reader_server SOCKET ACTS`.

Starting Python and the media library takes 0.1 to 0.2 s of a core, ten times as long as reading a short recording, so
they are loaded once, here. This process opens no file and knows no secret. Each reader drops its own rights and then
reads one file; whatever happens to it, the next one is forked from a process that never saw that file.
"""

import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from time import monotonic
from typing import Any, NoReturn

IDLE_S = 20.0  # exit after this long without a reader: the process takes some 40 MB
STOPPED_S = 2.0  # how long a reader may stay stopped by a signal
STARTED, LOST = b"started", b"lost"
_ANSWER = 3  # the descriptor of a reader's answer; printed text goes to standard error

Acts = Callable[..., None]


def main() -> None:
    """Start a reader for each request on the socket whose number is the first argument, until its other end is closed.

    A request is a JSON list of the arguments for `main` of the module ACTS, which follow the answer's file, and three
    descriptors: the pipe for that file, the reader's standard error, and a socket. The socket receives `started`, and
    in the end the exit status and the CPU-seconds used. If its other end is closed earlier, the reader is killed. A
    reader stopped by a signal is killed too, and its socket receives `lost`. It receives only `lost` if no reader can
    be started; if descriptors were cut off, it is closed.
    """
    request_socket = socket.socket(fileno=int(sys.argv[1]))
    acts = importlib.import_module(sys.argv[2])
    acts.preload()
    gc.collect()
    gc.freeze()  # objects that are never collected stay shared, not copied
    _ForkServer(request_socket, acts.main).run()


class _ForkServer:
    def __init__(self, request_socket: socket.socket, acts: Acts) -> None:
        self._asked, self._acts = request_socket, acts
        self._readers: dict[int, socket.socket] = {}  # process → socket of its caller
        self._stopped: dict[int, float] = {}  # process → when it was stopped (monotonic)
        self._ended, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        self._selector = selectors.DefaultSelector()
        for readable in (request_socket, self._ended):
            self._selector.register(readable, selectors.EVENT_READ)

    def run(self) -> None:
        while (ready := self._selector.select(STOPPED_S if self._stopped else IDLE_S)) or self._readers:
            self._end_stopped()
            for key, _ in ready:
                if self._selector.get_map().get(key.fd) is not key:
                    continue  # its reader just ended, and its number may be reused
                if key.fileobj is self._asked:
                    if not self._fork():
                        return
                elif key.fileobj == self._ended:
                    os.read(self._ended, 4096)
                    self._reap()
                else:
                    self._give_up(key.fileobj)

    def _fork(self) -> bool:
        """Take the next request; returns False if the other end is closed."""
        request, descriptors, _, _ = socket.recv_fds(self._asked, 65_536, 3)
        if not request:
            return False
        if len(descriptors) != 3:  # there was no room for more
            for descriptor in descriptors:
                os.close(descriptor)
            return True
        output, errors, asker_descriptor = descriptors
        asker = socket.socket(fileno=asker_descriptor)
        try:
            reader = os.fork()
        except OSError:  # no room for a process
            _tell(asker, LOST)
            asker.close()
        else:
            if reader == 0:
                _read(self._acts, json.loads(request), output, errors)
            self._readers[reader] = asker
            _tell(asker, STARTED)
            self._selector.register(asker, selectors.EVENT_READ)
        os.close(output)
        os.close(errors)
        return True

    def _reap(self) -> None:
        while self._readers:
            reader, status, usage = os.wait4(-1, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            if reader == 0:
                return
            if os.WIFSTOPPED(status):
                self._stopped[reader] = monotonic()
                continue
            stopped_s = self._stopped.pop(reader, None)
            if os.WIFCONTINUED(status):
                continue
            asker = self._readers.pop(reader)
            if asker in self._selector.get_map():
                self._selector.unregister(asker)
            report = f"{os.waitstatus_to_exitcode(status)} {usage.ru_utime + usage.ru_stime:.3f}"
            _tell(asker, report.encode() if stopped_s is None else LOST)
            asker.close()

    def _end_stopped(self) -> None:
        """Kill readers that were stopped for too long: no CPU limit ends them."""
        for reader, stopped_s in self._stopped.items():
            if monotonic() - stopped_s >= STOPPED_S:
                os.kill(reader, signal.SIGKILL)

    def _give_up(self, asker: Any) -> None:
        """Kill an abandoned reader; `_reap` does the rest."""
        self._selector.unregister(asker)
        for reader in (reader for reader, reader_asker in self._readers.items() if reader_asker is asker):
            os.kill(reader, signal.SIGKILL)


def _tell(asker: socket.socket, message: bytes) -> None:
    try:
        asker.send(message, socket.MSG_NOSIGNAL)
    except OSError:
        return  # it has hung up


def _read(acts: Acts, request: list[str], output: int, errors: int) -> NoReturn:
    """Run as the reader, which keeps nothing of the server but the loaded code."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), errors, errors, output)):
            os.dup2(descriptor, number)
        os.closerange(_ANSWER + 1, os.sysconf("SC_OPEN_MAX"))
        with os.fdopen(_ANSWER, "wb") as answer:
            acts(answer, *request)
        sys.stdout.flush()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
