"""All transcripts of the same sound: the first one, and those made later."""

import contextlib
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sederunt.api.call import Call
from sederunt.database.outbox import Resource
from sederunt.errors import NotFound
from sederunt.model.bot import Bot
from sederunt.model.recording import Recording

_MOST = 50
_LONGEST_DESCENT = 20  # copies of copies


@dataclass(frozen=True, kw_only=True, slots=True)
class SoundTranscript:
    """One transcript, as a list shows it."""

    id: UUID
    resource: Resource
    model: str
    status: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SiblingTranscripts:
    """The transcripts of one sound."""

    transcripts: tuple[SoundTranscript, ...]  # the newest first, the source last
    source: SoundTranscript | None  # the one whose file can be transcribed again; None if no file is left


async def sibling_transcripts(call: Call, of: UUID) -> SiblingTranscripts:
    """Return every transcript of the sound of a bot or a recording. Raises NotFound if there is neither."""
    root = await _root(call, of)
    recordings = call.context.recordings
    page = await recordings.find(call.account_id, source_id=root.id, limit=_MOST)
    retranscribed = [item for item in page.recordings if item.id != root.id]
    if all(item.id != of for item in (root, *retranscribed)):
        retranscribed.append(await recordings.get(of, call.account_id))
    transcripts = tuple(_shown(item) for item in (*retranscribed, root))
    items_with_file = [item for item in (root, *retranscribed) if item.recording_object is not None]
    return SiblingTranscripts(transcripts=transcripts, source=_shown(items_with_file[0]) if items_with_file else None)


async def _root(call: Call, of: UUID) -> Bot | Recording:
    """Return the bot or upload that the sound comes from, or the oldest that is left. Raises NotFound."""
    bots, recordings = call.context.bots, call.context.recordings
    with contextlib.suppress(NotFound):
        return await bots.get(of, call.account_id)
    recording = await recordings.get(of, call.account_id)
    if recording.source_bot_id is not None:
        with contextlib.suppress(NotFound):
            return await bots.get(recording.source_bot_id, call.account_id)
    for _ in range(_LONGEST_DESCENT):
        if recording.source_recording_id is None:
            break
        try:
            recording = await recordings.get(recording.source_recording_id, call.account_id)
        except NotFound:
            break
    return recording


def _shown(item: Bot | Recording) -> SoundTranscript:
    return SoundTranscript(
        id=item.id,
        resource="bot" if isinstance(item, Bot) else "recording",
        model=item.config.transcription_model,
        status=item.status.value,
        created_at=item.created_at,
    )
