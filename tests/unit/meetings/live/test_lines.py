"""Who said what, while it is said: names, numbers, names that come later, revisions, holders that died."""

from dataclasses import replace
from datetime import UTC, datetime

from sederunt.media.timeline import Span
from sederunt.meetings.live.lines import RECENT_S, LiveLines
from sederunt.meetings.live.messages import line_message
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.transcript import LiveLine, Word
from sederunt.transcription.live import LiveSegment
from sederunt.transcripts.attribution import MeetingFacts

ZERO_MS = 1_800_000_000_000
ADA, BOB = "ada", "bob"


def person(key: str, *marks: tuple[float, float]) -> Participant:
    kinds = (SpeakingKind.STARTED, SpeakingKind.STOPPED)
    events = [
        SpeakingEvent(type=kind, timestamp=ZERO_MS + round(at * 1000))
        for mark in marks
        for kind, at in zip(kinds, mark, strict=True)
    ]
    return Participant(key=key, name=key.title(), avatar=None, first_seen_at=datetime.now(UTC), events=tuple(events))


def meeting(*people: Participant, links: dict[str, str] | None = None, spans: tuple[Span, ...] = ()) -> MeetingFacts:
    present = people or (person(ADA), person(BOB))
    return MeetingFacts(duration_s=1000.0, started_ms=ZERO_MS, participants=present, links=links or {}, spans=spans)


def said(number: int, source: str, start: float, text: str, *, label: int | None = None) -> LiveSegment:
    """Words of half a second each."""
    words = tuple(
        Word(word=word, start=start + n * 0.5, end=start + n * 0.5 + 0.4, confidence=0.9)
        for n, word in enumerate(text.split())
    )
    return LiveSegment(
        segment_id=f"s-{number}",
        source=source,
        start=start,
        end=words[-1].end,
        transcript=text,
        confidence=0.9,
        words=words,
        label=label,
    )


def facts(lines: list[LiveLine]) -> list[tuple[str, int, str | None, str]]:
    return [(ln.segment_id, ln.segment.speaker, ln.segment.speaker_name, ln.segment.transcript) for ln in lines]


def test_a_source_that_is_somebodys_gives_its_booktheir_name_and_number() -> None:
    book, known = LiveLines(), meeting(links={"7": ADA, "8": BOB})
    first = book.final(said(1, "8", 1.0, "good morning all"), known)
    assert facts(first) == [("s-1", 0, "Bob", "good morning all")]
    assert facts(book.final(said(2, "7", 3.0, "good morning"), known)) == [("s-2", 1, "Ada", "good morning")]
    assert facts(book.final(said(3, "8", 5.0, "so"), known)) == [("s-3", 0, "Bob", "so")]
    (utterance,) = first[0].segment.utterances
    assert [(word.word, word.start, word.speaker) for word in utterance.words] == [
        ("good", 1.0, 0),
        ("morning", 1.5, 0),
        ("all", 2.0, 0),
    ]
    assert line_message(first[0])["data"] == {
        "segment_id": "s-1",
        "transcript": "good morning all",
        "start": 1.0,
        "end": 2.4,
        "speaker": 0,
        "speaker_name": "Bob",
        "confidence": 0.9,
    }


def test_words_that_begin_before_their_segment_are_not_lost() -> None:
    early = replace(said(1, "7", 1.0, "good morning"), start=1.02)
    assert facts(LiveLines().final(early, meeting(links={"7": ADA}))) == [("s-1", 0, "Ada", "good morning")]


def test_a_line_gets_its_name_when_its_source_does_and_keeps_its_number() -> None:
    book = LiveLines()
    (unnamed,) = book.final(said(1, "7", 1.0, "good morning all"), meeting())
    assert (unnamed.segment.speaker, unnamed.segment.speaker_name) == (0, None)
    assert unnamed.segment.potential_speaker_names == ()
    assert book.lacks_names
    assert book.renamed(meeting()) == []
    known = meeting(links={"7": ADA})
    (named,) = book.renamed(known)
    assert facts([named]) == [("s-1", 0, "Ada", "good morning all")]
    assert (named.revision, named.segment.potential_speaker_names) == (1, None)
    assert book.renamed(known) == []
    assert not book.lacks_names
    assert facts(book.final(said(2, "7", 3.0, "so"), known)) == [("s-2", 0, "Ada", "so")]


