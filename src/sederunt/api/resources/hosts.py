"""Requests to a host rather than to a bot: a browser for signing in, or for checking an account."""

from collections.abc import Callable, Mapping
from typing import Any

from sederunt.api.context import ApiContext
from sederunt.bus.connection import BusAway, NoResponder
from sederunt.bus.heartbeat import Heartbeat
from sederunt.errors import Conflict


async def ask_a_host(
    context: ApiContext, subject_of: Callable[[str], str], message: Mapping[str, Any], *, within_s: float
) -> Mapping[str, Any]:
    """Ask hosts in turn, the least busy first, and return the first answer. Raises Conflict if none can be reached."""
    hosts = sorted(context.installation.heartbeats.living("host"), key=_free_seats, reverse=True)
    for host in hosts:
        try:
            return await context.bus.request(subject_of(host.name), message, within_s=within_s)
        except (NoResponder, BusAway):
            continue
    raise Conflict("No host can open a browser right now: see Operations.")


def _free_seats(host: Heartbeat) -> int:
    seats = host.facts.get("seats")
    return int(seats.get("free", 0)) if isinstance(seats, Mapping) else 0
