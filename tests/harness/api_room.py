"""The real application in this process: its own database and folder, one nats-server for the session."""

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import numpy as np
import uvicorn
from sqlalchemy import select
from starlette.types import ASGIApp, Message

from harness.fake_clock import FakeClock
from sederunt.accounts.credentials import CredentialStore
from sederunt.accounts.keys import Keys
from sederunt.accounts.meeting_accounts import MeetingAccounts
from sederunt.accounts.sealing import load_sealer
from sederunt.api.transport.protocols import connection_limits, protocols
from sederunt.bench.hostile_files import wav_of
from sederunt.bus import embedded
from sederunt.bus.connection import Bus
from sederunt.clock import Clock
from sederunt.console.app import create_application
from sederunt.database.accounts import Accounts
from sederunt.database.bots import Bots
from sederunt.database.engine import Database, database_url
from sederunt.database.recordings import Recordings
from sederunt.database.tables import deletions
from sederunt.database.transcripts import Transcripts
from sederunt.jobs.follow_ups import FOLLOW_UPS
from sederunt.model.status import BotStatus, Trigger, advance
from sederunt.settings import ApiSettings, BusSettings, Settings
from sederunt.storage.objects import Objects, open_objects

PREFIX = "/api/v1"
GOOD_BOT = {
    "transcription_model": "whisper",
    "service": "gmeet",
    "meeting_url": "https://meet.google.com/abc-defg-hij",
    "bot_name": "Minutes",
}
# What happens to a bot whose meeting and transcript go as they should, from `booting` to `finished`.
AS_IT_SHOULD: tuple[Trigger, ...] = (
    Trigger.LAUNCHED,
    Trigger.ADMITTED,
    Trigger.ENDED,
    Trigger.LEFT,
    Trigger.ASSEMBLED,
    Trigger.TRANSCRIBED,
)
# A bot's status → what happened to it until then.
WAYS: dict[str, tuple[Trigger, ...]] = {
    **{
        str(status): AS_IT_SHOULD[:steps]
        for steps, status in enumerate(accumulate(AS_IT_SHOULD, advance, initial=BotStatus.BOOTING))
    },
    "finished": (Trigger.LAUNCHED, Trigger.ADMITTED, Trigger.ENDED, Trigger.LEFT, Trigger.CLOSED),
    "not_admitted": (Trigger.LAUNCHED, Trigger.REFUSED),
    "bot_detected": (Trigger.LAUNCHED, Trigger.CHALLENGED),
    "auth_required": (Trigger.LAUNCHED, Trigger.SIGN_IN_NEEDED),
    "invalid_credentials": (Trigger.LAUNCHED, Trigger.SIGN_IN_REJECTED),
    "failed": (Trigger.CRASHED,),
}


def tone_wav(seconds: float = 1.0) -> bytes:
    """A WAV file of a tone, 16 kHz mono."""
    samples = 8000 * np.sin(2 * np.pi * 440 * np.arange(round(16_000 * seconds)) / 16_000)
    return wav_of(samples.astype("<i2"), 16_000)


@contextmanager
def nats_process(data: Path) -> Iterator[BusSettings]:
    """A nats-server that belongs to no event loop."""
    server = embedded.prepare(data)
    with (data / "nats.log").open("ab") as log:
        process = subprocess.Popen(server.command, stdout=log, stderr=log)
    try:
        yield BusSettings(url=server.url, token=server.token)
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:  # on a busy machine; nothing of it is wanted any more
            process.kill()
            process.wait()


