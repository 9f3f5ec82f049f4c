"""The routes of transcripts: reading in every format, correcting, comparing, searching."""

from collections.abc import Sequence

from sederunt.api.resources import comparisons, transcripts
from sederunt.api.route import RequestBody, Route
from sederunt.api.schemas.account_requests import CorrectionFields

_FORMATS = ("text/plain", "application/x-subrip", "text/vtt", "text/markdown")
_CORRECTION = RequestBody(
    model=CorrectionFields,
    example={"kind": "word", "segment": 0, "word": 3, "after": "Sederunt"},
)

TRANSCRIPT_ROUTES: Sequence[Route] = (
    Route(
        method="GET",
        path="/bot/{id}/transcript",
        handler=transcripts.get_bot_transcript,
        name="getBotTranscript",
        summary="A bot's transcript as it is to be read, in a format",
        tag="Transcripts",
        answer="Transcript",
        query=("transcript-format", "corrected"),
        refusals=(400,),
        media_types=_FORMATS,
    ),
    Route(
        method="POST",
        path="/bot/{id}/correction",
        handler=transcripts.correct_bot,
        name="correctBot",
        summary="Put a word, a speaker or a name right in a bot's transcript",
        tag="Transcripts",
        answer="Correction",
        body=_CORRECTION,
        refusals=(403, 409),
    ),
    Route(
        method="DELETE",
        path="/bot/{id}/correction/{correction}",
        handler=transcripts.take_back_in_bot,
        name="takeBackBotCorrection",
        summary="Take a correction of a bot's transcript back",
        tag="Transcripts",
        answer="Message",
    ),
    Route(
        method="GET",
        path="/recording/{id}/transcript",
        handler=transcripts.get_recording_transcript,
        name="getRecordingTranscript",
        summary="A recording's transcript as it is to be read, in a format",
        tag="Transcripts",
        answer="Transcript",
        query=("transcript-format", "corrected"),
        refusals=(400,),
        media_types=_FORMATS,
    ),
    Route(
        method="POST",
        path="/recording/{id}/correction",
        handler=transcripts.correct_recording,
        name="correctRecording",
        summary="Put a word or a speaker right in a recording's transcript",
        tag="Transcripts",
        answer="Correction",
        body=_CORRECTION,
        refusals=(403, 409),
    ),
    Route(
        method="DELETE",
        path="/recording/{id}/correction/{correction}",
        handler=transcripts.take_back_in_recording,
        name="takeBackRecordingCorrection",
        summary="Take a correction of a recording's transcript back",
        tag="Transcripts",
        answer="Message",
    ),
    Route(
        method="POST",
        path="/comparison",
        handler=comparisons.compare_transcripts,
        name="compareTranscripts",
        summary="Two transcripts side by side, with their word error rates where a reference is given",
        tag="Transcripts",
        answer="Comparison",
        body=RequestBody(
            model=comparisons.ComparisonFields,
            example={
                "first": "0195f2c4-6a1e-7b3d-9f00-000000000001",
                "second": "0195f2c4-6a1e-7b3d-9f00-000000000002",
                "reference": "It was the best of times",
            },
        ),
        permission="read",
    ),
    Route(
        method="GET",
        path="/search",
        handler=transcripts.search,
        name="search",
        summary="Find words in all transcripts, the newest first",
        tag="Transcripts",
        answer="SearchResults",
        query=("q", "search-limit", "cursor"),
        refusals=(400,),
    ),
)
