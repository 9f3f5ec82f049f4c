"""Questions of machines: is the process alive, can it work, what has it counted. No key is needed."""

from starlette.requests import Request
from starlette.responses import Response

from sederunt.api.context import ApiContext
from sederunt.api.failures import json_response
from sederunt.api.readiness import OK


async def health(_context: ApiContext, _request: Request) -> Response:
    """Answer GET /health: the process answers."""
    return json_response({"status": "ok"})


async def ready(context: ApiContext, _request: Request) -> Response:
    """Answer GET /ready: every part that a request may need works; else 503, with what is wrong with which."""
    parts = await context.readiness.parts()
    is_ready = all(word == OK for word in parts.values())
    return json_response({"status": "ready" if is_ready else "not ready", **parts}, 200 if is_ready else 503)


async def metrics(context: ApiContext, _request: Request) -> Response:
    """Answer GET /metrics, for Prometheus."""
    return Response(context.metrics.text(), media_type="text/plain; version=0.0.4")
