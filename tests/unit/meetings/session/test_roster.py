"""The roster: claims folded, chat told once, what was claimed kept, and who the bot is learnt from its own lines."""

from sederunt.claims.changes import Change, PersonSpoke, PersonWrote
from sederunt.claims.claim import Claim, Fact, Source, Subject, gone, here, owns, said, speak
from sederunt.claims.journal import read, replay, report
from sederunt.meetings.session.roster import Roster, silenced
from sederunt.model.events import ChatReceived

NETWORK = Source.PROTOCOL


def seen(*people: tuple[str, str], at_ms: int = 0) -> Claim:
    return here(NETWORK, [Subject(key=key, name=name) for key, name in people], at_ms)


def chat(**fields: object) -> ChatReceived:
    return ChatReceived(**{"username": "", "content": "Good morning", "at_ms": 1_000, **fields})  # type: ignore[arg-type]


def written(changes: list[Change]) -> list[tuple[str, str]]:
    return [(change.message.username, change.message.content) for change in changes if isinstance(change, PersonWrote)]


def test_a_message_that_network_and_page_tell_of_is_told_once_with_its_sender() -> None:
    roster = Roster()
    roster.take([seen(("1", "Ada"))])
    assert written(roster.take([chat(key="1", message_id="n-1")])) == [("Ada", "Good morning")]
    assert written(roster.take([chat(key="1", message_id="n-1")])) == []
    assert written(roster.take([chat(username="Ada", by_page=True, message_id="d-1")])) == []
    assert written(roster.take([chat(username="Ada", by_page=True, message_id="d-2")])) == [("Ada", "Good morning")]


def test_own_messages_carry_the_own_name() -> None:
    roster = Roster()
    roster.take([here(NETWORK, [Subject(key="9", name="Acme Account", is_self=True)], 0)])
    assert written(roster.take([chat(username="You", is_own=True, by_page=True)])) == [("Acme Account", "Good morning")]


def test_whoever_is_shown_to_have_written_what_the_bot_wrote_is_the_bot() -> None:
    """A signed-in bot goes by its account's name, which nobody told it."""
    for shown in (chat(username="Acme Account", by_page=True), chat(key="9")):
        roster = Roster()
        roster.take([seen(("9", "Acme Account"), ("1", "Ada"))])
        roster.wrote("Good  morning", 900)
        assert not roster.knows_itself
        roster.take([shown])
        roster.take([chat(username="Ada", by_page=True, message_id="echo"), gone("1", 2_000)])
        assert roster.knows_itself
        assert [one.name for one in roster.fold.participants] == ["Ada"]
        assert roster.fold.company_seen
        assert not roster.fold.has_company


def test_sound_that_ends_and_begins_within_a_millisecond_is_heard() -> None:
    roster = Roster()
    roster.take([seen(("1", "Ada")), owns("7", "1", 0)])
    told = [change for on in (True, False, True) for change in roster.heard("7", on, 100)]
    assert [change.speaking for change in told if isinstance(change, PersonSpoke)] == [True, False, True]
    assert roster.fold.someone_speaks


def test_what_was_claimed_is_kept_and_can_be_played_again() -> None:
    earlier, roster = Roster(), Roster()
    earlier.take([seen(("Ada", "Ada"))])
    roster.recall(earlier.fold.participants)
    roster.take([seen(("1", "Ada")), speak(NETWORK, ["1"], 100)])
    roster.pass_time(5_000)
    roster.heard("7", True, 6_000)
    roster.hush(9_000)
    again = replay(read(roster.claims.packed()))
    assert report(again) == report(roster.fold)


def test_whoever_spoke_when_the_bot_was_lost_has_stopped_and_nobody_else() -> None:
    roster = Roster()
    roster.take([seen(("a", "Ada"), ("b", "Babbage"), ("c", "Mary"))])
    for at_ms, keys in ((1000, ["b"]), (2000, []), (3000, ["c"])):
        roster.take([speak(NETWORK, keys, at_ms)])
    (stop,) = silenced(roster.fold.participants, 4000)
    assert (stop.participant.name, stop.speaking, stop.at_ms) == ("Mary", False, 4000)
    assert [event.timestamp for event in stop.participant.events] == [3000, 4000]
    assert silenced([stop.participant], 5000) == []
    (late,) = silenced(roster.fold.participants, 2500)
    assert late.at_ms == 3001, "a stop never stands before its start"


def test_what_ended_a_connection_on_the_way_in_does_not_end_the_stay() -> None:
    """Teams' first connection failed, and its end came before the second one was let in."""
    for fact in (Fact.OVER, Fact.REMOVED):
        roster = Roster()
        roster.take([said(fact, 500)])
        assert roster.told_end() is not None
        roster.entered(1_000, waited=False)
        assert roster.told_end() is None
        roster.take([said(fact, 1_500)])
        assert roster.told_end() is not None


def test_whoever_waited_outside_was_let_in_by_somebody() -> None:
    for waited in (False, True):
        roster = Roster()
        roster.entered(1_000, waited=waited)
        roster.take([here(NETWORK, [Subject(key="9", name="Bot", is_self=True)], 1_100)])
        assert roster.fold.company_seen is waited
