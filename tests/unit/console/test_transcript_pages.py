"""A transcript that is read page by page is the same as in one."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from sederunt.console import transcript_pages
from sederunt.console.transcript_pages import page_of
from sederunt.database.transcripts import segments_text
from sederunt.errors import InvalidConfig
from sederunt.model.correction import Correction, CorrectionKind, corrected
from sederunt.model.transcript import Segment, Transcript


def transcript_with(count: int) -> Transcript:
    texts = ('plain "{words},{here}"', "ünïcode 🎉", "")
    return Transcript(
        segments=tuple(
            Segment(
                start=float(n),
                end=n + 0.5,
                speaker=0,
                confidence=0.9,
                transcript=f"{n} {texts[n % 3]}",
                utterances=(),
                speaker_name=("Ada", None)[n % 2],
            )
            for n in range(count)
        )
    )


def read(text: str, corrections: tuple[Correction, ...] = ()) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    cursor: str | None = None
    while True:
        page = page_of(text, cursor, corrections)
        assert page.first == len(found)
        found += page.segments
        if page.next is None:
            return found
        cursor = page.next


@pytest.mark.parametrize("count", [0, 1, 6, 7, 8, 14, 20])
def test_the_pages_are_the_whole(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_pages, "MOST", 7)
    found = read(segments_text(transcript_with(count)))
    assert [segment["transcript"] for segment in found] == [s.transcript for s in transcript_with(count).segments]


def test_corrections_fall_where_they_belong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_pages, "MOST", 7)
    told: list[tuple[CorrectionKind, int | None, str | None, str]] = [
        (CorrectionKind.SPEAKER, 9, None, "Bo"),
        (CorrectionKind.PARTICIPANT, None, "Ada", "Ada Lovelace"),
        (CorrectionKind.SPEAKER, 0, "Ada Lovelace", "Bo"),
        (CorrectionKind.SPEAKER, 99, None, "nobody"),
    ]
    corrections = tuple(
        Correction(
            id=UUID(int=n),
            kind=kind,
            segment=segment,
            word=None,
            before=before,
            after=after,
            made_by="tests",
            created_at=datetime.now(UTC),
        )
        for n, (kind, segment, before, after) in enumerate(told)
    )
    whole = transcript_with(16)
    names = [segment["speaker_name"] for segment in read(segments_text(whole), corrections)]
    assert names == [segment.speaker_name for segment in corrected(whole, corrections).segments]
    assert (names[0], names[9], names[2]) == ("Bo", "Bo", "Ada Lovelace")


@pytest.mark.parametrize("cursor", ["", "1", "5-1-10", "0-0-0", "-1-0-5", "99999-3-4", "1-0-{length}", "٣-1-2"])
def test_a_cursor_that_is_none_is_refused(cursor: str) -> None:
    text = segments_text(transcript_with(3))
    with pytest.raises(InvalidConfig, match="no place in this transcript"):
        page_of(text, cursor.replace("{length}", str(len(text))))
