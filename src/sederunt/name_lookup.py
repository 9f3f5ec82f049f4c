"""Look up host names in separate threads, so that a name server that never answers delays nobody else.

The event loop's own lookups share four threads of the whole process, and an abandoned lookup keeps its thread until the
system gives up, after 10 s to 30 s. Four names of a silent server were enough to block every webhook and every fetch.
"""

import asyncio
import socket
import threading
from concurrent.futures import Future
from ipaddress import IPv4Address, IPv6Address, ip_address
from queue import SimpleQueue

Address = IPv4Address | IPv6Address

# Every place for webhooks, fetches and calendars of a process at once, including lookups that outlive their place.
MOST_LOOKUPS = 256

_Wanted = tuple[str, int, "Future[list[Address]]"]


class LookupThreads:
    """Threads that look up names, started on demand. They do not keep a process from ending."""

    def __init__(self, most: int = MOST_LOOKUPS) -> None:
        self._most = most
        self._wanted: SimpleQueue[_Wanted] = SimpleQueue()
        self._lock = threading.Lock()
        self._begun = 0
        self._free = 0  # idle threads, less the lookups in the queue

    def look_up(self, host: str, port: int) -> "Future[list[Address]]":
        """Return a future of every address of a host. If cancelled before its turn, it costs nothing."""
        future: Future[list[Address]] = Future()
        with self._lock:
            starts_thread = self._free <= 0 and self._begun < self._most
            self._begun += starts_thread
            self._free += starts_thread - 1
        self._wanted.put((host, port, future))
        if starts_thread:
            threading.Thread(target=self._work, name="name lookup", daemon=True).start()
        return future

    def _work(self) -> None:
        while True:
            host, port, future = self._wanted.get()
            if future.set_running_or_notify_cancel():
                _answer(host, port, future)
            with self._lock:
                self._free += 1


_THREADS = LookupThreads()


class LookupShare:
    """One party's share of the threads: its slow lookups keep nobody else's waiting.

    Args:
        most: lookups under way at once. An abandoned one counts until its thread is free.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._begun: set[Future[list[Address]]] = set()

    def look_up(self, host: str, port: int) -> "Future[list[Address]]":
        """Return a future of every address of a host. Raises OSError if the share is used up."""
        self._begun = {lookup for lookup in self._begun if not lookup.done()}
        if len(self._begun) >= self._most:
            raise OSError(f"{self._most} names are being looked up already")
        future = _THREADS.look_up(host, port)
        self._begun.add(future)
        return future


async def addresses_of(
    host: str, port: int, timeout_s: float | None, share: LookupShare | None = None
) -> list[Address]:
    """Return every address of a host in the system's order of preference, spellings such as 127.1 included.

    Raises TimeoutError, OSError and UnicodeError.
    """
    async with asyncio.timeout(timeout_s):
        return await asyncio.wrap_future((share or _THREADS).look_up(host, port))


def _answer(host: str, port: int, future: "Future[list[Address]]") -> None:
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]
    except Exception as error:  # whatever it is, somebody waits for it
        future.set_exception(error)
    else:
        future.set_result(list(dict.fromkeys(addresses)))
