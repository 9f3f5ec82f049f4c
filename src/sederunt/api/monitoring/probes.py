"""Probes for machines, without a key: is the process alive, can it work, how is the installation, and the metrics."""

from starlette.requests import Request
from starlette.responses import Response

from sederunt.api.context import ApiContext
from sederunt.api.failures import json_response
from sederunt.bus.heartbeat import OK
from sederunt.jobs.installation import NEEDED_ROLES, STARTING, role_words, seats_of

_FINE = (OK, STARTING)


async def health(context: ApiContext, _request: Request) -> Response:
    """Answer GET /health: that this process answers, and the state of the installation."""
    states = _roles(context)
    counts = {
        role: {
            "status": states[role],
            "alive": len(context.installation.heartbeats.living(role)),
            "silent": len(context.installation.heartbeats.silent(role)),
        }
        for role in NEEDED_ROLES
    }
    is_well = all(state in _FINE for state in states.values())
    seats = seats_of(context.installation.heartbeats.living("host"))
    return json_response(
        {
            "status": "ok" if is_well else "degraded",
            "roles": counts,
            "seats": {"total": seats.total, "held": seats.held, "free": seats.free},
        }
    )


async def ready(context: ApiContext, request: Request) -> Response:
    """Answer GET /ready: every part that a request and its bot need works; else 503, with what is wrong with which.

    `?only=process` asks for the parts of this process alone.
    """
    parts = await context.readiness.parts()
    if request.query_params.get("only") != "process":
        parts |= _roles(context)
    is_ready = all(state in _FINE for state in parts.values())
    return json_response({"status": "ready" if is_ready else "not ready", **parts}, 200 if is_ready else 503)


async def metrics(context: ApiContext, _request: Request) -> Response:
    """Answer GET /metrics, for Prometheus."""
    return Response(await context.metrics.scrape(context.installation), media_type="text/plain; version=0.0.4")


def _roles(context: ApiContext) -> dict[str, str]:
    return role_words(context.installation.heartbeats, age_s=context.installation.heartbeats.listening_s)
