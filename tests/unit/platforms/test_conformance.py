"""What every platform promises: the ones that ship, and those of an installed package."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import plugin
from sederunt.model.bot import Service
from sederunt.model.status import REASONS, BotStatus
from sederunt.platforms import registry
from sederunt.platforms.evidence import EvidenceRow, Kind, PageSnapshot, Phase, normalised
from sederunt.platforms.links import InvalidLink
from sederunt.platforms.notices import CONSENT_GIVEN, DISMISSALS_IN_CALL, STAYS
from sederunt.platforms.page_state import PageState
from sederunt.platforms.platform import Platform
from sederunt.platforms.sign_in_pages import AccountKind
from sederunt.platforms.site import Site
from sederunt.platforms.targets import Step, Target

R = TypeVar("R")
BUILT_IN = ("gmeet", "teams", "zoom")
PLUGGED = ("janus", "roundtable")
SEEN = re.compile(r"20\d\d-(?:0[1-9]|1[0-2])")
EXAMPLES = {
    "gmeet": "https://meet.google.com/abc-defg-hij",
    "teams": "https://teams.live.com/meet/123456789?p=x",
    "zoom": "https://zoom.us/j/123456789",
    "janus": "https://janus.example.org/mvideoroomtest.html?room=1234",
    "roundtable": "https://roundtable.example.org/room/monday",
}


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An installation that has the package besides; as it was afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(plugin.install(tmp_path_factory.mktemp("plugin")))
        registry.installed.cache_clear()
        yield
    registry.installed.cache_clear()


@pytest.fixture(params=[*EXAMPLES])
def platform(request: pytest.FixtureRequest, plugged: None) -> Platform:
    return registry.platform_of(Service(request.param))


def all_of(value: object, wanted: type[R]) -> Iterator[R]:
    """Every record of this type, wherever in the tables it stands."""
    if isinstance(value, wanted):
        yield value
        return
    inner: Iterable[object] = ()
    if isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, tuple | list | frozenset):
        inner = value
    elif is_dataclass(value):
        inner = [getattr(value, entry.name) for entry in fields(value)]
    for one in inner:
        yield from all_of(one, wanted)


def test_it_is_named_as_it_is_installed(platform: Platform) -> None:
    assert platform.title
    assert platform.name_limit >= 20
    assert platform.origins
    assert all(re.fullmatch(r"https://[a-z0-9.-]+", origin) for origin in platform.origins)


def test_every_row_and_target_says_where_it_was_seen_and_has_a_name_of_its_own(platform: Platform) -> None:
    rows, targets = list(all_of(platform, EvidenceRow)), list(all_of(platform, Target))
    tables: list[EvidenceRow | Target] = [*rows, *targets]
    for entry in tables:
        assert entry.id.startswith(f"{platform.service}."), entry.id
        assert entry.source, entry.id
        assert SEEN.fullmatch(entry.seen), entry.id
    by_id: dict[tuple[type, str], EvidenceRow | Target] = {}
    for entry in tables:
        assert by_id.setdefault((type(entry), entry.id), entry) == entry, entry.id


def test_every_row_looks_for_something_that_can_be_found(platform: Platform) -> None:
    for row in all_of(platform, EvidenceRow):
        assert row.patterns, row.id
        assert all(row.patterns), row.id
        assert row.at_least <= len(row.patterns), row.id
        if row.kind in (Kind.ADDRESS, Kind.STATUS):
            assert all(re.compile(pattern) for pattern in row.patterns), row.id
    for target in all_of(platform, Target):
        assert target.selectors or target.names or target.backstops, target.id


def test_endings_have_reasons_that_callers_know_in_their_phase(platform: Platform) -> None:
    for row in all_of(platform, EvidenceRow):
        if row.state is PageState.REFUSED:
            assert row.reason in REASONS[BotStatus.NOT_ADMITTED], row.id
            assert row.phase is Phase.BEFORE, row.id
        if row.state in (PageState.REMOVED, PageState.OVER):
            assert row.reason in REASONS[BotStatus.FINISHED], row.id
            assert row.phase is Phase.AFTER, row.id


def test_tables_refer_to_what_is_there(platform: Platform) -> None:
    assert isinstance(platform, Site)
    pages = platform.accounts.pages
    for rows in (platform.rows, pages.rows if pages else ()):
        ids = [row.id for row in rows]
        assert len(set(ids)) == len(ids)
        for row in rows:
            assert {*row.unless, *row.beside} <= set(ids), row.id
    for journey in (platform.journey, *([pages.journey] if pages else [])):
        steps = [step.id for step in journey.steps]
        assert len(set(steps)) == len(steps)
        for step in journey.steps:
            assert {*step.beside, *step.apart} <= set(steps), step.id
    assert set(platform.journey.load_again) <= {row.id for row in platform.rows}


AGREEING = tuple(normalised(label.rstrip("*")) for label in (*CONSENT_GIVEN, *STAYS, "Allow", "Join", "Computer audio"))
CLOSING = {normalised(label) for label in (*DISMISSALS_IN_CALL, "Close", "Cancel")} - {*AGREEING}


def labels_of(target: Target) -> set[str]:
    """What the control is called, or stands beside."""
    in_selectors = re.findall(r'aria-label[*^]?="([^"]+)"', " ".join(target.selectors))
    return {normalised(label.rstrip("*")) for label in (*target.names, *target.holding, *in_selectors)}


def dismisses(step: Step) -> bool:
    """Whether it takes any notice away, whatever that asks. What says no to a certain question is an answer."""
    return not step.target.holding and bool(labels_of(step.target) & CLOSING)


def joins_or_confirms(step: Step) -> bool:
    """Whether it joins the sound, goes on or agrees. The knock is not an answer: it follows them all."""
    return not (step.knocks or dismisses(step)) and any(label.startswith(AGREEING) for label in labels_of(step.target))


def test_what_joins_or_confirms_is_tried_before_what_dismisses(platform: Platform) -> None:
    """A question for sound that could be closed was closed again and again, and nothing was heard."""
    assert isinstance(platform, Site)
    for steps in (platform.journey.steps, platform.controls.notices):
        first = next((number for number, step in enumerate(steps) if dismisses(step)), len(steps))
        assert [step.id for step in steps[first:] if joins_or_confirms(step)] == []
        if platform.service in BUILT_IN:
            assert first < len(steps)
            assert any(joins_or_confirms(step) for step in steps)


def test_there_is_a_way_in_and_a_way_out(platform: Platform) -> None:
    assert isinstance(platform, Site)
    assert any(step.knocks for step in platform.journey.steps)
    assert platform.controls.leaving
    shown = {row.state for row in platform.rows}
    assert shown >= {PageState.PREJOIN, PageState.IN_CALL, PageState.REFUSED, PageState.OVER}  # not all have a lobby


def test_a_blank_page_means_nothing_yet_and_one_that_failed_is_trouble(platform: Platform) -> None:
    here = platform.parse_link(EXAMPLES[platform.service]).url
    for joined in (False, True):
        assert platform.judge(PageSnapshot(url=here), joined=joined).state is PageState.LOADING
        failed = platform.judge(PageSnapshot(url="chrome-error://chromewebdata/"), joined=joined)
        assert failed.state in (PageState.TROUBLE, PageState.CHALLENGED, PageState.OVER)
    assert platform.judge(PageSnapshot(url=here, status=503), joined=False).state is PageState.TROUBLE


@given(text=st.text() | st.sampled_from(list(EXAMPLES.values())))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_one_of_its_meetings_or_an_invalid_link(platform: Platform, text: str) -> None:
    try:
        link = platform.parse_link(text)
    except InvalidLink:
        return
    assert link.service == platform.service
    assert platform.parse_link(link.url).meeting_id == link.meeting_id
    assert any(link.url.startswith(origin) for origin in platform.origins)


def test_accounts_say_how_they_are_used(platform: Platform) -> None:
    use = platform.accounts
    assert use.kind is AccountKind.SESSION or not (use.sign_in_url or use.pages)
    if use.kind is AccountKind.SESSION:
        assert use.sign_in_url.startswith("https://")
    link = platform.parse_link(EXAMPLES[platform.service])
    entered = platform.with_token(link, "to/ken")
    assert (f"{use.entry_parameter}=to%2Fken" in entered.url) == (use.kind is AccountKind.TOKEN)
    assert "to%2Fken" not in repr(entered)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KINDS = ("datachannel", "fetch", "websocket", "worker", "capture", "roster", "speaking", "stage", "chat", "unknown")
FACTS = (
    "payload",
    "label",
    "url",
    "people",
    "keys",
    "key",
    "sender",
    "text",
    "id",
    "whole",
    "event",
    "stream",
    "track",
)


@given(
    told=st.lists(
        st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FACTS), JSON | st.binary(max_size=60))),
        max_size=6,
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_decoder_takes_whatever_a_page_tells(platform: Platform, told: list[tuple[str, dict[str, Any]]]) -> None:
    decoder = platform.decoder("Bot")
    for at_ms, (kind, data) in enumerate(told):
        signal: Any = SimpleNamespace(kind=kind, data=data, at_ms=at_ms)
        assert all(event.at_ms >= 0 for event in decoder.decode(signal))
    assert all(isinstance(word, str) for word in decoder.noted)
    assert decoder.roster_heard in (True, False)


def test_the_watch_plan_is_json(platform: Platform) -> None:
    assert json.loads(json.dumps(platform.watch_plan())) == platform.watch_plan()


def test_what_is_installed_besides_comes_after_ours(plugged: None) -> None:
    assert registry.services() == (*sorted(BUILT_IN), *sorted(PLUGGED))
    by_token = registry.services_taking(AccountKind.TOKEN)
    assert by_token == tuple(service for service in registry.services() if service in by_token)
    assert {"zoom", "roundtable"} <= {*by_token}
