"""What every simulated vendor is: a REST server, perhaps a socket server, keys, limits, faults and a ledger.

A vendor runs on a thread and an event loop of its own, so that it answers whatever the test's loop is doing.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, ClassVar, Self

from harness.vendors import control, recognition, rest
from harness.vendors.faults import Fault, Faults
from harness.vendors.jobs import Jobs
from harness.vendors.ledger import Ledger
from harness.vendors.recognition import Listen
from harness.vendors.rest import Operation
from harness.vendors.shapes import Refusal
from harness.vendors.sockets import Socket, serve_sockets

END_S = 180.0  # of what hangs: streams settle what they heard before they end


@dataclass(kw_only=True)
class Limits:
    """What the vendor's documents allow; small values make a test quick. Seconds and bytes."""

    polls: int = 1  # how often a job is "processing" at least before it is done
    file_bytes: int = 2_000_000_000
    audio_s: float | None = None  # longest file
    session_s: float | None = None  # longest live session, in sound received
    idle_s: float | None = None  # a live session that receives nothing for so long is closed
    sessions: int | None = None  # live sessions at once
    speed: float | None = None  # sound per second of a session, beyond
    ahead_s: float = 10.0  # so much at its start
    frame_bytes: int | None = None  # largest frame
    terms: int | None = None  # custom words
    extra: dict[str, Any] = field(default_factory=dict)


class Vendor(ABC):
    """Use as a context. `name` is the key in `models.PROVIDERS`."""

    name: ClassVar[str]
    operations: ClassVar[Sequence[Operation]]
    socket: ClassVar[type[Socket] | None] = None
    socket_path: ClassVar[str] = ""
    organisation: ClassVar[str] = ""  # whose key it is, where the vendor asks for that

    def __init__(self, *, limits: Limits | None = None, listen: Listen = recognition.listen) -> None:
        self.key = f"practice-key-of-{self.name}"
        self.keys = {self.key}
        self.limits = limits or self.usual_limits()
        self.ledger, self.faults = Ledger(), Faults()
        self.jobs = Jobs(self.ledger, self.faults, listen)
        self.url, self.socket_url = "", ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name=self.name, daemon=True)
        self._ready = threading.Event()
        self._trouble: BaseException | None = None

    @classmethod
    def usual_limits(cls) -> Limits:
        """The limits of the documents."""
        return Limits()

    @property
    def settings(self) -> dict[str, str]:
        """The environment that points the service here, with the operator's key."""
        prefix = f"SEDERUNT_PROVIDERS__{self.name.upper()}__"
        given = {"URL": self.url, "KEY": self.key, "SOCKET_URL": self.socket_url, "ORGANISATION": self.organisation}
        return {prefix + name: value for name, value in given.items() if value}

    def fault(self, kind: str, **details: Any) -> None:
        """Fail so from now on; see `faults` for kinds and details."""
        self.faults.add(Fault(kind=kind, **details))

    # What differs between vendors.

    @abstractmethod
    def authorised(self, headers: Mapping[str, str]) -> None:
        """Raises Refusal where the key is missing, unknown, or in another form than the vendor's."""

    @abstractmethod
    def error_body(self, refusal: Refusal) -> Any:
        """A refusal in the vendor's words: JSON, or text."""

    def key_in(self, given: str | None, prefix: str = "") -> None:
        """Raises Refusal unless a header is this prefix and a valid key."""
        if given is None or not given.startswith(prefix) or given[len(prefix) :] not in self.keys:
            raise Refusal(401, "Invalid credentials.", code="unauthorized")

    # Its life.

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        if self._trouble is not None:
            raise self._trouble
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(END_S)
        assert not self._thread.is_alive(), f"{self.name} waits for a connection that does not end"

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            async with rest.serving(rest.app(self, control.routes(self))) as port:
                self.url = f"http://127.0.0.1:{port}"
                async with serve_sockets(self) as socket_port:
                    self.socket_url = f"ws://127.0.0.1:{socket_port}{self.socket_path}" if socket_port else ""
                    self._ready.set()
                    await self._ended.wait()
        except BaseException as error:
            self._trouble = error
            raise
        finally:
            self._ready.set()
