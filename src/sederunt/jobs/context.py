"""The stores, bus and storage of one process, opened and closed in one place."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from sederunt.accounting import Ledger, limits_of
from sederunt.accounts.credentials import CredentialStore
from sederunt.accounts.lost_key import open_sealer
from sederunt.accounts.sealing import Sealer
from sederunt.accounts.vendor_access import VendorAccess
from sederunt.accounts.webhook_secrets import WebhookSecrets
from sederunt.addresses import guarded_client
from sederunt.bus.connection import Bus
from sederunt.bus.feeds import EventPublisher
from sederunt.bus.tasks import end
from sederunt.clock import SYSTEM_CLOCK, Clock
from sederunt.database.bots import Bots
from sederunt.database.deliveries import Deliveries
from sederunt.database.engine import Database
from sederunt.database.holdings import Holdings
from sederunt.database.job_beginnings import JobBeginnings
from sederunt.database.live_lines import LiveLineStore
from sederunt.database.outbox import Outbox
from sederunt.database.recordings import Recordings
from sederunt.database.retention import Deletions
from sederunt.database.transcripts import Transcripts
from sederunt.jobs.follow_ups import FOLLOW_UPS
from sederunt.jobs.publish import open_published
from sederunt.media.readers import Readers
from sederunt.settings import Settings
from sederunt.storage.objects import Objects, open_objects
from sederunt.transcription.scheduler import Scheduler
from sederunt.transcription.unloading import unload_models
from sederunt.webhooks.deliverer import Deliverer
from sederunt.webhooks.destinations import Destinations

if TYPE_CHECKING:
    from sederunt.browser.pool import BrowserPool


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerContext:
    """Everything a job may need. Handlers get all of it; the functions they call get the parts."""

    settings: Settings
    clock: Clock
    sealer: Sealer
    database: Database
    bus: Bus
    objects: Objects
    bots: Bots
    recordings: Recordings
    deliveries: Deliveries
    deletions: Deletions
    outbox: Outbox
    holdings: Holdings
    beginnings: JobBeginnings
    events: EventPublisher  # of bots, to their listeners: `put` never waits
    transcripts: Transcripts
    live_lines: LiveLineStore
    deliverer: Deliverer
    vendor_access: VendorAccess
    ledger: Ledger
    readers: Readers  # of callers' files
    name: str  # this host's name; on workers it only names them in logs
    scheduler: Scheduler = field(default_factory=Scheduler)  # of windows that are transcribed here
    pool: "BrowserPool | None" = None  # hosts have browsers
    spools: Path | None = None  # … and their own folder for sound that storage has not taken yet
    # Bots that sit here and that Whisper follows live: each costs this machine more.
    transcribed_live: set[UUID] = field(default_factory=set)

    def store_of(self, resource: str) -> Bots | Recordings:
        """Return the store of a kind of resource: "bot" or "recording"."""
        return self.bots if resource == "bot" else self.recordings


@asynccontextmanager
async def open_context(
    settings: Settings, *, role: str, pool: "BrowserPool | None" = None, spools: Path | None = None
) -> AsyncIterator[WorkerContext]:
    """Open everything in the order of dependence, and close it in reverse, after sending what can be sent.

    Raises SetupError, which says what is missing.
    """
    name = f"{role} {settings.host.name} {os.getpid()}"
    async with open_published(settings, SYSTEM_CLOCK, name=name) as (bus, database):
        sealer = await open_sealer(database, settings)
        context = replace(_made(settings, role, database, bus, sealer), pool=pool, spools=spools)
        async with _telling(context.events):
            yield context
        await context.deliverer.client.aclose()


def _made(settings: Settings, role: str, database: Database, bus: Bus, sealer: Sealer) -> WorkerContext:
    deliveries, ledger = Deliveries(database), Ledger(limits_of(settings), settings.account_weights)
    secrets = WebhookSecrets(database, sealer)
    return WorkerContext(
        settings=settings,
        clock=SYSTEM_CLOCK,
        sealer=sealer,
        database=database,
        bus=bus,
        objects=open_objects(settings),
        bots=Bots(database, follow_ups=FOLLOW_UPS, seals=sealer),
        recordings=Recordings(database),
        transcripts=Transcripts(database),
        live_lines=LiveLineStore(database),
        deliveries=deliveries,
        deletions=Deletions(database),
        outbox=Outbox(database),
        holdings=Holdings(database),
        beginnings=JobBeginnings(database),
        deliverer=_deliverer(settings, deliveries, secrets, ledger),
        ledger=ledger,
        readers=Readers(ledger),
        vendor_access=VendorAccess(CredentialStore(database, sealer), settings),
        events=EventPublisher(bus),
        scheduler=Scheduler(
            settings.transcription.cores,
            weight_of=ledger.weight_of,
            idle_s=settings.whisper.idle_minutes * 60,
            on_idle=unload_models,
        ),
        name=settings.host.name if role == "host" else f"{role}-{settings.host.name}",
    )


def _deliverer(settings: Settings, deliveries: Deliveries, secrets: WebhookSecrets, ledger: Ledger) -> Deliverer:
    timeout_s = settings.webhooks.timeout_s
    return Deliverer(
        deliveries=deliveries,
        client=guarded_client(allow_private=settings.allow_private_addresses, timeout_s=timeout_s),
        secrets_of=secrets.signing,
        clock=SYSTEM_CLOCK,
        timeout_s=timeout_s,
        skribby_signature=settings.webhooks.skribby_signature,
        destinations=Destinations(ledger=ledger),
    )


@asynccontextmanager
async def _telling(events: EventPublisher) -> AsyncIterator[None]:
    """Send bots' events to their listeners, and the rest at the end."""
    task = asyncio.create_task(events.run(), name="events")
    try:
        yield
    finally:
        await events.flush()
        await end(task)
