"""All transcripts of the same sound: the first one, and those that were made of it again."""

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
    """One of them, as a list shows it."""

    id: UUID
    resource: Resource
    model: str
    status: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SiblingTranscripts:
    """What there is of one sound."""

    transcripts: tuple[SoundTranscript, ...]  # the newest first, the source last
    source: SoundTranscript | None  # what can be transcribed anew; None where no file is left


async def sibling_transcripts(call: Call, of: UUID) -> SiblingTranscripts:
    """Return every transcript of the sound of a bot or a recording. Raises NotFound where there is neither."""
    root = await _root(call, of)
    recordings = call.context.recordings
    page = await recordings.find(call.account_id, source_id=root.id, limit=_MOST)
    anew = [one for one in page.recordings if one.id != root.id]
    if all(one.id != of for one in (root, *anew)):
        anew.append(await recordings.get(of, call.account_id))
    shown = tuple(_shown(one) for one in (*anew, root))
    with_file = [one for one in (root, *anew) if one.recording_object is not None]
    return SiblingTranscripts(transcripts=shown, source=_shown(with_file[0]) if with_file else None)


async def _root(call: Call, of: UUID) -> Bot | Recording:
    """Return the bot or the upload whose sound it is; of what is left, the oldest. Raises NotFound."""
    bots, recordings = call.context.bots, call.context.recordings
    with contextlib.suppress(NotFound):
        return await bots.get(of, call.account_id)
    found = await recordings.get(of, call.account_id)
    if found.source_bot_id is not None:
        with contextlib.suppress(NotFound):
            return await bots.get(found.source_bot_id, call.account_id)
    for _ in range(_LONGEST_DESCENT):
        if found.source_recording_id is None:
            break
        try:
            found = await recordings.get(found.source_recording_id, call.account_id)
        except NotFound:
            break
    return found


def _shown(one: Bot | Recording) -> SoundTranscript:
    return SoundTranscript(
        id=one.id,
        resource="bot" if isinstance(one, Bot) else "recording",
        model=one.config.transcription_model,
        status=one.status.value,
        created_at=one.created_at,
    )