def test_a_person_heard_by_another_source_before_keeps_that_number() -> None:
    book = LiveLines()
    book.final(said(1, "7", 1.0, "good morning"), meeting(links={"7": ADA}))
    (unnamed,) = book.final(said(2, "9", 4.0, "me again"), meeting(links={"7": ADA}))
    assert unnamed.segment.speaker == 1
    (named,) = book.renamed(meeting(links={"7": ADA, "9": ADA}))
    assert (named.segment.speaker, named.segment.speaker_name) == (0, "Ada")


def test_mixed_sound_is_cut_where_its_packets_say_that_another_speaks() -> None:
    spans = (
        Span(source="7", track="track-0", start=1.0, end=2.45, level=None),
        Span(source="8", track="track-0", start=2.5, end=4.5, level=None),
    )
    known = meeting(links={"7": ADA, "8": BOB}, spans=spans)
    lines = LiveLines().final(said(1, "track-0", 1.0, "is it true? yes it is true"), known)
    assert facts(lines) == [("s-1", 0, "Ada", "is it true?"), ("s-1.2", 1, "Bob", "yes it is true")]


def test_mixed_sound_is_named_by_marks_that_come_late() -> None:
    book = LiveLines()
    first = said(1, "track-0", 10.0, "we begin with the budget of the year and its gaps")
    (unnamed,) = book.final(first, meeting(person(ADA), person(BOB)))
    assert unnamed.segment.speaker_name is None
    later = meeting(person(ADA, (10.6, 16.1)), person(BOB))
    (named,) = book.renamed(later)
    assert (named.segment_id, named.segment.speaker_name) == ("s-1", "Ada")


def test_two_unnamed_people_of_one_mixed_track_do_not_inherit_a_number_from_it() -> None:
    book = LiveLines()
    (unnamed,) = book.final(said(1, "track-0", 10.0, "one two three four"), meeting())
    (named,) = book.renamed(meeting(person(ADA, (10.0, 12.0)), person(BOB)))
    assert named.segment.speaker != unnamed.segment.speaker


def test_voices_that_the_vendor_tells_apart_keep_their_numbers() -> None:
    book = LiveLines()
    lines = [
        book.final(said(n, "track-0", n * 3.0, "well well", label=label), meeting())[0]
        for n, label in enumerate((4, 2, 4))
    ]
    assert [line.segment.speaker for line in lines] == [0, 1, 0]


def test_a_voice_once_named_keeps_its_name_while_marks_are_missing_and_gives_it_to_what_it_said_before() -> None:
    book = LiveLines()
    nobody = meeting(person(ADA), person(BOB))
    (early,) = book.final(said(1, "track-0", 1.0, "we begin now", label=0), nobody)
    assert early.segment.speaker_name is None
    marked = meeting(person(ADA, (10.0, 13.0)), person(BOB))
    (named,) = book.final(said(2, "track-0", 10.0, "the budget has a gap", label=0), marked)
    assert named.segment.speaker_name == "Ada"
    assert facts(book.renamed(marked)) == [("s-1", named.segment.speaker, "Ada", "we begin now")]
    late = RECENT_S + 60
    assert facts(book.final(said(3, "track-0", late, "who else", label=0), nobody))[0][2] == "Ada"
    (stranger,) = book.final(said(4, "track-0", late + 4, "not me", label=1), nobody)
    assert (stranger.segment.speaker_name, stranger.segment.speaker) == (None, 2)


