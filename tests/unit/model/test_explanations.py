"""Why a bot is where it is, in words."""

from sederunt.model.bot import Verdict
from sederunt.model.explanations import ENDED, REASONS, UNDER_WAY, VERDICTS, why
from sederunt.model.status import BotStatus, StopReason


def test_every_status_reason_and_verdict_has_its_words() -> None:
    assert set(UNDER_WAY) | set(ENDED) | {"finished", "not_admitted"} == set(BotStatus), (
        "model/explanations.py: a sentence for each status, in UNDER_WAY or ENDED"
    )
    assert set(REASONS) == set(StopReason)
    assert set(VERDICTS) == set(Verdict)


def test_a_limit_says_which_wish_was_meant_and_an_error_what_it_was() -> None:
    assert why("finished", None, cause="time_limit", message=None) == (
        "Its time was up.",
        "Raise stop_options.time_limit.",
    )
    told, advice = why("failed", None, cause=None, message="The disk is full.")
    assert told.endswith("The disk is full.")
    assert advice
    assert why("recording", "kicked", cause=None, message=None)[1] is None


def test_a_full_meeting_is_nobodys_refusal() -> None:
    told, advice = why("not_admitted", "request_denied", cause="meeting_full", message=None)
    assert told == "The meeting was full."
    assert advice
    assert why("not_admitted", "request_denied", cause=None, message=None)[0] == "Somebody refused to let it in."
