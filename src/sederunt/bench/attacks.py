"""The attacks that `sederunt bench neighbours` measures, in a process of their own: their sender is another machine.

Run as `python -m sederunt.bench.attacks`: one JSON line on standard input names the attack and what it is directed at;
it goes on until that input ends. Then it writes one JSON line: how its acts were answered. The process gives way to all
others, so that what it costs to send is not counted as what it costs to be attacked.
"""

import asyncio
import json
import os
import resource
import ssl
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any

import httpx2
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, WebSocketException

from sederunt.api.schemas.values import VOCABULARY_CHARACTERS, VOCABULARY_ENTRIES
from sederunt.bench.hostile_files import boxes, elements, lasting_years, tone
from sederunt.bench.outside_servers import HARMFUL
from sederunt.model.budgets import count_of

FROM = "127.0.0.2"  # of this machine, and not the neighbour's: what is limited by address shall be told apart
LINES = 10
PATIENCE_S = 300.0
LAST = 19  # the least urgent that a process can be
FEEDS = 10_000
STRANGERS = 250  # addresses that nobody knows
_TLS = ssl.create_default_context()  # not used, and dear to make for each of hundreds of clients
KEYS = 5  # as many as together may ask as often as their account
LISTED = 200  # on a page of a list, at most
_BOT = {
    "service": "gmeet",
    "meeting_url": "https://meet.google.com/abc-defg-hij",
    "bot_name": "Minutes",
    "transcription_model": "none",
}


def booked_bot(**fields: Any) -> dict[str, Any]:
    """Return the body of a request for a bot of tomorrow."""
    return {**_BOT, "scheduled_start_time": int(time.time()) + 86_400, **fields}


@dataclass(frozen=True, kw_only=True, slots=True)
class AttackTarget:
    """What an attack is directed at, with an account's key, and what it may use from outside."""

    base_url: str
    key: str
    outside_url: str
    silent_urls: Sequence[str]


@dataclass(frozen=True, slots=True)
class Attacker:
    """An account that attacks, and how it was answered: by status, or `cut` where there was no answer."""

    target: AttackTarget
    client: httpx2.AsyncClient
    answers: Counter[str] = field(default_factory=Counter)

    def stranger(self, address: str = FROM) -> "Attacker":
        """Return somebody without a key, below the service's root."""
        return replace(self, client=_client(str(httpx2.URL(self.target.base_url).join("/")), {}, address))

    async def with_more_keys(self) -> "Sequence[Attacker]":
        """Return the account with several new keys, of which each may ask so often."""
        made = [await self.client.post("/key", json={"name": "attack"}) for _ in range(KEYS)]
        keys = [answer.raise_for_status().json()["key"] for answer in made]
        return [replace(self, client=_client(self.target.base_url, _bearer(key))) for key in keys]

    async def act(self, method: str, path: str, **asked: Any) -> None:
        """Make a request, and count its answer."""
        try:
            answer = await self.client.request(method, path, **asked)
            self.answers[str(answer.status_code)] += 1
        except httpx2.TransportError:
            self.answers["cut"] += 1

    async def upload(self, data: bytes, name: str = "a.webm") -> None:
        """Upload a file."""
        fields = {"transcription_model": "whisper"}
        await self.act("POST", "/recording", data=fields, files={"recording_file": (name, data)})

    async def named(self, url: str, **fields: str) -> None:
        """Have a recording fetched."""
        await self.act("POST", "/recording", json={"transcription_model": "whisper", "recording_url": url, **fields})


Attack = Callable[[Attacker], Awaitable[None]]  # returns, or goes on until it is cancelled


async def _lines(count: int, act: Callable[[], Awaitable[None]]) -> None:
    """Do it again and again, so many times side by side."""

    async def line() -> None:
        while True:
            await act()

    await asyncio.gather(*(line() for _ in range(count)))


async def _years(attacker: Attacker) -> None:
    """Upload files of some hundred bytes whose last packet lies twenty years later."""
    data = lasting_years()
    await asyncio.gather(*(attacker.upload(data) for _ in range(10)))


async def _drips(attacker: Attacker) -> None:
    """Have many recordings fetched that come byte by byte."""
    for _ in range(100):
        await attacker.named(f"{attacker.target.outside_url}/drip")


async def _silent_receivers(attacker: Attacker) -> None:
    """Cause hundreds of webhooks to receivers that take them and never answer."""
    receivers = attacker.target.silent_urls
    for number in range(400):
        receiver = f"{receivers[number % len(receivers)]}/silent"
        await attacker.named(f"{attacker.target.outside_url}/nothing", webhook_url=receiver)