def test_marks_that_are_clearly_anothers_win_over_the_name_a_voice_had() -> None:
    book = LiveLines()
    book.final(
        said(1, "track-0", 1.0, "we begin with this now", label=0), meeting(person(ADA, (1.0, 4.0)), person(BOB))
    )
    late = RECENT_S + 60
    other = meeting(person(ADA), person(BOB, (late, late + 4)))
    (line,) = book.final(said(2, "track-0", late, "no it is me who speaks", label=0), other)
    assert line.segment.speaker_name == "Bob"


def test_voices_of_the_next_page_are_not_those_of_the_last() -> None:
    first = LiveLines()
    (kept,) = first.final(said(1, "track-0", 1.0, "good morning", label=0), meeting())
    second = LiveLines([kept])
    (line,) = second.final(replace(said(2, "track-0", 9.0, "good evening", label=0), segment_id="t-1"), meeting())
    assert line.segment.speaker != kept.segment.speaker


def test_a_revised_voice_is_told() -> None:
    book = LiveLines()
    (first,) = book.final(said(1, "track-0", 1.0, "good morning", label=0), meeting())
    (other,) = book.final(said(2, "track-0", 3.0, "good evening", label=1), meeting())
    (told,) = book.final(said(2, "track-0", 3.0, "good evening", label=0), meeting())
    assert (told.segment.speaker, told.revision) == (first.segment.speaker, 1)
    assert other.segment.speaker != first.segment.speaker


def test_a_revised_voice_is_told_of_every_line_that_its_segment_became() -> None:
    book, marked = LiveLines(), meeting(person(ADA, (1.0, 4.0)), person(BOB))
    (ada,) = book.final(said(1, "track-0", 1.0, "we begin with this now", label=0), marked)
    assert ada.segment.speaker_name == "Ada"
    first, second = said(2, "track-0", 6.0, "good evening to all"), said(2, "track-0", 9.2, "shall we start")
    paused = replace(
        first,
        end=second.end,
        transcript=f"{first.transcript} {second.transcript}",
        words=first.words + second.words,
        label=1,
    )
    others = book.final(paused, marked)
    assert [line.segment_id for line in others] == ["s-2", "s-2.2"]
    assert ada.segment.speaker not in {line.segment.speaker for line in others}
    told = book.final(replace(paused, label=0), marked)
    number = ada.segment.speaker
    assert facts(told) == [("s-2", number, "Ada", first.transcript), ("s-2.2", number, "Ada", second.transcript)]
    assert [line.revision for line in told] == [1, 1]
    back = book.final(paused, marked)
    assert [line.segment.speaker for line in back] == [line.segment.speaker for line in others]


def test_a_revision_changes_words_under_the_same_ids() -> None:
    spans = (
        Span(source="7", track="track-0", start=1.0, end=2.45, level=None),
        Span(source="8", track="track-0", start=2.5, end=4.5, level=None),
    )
    known = meeting(links={"7": ADA, "8": BOB}, spans=spans)
    book = LiveLines()
    book.final(said(1, "track-0", 1.0, "is it true? yes it is true"), known)
    revised = book.final(said(1, "track-0", 1.0, "was it true? yes it was so"), meeting(links={"7": ADA, "8": BOB}))
    assert facts(revised) == [("s-1", 0, "Ada", "was it true?"), ("s-1.2", 1, "Bob", "yes it was so")]
    assert {line.revision for line in revised} == {1}
    book = LiveLines()
    book.final(said(2, "7", 1.0, "good mourning"), meeting())
    book.final(said(2, "7", 1.0, "good morning"), meeting())
    (named,) = book.renamed(meeting(links={"7": ADA}))
    assert facts([named]) == [("s-2", 0, "Ada", "good morning")]
    assert named.revision == 2


def test_the_next_holder_goes_on_with_the_same_numbers_and_names_what_was_left_unnamed() -> None:
    first = LiveLines()
    kept = [
        *first.final(said(1, "8", 1.0, "good morning"), meeting(links={"8": BOB})),
        *first.final(said(2, "7", 3.0, "hello there"), meeting(links={"8": BOB})),
    ]
    second = LiveLines(kept)
    known = meeting(links={"7": ADA, "8": BOB})
    (named,) = second.renamed(known)
    assert (named.segment_id, named.segment.speaker, named.segment.speaker_name) == ("s-2", 1, "Ada")
    (line,) = second.final(replace(said(1, "8", 30.0, "again"), segment_id="t-1"), known)
    assert facts([line]) == [("t-1", 0, "Bob", "again")]


