"""The scene: who is here, who speaks, told by two witnesses."""

from sederunt.meetings.session.roster import PersonLeft, PersonSpoke, PersonTracked, Roster, is_bot_name, silenced
from sederunt.model.events import ParticipantLeft, ParticipantSeen, SourceNamed, SpeakingChanged, StageTaken
from sederunt.model.participant import SpeakingKind


def seen(key: str, name: str, at_ms: int = 0, *, is_self: bool = False) -> ParticipantSeen:
    return ParticipantSeen(key=key, name=name, at_ms=at_ms, is_self=is_self)


def test_a_participant_is_tracked_once_however_often_it_is_seen() -> None:
    roster = Roster()
    assert [type(change) for change in roster.apply(seen("a", "Ada", 1000))] == [PersonTracked]
    assert roster.apply(seen("a", "Ada", 2000)) == []
    assert roster.participants[0].first_seen_at.timestamp() == 1


def test_the_bot_itself_is_neither_participant_nor_company() -> None:
    roster = Roster()
    roster.apply(seen("b", "Minutes", is_self=True))
    assert roster.participants == ()
    assert not roster.company
    assert not roster.company_seen


def test_whom_two_witnesses_tell_of_by_two_keys_is_one_participant() -> None:
    roster = Roster()
    roster.apply(seen("Ada", "Ada", 1000))
    assert roster.apply(ParticipantSeen(key="8:ada", name="Ada", at_ms=2000, known_as="Ada")) == []
    roster.apply(SourceNamed(source="1001", key="8:ada", at_ms=2000))
    assert roster.sources == {"1001": "Ada"}
    (spoke,) = roster.heard("1001", True, 3000)
    assert isinstance(spoke, PersonSpoke)
    _stopped, left = roster.apply(ParticipantLeft(key="8:ada", at_ms=4000))
    assert isinstance(left, PersonLeft)
    assert [(p.key, len(p.events)) for p in roster.participants] == [("Ada", 2)]
    assert not roster.has_company


def test_a_track_that_changes_hands_while_it_sounds_ends_the_speech_of_who_had_it() -> None:
    roster = Roster()
    for event in (seen("a", "Ada"), seen("b", "Bob"), SourceNamed(source="track-0", key="a", at_ms=0)):
        roster.apply(event)
    roster.heard("track-0", True, 1000)
    told = [
        *roster.apply(SourceNamed(source="track-0", key="", at_ms=2000)),
        *roster.apply(SourceNamed(source="track-0", key="b", at_ms=2100)),
        *roster.heard("track-0", False, 3000),
    ]
    spoke = [
        (change.participant.name, change.speaking, change.at_ms) for change in told if isinstance(change, PersonSpoke)
    ]
    assert spoke == [("Ada", False, 2000), ("Bob", True, 2000), ("Bob", False, 3000)]


def test_a_silent_track_that_changes_hands_marks_nobody() -> None:
    roster = Roster()
    for event in (seen("a", "Ada"), seen("b", "Bob"), SourceNamed(source="track-0", key="a", at_ms=0)):
        roster.apply(event)
    roster.heard("track-1", True, 500)
    roster.apply(SourceNamed(source="track-1", key="a", at_ms=600))
    assert roster.apply(SourceNamed(source="track-0", key="b", at_ms=2000)) == []


def test_whom_an_earlier_page_knew_by_name_alone_is_the_same_participant() -> None:
    earlier = Roster()
    earlier.apply(seen("Ada", "Ada"))
    earlier.apply(seen("8:grace", "Grace"))
    roster = Roster()
    roster.recall(earlier.participants)
    for event in (seen("8:ada", "Ada"), seen("9:ada", "Ada"), seen("8:grace", "Grace"), seen("8:ada", "Ada")):
        roster.apply(event)
    assert [participant.key for participant in roster.participants] == ["Ada", "9:ada", "8:grace"]


def test_who_was_here_before_they_had_a_name_stays_one_participant() -> None:
    earlier = Roster()
    earlier.apply(seen("Ada", "Ada"))
    roster = Roster()
    roster.recall(earlier.participants)
    roster.apply(seen("8:ada", ""))
    roster.apply(seen("8:ada", "Ada"))
    assert [(participant.key, participant.name) for participant in roster.participants] == [("8:ada", "Ada")]


def test_other_bots_are_participants_but_no_company() -> None:
    roster = Roster()
    roster.apply(seen("n", "Acme Notetaker"))
    assert [p.name for p in roster.participants] == ["Acme Notetaker"]
    assert not roster.company


def test_a_name_that_merely_contains_the_word_is_a_person() -> None:
    assert not is_bot_name("Abbott Botham")
    assert is_bot_name("Fred's (Notetaker)")


def test_speech_heard_before_its_owner_is_known_counts_from_when_it_began() -> None:
    roster = Roster()
    roster.apply(seen("a", "Ada"))
    assert roster.heard("1001", True, 5000) == []
    (change,) = roster.apply(SourceNamed(source="1001", key="a", at_ms=5600))
    assert isinstance(change, PersonSpoke)
    assert (change.speaking, change.at_ms) == (True, 5000)


def test_once_a_voice_is_heard_the_display_is_no_longer_believed() -> None:
    roster = Roster()
    roster.apply(seen("a", "Ada"))
    roster.apply(SourceNamed(source="1001", key="a", at_ms=0))
    roster.heard("1001", True, 1000)
    assert roster.apply(SpeakingChanged(key="a", speaking=False, at_ms=1500)) == []
    (change,) = roster.heard("1001", False, 2000)
    assert isinstance(change, PersonSpoke)
    assert [e.type for e in roster.participants[0].events] == [SpeakingKind.STARTED, SpeakingKind.STOPPED]


