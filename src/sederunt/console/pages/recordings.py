"""Recordings: the list with its upload, one recording, and two transcripts side by side."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from sederunt.api.resources.recordings import recordings_asked_for
from sederunt.api.resources.transcripts import correction_values
from sederunt.console.page import Page
from sederunt.console.pages.bots import player_response
from sederunt.console.sibling_transcripts import sibling_transcripts
from sederunt.console.waveform import waveform
from sederunt.model.history import Event
from sederunt.model.status import RecordingStatus
from sederunt.model.transcript import OF_A_WHOLE_FILE
from sederunt.transcription.models import models


async def list_recordings(page: Page) -> Response:
    """GET /recordings"""
    recording_page = await page.context.recordings.find(page.account_id, **recordings_asked_for(page))
    return page.render(
        "recordings.html",
        recordings=recording_page.recordings,
        cursor=recording_page.cursor,
        statuses=list(RecordingStatus),
        models=[row for row in models() if row.for_recordings],
    )


async def one_recording(page: Page) -> Response:
    """GET /recordings/{id}"""
    view = await page.context.recordings.view(page.id("recording"), page.account_id)
    recording = view.recording
    if recording.status is not RecordingStatus.TRANSCRIBING and "hx-request" in page.request.headers:
        # The page waited for the transcript. Swapped-in content brings no scripts of a head, and would not play.
        return Response(headers={"HX-Refresh": "true"})
    corrections = await page.context.stores.corrections.of(recording.id)
    key, until = recording.recording_object, recording.recording_available_until
    return page.render(
        "recording.html",
        recording=recording,
        has_transcript=len(view.segments_json) > len("[]"),
        corrections=[correction_values(correction) for correction in corrections],
        recording_url=page.addresses.link(key, until) if key else None,
        trouble=next((e.data["message"] for e in reversed(view.events) if e.data.get("message")), None),
        doubts=_doubts_of_the_file(view.events),
        models=[row for row in models() if row.for_recordings],
        sound=await sibling_transcripts(page, recording.id),
    )


def _doubts_of_the_file(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Return what the last transcription doubts about the file as a whole."""
    doubts = next(
        (event.data["transcript_doubts"] for event in reversed(events) if "transcript_doubts" in event.data), ()
    )
    return [doubt for doubt in doubts if doubt["why"] in OF_A_WHOLE_FILE]


async def compare(page: Page) -> Response:
    """GET /compare: two transcripts side by side; the script asks for what differs."""
    first = page.uuid("first")
    transcripts = (await sibling_transcripts(page, first)).transcripts if first else ()
    others = [transcript.id for transcript in transcripts if transcript.id != first]
    second = page.uuid("second") or next(iter(others), None)
    return page.render("compare.html", first=first, second=second, transcripts=transcripts)


async def player_data(page: Page) -> Response:
    """GET /recordings/{id}/player.json"""
    view = await page.context.recordings.view(page.id("recording"), page.account_id)
    corrections = await page.context.stores.corrections.of(view.recording.id)
    return player_response(page, view, corrections, [])


async def peaks(page: Page) -> Response:
    """GET /recordings/{id}/peaks.json"""
    recording = await page.context.recordings.get(page.id("recording"), page.account_id)
    return await waveform(page, "recording", recording.id, has_recording=recording.recording_object is not None)
