"""Pages of the account: the first page, search, webhooks, keys, usage, people, operations."""

import asyncio
import shutil
from typing import Any
from uuid import UUID

import psutil
from starlette.responses import Response

from sederunt.accounts.keys import Scope, scopes_of
from sederunt.accounts.sign_in import MemberRole
from sederunt.api.failures import json_response
from sederunt.api.resources.people import audit_values
from sederunt.api.resources.transcripts import search_values
from sederunt.api.resources.usage import usage_values
from sederunt.api.resources.webhooks import deliveries_values, secret_values
from sederunt.api.schemas.account_requests import KEYED_PROVIDERS
from sederunt.bus.heartbeat import Heartbeat, faults_of, is_resting
from sederunt.bus.streams import QUEUES
from sederunt.console.doctor import DoctorRun
from sederunt.console.page import Page
from sederunt.database.deliveries import DeliveryState
from sederunt.database.identities import Identities
from sederunt.errors import Forbidden, InvalidConfig
from sederunt.jobs.follow_ups import NEEDED
from sederunt.jobs.installation import seats_of
from sederunt.model.status import AT_WORK, BotStatus
from sederunt.platforms.registry import services_taking
from sederunt.platforms.sign_in_pages import AccountKind

_LATEST = 6
_PROFILE = ("email", "name", "password", "current")
# How a receiver checks a webhook, to be copied.
_VERIFYING = (
    (
        "Python",
        """from standardwebhooks import Webhook

event = Webhook("whsec_…").verify(
    request.body, request.headers)""",
    ),
    (
        "TypeScript",
        """import { Webhook } from "standardwebhooks";

const event = new Webhook("whsec_…")
  .verify(body, headers);""",
    ),
)


async def start(page: Page) -> Response:
    """GET /: where to begin."""
    latest, is_owner = await page.context.bots.find(page.account_id, limit=_LATEST), _owns_installation(page)
    doctor: DoctorRun = page.request.app.state.checkup
    is_checked = is_owner and (doctor.was_asked or not latest.bots)
    findings = doctor.look(page.context.settings) if is_checked else None
    return page.render("start.html", bots=latest.bots, findings=findings, owns_installation=is_owner)


async def check_up(page: Page) -> Response:
    """GET /checkup: the doctor's quick checks with their remedies, as a part of the first page."""
    if not _owns_installation(page):  # other accounts must not see its paths and accounts, nor use its cores
        raise Forbidden("The check-up is for owners of the account that this installation began with.")
    doctor: DoctorRun = page.request.app.state.checkup
    findings = doctor.look(page.context.settings, again="again" in page.request.query_params)
    return page.render("checkup.html", findings=findings)


def _owns_installation(page: Page) -> bool:
    return page.caller.manages and page.account_id == page.context.database.default_account_id


async def search(page: Page) -> Response:
    """GET /search"""
    results: dict[str, Any] = {"data": [], "next_cursor": None}
    fault = ""
    if page.request.query_params.get("q", "").strip():
        try:
            results = await search_values(page)
        except InvalidConfig as error:
            fault = str(error)
    names = {}
    for row in results["data"]:
        if row["resource"] == "bot" and row["id"] not in names:
            bot = await page.context.bots.get(UUID(row["id"]), page.account_id)
            names[row["id"]] = {"name": bot.config.bot_name, "at": bot.created_at, "service": bot.config.service}
    return page.render("search.html", results=results["data"], cursor=results["next_cursor"], names=names, fault=fault)


async def reference(page: Page) -> Response:
    """GET /reference: the API's document, with requests that can be sent."""
    return page.render("reference.html")


async def webhooks(page: Page) -> Response:
    """GET /webhooks"""
    secret = await page.context.stores.webhook_secrets.get(page.account_id) if page.caller.manages else None
    deliveries = await deliveries_values(page)
    return page.render(
        "webhooks.html",
        deliveries=deliveries["data"],
        cursor=deliveries["next_cursor"],
        states=list(DeliveryState),
        secret=secret_values(secret) if secret else None,
        verifying=_VERIFYING,
    )


