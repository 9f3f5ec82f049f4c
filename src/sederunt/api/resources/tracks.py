"""A bot's separate recordings of each speaker: one file per source of sound, with signed addresses."""

import json
from typing import Any

from starlette.responses import Response

from sederunt.api.call import Call
from sederunt.api.failures import json_response
from sederunt.database.bot_view import BotView
from sederunt.model.bot import Bot
from sederunt.model.correction import corrected_names


async def list_tracks(call: Call) -> Response:
    """Answer GET /bot/{id}/tracks: in the order of their first sound."""
    view = await call.context.bots.view(call.id("bot"), call.account_id)
    return json_response({"data": await track_values(call, view)})


async def track_values(call: Call, view: BotView) -> list[dict[str, Any]]:
    """Return the tracks of a bot as callers see them; none before its recording exists or after it has expired."""
    tracks = await _stored(call, view.bot)
    if not tracks:
        return []
    corrections = await call.context.stores.corrections.of(view.bot.id)
    current_names = corrected_names((person.name for person in view.participants), corrections)
    names = {person.key: name for person, name in zip(view.participants, current_names, strict=True)}
    owners = await call.context.bots.sources(view.bot.id)
    return [
        {
            "source": track["source"],
            "speaker_name": names.get(owners.get(track["source"], "")),
            "start": track["start"],
            "end": track["end"],
            "heard_s": track["heard_s"],
            "track_url": call.addresses.link(
                f"bots/{view.bot.id}/tracks/{track['file']}", view.bot.recording_available_until
            ),
        }
        for track in tracks
    ]


async def _stored(call: Call, bot: Bot) -> list[dict[str, Any]]:
    if bot.recording_object is None:
        return []
    try:
        facts = json.loads(await call.context.objects.get(f"bots/{bot.id}/tracks.json"))
    except FileNotFoundError:
        return []
    tracks: list[dict[str, Any]] = facts["sources"]
    return tracks