async def _bombs(attacker: Attacker) -> None:
    """Upload files of millions of tiny parts, one after another in each of four lines."""
    files = [("a.webm", elements()), ("a.mp4", boxes())]

    async def upload() -> None:
        files.reverse()
        await attacker.upload(files[0][1], files[0][0])

    await _lines(4, upload)


async def _long_uploads(attacker: Attacker) -> None:
    """Have two hours of speech-like sound and two hundred short recordings transcribed."""
    long, short = tone(3600.0), tone(2.0)
    await asyncio.gather(*(attacker.upload(long, "a.wav") for _ in range(2)))
    for _ in range(200):
        await attacker.upload(short, "a.wav")


async def _requests(attacker: Attacker) -> None:
    """Ask for lists as fast as some connections can, past every limit."""
    await _lines(LINES, lambda: attacker.act("GET", "/recording", params={"limit": 100}))


async def _unknown_keys(attacker: Attacker) -> None:
    """Ask with keys that nobody was given, each another one."""

    async def ask() -> None:
        wrong = {"Authorization": f"Bearer sk_{os.urandom(24).hex()}"}
        await attacker.act("GET", "/recording", headers=wrong)

    await _lines(LINES, ask)


async def _half_requests(attacker: Attacker) -> None:
    """Hold more connections with half a request than anybody may, and open new ones for those that are closed."""
    address = httpx2.URL(attacker.target.base_url)
    held: list[asyncio.StreamWriter] = []
    try:
        while True:
            try:
                _, writer = await asyncio.open_connection(address.host, address.port, local_addr=(FROM, 0))
            except OSError:
                attacker.answers["cut"] += 1
                await asyncio.sleep(0.02)
                continue
            writer.write(b"GET /api/v1/bot HTTP/1.1\r\nHost: a\r\n")
            attacker.answers["opened"] += 1
            held = [*(one for one in held if not one.is_closing()), writer]
            await asyncio.sleep(0 if attacker.answers["opened"] < 1200 else 0.02)
    finally:
        for writer in held:
            writer.close()


async def _searches(attacker: Attacker) -> None:
    """Send bots with as much metadata as is taken, more than is taken, and search by a thousand filters."""
    metadata = {f"{number:03}" + "k" * 190: "v" * 500 for number in range(count_of("metadata_keys"))}
    bot = booked_bot(custom_metadata=metadata)
    filters = {f"custom_metadata[{number}]": "x" for number in range(1000)}

    async def search() -> None:
        await attacker.act("POST", "/bot", json=bot)
        await attacker.act("POST", "/bot", json={**bot, "custom_metadata": {**metadata, "x" * 100_000: "y"}})
        await attacker.act("GET", "/bot", params=filters)

    await _lines(4, search)


async def _harmful_addresses(attacker: Attacker) -> None:
    """Have files that harm their reader fetched from an address, one after another in each of four lines."""
    paths = cycle(HARMFUL)
    await _lines(4, lambda: attacker.named(f"{attacker.target.outside_url}{next(paths)}"))


async def _sockets(attacker: Attacker) -> None:
    """Hold as many listeners of one bot as anybody may have, and ask for more all the time."""
    bot = booked_bot(realtime_audio=True)
    address = (await attacker.client.post("/bot", json=bot)).json()["websocket_url"]
    async with AsyncExitStack() as held:
        while True:
            try:
                opening = connect(
                    address, local_addr=(FROM, 0), compression=None, ping_interval=None, open_timeout=None
                )
                await held.enter_async_context(opening)
                attacker.answers["opened"] += 1
            except InvalidStatus as refused:
                attacker.answers[str(refused.response.status_code)] += 1
                await asyncio.sleep(0.02)
            except (OSError, WebSocketException):
                attacker.answers["cut"] += 1
                await asyncio.sleep(0.02)


async def _feeds(attacker: Attacker) -> None:
    """Open ten thousand live feeds of a page as somebody who may look, and new ones for those that are refused."""
    invited = (await attacker.client.post("/member", json={"name": "Eve", "role": "viewer"})).json()["sign_in_url"]
    eve = attacker.stranger().client
    await eve.post("/welcome", data={"token": invited.partition("token=")[2]})
    session = "; ".join(f"{name}={value}" for name, value in eve.cookies.items())
    bot = (await attacker.client.post("/bot", json=booked_bot())).json()["id"]
    address = httpx2.URL(attacker.target.base_url)
    request = f"GET /bots/{bot}/feed HTTP/1.1\r\nHost: {address.host}\r\nCookie: {session}\r\n\r\n".encode()

    opening = asyncio.Semaphore(4 * LINES)  # fewer than an address may have that have not asked yet

    async def hold() -> None:
        while True:
            try:
                async with opening:
                    reader, writer = await asyncio.open_connection(address.host, address.port, local_addr=(FROM, 0))
                    writer.write(request)
                    attacker.answers[(await reader.readline()).decode()[9:12] or "cut"] += 1
                while await reader.read(65_536):
                    pass
                writer.close()
            except OSError:
                attacker.answers["cut"] += 1
            await asyncio.sleep(1)

    await asyncio.gather(*(hold() for _ in range(FEEDS)))


