"""Questions of machines: is the process alive, can it work, how is the installation, what was counted. No key."""

from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from sederunt.api.context import ApiContext
from sederunt.api.failures import json_response
from sederunt.database.waiting import unclaimed
from sederunt.jobs.installation import NEEDED_ROLES, STARTING, Seats, role_words, seats_of
from sederunt.jobs.readiness import OK

_FINE = (OK, STARTING)


async def health(context: ApiContext, _request: Request) -> Response:
    """Answer GET /health: this process answers; beside it, how the installation is."""
    words = _roles(context)
    counts = {
        role: {
            "status": words[role],
            "alive": len(context.pulses.living(role)),
            "silent": len(context.pulses.silent(role)),
        }
        for role in NEEDED_ROLES
    }
    is_well = all(word in _FINE for word in words.values())
    return json_response({"status": "ok" if is_well else "degraded", "roles": counts, "seats": _seats_json(context)})


async def ready(context: ApiContext, request: Request) -> Response:
    """Answer GET /ready: every part that a request and its bot need works; else 503, with what is wrong with which.

    `?only=process` asks for the parts of this process alone.
    """
    parts = await context.readiness.parts()
    if request.query_params.get("only") != "process":
        parts |= _roles(context)
    is_ready = all(word in _FINE for word in parts.values())
    return json_response({"status": "ready" if is_ready else "not ready", **parts}, 200 if is_ready else 503)


async def metrics(context: ApiContext, _request: Request) -> Response:
    """Answer GET /metrics, for Prometheus. Without a database the counters of this process are told all the same."""
    seats = seats_of(context.pulses.living("host"))
    context.metrics.seats(total=seats.total, held=seats.held, free=seats.free, wanted=await _wanted(context, seats))
    for role in NEEDED_ROLES:
        alive, silent = len(context.pulses.living(role)), len(context.pulses.silent(role))
        context.metrics.processes(role, alive=alive, silent=silent)
    return Response(context.metrics.text(), media_type="text/plain; version=0.0.4")


async def _wanted(context: ApiContext, seats: Seats) -> int | None:
    """Return how many seats are held or waited for; None where the database does not say."""
    try:
        due = await context.waiting.due(context.clock.now() + timedelta(seconds=1))
        waiting = unclaimed(await context.waiting.at_work())
    except Exception:  # whatever the driver raises; /ready says that it is away
        return None
    return seats.held + len(due) + len(waiting)


def _roles(context: ApiContext) -> dict[str, str]:
    return role_words(context.pulses, age_s=context.pulses.listening_s)


def _seats_json(context: ApiContext) -> dict[str, int]:
    seats = seats_of(context.pulses.living("host"))
    return {"total": seats.total, "held": seats.held, "free": seats.free}