@dataclass(frozen=True, kw_only=True)
class ApiRoom:
    """A running application, its neighbours, and what other processes would do to the same data."""

    settings: Settings
    app: ASGIApp
    clock: Clock
    database: Database
    bus: Bus
    objects: Objects
    bots: Bots
    recordings: Recordings
    transcripts: Transcripts
    accounts: Accounts
    keys: Keys
    credentials: CredentialStore
    meeting_accounts: MeetingAccounts
    key: str
    client: httpx2.AsyncClient  # with that key, below the version prefix

    @property
    def account_id(self) -> UUID:
        return self.database.default_account_id

    def client_of(self, key: str | None, **headers: str) -> httpx2.AsyncClient:
        """Another caller."""
        return _client(self.app, key, headers)

    async def other_account(self) -> httpx2.AsyncClient:
        """A caller of another tenant."""
        account = await self.accounts.create("other")
        key, _ = await self.keys.create(account.id, "other")
        return self.client_of(key)

    async def bot(self, **fields: Any) -> dict[str, Any]:
        """POST /bot."""
        return _good(await self.client.post("/bot", json={**GOOD_BOT, **fields}))

    async def bot_in(self, status: str, **fields: Any) -> dict[str, Any]:
        """A bot to which happened what leads to this status."""
        if status == "scheduled":
            return await self.bot(**{"scheduled_start_time": 4_000_000_000, **fields})
        made = await self.bot(**fields)
        for trigger in WAYS[status]:
            await self.bots.record_transition(UUID(made["id"]), trigger)
        return await self.look(made)

    async def finish(self, bot_id: UUID, **told: Any) -> None:
        """Bring a bot that is being transcribed to its end; `told` goes with the last transition."""
        *before, last = AS_IT_SHOULD[len(WAYS["transcribing"]) :]
        for trigger in before:
            await self.bots.record_transition(bot_id, trigger)
        await self.bots.record_transition(bot_id, last, **told)

    async def look(self, made: dict[str, Any], **query: str) -> dict[str, Any]:
        """GET /bot/{id}."""
        return _good(await self.client.get(f"/bot/{made['id']}", params=query))

    async def recording(self, data: bytes, **fields: Any) -> dict[str, Any]:
        """POST /recording with a file."""
        return _good(await self.upload(data, **fields))

    async def upload(self, data: bytes, **fields: Any) -> httpx2.Response:
        """The answer to a form with a file."""
        form = {"transcription_model": "whisper", **fields}
        return await self.client.post("/recording", data=form, files={"recording_file": ("talk.bin", data)})

    async def receipts(self) -> list[dict[str, Any]]:
        """What is to be removed, or was."""
        return [dict(row) for row in await self.database.query(select(deletions)).all()]


def _good(answer: httpx2.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _client(app: ASGIApp, key: str | None, headers: dict[str, str] | None = None) -> httpx2.AsyncClient:
    sent = {**({"Authorization": f"Bearer {key}"} if key else {}), **(headers or {})}
    transport = httpx2.ASGITransport(app)
    return httpx2.AsyncClient(transport=transport, base_url=f"http://api.test{PREFIX}", headers=sent, timeout=60)


@asynccontextmanager
async def api_room(data: Path, bus: BusSettings, clock: Clock | None = None, **settings: Any) -> AsyncIterator[ApiRoom]:
    """The application with everything it needs. Settings are those of `Settings`; `api` may be a mapping."""
    section = ApiSettings(**{"public_url": "http://api.test", **settings.pop("api", {})})
    chosen = Settings(data=data, bus=bus, api=section, **settings)
    clock = clock or FakeClock()
    app = create_application(chosen, clock)
    sealer = load_sealer(chosen)
    async with Database(database_url(chosen), clock=clock) as database, _lifespan(app):
        keys = await Keys.open(database, sealer, clock)
        key, _ = await keys.create(database.default_account_id, "tests")
        own_bus = await Bus.connect(bus, name="tests")
        async with _client(app, key) as client:
            yield ApiRoom(
                settings=chosen,
                app=app,
                clock=clock,
                database=database,
                bus=own_bus,
                objects=open_objects(chosen),
                bots=Bots(database, clock, follow_ups=FOLLOW_UPS, seals=sealer),
                recordings=Recordings(database, clock),
                transcripts=Transcripts(database),
                accounts=Accounts(database),
                keys=keys,
                credentials=CredentialStore(database, sealer),
                meeting_accounts=MeetingAccounts(database, sealer),
                key=key,
                client=client,
            )
        await own_bus.close()
        await keys.close()


@asynccontextmanager
async def _lifespan(app: ASGIApp) -> AsyncIterator[None]:
    """What a server says to an application at the beginning and at the end."""
    said: asyncio.Queue[Message] = asyncio.Queue()
    heard: asyncio.Queue[Message] = asyncio.Queue()
    running = asyncio.create_task(_run(app, said, heard))
    await _say("startup", said, heard)
    try:
        yield
    finally:
        await _say("shutdown", said, heard)
        await running


async def _say(act: str, said: "asyncio.Queue[Message]", heard: "asyncio.Queue[Message]") -> None:
    await said.put({"type": f"lifespan.{act}"})
    answer = await asyncio.wait_for(heard.get(), 60)
    assert answer["type"] == f"lifespan.{act}.complete", answer


async def _run(app: ASGIApp, said: "asyncio.Queue[Message]", heard: "asyncio.Queue[Message]") -> None:
    await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, said.get, heard.put)


@asynccontextmanager
async def on_a_socket(app: ASGIApp, **options: Any) -> AsyncIterator[int]:
    """The application behind uvicorn as in production; the port. Its lifespan is somebody else's."""
    options = {"log_config": None, "access_log": False, **protocols(connection_limits(10_000)), **options}
    config = uvicorn.Config(app, port=0, lifespan="off", **options)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve())  # `serve` would take the test's signals
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    try:
        with closing(server.servers[0].sockets[0].dup()) as listener:
            yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await serving