def test_who_leaves_while_speaking_stops_speaking() -> None:
    roster = Roster()
    roster.apply(seen("a", "Ada"))
    roster.apply(SpeakingChanged(key="a", speaking=True, at_ms=10))
    silent, left = roster.apply(ParticipantLeft(key="a", at_ms=20))
    assert isinstance(silent, PersonSpoke)
    assert not silent.speaking
    assert left == PersonLeft(participant=roster.participants[0], at_ms=20)
    assert not roster.someone_shown_speaking


def test_nobody_hears_that_the_bot_left_or_somebody_who_was_never_announced() -> None:
    roster = Roster()
    roster.apply(ParticipantSeen(key="b", name="Minutes", at_ms=0, is_self=True))
    roster.apply(seen("a", ""))
    roster.apply(seen("g", "Grace"))
    left = [roster.apply(ParticipantLeft(key=key, at_ms=20)) for key in ("b", "a", "x", "g", "g")]
    assert [len(changes) for changes in left] == [0, 0, 0, 1, 0]


def test_speech_shown_before_the_roster_knows_who_it_is_counts_from_when_it_began() -> None:
    roster = Roster()
    assert roster.apply(SpeakingChanged(key="a", speaking=True, at_ms=10)) == []
    assert [change for change in roster.apply(seen("a", "Ada", 50)) if isinstance(change, PersonSpoke)] == [
        PersonSpoke(participant=roster.participants[0], speaking=True, at_ms=10)
    ]


def test_who_spoke_and_fell_silent_before_the_roster_told_of_them_spoke_all_the_same() -> None:
    roster = Roster()
    for at_ms, speaking in ((10, True), (20, False), (30, True), (40, False)):
        assert roster.apply(SpeakingChanged(key="a", speaking=speaking, at_ms=at_ms)) == []
    told = [(c.speaking, c.at_ms) for c in roster.apply(seen("a", "Ada", 50)) if isinstance(c, PersonSpoke)]
    assert told == [(True, 10), (False, 20), (True, 30), (False, 40)]
    assert not roster.someone_shown_speaking


def test_who_stood_on_the_stage_before_the_roster_was_read_spoke_while_sound_was_heard() -> None:
    roster = Roster()
    roster.apply(StageTaken(key="a", at_ms=10))
    assert roster.heard("track-0", True, 100) == []
    assert roster.heard("track-0", False, 200) == []
    told = [(c.speaking, c.at_ms) for c in roster.apply(seen("a", "Ada", 500)) if isinstance(c, PersonSpoke)]
    assert told == [(True, 100), (False, 200)]


def test_what_was_shown_of_somebody_who_is_never_listed_is_bounded() -> None:
    roster = Roster()
    for at_ms in range(1000):
        roster.apply(SpeakingChanged(key="a", speaking=at_ms % 2 == 0, at_ms=at_ms))
    assert len([c for c in roster.apply(seen("a", "Ada", 1000)) if isinstance(c, PersonSpoke)]) == 200


def test_whoever_stands_on_the_stage_speaks_while_sound_is_heard() -> None:
    roster = Roster()
    roster.apply(seen("a", "Ada"))
    roster.apply(seen("g", "Grace"))
    assert roster.apply(StageTaken(key="a", at_ms=10)) == []

    def told(changes: object) -> list[tuple[str, bool, int]]:
        return [(c.participant.key, c.speaking, c.at_ms) for c in changes if isinstance(c, PersonSpoke)]  # type: ignore[attr-defined]

    assert told(roster.heard("track-0", True, 100)) == [("a", True, 100)]
    assert told(roster.apply(StageTaken(key="g", at_ms=200))) == [("a", False, 200), ("g", True, 200)]
    assert told(roster.heard("track-0", False, 300)) == [("g", False, 300)]
    assert not roster.someone_shown_speaking


def test_the_journal_is_told_each_change_once() -> None:
    roster = Roster()
    roster.apply(seen("a", "Ada"))
    assert [p.key for p in roster.take_changed()] == ["a"]
    assert roster.take_changed() == ()


def test_what_the_journal_could_not_write_is_told_again() -> None:
    roster = Roster()
    roster.apply(seen("a", "Ada"))
    roster.keep_changed(roster.take_changed())
    assert [p.key for p in roster.take_changed()] == ["a"]


def test_whoever_spoke_when_the_bot_was_lost_has_stopped_and_nobody_else() -> None:
    roster = Roster()
    for key, name in (("a", "Ada"), ("b", "Babbage"), ("c", "Mary")):
        roster.apply(seen(key, name))
    roster.apply(SpeakingChanged(key="b", speaking=True, at_ms=1000))
    roster.apply(SpeakingChanged(key="b", speaking=False, at_ms=2000))
    roster.apply(SpeakingChanged(key="c", speaking=True, at_ms=3000))
    (stop,) = silenced(roster.participants, 4000)
    assert (stop.participant.name, stop.speaking, stop.at_ms) == ("Mary", False, 4000)
    assert [event.timestamp for event in stop.participant.events] == [3000, 4000]
    assert silenced([stop.participant], 5000) == []
    (late,) = silenced(roster.participants, 2500)
    assert late.at_ms == 3001, "a stop never stands before its start"
