"""Read a transcript page by page: each is parsed from its place in the stored text, so four hours cost no more."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sederunt.database.transcripts import segment_of, segments_text
from sederunt.errors import InvalidConfig
from sederunt.model.correction import Correction, corrected
from sederunt.model.transcript import Transcript

MOST = 300  # segments: a quarter of an hour, and more than a screen
_CURSOR = re.compile(r"(\d{1,10})-(\d{1,7})-(\d{1,10})", re.ASCII)


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    """Consecutive segments, and the cursor of the next page, None after the last."""

    first: int
    segments: Sequence[Mapping[str, Any]]
    next: str | None


def page_of(segments_json: str, cursor: str | None, corrections: Sequence[Correction] = ()) -> TranscriptPage:
    """Return the page at a cursor, None for the first. Raises InvalidConfig for a cursor of another text."""
    at, first = _place(segments_json, cursor)
    decode = json.JSONDecoder().raw_decode
    segments: list[Mapping[str, Any]] = []
    try:
        while segments_json[at : at + 1] == "{" and len(segments) < MOST:
            segment, end = decode(segments_json, at)
            segments.append(segment)
            at = end + 1  # the comma, or the end of the array
        next_cursor = (
            f"{at}-{first + len(segments)}-{len(segments_json)}" if segments_json[at : at + 1] == "{" else None
        )
        return TranscriptPage(first, _corrected(segments, first, corrections), next_cursor)
    except (ValueError, KeyError, TypeError):
        raise _strange_cursor() from None


def _place(text: str, cursor: str | None) -> tuple[int, int]:
    if cursor is None:
        return 1, 0
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise _strange_cursor()
    at, first, length = (int(number) for number in match.groups())
    if length != len(text) or text[at - 1 : at + 1] != ",{":
        raise _strange_cursor()
    return at, first


def _corrected(
    segments: Sequence[Mapping[str, Any]], first: int, corrections: Sequence[Correction]
) -> Sequence[Mapping[str, Any]]:
    """Return the corrected segments: each correction is about one of them, or about a name in any."""
    shifted = [
        correction if correction.segment is None else replace(correction, segment=correction.segment - first)
        for correction in corrections
        if correction.segment is None or first <= correction.segment < first + len(segments)
    ]
    if not shifted:
        return segments
    transcript = Transcript(segments=tuple(segment_of(segment) for segment in segments))
    result: list[Mapping[str, Any]] = json.loads(segments_text(corrected(transcript, shifted)))
    return result


def _strange_cursor() -> InvalidConfig:
    return InvalidConfig({"after": ["after is no place in this transcript: it was made anew. Load the page again."]})
