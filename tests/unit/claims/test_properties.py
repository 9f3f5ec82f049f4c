"""The fold under claims in any order, lost, repeated, late and contradicting each other."""

import random
from dataclasses import replace
from itertools import groupby
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sederunt.claims.claim import Claim, Extent, Fact, Source, Subject
from sederunt.claims.fold import Fold
from sederunt.claims.journal import ClaimJournal, read, replay, report
from sederunt.claims.rules import CONTRADICTED_MS, DOUBT_MS, HEARD_MS, MINUTE
from sederunt.model.participant import SpeakingKind

T = 1_000_000_000
HOUR = 60 * MINUTE
NAMES = ("Bot", "Ada", "Bob", "Cy")
PEOPLE = tuple(Subject(key=f"k{n}", name=name) for n, name in enumerate(NAMES))
ROWS = tuple(Subject(key=name, name=name) for name in NAMES)
MEDIA = ("m1", "m2")

moments = st.integers(0, 12).map(lambda n: T + 7_000 * n)


def some(subjects: tuple[Subject, ...]) -> st.SearchStrategy[tuple[Subject, ...]]:
    return st.lists(st.sampled_from(subjects), max_size=4, unique=True).map(tuple)


def claims_of(fact: Fact, source: Source, **fields: object) -> st.SearchStrategy[Claim]:
    given_fields = {
        name: value if isinstance(value, st.SearchStrategy) else st.just(value) for name, value in fields.items()
    }
    return st.builds(Claim, fact=st.just(fact), source=st.just(source), at_ms=moments, **given_fields)


any_claim = st.one_of(
    claims_of(Fact.HERE, Source.PROTOCOL, kind=Extent.SNAPSHOT, subjects=some(PEOPLE)),
    claims_of(Fact.HERE, Source.PROTOCOL, subjects=some(PEOPLE), holds=st.booleans()),
    claims_of(Fact.HERE, Source.LIST, kind=Extent.SNAPSHOT, subjects=some(ROWS)),
    claims_of(Fact.HERE, Source.TILES, kind=Extent.SNAPSHOT, subjects=some(ROWS)),
    claims_of(Fact.HERE, Source.LIST, kind=Extent.CLOSED),
    claims_of(Fact.SPEAKS, Source.PROTOCOL, kind=Extent.SNAPSHOT, subjects=some(PEOPLE)),
    claims_of(Fact.SPEAKS, Source.PROTOCOL, subjects=some(PEOPLE), holds=st.booleans()),
    claims_of(Fact.SPEAKS, Source.MARKS, kind=Extent.SNAPSHOT, subjects=some(ROWS)),
    claims_of(Fact.STAGE, Source.STAGE, kind=Extent.SNAPSHOT, subjects=st.sampled_from(ROWS).map(lambda row: (row,))),
    claims_of(
        Fact.SOUND,
        Source.CAPTURE,
        subjects=st.sampled_from(MEDIA).map(lambda media: (Subject(media=media),)),
        holds=st.booleans(),
    ),
    claims_of(
        Fact.OWNS,
        Source.PROTOCOL,
        subjects=st.builds(
            lambda media, key: (Subject(media=media, key=key),),
            st.sampled_from(MEDIA),
            st.sampled_from(["", "k1", "k2"]),
        ),
    ),
    claims_of(Fact.COUNT, Source.BANNER, number=st.integers(1, 3)),
    claims_of(Fact.SELF, Source.ENTRY, subjects=(Subject(name="Bot"),)),
)
histories = st.lists(any_claim, max_size=40)
in_order = histories.map(lambda claims: sorted(claims, key=lambda claim: claim.at_ms))


def fold_of(claims: list[Claim]) -> Fold:
    fold = Fold()
    for claim in claims:
        fold.take(claim)
    fold.settle()
    return fold


def state(fold: Fold) -> object:
    """What the fold has come to, by names: under which of two keys somebody goes depends on who told of them first."""
    names = {one.key: one.name for one in fold.participants}
    return (
        sorted(names[key] for key in fold.company),
        sorted((one.name, list(one.events)) for one in fold.participants),
        sorted((media, names.get(key, key)) for media, key in fold.sources.items()),
        fold.has_company,
        fold.company_seen,
    )


