"""Refusals by what they mean, whatever the words: the sentence below the heading decides."""

import re

import pytest

from sederunt.model.bot import Service
from sederunt.model.status import StopReason
from sederunt.platforms.evidence import PageSnapshot, normalised
from sederunt.platforms.page_state import PageState
from sederunt.platforms.refusals import MEANINGS
from sederunt.platforms.registry import platform_of, services

SENTENCES = {
    "locked": (
        "The meeting is locked.",
        "This call has been locked by the host",
        "The host has locked this meeting",
        "Diese Besprechung wurde gesperrt",
        "Cette réunion est verrouillée",
        "La reunión está bloqueada",
        "La riunione è bloccata",
        "この会議はロックされています",
    ),
    "full": (
        "This meeting is full",
        "The call is already full.",
        "The meeting has reached its participant limit",
        "Participant limit reached",
        "There are too many people in this meeting",
        "Die Besprechung ist voll",
        "La réunion est complète",
        "この通話は満員です",
    ),
    "not_allowed": (
        "You aren't allowed to join this call",
        "You are not permitted to enter this meeting",
        "You don't have permission to join this meeting",
        "Du bist nicht berechtigt, teilzunehmen",
        "Vous n’êtes pas autorisé à participer",
    ),
    "invited_only": (
        "Only people who were invited can join",
        "This meeting is invite-only",
        "Nur eingeladene Personen können teilnehmen",
    ),
    "organisation": (
        "Only people in this organization can join",
        "People outside of your organisation can't join",
        "Your organization's policy doesn't matter: admin settings do not allow guests",
        "Nur Personen in deiner Organisation",
    ),
    "signed_in": (
        "You must be signed in to join this meeting",
        "You need to sign in before you can join",
        "Sign in with your work account to join",
        "Anonymous users can't join",
        "Melden Sie sich an, um teilzunehmen",
    ),
    "over": ("This meeting has ended", "The call is over", "Die Besprechung wurde beendet", "会議は終了しました"),
    "not_started": ("The meeting hasn't started yet", "Die Besprechung hat noch nicht begonnen"),
}
# What stands on pages that refuse nothing, or on refusals that say nothing.
NO_REFUSALS = (
    "You can't join this video call",
    "Returning to home screen",
    "Ready to join?",
    "Full moon planning",
    "Locked rooms, a seminar",
    "The weekend is over",
    "Sign in",
    "Ada Lovelace is in this call",
    "The meeting is full of surprises",
    "Learn more about who can join a meeting",
    "Invited guests",
    "Your organization",
)


def meanings_of(sentence: str) -> set[str]:
    """Which meanings a sentence has."""
    line = normalised(sentence)
    return {name for name, meaning in MEANINGS.items() if any(re.search(stem, line) for stem in meaning.stems)}


@pytest.mark.parametrize(("name", "sentence"), [(n, s) for n, told in SENTENCES.items() for s in told])
def test_a_sentence_means(name: str, sentence: str) -> None:
    assert name in meanings_of(sentence)


@pytest.mark.parametrize("sentence", NO_REFUSALS)
def test_other_words_refuse_nothing(sentence: str) -> None:
    assert not meanings_of(sentence)


@pytest.mark.parametrize("service", services())
def test_meanings_count_only_where_no_way_on_is_left(service: Service) -> None:
    platform = platform_of(service)
    told = {f"{service}.means.locked": ("x",)}
    reading = platform.judge(PageSnapshot(matches=told), joined=False)
    assert (reading.state, reading.reason) == (PageState.REFUSED, StopReason.REQUEST_DENIED)
    way_on = platform.judge(PageSnapshot(matches={**told, f"{service}.name_field": ("x",)}), joined=False)
    assert way_on.state is not PageState.REFUSED
    assert platform.judge(PageSnapshot(matches=told), joined=True).state is PageState.LOADING


MEET = platform_of(Service("gmeet"))
GENERIC = {"gmeet.blocked": ("x",), "gmeet.blocked_suspected": ("x",)}


def test_a_refusal_that_does_not_say_why_is_no_challenge_by_itself() -> None:
    reading = MEET.judge(PageSnapshot(matches=GENERIC), joined=False)
    assert (reading.state, reading.row) == (PageState.BLOCKED, "gmeet.blocked")


def test_with_the_sites_own_suspicion_beside_it_it_is_one() -> None:
    reading = MEET.judge(PageSnapshot(matches=GENERIC), joined=False, noted=("suspected_bot",))
    assert (reading.state, reading.row) == (PageState.CHALLENGED, "gmeet.blocked_suspected")


def test_the_sentence_below_the_heading_decides() -> None:
    reading = MEET.judge(PageSnapshot(matches={**GENERIC, "gmeet.means.full": ("x",)}), joined=False)
    assert (reading.state, reading.reason) == (PageState.REFUSED, StopReason.REQUEST_DENIED)
