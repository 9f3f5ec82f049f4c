"""The stores, the bus and the storage that handlers use, opened and closed together."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from urllib.parse import urlsplit
from uuid import UUID

from sederunt import __version__
from sederunt.accounting import Ledger, Rate
from sederunt.accounts.installation_secrets import LINKS, installation_secret
from sederunt.accounts.keys import Keys
from sederunt.accounts.lost_key import open_sealer
from sederunt.addresses import guarded_client
from sederunt.api.access.auth import Auth
from sederunt.api.access.bulk import BulkShare
from sederunt.api.access.long_answers import LongAnswers
from sederunt.api.access.shared_use import SharedUse, sharing
from sederunt.api.access.socket_holders import SocketHolders
from sederunt.api.checks import Checks
from sederunt.api.monitoring.gauges import GaugeSources
from sederunt.api.monitoring.metrics import Metrics
from sederunt.api.stores import ApiStores, open_stores
from sederunt.api.transport.body_cache import BodyCache
from sederunt.bus.connection import Bus
from sederunt.bus.heartbeat import beating, hearing
from sederunt.bus.tasks import end
from sederunt.clock import Clock
from sederunt.database.accounts import Accounts
from sederunt.database.bots import Bots
from sederunt.database.deliveries import Deliveries
from sederunt.database.engine import Database
from sederunt.database.holdings import AccountLimits
from sederunt.database.recordings import Recordings
from sederunt.database.retention import Deletions
from sederunt.database.waiting import WaitingBots
from sederunt.errors import NotFound
from sederunt.jobs.follow_ups import FOLLOW_UPS
from sederunt.jobs.publish import open_published
from sederunt.jobs.readiness import Readiness
from sederunt.media.readers import Readers
from sederunt.model.bot import Bot
from sederunt.realtime.hub import Hub
from sederunt.settings import Settings
from sederunt.storage.links import Links
from sederunt.storage.objects import Objects, open_objects

THREADS = 32  # for work that must not block the loop; Python's default would be two more than an account can occupy
KEYS_WORTH = 5  # an account may make as many requests as so many keys, if that is more than its budget


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiContext:
    """Everything a request may need."""

    settings: Settings
    clock: Clock
    database: Database
    bus: Bus
    objects: Objects
    bots: Bots
    recordings: Recordings
    deletions: Deletions
    accounts: Accounts
    auth: Auth
    checks: Checks
    stores: ApiStores
    metrics: Metrics
    readiness: Readiness
    installation: GaugeSources  # the state of all of its processes
    hub: Hub
    socket_holders: SocketHolders
    ledger: Ledger
    readers: Readers  # of files that callers upload
    bulk: BulkShare
    long_answers: LongAnswers  # under way or queued
    links_secret: bytes
    bodies: BodyCache

    @property
    def account_limits(self) -> AccountLimits:
        """Return how much an account may store and have under way."""
        limits = self.settings.limits
        return AccountLimits(stored_gb=limits.stored_gb, transcription_minutes=limits.transcription_minutes)

    def links(self, base_url: str) -> Links:
        """Return the signer of download addresses below this base."""
        return _links(self.links_secret, base_url)

    def base_url(self, scheme: str, host: str) -> str:
        """Return the base URL for a caller: the operator's setting, else the origin of this request."""
        api = self.settings.api
        return (api.public_url or _came_by(scheme, host) or f"http://{api.host}:{api.port}").rstrip("/")


@lru_cache(maxsize=64)
def _links(secret: bytes, base_url: str) -> Links:
    return Links(secret, base_url)


@lru_cache(maxsize=64)
def _came_by(scheme: str, host: str) -> str | None:
    """Return the origin of a request, None if its Host header is no host."""
    try:
        parts = urlsplit(f"{scheme}://{host}")
        is_proper = parts.netloc == host and parts.hostname and parts.port != 0 and "@" not in host
    except ValueError:
        return None
    return f"{scheme}://{host}" if is_proper else None


@asynccontextmanager
async def open_context(settings: Settings, clock: Clock, metrics: Metrics, ledger: Ledger) -> AsyncIterator[ApiContext]:
    """Open everything and close it in reverse order; everything committed is published before that."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "api"))
    async with contextlib.AsyncExitStack() as stack:
        bus, database = await stack.enter_async_context(open_published(settings, clock, name="api"))
        sealer = await open_sealer(database, settings)
        keys = await Keys.open(database, sealer, clock)
        stack.push_async_callback(keys.close)
        allow_private, timeout_s = settings.allow_private_addresses, settings.webhooks.timeout_s
        client = await stack.enter_async_context(guarded_client(allow_private=allow_private, timeout_s=timeout_s))
        stores = open_stores(database, sealer, keys, client, ledger)
        bots = Bots(database, clock, follow_ups=FOLLOW_UPS, seals=sealer)
        objects = open_objects(settings)
        readiness = Readiness(database, bus, objects, settings.data, clock)
        requests = Rate.per_minute(requests_of_key := ledger.limit("requests"), clock.monotonic)
        requests_of_account = (
            max(ledger.limit("account_requests"), KEYS_WORTH * requests_of_key) if requests_of_key else 0
        )
        account_requests = Rate.per_minute(requests_of_account, clock.monotonic)
        await stack.enter_async_context(sharing(bus, SharedUse(requests, ledger, clock.monotonic)))
        await stack.enter_async_context(beating(bus, "api", f"api-{settings.host.name}", partial(_facts, ledger)))
        installation = GaugeSources(
            heartbeats=await stack.enter_async_context(hearing(bus)),
            waiting=WaitingBots(database),
            deliveries=Deliveries(database),
            bus=bus,
            clock=clock,
        )
        yield ApiContext(
            settings=settings,
            clock=clock,
            database=database,
            bus=bus,
            objects=objects,
            bots=bots,
            recordings=Recordings(database, clock),
            deletions=Deletions(database),
            accounts=Accounts(database),
            auth=Auth(keys, requests, account_requests, ledger),
            checks=Checks(settings, stores.credentials, stores.meeting_accounts),
            stores=stores,
            metrics=metrics,
            socket_holders=SocketHolders(Accounts(database), stores.sign_ins, ledger, clock.monotonic),
            ledger=ledger,
            readers=Readers(ledger),
            bulk=BulkShare(ledger, clock),
            long_answers=LongAnswers(ledger),
            readiness=readiness,
            installation=installation,
            hub=await stack.enter_async_context(_hub(bus, clock, bots)),
            links_secret=await installation_secret(database, sealer, LINKS),
            bodies=BodyCache(),
        )


async def _facts(ledger: Ledger) -> Mapping[str, object]:
    """Return the facts of the heartbeat. Whether this process can work is reported by /ready."""
    return {"version": __version__, "budgets": ledger.told()}


@asynccontextmanager
async def _hub(bus: Bus, clock: Clock, bots: Bots) -> AsyncIterator[Hub]:
    """Open the hub for this process's listeners."""

    async def look(bot_id: UUID) -> Bot | None:
        with contextlib.suppress(NotFound):
            bot = await bots.get(bot_id)
            return None if bot.delete_requested else await bots.as_told(bot)
        return None

    hub = Hub(bus, clock, look)
    task = asyncio.create_task(hub.run())
    try:
        yield hub
    finally:
        await end(task)
        await hub.close()
