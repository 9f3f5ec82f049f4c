"""What a second reading writes: the lines that change, and no others."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from sederunt.jobs.second_reading import _written
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.status import BotStatus
from sederunt.model.transcript import LiveLine, Segment, Utterance, Word
from sederunt.transcripts.attribution import MeetingFacts
from sederunt.transcripts.revision import Revision

SOURCE, MEETING = "7", MeetingFacts(duration_s=60.0)


def said(text: str, *times: tuple[float, float], lang: str | None = None) -> Utterance:
    words = tuple(
        Word(word=word, start=start, end=end, confidence=0.9)
        for word, (start, end) in zip(text.split(), times, strict=True)
    )
    return Utterance(
        start=times[0][0], end=times[-1][1], speaker=0, confidence=0.9, transcript=text, words=words, lang=lang
    )


def line(utterance: Utterance) -> LiveLine:
    segment = Segment(
        start=utterance.start,
        end=utterance.end,
        speaker=0,
        confidence=0.9,
        transcript=utterance.transcript,
        utterances=(utterance,),
        potential_speaker_names=(),
    )
    return LiveLine(segment_id="s-1", revision=0, source=SOURCE, voice=f"source {SOURCE}", segment=segment)


def bot(*, lang: str | None = None, detected_lang: str | None = None, profanity_filter: bool = False) -> Bot:
    config = BotConfig(
        service=Service("gmeet"),
        meeting_url="https://meet.google.com/a",
        bot_name="S",
        transcription_model="whisper-realtime",
        lang=lang,
        profanity_filter=profanity_filter,
    )
    return Bot(
        id=UUID(int=7),
        account_id=UUID(int=1),
        config=config,
        status=BotStatus.TRANSCRIBING,
        created_at=datetime.now(UTC),
        detected_lang=detected_lang,
    )


@pytest.mark.parametrize("begin", [5.0, 5.08, 5.1, 5.2])
def test_a_line_that_begins_about_where_new_words_end_is_not_written_again(begin: float) -> None:
    told = line(said("send it to Berlin", (begin, 5.5), (5.5, 5.8), (5.8, 6.1), (6.1, 7.0)))
    new = said("please do not ever", (3.0, 3.4), (3.5, 3.8), (3.9, 4.3), (4.4, 5.1))
    (written,) = _written(bot(), [told], {SOURCE: Revision(added=(new,))}, MEETING)
    assert (written.segment_id, written.segment.transcript) == ("again-1", "please do not ever")


@pytest.mark.parametrize(
    ("asked", "detected", "read", "masked"),
    [
        ("de-DE", None, None, "so eine S******"),
        (None, "de", None, "so eine S******"),
        ("auto", "de", None, "so eine S******"),
        ("multi", "es", "de", "so eine S******"),
        ("multi", None, None, "so eine Scheiße"),
    ],
)
def test_new_words_are_masked_in_their_language(
    asked: str | None, detected: str | None, read: str | None, masked: str
) -> None:
    new = said("so eine Scheiße", (3.0, 3.4), (3.5, 3.8), (3.9, 4.3), lang=read)
    of_german = bot(lang=asked, detected_lang=detected, profanity_filter=True)
    (written,) = _written(of_german, [], {SOURCE: Revision(added=(new,))}, MEETING)
    assert written.segment.transcript == masked
