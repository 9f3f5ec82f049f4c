"""A small web server for pages of a test's own making, reached under the meeting sites' real host names."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sederunt.browser.page import MeetingPage
from sederunt.browser.signals import Signal
from sederunt.claims.changes import Change, PersonLeft, PersonWrote
from sederunt.meetings.session.roster import Roster
from sederunt.model.audio import CapturedFrame
from sederunt.model.events import ChatReceived
from sederunt.platforms.platform import Decoder
from sederunt.practice import tls

HOSTS = (
    "*.google.com",
    "*.microsoft.com",
    "*.microsoftonline.com",
    "*.live.com",
    "*.office.com",
    "*.zoom.us",
    "zoom.us",
    "*.example.org",
)


class StaticSite:
    """Serves HTML by path, the same on every host. `pages` may be changed at any time."""

    def __init__(self, folder: Path) -> None:
        self.pages: dict[str, tuple[int, str]] = {}
        self._folder = folder
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        made = tls.make(self._folder, ["meet.google.com"])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(made.certificate, made.key)
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)

    async def stop(self) -> None:
        assert self._server is not None, "start comes before stop"
        self._server.close()

    @property
    def host_rules(self) -> str:
        assert self._server is not None, "start comes before the rules"
        port = self._server.sockets[0].getsockname()[1]
        return ",".join(f"MAP {host} 127.0.0.1:{port}" for host in HOSTS)

    def put(self, path: str, html: str, status: int = 200) -> None:
        self.pages[path] = (status, f"<!doctype html><meta charset=utf-8>{html}")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = (await reader.readuntil(b"\r\n\r\n")).split(b" ")
            status, html = self.pages.get(request[1].split(b"?")[0].decode(), (404, ""))
            body = html.encode()
            writer.write(
                f"HTTP/1.1 {status} X\r\nContent-Type: text/html; charset=utf-8\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
            )
            writer.write(body)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A page and what its scripts told."""

    page: MeetingPage
    signals: list[Signal]
    frames: list[CapturedFrame]
    news: asyncio.Event  # set at each signal and each batch of frames


OpenPage = Callable[..., Awaitable[Opened]]
ShowPage = Callable[..., Awaitable[MeetingPage]]


@dataclass(frozen=True)
class PageTold:
    """What the signals of a page came to."""

    roster: Roster
    changes: Sequence[Change]

    @property
    def names(self) -> list[str]:
        """Everyone ever here but the bot itself."""
        return [one.name for one in self.roster.fold.participants]

    @property
    def left(self) -> list[str]:
        return [change.participant.name for change in self.changes if isinstance(change, PersonLeft)]

    @property
    def chat(self) -> list[ChatReceived]:
        return [change.message for change in self.changes if isinstance(change, PersonWrote)]


def heard_by(decoder: Decoder, signals: Iterable[Signal]) -> PageTold:
    """What a decoder and a roster make of signals."""
    roster = Roster()
    changes = [change for signal in list(signals) for change in roster.take(decoder.decode(signal))]
    return PageTold(roster, changes)
