"""The evidence table is read in order, by phase, with vetoes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.model.bot import Service
from sederunt.model.status import REASONS, BotStatus, StopReason
from sederunt.platforms.evidence import EvidenceRow, Kind, PageSnapshot, Phase, decide, normalised
from sederunt.platforms.page_state import PageState
from sederunt.platforms.registry import platform_of, services
from sederunt.platforms.site import Site


def row(name: str, state: PageState | None, **more: object) -> EvidenceRow:
    facts: dict[str, object] = {"kind": Kind.TEXT, "patterns": ("x",), **more}
    return EvidenceRow(id=name, state=state, **facts)  # type: ignore[arg-type]


def test_nothing_seen_is_loading() -> None:
    assert decide([row("a", PageState.LOBBY)], PageSnapshot(), joined=False).state is PageState.LOADING


def test_the_first_row_that_matches_decides_and_is_named() -> None:
    rows = [row("a", PageState.REFUSED, reason=StopReason.REQUEST_DENIED), row("b", PageState.LOBBY)]
    reading = decide(rows, PageSnapshot(url="u", matches={"b": ["x"], "a": ["x"]}), joined=False)
    assert (reading.state, reading.reason, reading.row, reading.url, reading.seen) == (
        PageState.REFUSED,
        StopReason.REQUEST_DENIED,
        "a",
        "u",
        "x",
    )


def test_a_row_of_the_other_phase_does_not_count() -> None:
    rows = [row("a", PageState.OVER, phase=Phase.AFTER), row("b", PageState.REFUSED, phase=Phase.BEFORE)]
    look = PageSnapshot(matches={"a": ["x"], "b": ["x"]})
    assert decide(rows, look, joined=False).row == "b"
    assert decide(rows, look, joined=True).row == "a"


def test_a_vetoed_row_does_not_count_and_a_witness_decides_nothing() -> None:
    rows = [row("w", None), row("a", PageState.OVER, unless=("w",)), row("b", PageState.IN_CALL)]
    assert decide(rows, PageSnapshot(matches={"a": ["x"], "b": ["x"], "w": ["x"]}), joined=True).row == "b"
    assert decide(rows, PageSnapshot(matches={"a": ["x"], "b": ["x"]}), joined=True).row == "a"


def test_a_row_may_want_more_than_one_sign() -> None:
    rows = [row("a", PageState.IN_CALL, at_least=2, patterns=("x", "y", "z"))]
    assert decide(rows, PageSnapshot(matches={"a": ["x"]}), joined=True).state is PageState.LOADING
    assert decide(rows, PageSnapshot(matches={"a": ["x", "z"]}), joined=True).state is PageState.IN_CALL


@pytest.mark.parametrize(
    ("kind", "patterns", "look", "noted"),
    [
        (Kind.ADDRESS, (r"^https://a\.example/",), PageSnapshot(url="https://A.example/x"), ()),
        (Kind.STATUS, ("5..",), PageSnapshot(status=503), ()),
        (Kind.TITLE, ("You can't",), PageSnapshot(title="Sorry: you\u00a0can’t"), ()),
        (Kind.SIGNAL, ("end:5000",), PageSnapshot(), ("end:5000",)),
        (Kind.SIGNAL, ("end:*",), PageSnapshot(), ("other", "end:7")),
    ],
)
def test_address_status_title_and_signals_are_judged_without_the_page(
    kind: Kind, patterns: tuple[str, ...], look: PageSnapshot, noted: tuple[str, ...]
) -> None:
    rows = [row("a", PageState.TROUBLE, kind=kind, patterns=patterns)]
    assert decide(rows, look, joined=False, noted=noted).state is PageState.TROUBLE
    assert decide(rows, PageSnapshot(), joined=False).state is PageState.LOADING


@given(st.text())
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


def test_normalising_folds_quotes_spaces_dots_and_case() -> None:
    assert normalised("  You’re\u00a0IN\u200b the  lobby… ") == "you're in the lobby..."


@pytest.mark.parametrize("service", services())
def test_the_tables_hold_together(service: Service) -> None:
    site = platform_of(service)
    assert isinstance(site, Site)
    ids = [entry.id for entry in site.rows]
    assert len(set(ids)) == len(ids)
    for entry in site.rows:
        assert entry.id.startswith(f"{service}.")
        assert entry.source, entry.id
        assert entry.patterns, entry.id
        assert set(entry.unless) <= set(ids), entry.id
        if entry.state is PageState.REFUSED:
            assert entry.reason in REASONS[BotStatus.NOT_ADMITTED], entry.id
            assert entry.phase is Phase.BEFORE, entry.id
        if entry.state in (PageState.REMOVED, PageState.OVER):
            assert entry.reason in REASONS[BotStatus.FINISHED], entry.id
            assert entry.phase is Phase.AFTER, entry.id
    steps = [step.id for step in site.journey.steps]
    assert len(set(steps)) == len(steps)
    assert set(site.journey.load_again) <= set(ids)
    for again in site.journey.ask_again:
        unanswered = next(entry for entry in site.rows if entry.id == again)
        assert unanswered.reason is StopReason.WAITING_ROOM_TIMEOUT, "who was denied does not ask again"


def test_meet_asks_again_when_it_has_ended_a_knock_itself() -> None:
    meet = platform_of(Service("gmeet"))
    assert isinstance(meet, Site)
    assert {"gmeet.no_answer", "gmeet.means.unanswered"} <= set(meet.journey.ask_again)


def test_meets_word_of_a_removal_decides_only_where_its_page_shows_no_call() -> None:
    meet = platform_of(Service("gmeet"))
    call = PageSnapshot(matches=dict.fromkeys(("gmeet.controls", "gmeet.in_call_still"), ("a", "b")))
    assert meet.judge(call, joined=True, noted=("self_status:7",)).state is PageState.IN_CALL
    assert meet.judge(PageSnapshot(), joined=True, noted=("self_status:7",)).reason is StopReason.KICKED


def test_a_zoom_page_that_asks_to_be_joined_again_is_known_unless_it_is_in_the_call() -> None:
    site = platform_of(Service("zoom"))
    assert isinstance(site, Site)
    asks = {"zoom.prejoin": ["#input-for-name"], "zoom.prejoin_again": ["#input-for-name"]}
    assert decide(site.rows, PageSnapshot(matches=asks), joined=True).state is PageState.PREJOIN
    inside = asks | {"zoom.in_call": ["Leave"]}
    assert decide(site.rows, PageSnapshot(matches=inside), joined=True).state is PageState.IN_CALL


@pytest.mark.parametrize("code", [5000, 5300])
def test_teams_word_of_who_put_a_bot_out_of_the_lobby_outranks_its_end_screen(code: int) -> None:
    teams = platform_of(Service("teams"))
    shown = {"teams.left_lobby": ("you left the meeting",), "teams.end_screen_early": ("rejoin",)}
    told = (f"conversation_end:{code}:removed",)
    for page in ({}, shown):
        assert teams.judge(PageSnapshot(matches=page), joined=False, noted=told).reason is StopReason.REQUEST_DENIED
    assert teams.judge(PageSnapshot(matches=shown), joined=False).reason is StopReason.WAITING_ROOM_TIMEOUT
    call = dict.fromkeys(("teams.controls", "teams.in_call"), ("a", "b", "c"))
    assert teams.judge(PageSnapshot(matches=call), joined=False, noted=told).state is PageState.IN_CALL
    assert teams.judge(PageSnapshot(matches=shown), joined=True, noted=told).reason is StopReason.KICKED


def test_teams_devices_count_beside_controls_that_only_a_call_has() -> None:
    teams = platform_of(Service("teams"))
    narrow = next(row for row in teams.rows if row.id == "teams.in_call_narrow")  # type: ignore[attr-defined]
    devices = ("#microphone-button", "#video-button")
    lobby = {narrow.id: (*devices, next(pattern for pattern in narrow.patterns if "#hangup-button" in pattern))}
    assert teams.judge(PageSnapshot(matches=lobby), joined=False).state is PageState.LOADING
    call = {narrow.id: (*lobby[narrow.id], "#callingButtons-showMoreBtn")}
    assert teams.judge(PageSnapshot(matches=call), joined=False).state is PageState.IN_CALL


@pytest.mark.parametrize(
    ("notice", "answer", "call"),
    [
        ("gmeet.notice", "gmeet.notice_button", ("gmeet.controls", "gmeet.in_call", "gmeet.in_call_still")),
        ("gmeet.sharing_gate", "gmeet.sharing_answers", ("gmeet.controls", "gmeet.in_call", "gmeet.in_call_still")),
        ("zoom.consent", "zoom.consent_button", ("zoom.leave_button", "zoom.in_call")),
        ("zoom.consent", "zoom.notice_accepts", ("zoom.leave_button", "zoom.in_call")),
    ],
)
@pytest.mark.parametrize("joined", [False, True])
def test_a_line_with_nothing_to_press_keeps_nobody_out_of_a_call(
    notice: str, answer: str, call: tuple[str, ...], joined: bool
) -> None:
    platform = platform_of(Service(notice.split(".", maxsplit=1)[0]))
    stands = dict.fromkeys((notice, *call), ("a", "b"))
    assert platform.judge(PageSnapshot(matches=stands), joined=joined).state is PageState.IN_CALL
    asks = stands | {answer: ("ok",)}
    assert platform.judge(PageSnapshot(matches=asks), joined=joined).state is PageState.DIALOG


def test_a_zoom_call_goes_on_while_its_host_is_away() -> None:
    zoom = platform_of(Service("zoom"))
    away = {"zoom.host_away": ("the host lost connection",)}
    call = away | dict.fromkeys(("zoom.leave_button", "zoom.in_call"), ("Leave",))
    assert zoom.judge(PageSnapshot(matches=away), joined=False).state is PageState.LOBBY
    assert zoom.judge(PageSnapshot(matches=call), joined=False).state is PageState.IN_CALL
    waits = call | {"zoom.waiting_for_host": ("waiting for the host to start",)}
    assert zoom.judge(PageSnapshot(matches=waits), joined=False).state is PageState.LOBBY


@pytest.mark.parametrize("service", services())
def test_a_notice_over_the_call_is_one_to_be_answered_only_where_it_has_an_answer(service: Service) -> None:
    platform = platform_of(service)
    asks = {f"{service}.notice_asks": ("consent",), f"{service}.controls_named": ("x", "y", "z")}
    assert platform.judge(PageSnapshot(matches=asks), joined=True).state is not PageState.DIALOG
    for answer in ({**asks, f"{service}.notice_accepts": ("ok",)}, {f"{service}.notice_to_answer": ("later",)}):
        assert platform.judge(PageSnapshot(matches=answer), joined=True).state is PageState.DIALOG
        assert platform.judge(PageSnapshot(matches=answer), joined=False).state is not PageState.DIALOG
