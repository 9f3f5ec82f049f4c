"""Hold what all sites share: rows for endings and failed pages, texts of notices, steps of the way in."""

from dataclasses import dataclass

from sederunt.model.status import StopReason
from sederunt.platforms.call_controls import ChatPanel, Panel
from sederunt.platforms.evidence import READ, EvidenceRow, Phase, Showing
from sederunt.platforms.notices import (
    ASKS_CONSENT,
    CANCELS,
    CONSENT_GIVEN,
    CONSENT_REFUSED,
    DISMISSALS_IN_CALL,
    OFFERS,
    OFFERS_DECLINED,
    RECORDED,
    STATED,
    STAYS,
    outside_panels,
)
from sederunt.platforms.page_state import PageState
from sederunt.platforms.rows import Patterns, Rows, Targets, phrases
from sederunt.platforms.targets import Act, Step, Target

# States in which a bot has not asked to be let in yet.
BEFORE_KNOCK = frozenset({PageState.LOADING, PageState.DIALOG, PageState.PREJOIN})

COOKIE_ANSWERS = phrases("Reject all | Accept all")


def failed_pages(
    site: str, *, server_s: float, elsewhere: Patterns, elsewhere_s: float, source: str, state: PageState
) -> tuple[EvidenceRow, ...]:
    """Make the rows for pages that did not load, or loaded from a host that is not the site's."""
    return (
        Rows(site, state=PageState.TROUBLE).address(
            "address.broken", r"^chrome-error:", "own", settle_s=5.0, seen="2026-11"
        ),
        Rows(site, state=PageState.TROUBLE).status("status.server", "5..", "B2", settle_s=server_s),
        Rows(site, state=state, phase=Phase.BEFORE).address(
            "address.left_host", elsewhere, source, settle_s=elsewhere_s
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class EndTexts:
    """A site's texts for the end of a call. `removed` and `ended` are phrases with their sources."""

    removed: tuple[tuple[str, ...], str]
    ended: tuple[tuple[str, ...], str]
    left: tuple[str, ...] = ()
    loud: tuple[str, ...]  # headings and dialogs: a text there is believed beside the call's controls
    controls: tuple[str, ...]  # ids of rows that show the call's controls: while one matches, the call goes on
    whole: bool = True  # a loud text must begin its line: a meeting may be titled with any of these words
    plain_s: float = 0.4  # how long a text elsewhere must be shown
    left_s: float = 0.4


def lobby_endings(site: str, texts: EndTexts, *, removed: Patterns = (), over_source: str) -> tuple[EvidenceRow, ...]:
    """Make the rows for an attempt that ends before the bot is let in. `removed` adds phrases that count only here."""
    refusal_rows = Rows(site, phase=Phase.BEFORE, state=PageState.REFUSED)
    rows = (
        refusal_rows.text(
            "removed_from_lobby",
            texts.removed[0] + phrases(removed),
            texts.removed[1],
            reason=StopReason.REQUEST_DENIED,
        ),
        refusal_rows.text(
            "already_over",
            texts.ended[0],
            over_source,
            reason=StopReason.CALL_ALREADY_FINISHED,
            unless=texts.controls,
        ),
    )
    if not texts.left:
        return rows
    timeout_row = refusal_rows.text(
        "left_lobby",
        texts.left,
        "A",
        reason=StopReason.WAITING_ROOM_TIMEOUT,
        unless=texts.controls,
        settle_s=texts.left_s,
    )
    return (*rows, timeout_row)


def call_endings(site: str, texts: EndTexts) -> tuple[EvidenceRow, ...]:
    """Make the rows for a call that ends for the bot: in a loud text, or in any text without the call's controls."""
    removal_rows = Rows(site, phase=Phase.AFTER, state=PageState.REMOVED, reason=StopReason.KICKED)
    over_rows = Rows(site, phase=Phase.AFTER, state=PageState.OVER, reason=StopReason.MEETING_ENDED)
    return (
        removal_rows.text("removed", *texts.removed, within=texts.loud, whole=texts.whole),
        # A pop-up of the chat may contain the same words while the call goes on.
        removal_rows.text("removed_plain", *texts.removed, unless=texts.controls, settle_s=texts.plain_s),
        over_rows.text("ended", *texts.ended, within=texts.loud, whole=texts.whole),
        over_rows.text(
            "ended_plain",
            texts.ended[0] + texts.left,
            texts.ended[1],
            unless=texts.controls,
            settle_s=texts.plain_s,
        ),
    )


def call_notices(site: str, *, within: tuple[str, ...]) -> tuple[EvidenceRow, ...]:
    """Make the signs of a notice over the call that we answer: one that asks for consent, or that has a button to
    dismiss it. The controls of the call answer it."""
    rows = Rows(site, phase=Phase.AFTER, within=outside_panels(within), seen="2026-11")
    accept_row = rows.button("notice_accepts", CONSENT_GIVEN + phrases("Join now | Allow*"), "K", state=None)
    return (
        accept_row,
        rows.text("notice_asks", ASKS_CONSENT, "K", state=PageState.DIALOG, beside=(accept_row.id,)),
        rows.button("notice_to_answer", (*DISMISSALS_IN_CALL, *STAYS, "Close"), "K", state=PageState.DIALOG),
    )


def consent(
    target: Targets,
    source: str,
    *,
    within: tuple[str, ...],
    names: tuple[str, ...],
    name: str = "consent",
    holding: tuple[str, ...] = ASKS_CONSENT,
    selectors: tuple[str, ...] = (),
    seen: str = READ,
) -> Target:
    """Make the button that accepts what everybody has to accept: the site's own `names` come before the shared ones."""
    return target(
        name,
        source,
        within=within,
        holding=holding,
        selectors=selectors,
        names=(*names, *CONSENT_GIVEN),
        but_not=CONSENT_REFUSED,
        lacking=OFFERS,
        seen=seen,
    )


def decline_steps(target: Targets, within: tuple[str, ...]) -> tuple[Step, ...]:
    """Make the steps that answer no if the site asks whether to begin or end something for everybody, or to do
    something with a recording."""
    containers = outside_panels(within)
    decline_button = target("decline", "K", within=containers, holding=OFFERS, names=OFFERS_DECLINED, seen="2026-11")
    cancel_button = target(
        "cancel_offer", "own", within=containers, holding=RECORDED, lacking=STATED, names=CANCELS, seen="2026-11"
    )
    return (Step(target=decline_button), Step(target=cancel_button))


def named_controls(
    site: str, labels: Patterns, source: str, *, at_least: int, within: tuple[str, ...] = ()
) -> EvidenceRow:
    """Make the sign that the call's controls are present, recognised by their names, whatever their elements."""
    return Rows(site, showing=Showing.LAID_OUT).button(
        "controls_named", labels, source, at_least=at_least, within=within
    )


def name_step(target: Target) -> Step:
    """Make the step that gives the bot's name."""
    return Step(target=target, act=Act.FILL_NAME, states=BEFORE_KNOCK, most=10, again_s=1.0)


def knock_step(target: Target, *, most: int = 8, again_s: float = 4.0) -> Step:
    """Make the step that asks to be let in; it waits while no name is filled in, since the field may appear late."""
    return Step(
        target=target,
        states=BEFORE_KNOCK,
        unpointed=3,
        most=most,
        again_s=again_s,
        without_name_s=6.0,
        knocks=True,
    )


def panels(
    site: str,
    chat: ChatPanel,
    *,
    chat_signs: tuple[str, ...],
    chat_source: str,
    people: Target,
    roster_signs: tuple[str, ...],
    roster_source: str,
    roster_showing: Showing = Showing.LAID_OUT,
    chat_for_roster: bool = False,
) -> tuple[Panel, ...]:
    """Make the two panels that can be read only while open. The signs are selectors of elements of an open panel."""
    rows = Rows(site)
    chat_open = rows.selector(
        "chat_list", (*chat.composer.selectors, *chat_signs), chat_source, showing=Showing.LAID_OUT
    )
    roster_open = rows.selector("roster", roster_signs, roster_source, showing=roster_showing)
    return (
        Panel(control=chat.open, rows=(chat_open,), for_roster=chat_for_roster),
        Panel(control=people, rows=(roster_open,), for_roster=True),
    )
