"""When an answer to a notice is left alone, and how that is reported."""

from sederunt.model.trouble import PageTrouble, Recovery
from sederunt.platforms.notice_answers import MOST_PRESSES, NOTICE_STAYS, NoticeAnswers
from sederunt.platforms.targets import FoundControl


def control(name: str) -> FoundControl:
    return FoundControl(id=name, handle="#x", label="close", value="", disabled=False)


def test_a_control_is_left_alone_after_three_presses_and_reported_once() -> None:
    told: list[PageTrouble] = []
    answers = NoticeAnswers(told.append)
    for count in range(1, MOST_PRESSES + 1):
        assert answers.may_press(control("x.dismiss"))
        assert answers.note_press(control("x.dismiss")) == count
    assert told == []
    assert not answers.may_press(control("x.dismiss"))
    assert not answers.may_press(control("x.dismiss"))
    assert answers.may_press(control("x.join_audio"))
    seen = 'x.dismiss ("close") was pressed 3 times, and its notice stays.'
    assert told == [PageTrouble(cause=NOTICE_STAYS, seen=seen, recovery=Recovery.NONE)]


def test_one_whose_notice_is_gone_begins_from_nothing() -> None:
    answers = NoticeAnswers()
    for name in ("x.dismiss", "x.consent"):
        for _ in range(MOST_PRESSES):
            answers.note_press(control(name))
    answers.forget_all_but({"x.consent"})
    assert answers.may_press(control("x.dismiss"))
    assert not answers.may_press(control("x.consent"))
