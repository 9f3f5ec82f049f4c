"""What a meeting does with a script and with deeds from outside; no page, no clock: the test lets the time pass."""

from typing import Any

from sederunt.practice import script, sites
from sederunt.practice.control import act
from sederunt.practice.meeting import Meeting
from sederunt.practice.script import CastMember, Script, ScriptedAct

ADA, MARY = CastMember(name="Ada"), CastMember(name="Mary")


def test_an_act_of_somebody_who_is_not_there_is_told_and_the_others_are_done() -> None:
    acts = (
        ScriptedAct(at_s=0, do="chat", who="Nemo", text="Nobody."),
        ScriptedAct(at_s=0, do="chat", who="Ada", text="Together with it."),
        ScriptedAct(at_s=1, do="chat", who="Mary", text="After it."),
    )
    meeting = held(Script(cast=(ADA, MARY), acts=acts), until_s=2)
    assert not meeting.is_over
    assert told(meeting, "chat", "text") == ["Together with it.", "After it."]
    assert told(meeting, "refused", "do") == ["chat"]
    assert told(meeting, "refused", "who") == ["Nemo"]
    assert told(meeting, "refused", "why") == ["Nemo is not in abc-defg-hij; here are: Ada, Mary."]


def test_the_demonstration_goes_on_without_somebody_who_was_sent_away() -> None:
    meeting = held(script.demo(turns=4), until_s=0.5)
    act(meeting, "leave", {"who": "Ada Lovelace"})
    pass_time(meeting, meeting.script.duration_s() + 1)
    assert told(meeting, "refused", "who") == ["Ada Lovelace"]
    assert told(meeting, "said", "who") == ["Mary Somerville", "Charles Babbage", "Mary Somerville"]


def test_two_people_of_one_name_both_come() -> None:
    cast = (CastMember(name="Ada", joins_at_s=1), CastMember(name="Ada", joins_at_s=2))
    meeting = held(Script(cast=cast), until_s=4)
    assert [person.number for person in meeting.cast.present()] == [1, 2]
    assert told(meeting, "person_joined", "who") == ["Ada", "Ada"]


def test_who_leaves_by_the_cast_is_the_one_who_came_by_it() -> None:
    cast = (ADA, CastMember(name="Ada", joins_at_s=2, leaves_at_s=3))
    meeting = held(Script(cast=cast), until_s=2.5)
    assert [person.number for person in meeting.cast.present()] == [1, 2]
    pass_time(meeting, 4)
    assert [person.number for person in meeting.cast.present()] == [1]
    assert told(meeting, "person_left", "who") == ["Ada"]


def test_who_was_renamed_leaves_when_the_cast_says_so_and_who_left_before_does_not_leave_again() -> None:
    cast = (CastMember(name="Ada", leaves_at_s=2), CastMember(name="Mary", leaves_at_s=2))
    acts = (
        ScriptedAct(at_s=1, do="rename", who="Ada", text="Ada Lovelace"),
        ScriptedAct(at_s=1, do="leave", who="Mary"),
    )
    meeting = held(Script(cast=cast, acts=acts), until_s=3)
    assert told(meeting, "person_left", "who") == ["Mary", "Ada Lovelace"]
    assert told(meeting, "refused", "why") == []


def test_a_deed_by_name_is_done_by_the_first_of_it_who_is_here() -> None:
    acts = (ScriptedAct(at_s=1, do="leave", who="Ada"), ScriptedAct(at_s=2, do="leave", who="Ada"))
    meeting = held(Script(cast=(ADA, ADA), acts=acts), until_s=1.5)
    assert [person.number for person in meeting.cast.present()] == [2]
    pass_time(meeting, 3)
    assert meeting.cast.present() == []


def held(what: Script, *, until_s: float) -> Meeting:
    """Return a meeting that went on for so long."""
    meeting = Meeting("abc-defg-hij", what, sites.SITES["gmeet"])
    meeting.start()
    pass_time(meeting, until_s)
    return meeting


def pass_time(meeting: Meeting, until_s: float) -> None:
    """Let it tick until that meeting time, or its end."""
    while meeting.media.now_s < until_s and not meeting.is_over:
        meeting.tick()


def told(meeting: Meeting, kind: str, name: str) -> list[Any]:
    """Return that field of every event of a kind."""
    return [event.data[name] for event in meeting.events.after(kind=kind)]
