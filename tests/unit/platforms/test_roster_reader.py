"""Two witnesses of one roster and one chat are told once."""

from hypothesis import given
from hypothesis import strategies as st

from sederunt.model.events import ChatReceived, ParticipantLeft, ParticipantSeen
from sederunt.platforms.roster_reader import SAME_CHAT_MS, ChatLedger, Person, RosterReader


def person(key: str, name: str, *, is_self: bool = False) -> Person:
    return Person(key=key, name=name, is_self=is_self)


def chat(text: str, at_ms: int = 0, *, by: str = "Ada", message_id: str | None = None) -> ChatReceived:
    return ChatReceived(username=by, content=text, at_ms=at_ms, message_id=message_id)


def test_people_the_page_showed_stay_when_the_network_confirms_them_under_the_same_key() -> None:
    roster = RosterReader()
    roster.shown([person("1", "Ada"), person("2", "Grace")], 1)
    assert roster.seen([person("1", "Ada"), person("2", "Grace")], 2) == []


def test_who_lost_a_tile_has_left_only_where_no_whole_list_was_ever_seen() -> None:
    roster = RosterReader()
    both = [person("1", "Ada"), person("2", "Grace")]
    roster.shown(both, 1, whole=False)
    assert roster.shown(both[:1], 2, whole=False) == [ParticipantLeft(key="2", at_ms=2)]
    roster.shown(both, 3, whole=True)
    assert roster.shown(both[:1], 4, whole=False) == []
    assert roster.shown(both[:1], 5, whole=True) == [ParticipantLeft(key="2", at_ms=5)]


def test_whom_the_network_tells_of_after_the_page_is_the_same_person() -> None:
    roster = RosterReader()
    roster.shown([person("Ada", "Ada"), person("Grace", "Grace")], 1)
    events = roster.seen([person("8:ada", "Ada")], 2)
    assert events == [ParticipantSeen(key="8:ada", name="Ada", at_ms=2, known_as="Ada")]
    assert roster.is_here("Grace")
    assert roster.left("8:ada", 3) == [ParticipantLeft(key="8:ada", at_ms=3)]


def test_a_name_that_two_people_bear_proves_nothing() -> None:
    roster = RosterReader()
    roster.shown([person("Ada", "Ada"), person("Grace", "Grace")], 1)
    events = roster.seen([person("8:a", "Ada"), person("8:b", "Ada")], 2)
    assert events == [
        ParticipantLeft(key="Ada", at_ms=2),
        ParticipantLeft(key="Grace", at_ms=2),
        ParticipantSeen(key="8:a", name="Ada", at_ms=2),
        ParticipantSeen(key="8:b", name="Ada", at_ms=2),
    ]


def test_the_bot_is_itself_by_whatever_key_the_network_knows_it() -> None:
    roster = RosterReader("Bot")
    roster.shown([person("Ada", "Ada"), person("Bot", "Bot")], 1)
    events = roster.seen([person("8:ada", "Ada"), person("8:bot", "Bot")], 2)
    assert [(event.key, event.is_self) for event in events if isinstance(event, ParticipantSeen)] == [
        ("8:ada", False),
        ("8:bot", True),
    ]


def test_the_own_mark_stays_and_beats_the_own_name() -> None:
    roster = RosterReader("Bot")
    roster.seen([person("1", "Bot"), person("2", "Bot", is_self=True)], 1)
    assert [roster.person(key).is_self for key in ("1", "2")] == [False, True]  # type: ignore[union-attr]
    assert roster.seen([person("2", "Bot")], 2) == []


def test_what_is_left_of_an_earlier_page_was_not_the_bot() -> None:
    roster = RosterReader("Bot")
    roster.seen([person("ghost", "Bot"), person("8:bot", "Bot")], 1)
    assert roster.left("ghost", 2) == [
        ParticipantLeft(key="ghost", at_ms=2),
        ParticipantSeen(key="8:bot", name="Bot", is_self=True, at_ms=2),
    ]


def test_somebody_back_is_seen_again() -> None:
    roster = RosterReader()
    roster.seen([person("1", "Ada")], 1)
    roster.left("1", 2)
    assert roster.seen([person("1", "Ada")], 3) == [ParticipantSeen(key="1", name="Ada", at_ms=3)]


def test_the_same_words_from_the_same_witness_are_two_messages() -> None:
    ledger = ChatLedger()
    assert len(ledger.first_word(chat("yes", 0), "page")) == 1
    assert len(ledger.first_word(chat("yes", 10), "page")) == 1


def test_the_same_words_long_after_are_another_message() -> None:
    ledger = ChatLedger()
    ledger.first_word(chat("yes", 0), "network")
    assert ledger.first_word(chat("yes", SAME_CHAT_MS + 1), "page") != []


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 500)), max_size=12))
def test_what_both_witnesses_tell_is_told_as_often_as_it_was_said(said: list[tuple[str, int]]) -> None:
    ledger = ChatLedger()
    told = [event for text, at in said for event in ledger.first_word(chat(text, at), "network")]
    told += [event for text, at in said for event in ledger.first_word(chat(text, at + 200), "page")]
    assert len(told) == len(said)
