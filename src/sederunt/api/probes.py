"""Questions of machines: is the process alive, can it work, what has it counted. No key is needed."""

from starlette.requests import Request
from starlette.responses import Response

from sederunt.api.context import ApiContext
from sederunt.api.failures import json_response


async def health(_context: ApiContext, _request: Request) -> Response:
    """Answer GET /health: the process answers."""
    return json_response({"status": "ok"})


async def ready(context: ApiContext, _request: Request) -> Response:
    """Answer GET /ready: database and bus can be reached."""
    parts = {"database": await _database_answers(context), "bus": context.bus.connected}
    is_ready = all(parts.values())
    words = {name: "ok" if works else "away" for name, works in parts.items()}
    return json_response({"status": "ready" if is_ready else "not ready", **words}, 200 if is_ready else 503)


async def metrics(context: ApiContext, _request: Request) -> Response:
    """Answer GET /metrics, for Prometheus."""
    return Response(context.metrics.text(), media_type="text/plain; version=0.0.4")


async def _database_answers(context: ApiContext) -> bool:
    try:
        await context.accounts.all()
    except Exception:  # whatever the driver raises: this question is about just that
        return False
    return True