@settings(max_examples=100, deadline=None)
@given(histories)
def test_whatever_comes_marks_begin_before_they_end_one_after_another(claims: list[Claim]) -> None:
    fold = fold_of(claims)
    for one in fold.participants:
        kinds_seen = [event.type for event in one.events]
        assert kinds_seen == [SpeakingKind.STARTED, SpeakingKind.STOPPED] * (len(kinds_seen) // 2) + [
            SpeakingKind.STARTED
        ] * (len(kinds_seen) % 2)
        moments_seen = [event.timestamp for event in one.events]
        assert moments_seen == sorted(moments_seen)


@settings(max_examples=100, deadline=None)
@given(histories)
def test_nobody_speaks_after_their_last_claim_expired(claims: list[Claim]) -> None:
    fold = fold_of(claims)
    fold.pass_time(T + HOUR)
    assert not fold.someone_speaks


@settings(max_examples=100, deadline=None)
@given(histories, st.sampled_from(["Ada", "Bob", "Cy"]))
def test_who_is_in_no_fresh_snapshot_is_gone(claims: list[Claim], who: str) -> None:
    fold = fold_of(claims)
    last = T + 200_000
    others = [row for row in ROWS if row.name != who]
    for media in MEDIA:
        fold.take(
            Claim(fact=Fact.SOUND, source=Source.CAPTURE, at_ms=last, holds=False, subjects=(Subject(media=media),))
        )
    for after_ms in (HEARD_MS + 1, HEARD_MS + CONTRADICTED_MS):
        at_ms = last + after_ms
        for source in (Source.LIST, Source.TILES):
            fold.take(Claim(fact=Fact.HERE, source=source, kind=Extent.SNAPSHOT, at_ms=at_ms, subjects=tuple(others)))
        told = tuple(person for person in PEOPLE if person.name != who)
        fold.take(Claim(fact=Fact.HERE, source=Source.PROTOCOL, kind=Extent.SNAPSHOT, at_ms=at_ms, subjects=told))
    fold.settle()
    assert who not in {one.name for one in fold.participants if one.key in fold.company}


def interleaved(claims: list[Claim], chance: random.Random) -> list[Claim]:
    """Claims of one moment as they may come: each source tells in an order of its own, and that order counts."""
    waiting: dict[Source, list[Claim]] = {}
    for claim in claims:
        waiting.setdefault(claim.source, []).append(claim)
    mixed: list[Claim] = []
    while waiting:
        source = chance.choice(sorted(waiting))
        mixed.append(waiting[source].pop(0))
        if not waiting[source]:
            del waiting[source]
    return mixed


@settings(max_examples=150, deadline=None)
@given(in_order, st.randoms(use_true_random=False))
def test_the_order_of_several_sources_in_one_moment_changes_nothing(claims: list[Claim], chance: random.Random) -> None:
    shuffled: list[Claim] = []
    for _, group in groupby(claims, key=lambda claim: claim.at_ms):
        shuffled += interleaved(list(group), chance)
    assert state(fold_of(claims)) == state(fold_of(shuffled))


@settings(max_examples=100, deadline=None)
@given(in_order)
def test_a_claim_that_comes_twice_says_no_more(claims: list[Claim]) -> None:
    assert state(fold_of(claims)) == state(fold_of([claim for claim in claims for _ in range(2)]))


@settings(max_examples=100, deadline=None)
@given(histories)
def test_a_journal_replayed_gives_the_same_state_and_the_same_reasons(claims: list[Claim]) -> None:
    journal, fold = ClaimJournal(), Fold()
    for number, claim in enumerate(claims):
        journal.add(claim)
        fold.take(claim)
        if number % 3 == 0:
            journal.note("now_ms", claim.at_ms + 7_000)
            fold.pass_time(claim.at_ms + 7_000)
    fold.hush(T + HOUR)
    journal.note("over_ms", T + HOUR)
    again = replay(read(journal.packed()))
    assert report(again) == report(fold)
    assert again.take_changed() == fold.take_changed()


# --- a site that keeps silent about who left -----------------------------------------------------------------------

SECONDS, STEP_S = 700, 5
LAST_OUT_S = 250  # whoever leaves has left by then
LEFT_BY_S = LAST_OUT_S + (DOUBT_MS + CONTRADICTED_MS) // 1000 + 130  # a list's lag and a pause between looks besides
others = st.sampled_from(["Ada", "Bob", "Cy"])


