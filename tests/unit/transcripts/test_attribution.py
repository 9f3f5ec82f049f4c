"""Who said what, from tracks, packet spans and speaking marks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.transcript import Segment, Transcript, Utterance, Word
from sederunt.transcripts.attribution import MeetingFacts, SourceSpeech, attribute, in_language, voices_in
from sederunt.transcripts.speaking_marks import overlap, union

Say = Callable[..., Utterance]
Person = Callable[..., Participant]


@dataclass(frozen=True)
class Span:
    source: str
    track: str
    start: float
    end: float


@given(
    some=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9))),
    others=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9))),
)
def test_what_two_lists_share_is_what_each_pair_of_them_shares(
    some: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    first, second = (union((start, start + length) for start, length in spans) for spans in (some, others))
    pairs = [min(end, finish) - max(start, begin) for start, end in first for begin, finish in second]
    assert overlap(first, second) == sum(pair for pair in pairs if pair > 0)


def told(transcript: Transcript) -> list[tuple[int, str | None, str]]:
    return [(segment.speaker, segment.speaker_name, segment.transcript) for segment in transcript.segments]


def test_tracks_with_names_give_segments_with_names_in_order_of_time(say: Say, person: Person) -> None:
    ada, bob = person("a", "Ada"), person("b", "Bob")
    sources = [
        SourceSpeech(source="11", utterances=[say("good morning", 1.0), say("shall we", 6.0)]),
        SourceSpeech(source="22", utterances=[say("hello ada", 3.0)]),
    ]
    meeting = MeetingFacts(duration_s=10, participants=[ada, bob], links={"11": "a", "22": "b"})
    assert told(attribute(sources, meeting)) == [
        (0, "Ada", "good morning"),
        (1, "Bob", "hello ada"),
        (0, "Ada", "shall we"),
    ]


def test_a_segment_has_one_language(say: Say, person: Person) -> None:
    """It ends where the language changes; what nobody told one of belongs to any."""
    said = in_language([replace(say("guten tag", 1.0), lang="de"), say("good day", 2.0), say("to you", 3.0)], "en-GB")
    assert [each.lang for each in said] == ["de", "en", "en"]
    assert [each.lang for each in in_language([say("hello", 1.0)], None)] == [None]
    meeting = MeetingFacts(duration_s=10, participants=[person("a", "Ada")], links={"1": "a"})

    def segments(utterances: Sequence[Utterance]) -> list[str]:
        found = attribute([SourceSpeech(source="1", utterances=utterances)], meeting).segments
        assert {u.lang for segment in found for u in segment.utterances} == {each.lang for each in utterances}
        return [segment.transcript for segment in found]

    assert segments(said) == ["guten tag", "good day to you"]
    assert segments([said[0], say("so", 2.0)]) == ["guten tag so"]


def test_a_speaker_is_numbered_by_first_word_and_keeps_the_number_on_a_second_track(say: Say, person: Person) -> None:
    sources = [
        SourceSpeech(source="1", utterances=[say("later", 8.0)]),
        SourceSpeech(source="2", utterances=[say("first", 0.0)]),
        SourceSpeech(source="3", utterances=[say("back again", 12.0)]),
    ]
    meeting = MeetingFacts(
        duration_s=20, participants=[person("a", "Ada"), person("b", "Bob")], links={"1": "a", "2": "b", "3": "b"}
    )
    assert [(s.speaker, s.speaker_name) for s in attribute(sources, meeting).segments] == [
        (0, "Bob"),
        (1, "Ada"),
        (0, "Bob"),
    ]


def test_utterances_close_together_are_one_segment_and_a_pause_begins_another(say: Say, person: Person) -> None:
    speech = SourceSpeech(source="1", utterances=[say("one", 0.0), say("two.", 1.2), say("three", 4.0)])
    transcript = attribute([speech], MeetingFacts(duration_s=9, participants=[person("a", "Ada")], links={"1": "a"}))
    assert [segment.transcript for segment in transcript.segments] == ["one two.", "three"]
    assert len(transcript.segments[0].utterances) == 2


def test_an_utterance_with_a_long_pause_inside_is_cut_there(person: Person) -> None:
    words = (
        Word(word="So,", start=0.0, end=0.4, confidence=0.8),
        Word(word="well.", start=3.0, end=3.5, confidence=0.6),
    )
    whole = Utterance(start=0.0, end=3.5, speaker=0, confidence=0.7, transcript="So, well.", words=words)
    transcript = attribute([SourceSpeech(source="1", utterances=[whole])], MeetingFacts(duration_s=5))
    assert [(s.start, s.end, s.transcript) for s in transcript.segments] == [(0.0, 0.4, "So,"), (3.0, 3.5, "well.")]


def test_a_monologue_is_cut_into_segments_of_about_a_minute(say: Say, person: Person) -> None:
    speech = SourceSpeech(source="1", utterances=[say("w " * 20, n * 10.0) for n in range(30)])
    segments = attribute([speech], MeetingFacts(duration_s=300)).segments
    assert [segment.end - segment.start for segment in segments] == [60.0] * 5


def test_two_people_of_the_same_name_are_two_speakers(say: Say, person: Person) -> None:
    sources = [
        SourceSpeech(source="1", utterances=[say("me", 0.0)]),
        SourceSpeech(source="2", utterances=[say("me too", 0.5)]),
    ]
    meeting = MeetingFacts(
        duration_s=5, participants=[person("a", "Sam"), person("b", "Sam")], links={"1": "a", "2": "b"}
    )
    assert [s.speaker for s in attribute(sources, meeting).segments] == [0, 1]


def test_without_any_participants_nobody_is_named_and_the_candidates_are_an_empty_list(say: Say) -> None:
    [segment] = attribute(
        [SourceSpeech(source="mixed", utterances=[say("hello", 1.0)], mixed=True)], MeetingFacts(duration_s=5)
    ).segments
    assert (segment.speaker, segment.speaker_name, segment.potential_speaker_names) == (0, None, ())


HANDED = {"track-0": "b", "track-0@1000": "a", "track-0@10000": "b"}  # at second 10, from Ada to Bob


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (HANDED, ["Ada", "Bob"]),
        ({**HANDED, "track-0@10000": "a", "track-0@15000": "b"}, ["Ada", "Ada"]),
        ({"track-0": "b"}, ["Bob", "Bob"]),
        ({"track-0": "b", "track-1@10000": "a"}, ["Bob", "Bob"]),
    ],
    ids=["another's", "the same one's", "of an earlier version", "another track"],
)
def test_words_are_theirs_whose_track_it_was_then(
    links: dict[str, str], expected: list[str], say: Say, person: Person
) -> None:
    speech = SourceSpeech(source="track-0", utterances=[say("so it is", 3.0), say("is it", 12.0)])
    meeting = MeetingFacts(duration_s=20, participants=[person("a", "Ada"), person("b", "Bob")], links=links)
    assert [segment.speaker_name for segment in attribute([speech], meeting).segments] == expected
    assert [said.name for said in voices_in(speech, meeting)] == expected


@pytest.mark.parametrize(
    ("ada_at", "bob_at"),
    [(9.7, 10.9), (8.5, 9.85)],
    ids=["her last word comes late", "his first is early"],
)
def test_a_track_changes_hands_in_the_pause_near_the_moment_that_the_page_tells(
    ada_at: float, bob_at: float, say: Say, person: Person
) -> None:
    # Cut at the very moment, the word at the edge would go to the other.
    both = [say("good bye", ada_at, pace=0.25), say("I am Bob", bob_at, pace=0.25)]
    whole = Utterance(
        start=ada_at,
        end=both[1].end,
        speaker=0,
        confidence=0.9,
        transcript="good bye I am Bob",
        words=(*both[0].words, *both[1].words),
    )
    meeting = MeetingFacts(duration_s=20, participants=[person("a", "Ada"), person("b", "Bob")], links=HANDED)
    found = attribute([SourceSpeech(source="track-0", utterances=[whole])], meeting)
    assert told(found) == [(0, "Ada", "good bye"), (1, "Bob", "I am Bob")]


def test_a_track_that_is_nobodys_for_a_while_is_judged_by_marks_meanwhile(say: Say, person: Person) -> None:
    speech = SourceSpeech(
        source="track-0", utterances=[say("mine", 3.0), say("who knows", 12.0), say("who says so now", 15.0)]
    )
    links = {"track-0": "a", "track-0@1000": "a", "track-0@10000": ""}
    people = [person("a", "Ada"), person("b", "Bob", (15.0, 17.0))]
    meeting = MeetingFacts(duration_s=20, participants=people, links=links)
    found = attribute([speech], meeting)
    assert told(found) == [(0, "Ada", "mine"), (1, None, "who knows"), (2, "Bob", "who says so now")]
    assert [said.name for said in voices_in(speech, meeting)] == ["Ada", None, "Bob"]


def test_the_lag_of_marks_is_not_judged_by_what_another_said_on_the_track(say: Say, person: Person) -> None:
    own = SourceSpeech(source="track-0", utterances=[say("a b c d e f g h i j k l", 3.0), say("yes indeed", 12.0)])
    slot = SourceSpeech(source="track-9", utterances=[say("one two", 16.0)], mixed=True)
    ada, bob = person("a", "Ada"), person("b", "Bob", (4.5, 10.5), (12.2, 13.2), (16.2, 17.2))
    meeting = MeetingFacts(duration_s=20, participants=[ada, bob], links=HANDED)
    assert told(attribute([own, slot], meeting))[-1] == (1, "Bob", "one two")


def test_an_unnamed_track_is_named_by_marks_that_are_clear_over_the_whole_meeting(say: Say, person: Person) -> None:
    speech = SourceSpeech(source="track-3", utterances=[say("a b c d e f g h", 1.0), say("i j k l m n o p", 10.0)])
    ada, bob = person("a", "Ada", (1.0, 5.0), (10.0, 14.0)), person("b", "Bob", (6.0, 9.0))
    transcript = attribute([speech], MeetingFacts(duration_s=20, participants=[ada, bob]))
    assert {segment.speaker_name for segment in transcript.segments} == {"Ada"}
    assert all(segment.potential_speaker_names is None for segment in transcript.segments)


def test_an_unnamed_track_between_two_people_gets_candidates_with_their_shares(say: Say, person: Person) -> None:
    speech = SourceSpeech(source="track-3", utterances=[say("a b c d e f g h i j k l", 0.0)])
    ada, bob = person("a", "Ada", (0.0, 3.6)), person("b", "Bob", (3.6, 6.0))
    [segment] = attribute([speech], MeetingFacts(duration_s=6, participants=[ada, bob])).segments
    assert segment.speaker_name is None
    assert segment.potential_speaker_names is not None
    assert [guess.name for guess in segment.potential_speaker_names] == ["Ada", "Bob"]
    assert [round(guess.confidence, 1) for guess in segment.potential_speaker_names] == [0.6, 0.4]


def test_what_a_shared_screen_plays_has_the_presenter_for_a_candidate(say: Say, person: Person) -> None:
    sources = [
        SourceSpeech(source="11", utterances=[say("see this film", 1.0)]),
        SourceSpeech(source="77", utterances=[say("once upon a time", 4.0)]),
    ]
    links = {"11": "a", "screen:77": "a"}
    film = attribute(sources, MeetingFacts(duration_s=10, participants=[person("a", "Ada")], links=links)).segments[1]
    assert (film.speaker, film.speaker_name) == (1, None)
    assert [(guess.name, guess.confidence) for guess in film.potential_speaker_names or ()] == [("Ada", 0.5)]


def test_one_short_sentence_under_one_clear_mark_has_a_name(say: Say, person: Person) -> None:
    speech = SourceSpeech(source="track-1", utterances=[say("yes please", 2.0)])
    people = [person("a", "Ada", (2.0, 3.0)), person("b", "Bob", (5.0, 6.0))]
    assert told(attribute([speech], MeetingFacts(duration_s=9, participants=people))) == [(0, "Ada", "yes please")]


def test_marks_that_cover_little_of_what_was_said_name_nobody(say: Say, person: Person) -> None:
    speech = SourceSpeech(source="track-1", utterances=[say("a b c d e f g h i j k l", 2.0)])
    [segment] = attribute([speech], MeetingFacts(duration_s=9, participants=[person("a", "Ada", (2.0, 4.0))])).segments
    assert segment.speaker_name is None
    assert [guess.name for guess in segment.potential_speaker_names or ()] == ["Ada"]


def test_a_short_sentence_is_not_theirs_whose_mark_lingers_over_it(say: Say, person: Person) -> None:
    own = SourceSpeech(source="7", utterances=[say("a b c d e f", 0.0)])
    other = SourceSpeech(source="8", utterances=[say("yes please", 3.2)])
    meeting = MeetingFacts(duration_s=9, participants=[person("a", "Ada", (0.0, 4.2))], links={"7": "a"})
    assert told(attribute([own, other], meeting)) == [(0, "Ada", "a b c d e f"), (1, None, "yes please")]
    longer = SourceSpeech(source="8", utterances=[say("a b c d e f g h i j k l", 3.2)])
    meeting = MeetingFacts(duration_s=12, participants=[person("a", "Ada", (0.0, 9.2))], links={"7": "a"})
    assert {segment.speaker_name for segment in attribute([own, longer], meeting).segments} == {"Ada"}


def test_mixed_sound_is_cut_at_the_word_where_the_packets_say_that_another_source_speaks(
    say: Say, person: Person
) -> None:
    speech = SourceSpeech(source="track-1", utterances=[say("how are you fine thanks and you", 0.0)])
    spans = [Span("7", "track-1", 0.0, 1.5), Span("8", "track-1", 1.5, 3.6)]
    meeting = MeetingFacts(
        duration_s=5, participants=[person("a", "Ada"), person("b", "Bob")], links={"7": "a", "8": "b"}, spans=spans
    )
    assert told(attribute([speech], meeting)) == [(0, "Ada", "how are you"), (1, "Bob", "fine thanks and you")]


def test_a_source_of_mixed_sound_that_nobody_named_is_a_speaker_of_its_own(say: Say, person: Person) -> None:
    speech = SourceSpeech(source="track-1", utterances=[say("how are you fine thanks", 0.0)])
    spans = [Span("7", "track-1", 0.0, 1.5), Span("9", "track-1", 1.5, 2.5)]
    meeting = MeetingFacts(duration_s=5, participants=[person("a", "Ada")], links={"7": "a"}, spans=spans)
    assert told(attribute([speech], meeting)) == [(0, "Ada", "how are you"), (1, None, "fine thanks")]


def test_mixed_sound_whose_spans_were_lost_for_a_while_is_named_by_marks_meanwhile(say: Say, person: Person) -> None:
    speech = SourceSpeech(
        source="track-1", utterances=[say("one two three", 0.0), say("four five six", 10.0, pace=1.0)], mixed=True
    )
    meeting = MeetingFacts(
        duration_s=20,
        participants=[person("a", "Ada", (0, 1.5)), person("b", "Bob", (10, 13))],
        links={"7": "a", "8": "b"},
        spans=[Span("7", "track-1", 0.0, 1.5)],
    )
    assert [(name, words) for _, name, words in told(attribute([speech], meeting))] == [
        ("Ada", "one two three"),
        ("Bob", "four five six"),
    ]


@pytest.mark.parametrize("lag_s", [0.8, -1.3])  # a page that plays its sound late makes the marks early
def test_mixed_sound_is_cut_by_marks_after_their_lag_is_taken_off(say: Say, person: Person, lag_s: float) -> None:
    turns = [(2.0, 6.0, "a"), (7.0, 11.0, "b"), (12.0, 16.0, "a"), (17.0, 21.0, "b")]
    utterances = [say("w w w w w w w w", start) for start, _, _ in turns]
    spoke = {key: [(s + lag_s, e + lag_s) for s, e, who in turns if who == key] for key in "ab"}
    meeting = MeetingFacts(
        duration_s=22, participants=[person("a", "Ada", *spoke["a"]), person("b", "Bob", *spoke["b"])]
    )
    transcript = attribute([SourceSpeech(source="mixed", utterances=utterances, mixed=True)], meeting)
    assert [(s.start, s.speaker_name) for s in transcript.segments] == [
        (2.0, "Ada"),
        (7.0, "Bob"),
        (12.0, "Ada"),
        (17.0, "Bob"),
    ]


def test_a_change_of_speaker_for_one_short_word_is_not_believed(say: Say, person: Person) -> None:
    speech = SourceSpeech(source="mixed", utterances=[say("one two three four five six", 0.0)], mixed=True)
    ada = person("a", "Ada", (0.0, 1.0), (1.5, 3.0))
    transcript = attribute([speech], MeetingFacts(duration_s=5, participants=[ada, person("b", "Bob", (1.0, 1.5))]))
    assert [segment.transcript for segment in transcript.segments] == ["one two three four five six"]


def test_while_two_are_marked_at_once_neither_is_named(say: Say, person: Person) -> None:
    speech = SourceSpeech(source="mixed", utterances=[say("who is it now", 0.0)], mixed=True)
    meeting = MeetingFacts(duration_s=5, participants=[person("a", "Ada", (0.0, 2.0)), person("b", "Bob", (0.0, 2.0))])
    [segment] = attribute([speech], meeting).segments
    assert segment.speaker_name is None
    assert [guess.confidence for guess in segment.potential_speaker_names or ()] == [0.5, 0.5]


def diarized(*utterances: Utterance) -> SourceSpeech:
    return SourceSpeech(source="track-1", utterances=utterances, mixed=True, diarized=True)


def test_voices_cut_where_they_change_and_marks_that_come_late_name_them(say: Say, person: Person) -> None:
    utterance = say("a " * 12 + "b " * 12 + "c " * 12, 0.0, speakers=[0] * 12 + [1] * 12 + [2] * 12)
    ada, bob, eve = person("a", "Ada", (0.5, 7.0)), person("b", "Bob", (6.5, 13.0)), person("e", "Eve", (12.5, 18.0))
    segments = attribute([diarized(utterance)], MeetingFacts(duration_s=20, participants=[ada, bob, eve])).segments
    assert [(s.speaker, s.speaker_name, s.start, s.end) for s in segments] == [
        (0, "Ada", 0.0, 6.0),
        (1, "Bob", 6.0, 12.0),
        (2, "Eve", 12.0, 18.0),
    ]


def test_a_voice_that_was_split_is_one_speaker(say: Say, person: Person) -> None:
    utterance = say("a " * 12 + "b " * 12 + "c " * 12, 0.0, speakers=[0] * 12 + [1] * 12 + [2] * 12)
    ada, bob = person("a", "Ada", (0.0, 6.0), (12.0, 17.5)), person("b", "Bob", (6.0, 12.0))
    segments = attribute([diarized(utterance)], MeetingFacts(duration_s=20, participants=[ada, bob])).segments
    assert [(s.speaker, s.speaker_name) for s in segments] == [(0, "Ada"), (1, "Bob"), (0, "Ada")]


def test_two_who_sound_alike_are_told_apart_by_their_marks(say: Say, person: Person) -> None:
    utterances = [say("w w w w w w w w", start, speakers=[0] * 8) for start in (0.0, 5.0, 10.0, 15.0)]
    ada, bob = person("a", "Ada", (0.0, 4.0), (10.0, 14.0)), person("b", "Bob", (5.0, 9.0), (15.0, 19.0))
    segments = attribute([diarized(*utterances)], MeetingFacts(duration_s=20, participants=[ada, bob])).segments
    assert [s.speaker_name for s in segments] == ["Ada", "Bob", "Ada", "Bob"]


def test_one_turn_of_somebody_who_sounds_like_another_has_their_name(say: Say, person: Person) -> None:
    utterances = [say("w w w w w w w w", 5.0 * n, speakers=[0] * 8) for n in range(6)]
    ada = person("a", "Ada", *((5.0 * n, 5.0 * n + 4) for n in range(6) if n != 3))
    bob = person("b", "Bob", (15.0, 19.0))
    segments = attribute([diarized(*utterances)], MeetingFacts(duration_s=30, participants=[ada, bob])).segments
    assert [s.speaker_name for s in segments] == ["Ada", "Bob", "Ada"]


def test_a_turn_whose_mark_was_missed_has_the_name_of_its_voice(say: Say, person: Person) -> None:
    utterances = [say("w w w w w w w w", 5.0 * n, speakers=[n % 2] * 8) for n in range(6)]
    ada, bob = person("a", "Ada", (0.0, 4.0), (20.0, 24.0)), person("b", "Bob", (5, 9), (15, 19), (25, 29))
    segments = attribute([diarized(*utterances)], MeetingFacts(duration_s=30, participants=[ada, bob])).segments
    assert [s.speaker_name for s in segments] == ["Ada", "Bob"] * 3


@pytest.mark.parametrize(
    ("bob_stops", "ada_starts", "ada_stops"),
    [
        (19.6, 19.6, 21.3),  # the page stood still: what came meanwhile was read at once
        (19.4, 19.7, 23.3),
        (14.6, 14.9, 18.8),  # the sound was held up, and the site's messages were not
        (17.1, 20.4, 21.3),  # her beginning alone came late
    ],
)
def test_a_short_turn_keeps_one_name_when_the_marks_around_it_come_late_or_early(
    say: Say, person: Person, bob_stops: float, ada_starts: float, ada_stops: float
) -> None:
    """Nobody else speaks in that turn: its voice says so, and neighbouring marks belong to neighbouring turns."""
    turns = [(0.6, 16, 0), (9.8, 14, 1), (17.1, 8, 2), (21.7, 11, 1), (27.6, 7, 3)]
    utterances = [say("w " * words, start, speakers=[voice] * words) for start, words, voice in turns]
    ada = person("a", "Ada", (0.9, 8.9), (ada_starts, ada_stops), (27.8, 31.5))
    bob = person("b", "Bob", (10.0, bob_stops), (22.0, 27.1))
    segments = attribute([diarized(*utterances)], MeetingFacts(duration_s=33, participants=[ada, bob])).segments
    assert [(s.start, s.speaker_name) for s in segments] == [
        (start, "Bob" if voice == 1 else "Ada") for start, _, voice in turns
    ]


def test_a_long_turn_keeps_its_name_while_the_mark_before_it_lingers(say: Say, person: Person) -> None:
    utterances = [say("w " * 14, start, speakers=[voice] * 14) for start, voice in ((0.0, 0), (8.0, 1), (16.0, 0))]
    ada, bob = person("a", "Ada", (0.0, 11.0), (16.0, 23.0)), person("b", "Bob", (11.0, 15.0))
    segments = attribute([diarized(*utterances)], MeetingFacts(duration_s=24, participants=[ada, bob])).segments
    assert [(s.start, s.speaker_name) for s in segments] == [(0.0, "Ada"), (8.0, "Bob"), (16.0, "Ada")]


@pytest.mark.parametrize(("pause_s", "words_of_bob"), [(0.1, 16), (1.0, 12)])
def test_where_a_voice_and_the_marks_disagree_the_speaker_changed_at_the_longer_pause(
    say: Say, person: Person, pause_s: float, words_of_bob: int
) -> None:
    """Half a second lies before the last four words of Ada's voice: they are Bob's, unless a longer one lies behind."""
    voice = say("a " * 16, 0.0, speakers=[0] * 16)
    words = tuple(replace(w, start=w.start + 0.5, end=w.end + 0.5) if w.start >= 6 else w for w in voice.words)
    bob = say("b " * 12, 8.5 + pause_s, speakers=[1] * 12)
    utterances = [replace(voice, words=words, end=8.5), bob, say("a " * 12, 16.0, speakers=[0] * 12)]
    people = [person("a", "Ada", (0.0, 6.2), (16.0, 22.0)), person("b", "Bob", (6.3, bob.end))]
    segments = attribute([diarized(*utterances)], MeetingFacts(duration_s=24, participants=people)).segments
    assert sum(len(s.transcript.split()) for s in segments if s.speaker_name == "Bob") == words_of_bob


def test_a_voice_between_two_is_theirs_who_has_none_yet(say: Say, person: Person) -> None:
    one, two = say("w " * 20, 0.0, speakers=[0] * 20), say("w w w w w w", 12.0, speakers=[1] * 6)
    ada, bob = person("a", "Ada", (0.0, 13.5)), person("b", "Bob", (12.0, 15.0))
    segments = attribute([diarized(one, two)], MeetingFacts(duration_s=20, participants=[ada, bob])).segments
    assert [(s.speaker, s.speaker_name) for s in segments] == [(0, "Ada"), (1, "Bob")]


def test_voices_of_a_file_have_numbers_and_no_names(say: Say) -> None:
    utterance = say("a b c d", 0.0, speakers=[3, 3, 1, 1])
    assert told(attribute([diarized(utterance)], MeetingFacts(duration_s=5))) == [(0, None, "a b"), (1, None, "c d")]


def test_what_the_packets_say_counts_before_voices(say: Say, person: Person) -> None:
    utterance = say("how are you fine thanks and you", 0.0, speakers=[0, 0, 0, 0, 0, 1, 1])
    spans = [Span("7", "track-1", 0.0, 1.5), Span("8", "track-1", 1.5, 3.6)]
    meeting = MeetingFacts(
        duration_s=5, participants=[person("a", "Ada"), person("b", "Bob")], links={"7": "a", "8": "b"}, spans=spans
    )
    assert told(attribute([diarized(utterance)], meeting)) == [
        (0, "Ada", "how are you"),
        (1, "Bob", "fine thanks and you"),
    ]


def test_japanese_is_joined_without_spaces(person: Person) -> None:
    parts = [
        Utterance(start=n, end=n + 0.9, speaker=0, confidence=0.9, transcript=text)
        for n, text in enumerate(["こんにちは。", "元気ですか"])
    ]
    [segment] = attribute([SourceSpeech(source="1", utterances=parts)], MeetingFacts(duration_s=4)).segments
    assert segment.transcript == "こんにちは。元気ですか"


def test_speech_behind_the_recordings_end_is_drawn_back_to_it(say: Say) -> None:
    [segment] = attribute(
        [SourceSpeech(source="1", utterances=[say("late words", 4.6)])], MeetingFacts(duration_s=5)
    ).segments
    assert segment.end == 5
    assert all(word.end <= 5 for utterance in segment.utterances for word in utterance.words)


# Any meeting at all: times out of order, overlapping, behind the end; marks that open twice or never close.
moments = st.floats(0, 60, allow_nan=False).map(lambda value: round(value, 2))
words = st.builds(
    lambda word, start, length, confidence, speaker: Word(
        word=word, start=start, end=round(start + length, 2), confidence=confidence, speaker=speaker
    ),
    st.sampled_from(["yes", "no,", "Well.", "héllo", "日本"]),
    moments,
    st.floats(0, 3, allow_nan=False),
    st.floats(0, 1, allow_nan=False),
    st.integers(0, 2),
)
utterances = st.lists(words, min_size=1, max_size=8).map(
    lambda ws: Utterance(
        start=min(w.start for w in ws),
        end=max(w.end for w in ws),
        speaker=0,
        confidence=0.5,
        transcript=" ".join(w.word for w in ws),
        words=tuple(ws),
    )
)
speeches = st.builds(
    lambda source, us, mixed, diarized: SourceSpeech(source=source, utterances=us, mixed=mixed, diarized=diarized),
    st.sampled_from(["1", "2", "track-1", "track-2"]),
    st.lists(utterances, max_size=5),
    st.booleans(),
    st.booleans(),
)
events = st.lists(
    st.builds(
        lambda kind, moment: SpeakingEvent(type=kind, timestamp=round(moment * 1000)),
        st.sampled_from(list(SpeakingKind)),
        moments,
    ),
    max_size=8,
)
spans = st.builds(
    lambda source, track, start, length: Span(source, track, start, start + length),
    st.sampled_from(["1", "2", "3"]),
    st.sampled_from(["track-1", "track-2"]),
    moments,
    st.floats(0, 5, allow_nan=False),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(speeches, max_size=4), st.lists(events, max_size=3), st.lists(spans, max_size=4), st.data())
def test_any_meeting_becomes_an_orderly_transcript(
    sources: list[SourceSpeech], marked: list[list[SpeakingEvent]], mixed: list[Span], data: st.DataObject
) -> None:
    people = [
        Participant(
            key=f"k{n}", name=f"P{n}", avatar=None, first_seen_at=datetime(2026, 1, 1, tzinfo=UTC), events=tuple(events)
        )
        for n, events in enumerate(marked)
    ]
    named = st.sampled_from(
        ["1", "2", "3", "track-1", "track-1@2000", "track-1@20000", "track-1@20001", "track-2@5000"]
    )
    links = data.draw(st.dictionaries(named, st.sampled_from(["k0", "k1", "gone", ""])))
    meeting = MeetingFacts(duration_s=50, participants=people, links=links, spans=mixed)
    transcript = attribute(sources, meeting)
    assert_orderly(transcript, 50)
    said = sorted(word.word for s in sources for u in s.utterances for word in u.words)
    kept = sorted(word.word for g in transcript.segments for u in g.utterances for word in u.words)
    assert kept == said  # nothing lost, nothing added
    assert attribute(sources, meeting) == transcript


def assert_orderly(transcript: Transcript, duration_s: float) -> None:
    starts = [segment.start for segment in transcript.segments]
    assert starts == sorted(starts)
    seen: set[int] = set()
    for segment in transcript.segments:
        assert (segment.speaker_name is None) != (segment.potential_speaker_names is None)
        assert segment.speaker <= len(seen)
        seen.add(segment.speaker)
        assert_within(segment, duration_s)


def assert_within(segment: Segment, duration_s: float) -> None:
    assert 0 <= segment.start <= segment.end <= duration_s
    assert segment.transcript
    assert segment.utterances
    for utterance in segment.utterances:
        assert segment.start <= utterance.start <= utterance.end <= segment.end
        assert utterance.speaker == segment.speaker
        for word in utterance.words:
            assert utterance.start <= word.start <= word.end <= utterance.end
            assert word.speaker == segment.speaker