async def _strangers_sign_in(attacker: Attacker) -> None:
    """Try passwords from hundreds of addresses, each time as somebody else."""
    strangers = cycle([attacker.stranger(f"127.0.1.{host}") for host in range(1, STRANGERS + 1)])

    async def sign_in() -> None:
        form = {"email": f"{os.urandom(8).hex()}@example.org", "password": os.urandom(8).hex()}
        await next(strangers).act("POST", "/sign-in", data=form)

    await _lines(4 * LINES, sign_in)


async def _rows_without_end(attacker: Attacker) -> None:
    """Make keys, credentials and meeting accounts, and list all of them."""
    callers = cycle(await attacker.with_more_keys())
    made = (
        ("/key", {"name": "k" * 200}),
        ("/credential", {"provider": "deepgram", "key": "k" * 4096}),
        ("/meeting-account", {"service": "gmeet", "email": "e" * 320, "state": {"cookies": ["c" * 500_000]}}),
    )

    async def add_and_list() -> None:
        for path, body in made:
            await next(callers).act("POST", path, json=body)
            await next(callers).act("GET", path)

    await _lines(LINES, add_and_list)


async def _lists(attacker: Attacker, **fields: Any) -> None:
    """Book bots, and ask for the largest lists of them."""
    callers = cycle(await attacker.with_more_keys())

    async def book() -> None:
        await next(callers).act("POST", "/bot", json=booked_bot(**fields))

    async def ask() -> None:
        for path in (f"/bot?limit={LISTED}", "/bot/scheduled", f"/audit?limit={LISTED}"):
            await next(callers).act("GET", path)

    for _ in range(LISTED // LINES):
        await asyncio.gather(*(book() for _ in range(LINES)))
    await _lines(LINES, ask)


async def _long_configurations(attacker: Attacker) -> None:
    """Book bots with as long a configuration as is taken, and ask for lists of them."""
    words = [f"{number:03}" + "\U0001f600" * (VOCABULARY_CHARACTERS - 3) for number in range(VOCABULARY_ENTRIES)]
    await asyncio.gather(
        _lists(attacker, custom_vocabulary=words),
        _lines(2, lambda: attacker.act("POST", "/bot", json=booked_bot(custom_vocabulary=words))),
    )


async def _scrapes(attacker: Attacker) -> None:
    """Ask for the metrics without a key, as fast as some connections can."""
    stranger = attacker.stranger()
    await _lines(LINES, lambda: stranger.act("GET", "/metrics"))


ATTACKS: Mapping[str, Attack] = {
    "files that last twenty years": _years,
    "100 recordings that drip": _drips,
    "400 webhooks to silent receivers": _silent_receivers,
    "files of millions of parts": _bombs,
    "harmful files by address": _harmful_addresses,
    "two hours and 200 short recordings": _long_uploads,
    "requests without end": _requests,
    "unknown keys without end": _unknown_keys,
    "1,200 half requests": _half_requests,
    "2,000 sockets": _sockets,
    "metadata and filters": _searches,
    "10,000 live feeds": _feeds,
    "sign-ins from 250 addresses": _strangers_sign_in,
    "keys and accounts without end": _rows_without_end,
    "the largest lists": _lists,
    "long configurations": _long_configurations,
    "metrics without a key": _scrapes,
}


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _client(base_url: str, headers: Mapping[str, str], address: str = FROM) -> httpx2.AsyncClient:
    transport = httpx2.AsyncHTTPTransport(local_address=address, verify=_TLS)
    return httpx2.AsyncClient(base_url=base_url, headers=headers, timeout=PATIENCE_S, transport=transport)


async def _go_on(name: str, target: AttackTarget) -> Mapping[str, int]:
    """Attack until standard input ends; returns how it was answered."""
    async with _client(target.base_url, _bearer(target.key)) as client:
        attacker = Attacker(target, client)
        under_way = asyncio.ensure_future(ATTACKS[name](attacker))
        await asyncio.to_thread(sys.stdin.read)
        under_way.cancel()
        with suppress(asyncio.CancelledError):
            await under_way
    return attacker.answers


def main() -> None:
    """Do what standard input says."""
    os.nice(LAST)
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    asked = json.loads(sys.stdin.readline())
    print(json.dumps(asyncio.run(_go_on(asked["attack"], AttackTarget(**asked["target"])))), flush=True)


if __name__ == "__main__":
    main()
