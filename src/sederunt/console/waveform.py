"""The waveform of a recording for the player: a worker makes it at the first request, and it is stored beside it."""

import json
from uuid import UUID

from starlette.responses import Response

from sederunt.api.failures import json_response
from sederunt.console.page import Page
from sederunt.database.outbox import Resource
from sederunt.errors import NotFound
from sederunt.storage.names import peaks_object


async def waveform(page: Page, resource: Resource, resource_id: UUID, *, has_recording: bool) -> Response:
    """Answer with the peaks; 202 while they are being made. Raises NotFound if there is no recording."""
    if not has_recording:
        raise NotFound("There is no recording any more.")
    key = peaks_object(resource, resource_id)
    if await page.context.objects.size(key) is None:
        payload = json.dumps({"id": str(resource_id), "resource": resource}).encode()
        occasion = f"peaks-{resource_id}-{round(page.context.clock.now().timestamp()) // 60}"
        await page.context.bus.publish_job("peaks", resource_id, payload, occasion)
        return json_response({"message": "A worker reads the recording; ask again in a moment."}, 202)
    return Response(await page.context.objects.get(key), media_type="application/json")
