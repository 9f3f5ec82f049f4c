"""What a second reading changes in told lines, and what it must leave alone."""

from collections.abc import Sequence

from sederunt.model.transcript import LiveLine, Segment, Utterance, Word
from sederunt.transcripts.revision import Revision, revision, to_read


def said(text: str, *starts: float, word_s: float = 0.4) -> Utterance:
    """Words of a text, one at each of these seconds."""
    words = tuple(
        Word(word=word, start=start, end=start + word_s, confidence=0.9)
        for word, start in zip(text.split(), starts, strict=True)
    )
    return Utterance(start=starts[0], end=starts[-1] + word_s, speaker=0, confidence=0.9, transcript=text, words=words)


def told(text: str, *starts: float) -> LiveLine:
    heard = said(text, *starts)
    segment = Segment(start=heard.start, end=heard.end, speaker=0, confidence=0.9, transcript=text, utterances=(heard,))
    return LiveLine(segment_id=f"1-{text[:3]}", revision=0, source="7", voice="ada", segment=segment)


def texts(change: Revision) -> tuple[list[str], list[str]]:
    """What told lines say now, and what is new."""
    return [new.transcript for _, new in change.revised], [new.transcript for new in change.added]


ASK = told("Ask not for you.", 1.0, 1.5, 6.0, 6.5)  # 2 to 6 s are silent in it
LATER = told("Thank you.", 20.0, 20.5)


def test_a_stretch_is_read_with_the_lines_it_lies_in_or_beside_and_no_other() -> None:
    assert to_read([(2.0, 5.9)], [ASK, LATER]) == [(0.4, 7.5)]
    assert to_read([(8.0, 9.9)], [ASK, LATER]) == [(0.4, 10.5)]
    assert to_read([(10.0, 12.0)], [ASK, LATER]) == [(9.4, 12.6)]
    assert to_read([(0.2, 0.9), (10.0, 12.0), (12.5, 14.0)], []) == [(0.0, 1.5), (9.4, 14.6)], "what meets is one"


def test_a_line_that_lacked_words_says_them_now() -> None:
    heard = said("Ask not what your country can do for you.", 1.0, 1.5, 2.0, 2.5, 3.2, 3.9, 4.6, 6.0, 6.5)
    change = revision([ASK, LATER], [(2.0, 5.9)], [heard])
    assert texts(change) == (["Ask not what your country can do for you."], [])
    ((line, new),) = change.revised
    assert (line.segment_id, new.start, new.end) == (ASK.segment_id, 1.0, 6.9)


def test_a_line_keeps_its_words_where_the_second_reading_has_no_more() -> None:
    assert revision([ASK], [(2.0, 5.9)], [said("Ask knot for ewe.", 1.0, 1.5, 6.0, 6.5)]) == Revision()
    assert revision([ASK], [(2.0, 5.9)], []) == Revision()


def test_words_of_nobodys_time_are_lines_of_their_own() -> None:
    heard = said("for you. And now? Goodbye.", 6.0, 6.5, 9.0, 9.5, 13.0)
    assert texts(revision([ASK, LATER], [(8.8, 13.6)], [heard])) == ([], ["And now?", "Goodbye."])


def test_what_was_read_around_a_stretch_is_known_already() -> None:
    heard = said("you know and so on thank", 6.5, 7.6, 9.0, 9.5, 10.0, 19.4)
    assert texts(revision([ASK, LATER], [(8.8, 10.6)], [heard])) == ([], ["and so on"])


def test_a_word_that_both_readings_heard_at_the_seam_stays_once() -> None:
    heard = said("you, my friends, thank", 7.2, 7.7, 8.2, 19.3)
    assert texts(revision([ASK, LATER], [(7.2, 19.6)], [heard])) == ([], ["my friends,"])
    assert revision([ASK], [(7.2, 8.0)], [said("You.", 7.2)]) == Revision()


def test_a_revised_line_joins_what_was_read_in_two_pieces() -> None:
    pieces = [said("Ask not what", 1.0, 1.5, 2.0), said("your country", 3.0, 4.0), said("for you.", 6.0, 6.5)]
    assert texts(revision([ASK], [(2.0, 5.9)], pieces)) == (["Ask not what your country for you."], [])


def test_of_people_who_talk_at_once_each_line_keeps_its_time() -> None:
    ben: Sequence[float] = (3.0, 3.5, 4.0)
    other = told("No no no", *ben)
    heard = said("Ask not what no no no your for you.", 1.0, 1.5, 2.0, 3.0, 3.5, 4.0, 5.0, 6.0, 6.5)
    ((line, new),) = revision([ASK, other], [(2.0, 2.9), (4.6, 5.8)], [heard]).revised
    assert (line.segment_id, new.transcript) == (ASK.segment_id, "Ask not what your for you.")


def test_new_words_around_a_told_line_enclose_it_in_no_line_of_theirs() -> None:
    between = told("Okay.", 10.5)
    heard = said("we should ship it", 9.2, 9.8, 11.1, 11.6)
    assert texts(revision([between], [(9.0, 10.3), (10.8, 12.0)], [heard])) == ([], ["we should", "ship it"])
