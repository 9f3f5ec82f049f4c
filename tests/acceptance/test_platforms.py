"""Platform by platform: every way in, every kind of sound and every ending, each a real Chromium at a practice site.

The table is the test. All selected cells are played at once, a few at a time, against one service; then each is judged
by itself. `PLATFORM_EVERY=1` plays each door at each site, `PLATFORM_TABLE=docs/platforms.md` writes what was found
into that page, `PLATFORM_MODE=headful` (or `headless`) plays every cell in the kind of browser that the real services
get.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from harness.matrix import LISTED, Cell, Result, Stage, play_all, show, table
from harness.receiver import Receiver
from harness.service import Practice, Service
from harness.signed_in import keep_account
from sederunt.practice.quirks import Quirks, disagreeing
from sederunt.practice.script import Service as Site
from sederunt.practice.script import demo

MODE = os.environ.get("PLATFORM_MODE", "")
EVERY = bool(os.environ.get("PLATFORM_EVERY"))
MOST_WORD_ERRORS = 0.2  # of one person's words, tiny.en

ADMIT = ("knocked", "admit")
BOTH: dict[str, Any] = {"turns": 2, "words": True}
LARGE = "Ada Lovelace"  # of the demonstration's people the one who is silent for the first two turns


# Meet's usual words for this are those of a hard block, which the bot must not tell apart.
OWN_TROUBLE = {"There is a problem connecting to this video call": "Sorry, we encountered a problem joining."}


def doors(service: Site) -> list[Cell]:
    """What any of the sites may do, and how each must be told."""

    def cell(name: str, entry: str = "open", **more: Any) -> Cell:
        variant = {"entry": entry, "after_s": 1.0, **more.pop("variant", {})}
        return Cell(service=service, name=name, variant=variant, **more)

    refused: dict[str, Any] = {"status": "not_admitted"}
    return [
        cell("unknown meeting", "invalid", **refused, reason="invalid_meeting_url"),
        cell("over already", "ended", **refused, reason="call_already_finished"),
        cell("denied", "deny_after", **refused, reason="request_denied"),
        cell(
            "nobody answers",
            "server_timeout",
            **refused,
            reason=TIMED_OUT[service],
            fields={"stop_options": {"waiting_room_timeout": 1}},
            long=service != "zoom",  # it asks again
        ),
        cell(
            "caller's limit in the lobby",
            "knock",
            **refused,
            reason="waiting_room_timeout",
            fields={"stop_options": {"waiting_room_timeout": 1}},
            long=True,
        ),
        cell("stopped in the lobby", "knock", deeds=[("knocked", "stop")], **refused, reason="manually_stopped"),
        cell("sign-in asked for", "sign_in", status="auth_required", reason=None),
        cell("challenged", "captcha", status="bot_detected", reason=None, tries=4, long=True),
        cell(
            "page dies on every try",
            "knock",
            deeds=[("arrived", "crash")] * 3,
            status="failed",
            reason=None,
        ),
        cell("stopped inside", deeds=[("status:recording", "stop")], reason="manually_stopped", ends=False),
        cell("admitted, ended for all", "knock", deeds=[ADMIT]),
        cell("kicked", deeds=[("status:recording", "kick")], reason="kicked", ends=False),
        cell(
            "blank for good",
            variant={"stalls": 1_000},
            status="failed",
            reason=None,
            fields={"stop_options": {"waiting_room_timeout": 1}},
            long=True,
        ),
        cell(
            "left alone",  # at Meet the channel's full lists omit who left, and nothing else tells
            variant={"quirks": Quirks(full_lists_s=2.0)} if service == "gmeet" else {},
            deeds=[("status:recording", ""), (LISTED, "everyone leaves")],
            reason="last_person_detected",
            turns=0,
            ends=False,
            fields={"stop_options": {"last_person_detection": 1}},
            long=True,
        ),
        cell(
            "left alone and nobody told",  # what the channel sends is lost: the page's list must be looked at, twice
            variant={"quirks": Quirks(lost=1.0)},
            deeds=[("started", ""), (LISTED, "everyone leaves")],
            reason="last_person_detected",
            turns=0,
            ends=False,
            fields={"stop_options": {"last_person_detection": 1}},
            long=True,
        ),
        cell(
            "left alone, only the page tells",
            variant={"signals": "page"},
            deeds=[("fell_silent", ""), (LISTED, "everyone leaves")],
            reason="last_person_detected",
            ends=False,
            fields={"stop_options": {"last_person_detection": 1}},
            long=True,
        ),
        cell(
            "signed in, left alone",  # by the account's name, of which nobody told the bot
            "sign_in",
            account="acme",
            deeds=[("status:recording", ""), (LISTED, "everyone leaves")],
            reason="last_person_detected",
            turns=0,
            ends=False,
            fields={"stop_options": {"last_person_detection": 1}},
            long=True,
        ),
        cell("host comes late", "host_late"),
        cell("network lost and back", deeds=[("media_connected", "lost"), ("", "back")]),
        cell("over while it knocks", "knock", deeds=[("knocked", "end")], **refused, reason="call_already_finished"),
        cell("the site's own trouble", "problem", variant={"words": OWN_TROUBLE}, status="failed", reason=None),
        cell("session void", "sign_in", account="stale", status="invalid_credentials", reason=None),
        cell(
            "silence",
            turns=0,
            ends=False,
            reason="silence_detection_triggered",
            fields={"stop_options": {"silence_detection": 1}},
            long=True,
        ),
        cell(
            "time limit",
            turns=0,
            ends=False,
            reason=None,
            fields={"stop_options": {"time_limit": 5}},
            long=True,
        ),
        cell("headful browser", "knock", deeds=[ADMIT], backend="encoded", mode="headful"),
    ]


# What the bot does by itself, whatever the site shows, and what costs minutes or several pages: at one site.
ONCE: Mapping[str, Site] = {
    "caller's limit in the lobby": "zoom",
    "challenged": "teams",  # the other two have "blocked" and "robots refused"
    "page dies on every try": "zoom",
    "blank for good": "gmeet",
    "left alone": "gmeet",  # "only the page tells" of it at all three
    "left alone and nobody told": "gmeet",  # whose list is closed while nobody looks at it
    "signed in, left alone": "teams",  # the only one whose signals do not mark one's own entry
    "network lost and back": "teams",
    "session void": "gmeet",
    "silence": "gmeet",
    "time limit": "teams",
    "headful browser": "gmeet",
}

# Teams goes back to its first page when nobody answers: the bot asks again until the caller's own limit.
TIMED_OUT: Mapping[Site, str] = {
    "gmeet": "waiting_room_timeout",
    "teams": "waiting_room_timeout",
    "zoom": "request_denied",  # the site's words are those of a refusal; nothing tells the two apart
}

MEET = [
    # The real services get the headful kind, at any site; this one is for who sets it.
    Cell(service="gmeet", name="headless browser", variant={"entry": "knock"}, deeds=[ADMIT], backend="encoded",
         mode="headless"),
    Cell(service="gmeet", name="own tracks", backend="encoded", **BOTH),
    Cell(service="gmeet", name="one mixed track", variant={"audio": "mixed"}, backend="encoded", **BOTH),
    Cell(service="gmeet", name="sound over a channel", variant={"audio": "webaudio"}, backend="worklet", **BOTH),
    Cell(service="gmeet", name="sources not named", variant={"csrcs": False, "speaking": "server"},
         backend="encoded", **BOTH),
    Cell(service="gmeet", name="only the page tells",
         variant={"signals": "page"}, backend="encoded", **BOTH),
    Cell(service="gmeet", name="page's own transform", variant={"transform": "page"}, backend="worklet", **BOTH),
    Cell(service="gmeet", name="page plays the frames it takes", variant={"transform": "streams"}, backend="encoded",
         **BOTH),
    Cell(service="gmeet", name="page's transform keeps the frames", variant={"transform": "plays"}, backend="worklet",
         **BOTH),
    Cell(service="gmeet", name="server offers", variant={"offers": "server"}, backend="encoded"),
    Cell(service="gmeet", name="trusted types", variant={"csp": "trusted_types"}, backend="encoded"),
    Cell(service="gmeet", name="asks for devices", variant={"media_prompt": "both"}),
    Cell(service="gmeet", name="asks for the microphone", variant={"media_prompt": "microphone", "curly": True}),
    Cell(service="gmeet", name="curly apostrophes", variant={"entry": "deny_after", "curly": True, "after_s": 1.0},
         status="not_admitted", reason="request_denied"),
    Cell(service="gmeet", name="recording notice", variant={"two_step": True, "consent": True}),
    Cell(service="gmeet", name="sign-in offered, clicks watched",
         variant={"cookie_banner": True, "trusted_clicks": True}),
    Cell(service="gmeet", name="blank at first", variant={"stalls": 1}, long=True),
    Cell(service="gmeet", name="blocked", variant={"entry": "blocked"}, status="bot_detected", reason=None, tries=4,
         long=True),
    Cell(service="gmeet", name="removed for good", variant={"signals": "page", "quirks": Quirks(barring=True)},
         deeds=[("status:recording", "kick")], reason="kicked", ends=False),
    Cell(service="gmeet", name="nobody answers the first time", variant={"quirks": Quirks(unanswered=1)}, long=True),
    Cell(service="gmeet", name="full", variant={"entry": "full"}, status="not_admitted", reason="request_denied"),
    Cell(service="gmeet", name="locked", variant={"entry": "locked"}, status="not_admitted", reason="request_denied"),
    Cell(service="gmeet", name="refused without a word why", variant={"entry": "unexplained"}, status="not_admitted",
         reason="request_denied"),
    Cell(service="gmeet", name="other heading, DTX, loss",
         variant={"heading": "Ready to join?", "dtx": True, "loss": 0.02}),
]  # fmt: skip

TEAMS = [
    Cell(service="teams", name="mixed, sources named", backend="encoded", **BOTH),
    Cell(service="teams", name="mixed, sources not named", variant={"csrcs": False, "speaking": "server"},
         backend="encoded", **BOTH),
    Cell(service="teams", name="only the page tells",
         variant={"signals": "page"}, backend="encoded", **BOTH),
    Cell(service="teams", name="server offers", variant={"offers": "server"}, backend="encoded"),
    Cell(service="teams", name="client in a frame", variant={"frame": True}, backend="encoded", **BOTH),
    Cell(service="teams", name="another call beside this one, a late bot, tiles keyed by address",
         variant={"quirks": Quirks(other_call=True, deltas=True, addresses=True)}, backend="encoded", **BOTH),
    Cell(service="teams", name="devices asked twice", variant={"devices_modal": "both"}),
    Cell(service="teams", name="no launcher, consent", variant={"launcher": False, "consent": True}),
    Cell(service="teams", name="blank at first", variant={"stalls": 1}, long=True),
    Cell(service="teams", name="locked", variant={"entry": "locked"}, status="not_admitted", reason="request_denied"),
]  # fmt: skip

ZOOM = [
    Cell(service="zoom", name="mixed, speakers told", backend="encoded", **BOTH),
    Cell(service="zoom", name="only the page tells", variant={"signals": "page"}, backend="encoded", **BOTH),
    # Somebody else stands on the stage, before anybody spoke and after.
    Cell(service="zoom", name="speaker view, another one large", variant={"quirks": Quirks(large=LARGE, pinned=LARGE)},
         backend="encoded", **BOTH),
    Cell(service="zoom", name="only the stage tells", variant={"signals": "page", "marks": False}, backend="encoded",
         **BOTH),
    # Neither marks nor a stage: what the streams are called is all there is to go by.
    Cell(service="zoom", name="own tracks", variant={"audio": "own_tracks", "marks": False, "layout": "gallery"},
         backend="encoded", **BOTH),
    Cell(service="zoom", name="sound without receiver", variant={"audio": "webaudio"}, backend="worklet", **BOTH),
    Cell(service="zoom", name="passcode", variant={"passcode": "practice.1"}),
    Cell(service="zoom", name="cookies and consent",
         variant={"cookie_banner": True, "consent": True, "quirks": Quirks(closable=True)}),
    Cell(service="zoom", name="no launch page, sound at once", variant={"launcher": False, "join_audio": False}),
    Cell(service="zoom", name="client in a frame", variant={"frame": True}, backend="encoded"),
    Cell(service="zoom", name="host in another meeting", variant={"entry": "host_elsewhere"},
         status="not_admitted", reason="host_in_another_meeting"),
    Cell(service="zoom", name="locked", variant={"entry": "locked"}, status="not_admitted", reason="request_denied"),
    Cell(service="zoom", name="robots refused", variant={"entry": "blocked"}, status="bot_detected", reason=None,
         tries=4, long=True),
    Cell(service="zoom", name="blank at first", variant={"stalls": 1}, long=True),
    Cell(service="zoom", name="full", variant={"entry": "full"}, status="not_admitted", reason="request_denied"),
    Cell(service="zoom", name="wrong passcode", variant={"passcode": "other"},
         status="not_admitted", reason="invalid_meeting_url", long=True),
]  # fmt: skip


def drawn_ending(site: Site, seed: int) -> str:
    """How a drawn meeting ends for the bot."""
    return "kicked" if disagreeing(demo(service=site), seed).variant.quirks.barring else "meeting_ended"


# Sites that disagree with themselves, drawn by a seed each time; `DISAGREE_SEEDS=1,2,3` plays these.
DISAGREEING = [
    Cell(
        service=service,
        name=f"disagrees, seed {seed}{named}",
        disagrees=int(seed),
        variant=variant,
        reason=drawn_ending(service, int(seed)),
        **BOTH,
    )
    for seed in os.environ["DISAGREE_SEEDS"].split(",")
    for service, named, variant in (
        *((site, "", {}) for site in get_args(Site)),
        ("zoom", ", gallery", {"layout": "gallery"}),  # no stage: the tiles alone are shown
    )
]

OWN: Mapping[Site, list[Cell]] = {"gmeet": MEET, "teams": TEAMS, "zoom": ZOOM}
ROWS: list[Cell] = [
    *(cell for site in get_args(Site) for cell in (*doors(site), *OWN.get(site, ()))),
    *DISAGREEING,
]
PLATFORM_ROWS = [cell for cell in ROWS if EVERY or ONCE.get(cell.name, cell.service) == cell.service]


@pytest.fixture(scope="module")
def results(
    request: pytest.FixtureRequest,
    start_service: Callable[..., Service],
    practice: Practice,
    receiver: Receiver,
    tmp_path_factory: pytest.TempPathFactory,
) -> Mapping[str, Result]:
    """What came of every selected cell, all played before the first is judged; one kind of browser after another."""
    chosen = [item for item in request.session.items if isinstance(item, pytest.Function)]
    cells: list[Cell] = [
        cast(Cell, item.callspec.params["cell"])
        for item in chosen
        if item.function is test_each_cell_ends_as_its_evidence_says
    ]
    folder = tmp_path_factory.mktemp("accounts")
    played: dict[str, Result] = {}
    for mode, group in by_mode(cells).items():
        service = start_service(SEDERUNT_HOST__MAX_LOAD="9", **({"SEDERUNT_BROWSER__MODE": mode} if mode else {}))
        stage = Stage(
            service_url=service.url,
            key=service.key,
            control_url=practice.control_url,
            receiver=receiver,
            account=partial(keep_account, service, folder),
        )
        played |= asyncio.run(play_all(group, stage))
        service.stop()
    found = {cell.id: played[cell.id] for cell in cells}
    show(request.config, table(found))
    if page := os.environ.get("PLATFORM_TABLE"):
        write_table(Path(page), table(found))
    return found


def by_mode(cells: Sequence[Cell]) -> Mapping[str, list[Cell]]:
    """The cells by the kind of browser they are played in; empty for the one of practice sites."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(MODE or cell.mode, []).append(cell)
    return groups