async def keys(page: Page) -> Response:
    """GET /keys"""
    stores = page.context.stores
    key_page = await stores.keys.page(page.account_id, page.part("keys", newest_first=True))
    return page.render(
        "keys.html",
        keys=[(key, sorted(scopes_of(key))) for key in key_page.items],
        keys_cursor=key_page.cursor,
        now=page.context.clock.now(),
        scopes=list(Scope),
        credentials=await stores.credentials.page(page.account_id, page.part("credentials")),
        providers=KEYED_PROVIDERS,
        sign_in_services=services_taking(AccountKind.SESSION),
        meeting_accounts=await stores.meeting_accounts.page(page.account_id, page.part("accounts")),
    )


async def usage(page: Page) -> Response:
    """GET /usage"""
    values = await usage_values(page)
    totals = {name: sum(row[name] for row in values["data"]) for name in ("count", "minutes", "amount")}
    return page.render("usage.html", usage=values, totals=totals, currency=page.context.settings.pricing.currency)


async def people(page: Page) -> Response:
    """GET /people"""
    members = await page.context.stores.sign_ins.people.member_page(page.account_id, page.part("members"))
    audit = await audit_values(page) if page.caller.manages else {"data": [], "next_cursor": None}
    oidc = page.context.settings.oidc
    identities = await Identities(page.context.database).of(page.visitor.person.id) if oidc.issuer else []
    own_identity = next((identity for identity in identities if identity.issuer == oidc.issuer), None)
    return page.render(
        "people.html",
        members=members,
        needs_password=await page.context.stores.sign_ins.needs_password(page.visitor),
        roles=list(MemberRole),
        audit=audit["data"],
        cursor=audit["next_cursor"],
        provider=oidc.name if oidc.issuer else None,
        identity=None if own_identity is None else "came" if own_identity.made else "linked",
    )


async def save_profile(page: Page) -> Response:
    """POST /profile: one's own name, address and password; the other sessions end."""
    body = await page.body()
    form = body if isinstance(body, dict) else {}
    email, name, password, current = (str(form.get(field) or "") for field in _PROFILE)
    await page.context.stores.sign_ins.set_password(
        page.visitor, email, name, password, current, issuer=page.context.settings.oidc.issuer
    )
    return json_response({"message": "Saved. From now on you can sign in with this address and password."})


async def operations(page: Page) -> Response:
    """GET /operations: the installation as a whole, for owners of the account that it began with."""
    context = page.context
    if not _owns_installation(page):
        return page.render("operations.html", facts=None)
    heartbeats, waiting = context.installation.heartbeats, context.installation.waiting
    counts_at_work = {
        status: len(await context.bots.all_accounts.with_status(status)) for status in BotStatus if status in AT_WORK
    }
    later_statuses = [status for status in NEEDED if status not in AT_WORK]
    later_counts = {status: len(await context.bots.all_accounts.with_status(status)) for status in later_statuses}
    disk = await asyncio.to_thread(shutil.disk_usage, context.settings.data)
    queues = {kind: len(await context.bus.queued(kind)) for kind in QUEUES}
    load = psutil.getloadavg()
    memory = psutil.virtual_memory()
    facts = {
        "at_work": counts_at_work | later_counts,
        "queues": queues,
        "processes": [
            _process(heartbeat) for role in ("host", "worker", "api") for heartbeat in heartbeats.living(role)
        ],
        "silent": [f"{heartbeat.role} {heartbeat.name}" for heartbeat in heartbeats.silent()],
        "line": await waiting.due(context.clock.now()),
        "unclaimed": sum(one.unclaimed for one in await waiting.at_work()),
        "seats": seats_of(heartbeats.living("host")),
        "load": [round(value, 2) for value in load],
        "cores": psutil.cpu_count() or 1,
        "memory_used": memory.total - memory.available,
        "memory": memory.total,
        "disk_used": disk.used,
        "disk": disk.total,
        "database": "SQLite" if context.database.is_sqlite else "PostgreSQL",
        "bus": context.bus.connected,
        "storage": context.settings.storage.url or "a folder in the data directory",
    }
    return page.render("operations.html", facts=facts)


def _process(heartbeat: Heartbeat) -> dict[str, Any]:
    seats = heartbeat.facts.get("seats") or {}
    work = heartbeat.facts.get("at_work") or {}
    return {
        "role": heartbeat.role,
        "name": heartbeat.name,
        "held": seats.get("held", sum(work.values()) if work else None),
        "total": seats.get("total"),
        "load": heartbeat.facts.get("load"),
        "resident": heartbeat.facts.get("resident", 0),
        "draining": bool(heartbeat.facts.get("draining")),
        "resting": is_resting(heartbeat),
        "faults": faults_of(heartbeat),
    }