def test_a_draft_is_told_like_its_final() -> None:
    book, known = LiveLines(), meeting(links={"7": ADA})
    book.final(said(1, "8", 1.0, "hm"), known)
    draft = book.draft(said(2, "7", 3.0, "good mor"), known)
    assert draft == {
        "segment_id": "s-2",
        "transcript": "good mor",
        "start": 3.0,
        "end": 3.9,
        "speaker": 1,
        "speaker_name": "Ada",
    }
    assert book.draft(replace(said(2, "7", 3.0, "x"), transcript="", words=()), known)["transcript"] == ""


def test_people_who_speak_at_once_have_numbers_of_their_own_from_their_first_draft_on() -> None:
    book, known = LiveLines(), meeting(links={"7": ADA, "8": BOB})
    assert book.draft(said(1, "7", 1.0, "good mor"), known)["speaker"] == 0
    assert book.draft(said(2, "8", 1.2, "hel"), known)["speaker"] == 1
    lines = [*book.final(said(2, "8", 1.2, "hello"), known), *book.final(said(1, "7", 1.0, "good morning"), known)]
    assert facts(lines) == [("s-2", 1, "Bob", "hello"), ("s-1", 0, "Ada", "good morning")]


def test_a_voice_that_gets_its_name_between_drafts_keeps_its_number() -> None:
    book = LiveLines()
    assert book.draft(said(1, "7", 1.0, "good"), meeting())["speaker"] == 0
    assert book.draft(said(1, "7", 1.0, "good mor"), meeting(links={"7": ADA}))["speaker"] == 0
    (line,) = book.final(said(1, "7", 1.0, "good morning"), meeting(links={"7": ADA}))
    assert facts([line]) == [("s-1", 0, "Ada", "good morning")]


def test_profanity_is_masked_in_bookwords_and_drafts() -> None:
    book, known = LiveLines(mask_lang="en"), meeting(links={"7": ADA})
    (line,) = book.final(said(1, "7", 1.0, "oh shit no"), known)
    assert line.segment.transcript == line.segment.utterances[0].transcript == "oh s*** no"
    assert [word.word for word in line.segment.utterances[0].words] == ["oh", "s***", "no"]
    assert book.draft(said(2, "7", 3.0, "oh shit"), known)["transcript"] == "oh s***"


def test_profanity_is_masked_in_the_language_that_was_found_out() -> None:
    known, german = meeting(links={"7": ADA}), replace(said(1, "7", 1.0, "so eine Scheiße fuck"), lang="de")
    for asked in ("", "auto", "multi"):
        book = LiveLines(mask_lang=asked)
        assert book.draft(german, known)["transcript"] == "so eine S****** f***"
        assert facts(book.final(german, known))[0][3] == "so eine S****** f***"
        assert book.draft(said(2, "7", 5.0, "so eine Scheiße"), known)["transcript"] == "so eine S******"
        assert facts(book.final(said(3, "8", 5.0, "so eine Scheiße fuck"), known))[0][3] == "so eine Scheiße f***"
    (line,) = LiveLines(mask_lang="de-AT").final(said(1, "7", 1.0, "so eine Scheiße"), known)
    assert line.segment.transcript == "so eine S******"


def test_what_was_said_long_ago_is_forgotten_but_numbers_are_not() -> None:
    book, known = LiveLines(), meeting(links={"8": BOB})
    book.final(said(1, "7", 1.0, "hello"), known)
    book.final(said(2, "8", RECENT_S + 10, "good evening"), known)
    assert book.renamed(meeting(links={"7": ADA})) == []
    assert book.final(said(3, "7", RECENT_S + 12, "hello"), known)[0].segment.speaker == 0