def write_table(page: Path, rows: str) -> None:
    """Put the table between the page's two marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition("<!-- matrix -->\n")
    _, mark, after = rest.partition("<!-- end of matrix -->")
    page.write_text(f"{before}<!-- matrix -->\n{rows}\n{mark}{after}", encoding="utf-8")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("cell", PLATFORM_ROWS, ids=lambda cell: cell.id)
def test_each_cell_ends_as_its_evidence_says(cell: Cell, results: Mapping[str, Result]) -> None:
    result = results[cell.id]
    assert not result.fault, f"{result.fault}; went {result.bot.get('events')}"
    assert (result.status, result.reason) == (cell.status, cell.reason), result.bot["events"]
    assert result.tries == cell.tries
    # A bot that had to wait for a host, and found the meeting over, does not blame the meeting.
    late = cell.reason == "call_already_finished" and "waiting_for_capacity" in str(result.bot["events"])
    outside = ("never_admitted", "no_capacity") if late else ("never_admitted",)
    assert (result.bot["verdict"] in outside) == (cell.status not in ("finished", "failed"))
    if cell.reason == "kicked" and cell.disagrees is None:  # a drawn site may end the first knock itself
        assert len(result.states) == 1, "who was put out does not come back"
    assert bool(result.bot["recording_url"]) == (cell.status == "finished")
    if cell.status not in ("finished", "failed") and cell.reason != "manually_stopped":
        assert "screenshot" in result.bot["evidence"]
    if cell.is_to_hear:
        assert result.bot["capture"]["packets"]
    if cell.backend is not None:
        assert result.backend == cell.backend
    if cell.words:
        assert result.speakers == {who for who, _ in result.reference}
        assert result.word_errors() <= MOST_WORD_ERRORS