def draw_s(least: int, most: int) -> st.SearchStrategy[int]:
    return st.integers(least // STEP_S, most // STEP_S).map(lambda steps: steps * STEP_S)


@st.composite
def sites(draw: st.DrawFn) -> dict[str, Any]:
    """How a site tells of its people, and when they come and go, in seconds."""
    stays = draw(st.booleans())
    return {
        "people": {
            name: (draw(draw_s(0, 200)), SECONDS if stays and not n else draw(draw_s(5, LAST_OUT_S)))
            for n, name in enumerate(draw(st.lists(others, min_size=1, unique=True)))
        },
        "full_lists_s": draw(st.sampled_from([0, 5, 10, 45])),  # the channel's, of all who are here; 0: none
        "first_s": draw(draw_s(0, 60)),  # the channel is open
        "tells_who_left": draw(st.booleans()),
        "lost": draw(st.sampled_from([0.0, 0.5, 1.0])),  # of the channel's messages on changes
        "tiles": draw(st.sets(others)),
        "lag_s": draw(st.sampled_from([0, 5, 60])),  # of the page's list and tiles
        "chance": draw(st.randoms(use_true_random=False)),
        "rests": draw(st.booleans()),  # the page's list stays open once it was opened
        "has_list": draw(st.booleans()),  # which it need not, where the channel tells all
    }


def lived_through(site: dict[str, Any]) -> Fold:
    """A bot's stay there. What it does about its doubts is done here as the product does it: it looks at the list."""
    fold, subjects = Fold(), dict(zip(NAMES, PEOPLE, strict=True))

    def among(second: int) -> list[str]:
        return ["Bot", *(name for name, (came, left) in site["people"].items() if came <= second < left)]

    def say(source: Source, names: list[str], second: int, kind: Extent, *, holds: bool = True) -> None:
        told = tuple(replace(subjects[name], is_self=name == "Bot") for name in names)
        fold.take(Claim(fact=Fact.HERE, source=source, kind=kind, at_ms=T + 1000 * second, subjects=told, holds=holds))

    def is_lost() -> bool:
        return bool(site["chance"].random() < site["lost"])

    say(Source.PROTOCOL, among(0), 0, Extent.SNAPSHOT)
    next_look, is_open, has_list = 0, False, site["has_list"] or not site["full_lists_s"]
    for second in range(0, SECONDS, STEP_S):
        fold.pass_time(T + 1000 * second)
        now, before = among(second), among(second - STEP_S)
        if second >= site["first_s"]:
            if came := [name for name in now if name not in before and not is_lost()]:
                say(Source.PROTOCOL, came, second, Extent.SEVERAL)
            left = [name for name in before if name not in now and site["tells_who_left"] and not is_lost()]
            if left:
                say(Source.PROTOCOL, left, second, Extent.DELTA, holds=False)
            if site["full_lists_s"] and (second - site["first_s"]) % site["full_lists_s"] == 0:
                say(Source.PROTOCOL, now, second, Extent.SEVERAL)
        page = among(second - site["lag_s"])
        say(Source.TILES, [name for name in page if name == "Bot" or name in site["tiles"]], second, Extent.SNAPSHOT)
        is_open = is_open and site["rests"]
        if second >= next_look and fold.doubts_company and has_list:
            next_look, is_open = second + 95, True
            say(Source.LIST, page, second, Extent.SNAPSHOT)
        elif is_open:
            say(Source.LIST, page, second, Extent.SNAPSHOT)
        elif second:
            fold.take(Claim(fact=Fact.HERE, source=Source.LIST, kind=Extent.CLOSED, at_ms=T + 1000 * second))
    fold.pass_time(T + 1000 * SECONDS)
    return fold


@settings(max_examples=60, deadline=None)
@given(sites())
def test_whatever_a_site_tells_of_who_left_nobody_is_here_when_everybody_is_gone(site: dict[str, Any]) -> None:
    assert LEFT_BY_S < SECONDS
    fold, stayed = lived_through(site), any(left == SECONDS for _, left in site["people"].values())
    assert not fold.has_company or stayed
    if stayed and fold.company_seen:
        assert fold.has_company
