"""Google Meet: how a try or a stay ends, by signal, address, element and text."""

from sederunt.model.status import StopReason
from sederunt.platforms.evidence import DIALOGS, EvidenceRow, Kind, Phase
from sederunt.platforms.page_state import PageState

_ELSEWHERE = r"^https?://(?!(?:[a-z0-9-]+\.)*meet\.google\.com(?:[:/?#]|$))"
# Where the site itself speaks loudest; a text here needs no second witness.
_LOUD = ("h1", "h2", '[role="heading"]', ".roSPhc", *DIALOGS)

_REMOVED = (
    "You've been removed from the meeting",
    "You've been removed from this meeting",
    "You have been removed from the meeting",
    "removed from the meeting",
    "You were removed from the meeting",
)
_ENDED = (
    "Your host ended the meeting for everyone",
    "ended the meeting for everyone",
    "The call ended",
    "Call ended",
    "Meeting ended",
    "The meeting has ended",
    "This meeting has ended",
    "Meeting has ended",
)
_LEFT = ("You left the meeting", "You've left the call", "You've left the meeting")

# Signals and addresses: the least that a person could fake.
ADDRESSES: tuple[EvidenceRow, ...] = (
    EvidenceRow(
        id="gmeet.signal.removed",
        kind=Kind.SIGNAL,
        patterns=("self_status:7",),
        state=PageState.REMOVED,
        reason=StopReason.KICKED,
        phase=Phase.AFTER,
        source="A B2",
    ),
    EvidenceRow(
        id="gmeet.address.sign_in",
        kind=Kind.ADDRESS,
        patterns=(r"^https?://accounts\.google\.com(?:[:/?#]|$)",),
        state=PageState.SIGN_IN_NEEDED,
        phase=Phase.BEFORE,
        settle_s=2.0,  # a silent session check passes through here and comes back
        source="A O",
    ),
    EvidenceRow(
        id="gmeet.address.broken",
        kind=Kind.ADDRESS,
        patterns=(r"^chrome-error:",),
        state=PageState.TROUBLE,
        settle_s=5.0,
        source="own",
        seen="2026-11",
    ),
    EvidenceRow(
        id="gmeet.status.server",
        kind=Kind.STATUS,
        patterns=("5..",),
        state=PageState.TROUBLE,
        phase=Phase.BEFORE,
        settle_s=5.0,
        source="B2",
    ),
    EvidenceRow(
        id="gmeet.address.left_host",
        kind=Kind.ADDRESS,
        patterns=(_ELSEWHERE,),
        state=PageState.CHALLENGED,
        phase=Phase.BEFORE,
        settle_s=1.5,
        source="A S B2",
    ),
    EvidenceRow(
        id="gmeet.address.gone_after",
        kind=Kind.ADDRESS,
        patterns=(_ELSEWHERE, r"//meet\.google\.com/landing"),
        state=PageState.OVER,
        reason=StopReason.MEETING_ENDED,
        phase=Phase.AFTER,
        settle_s=2.0,
        source="A V",
    ),
    EvidenceRow(
        id="gmeet.captcha",
        kind=Kind.SELECTOR,
        patterns=('iframe[src*="recaptcha"],iframe[title*="recaptcha" i]',),
        least_px=(120, 40),  # the invisible scoring frame is always there
        state=PageState.CHALLENGED,
        phase=Phase.BEFORE,
        settle_s=1.0,
        source="V",
    ),
)

REFUSALS: tuple[EvidenceRow, ...] = (
    EvidenceRow(
        id="gmeet.credentials_stale",
        kind=Kind.TEXT,
        patterns=("Your sign-in credentials might have changed",),
        state=PageState.SIGN_IN_REJECTED,
        phase=Phase.BEFORE,
        source="B2",
    ),
    EvidenceRow(
        id="gmeet.denied",
        kind=Kind.TEXT,
        patterns=(
            "Someone in the call denied your request to join",
            "denied your request",
            "request to join has been denied",
            "request to join has been declined",
            "Your request to join was denied",
            "Your request to join was declined",
            "You weren't allowed to join",
            "not allowed to join",
            "request was denied",
            "Request denied",
        ),
        state=PageState.REFUSED,
        reason=StopReason.REQUEST_DENIED,
        phase=Phase.BEFORE,
        source="A V B2",
    ),
    EvidenceRow(
        id="gmeet.denied_button",
        kind=Kind.BUTTON,
        patterns=("Ask to join again",),
        state=PageState.REFUSED,
        reason=StopReason.REQUEST_DENIED,
        phase=Phase.BEFORE,
        unless=("gmeet.no_answer",),
        source="V",
    ),
    EvidenceRow(
        id="gmeet.no_answer",
        kind=Kind.TEXT,
        patterns=("No one responded to your request to join", "No one responded to your request"),
        state=PageState.REFUSED,
        reason=StopReason.WAITING_ROOM_TIMEOUT,
        phase=Phase.BEFORE,
        source="A B2",
    ),
    EvidenceRow(
        id="gmeet.invalid",
        kind=Kind.TEXT,
        patterns=(
            "Check your meeting code",
            "Invalid video call name",
            "The meeting code you entered doesn't work",
            "Your meeting code has expired",
            "Meeting not found",
            "Invalid meeting",
            "Meeting link expired",
        ),
        state=PageState.REFUSED,
        reason=StopReason.INVALID_MEETING_URL,
        phase=Phase.BEFORE,
        source="A V",
    ),
    EvidenceRow(
        id="gmeet.full",
        kind=Kind.TEXT,
        patterns=("meeting is full", "call is full", "meeting is locked", "locked by the host"),
        state=PageState.REFUSED,
        reason=StopReason.REQUEST_DENIED,
        phase=Phase.BEFORE,
        source="own",  # no source shows the copy of these two refusals
        seen="2026-11",
    ),
    EvidenceRow(
        id="gmeet.blocked",
        kind=Kind.TEXT,
        patterns=(
            "You can't join this video call",
            "You can't join this meeting",
            "You can't join this call",
            "There is a problem connecting to this video call",
            "There's a problem connecting to this video call",
        ),
        state=PageState.CHALLENGED,
        phase=Phase.BEFORE,
        source="A V B2 S I",
    ),
    EvidenceRow(
        id="gmeet.trouble",
        kind=Kind.TEXT,
        patterns=("we encountered a problem joining",),
        state=PageState.TROUBLE,
        phase=Phase.BEFORE,
        settle_s=1.0,
        source="B2",
    ),
    EvidenceRow(
        id="gmeet.removed_from_lobby",
        kind=Kind.TEXT,
        patterns=_REMOVED,
        state=PageState.REFUSED,
        reason=StopReason.REQUEST_DENIED,
        phase=Phase.BEFORE,
        source="A B2 V",
    ),
    EvidenceRow(
        id="gmeet.already_over",
        kind=Kind.TEXT,
        patterns=_ENDED,
        state=PageState.REFUSED,
        reason=StopReason.CALL_ALREADY_FINISHED,
        phase=Phase.BEFORE,
        unless=(
            "gmeet.controls",
            "gmeet.controls_named",
        ),
        source="V",
    ),
    EvidenceRow(
        id="gmeet.left_lobby",
        kind=Kind.TEXT,
        patterns=_LEFT,
        state=PageState.REFUSED,
        reason=StopReason.WAITING_ROOM_TIMEOUT,
        phase=Phase.BEFORE,
        unless=(
            "gmeet.controls",
            "gmeet.controls_named",
        ),
        source="A",
    ),
    EvidenceRow(
        id="gmeet.sign_in",
        kind=Kind.TEXT,
        patterns=(
            "your Google Account",
            "Choose an account",
            "sign in to join",
            "sign in to continue",
            "to continue to Google Meet",
        ),
        state=PageState.SIGN_IN_NEEDED,
        phase=Phase.BEFORE,
        # A modal that merely offers signing in, or a prejoin still being built, must not be taken for a gate.
        unless=(
            "gmeet.name_field",
            "gmeet.cta",
            "gmeet.notice",
            "gmeet.lobby",
            "gmeet.controls",
            "gmeet.controls_named",
        ),
        settle_s=6.0,
        source="A O",
    ),
)

ENDINGS: tuple[EvidenceRow, ...] = (
    EvidenceRow(
        id="gmeet.removed",
        kind=Kind.TEXT,
        patterns=_REMOVED,
        within=_LOUD,
        whole=True,  # a meeting may be titled with any of these words
        state=PageState.REMOVED,
        reason=StopReason.KICKED,
        phase=Phase.AFTER,
        source="A B2 V",
    ),
    EvidenceRow(
        id="gmeet.removed_plain",
        kind=Kind.TEXT,
        patterns=_REMOVED,
        state=PageState.REMOVED,
        reason=StopReason.KICKED,
        phase=Phase.AFTER,
        unless=(
            "gmeet.controls",
            "gmeet.controls_named",
        ),  # a pop-up of the chat may say so too, while the call goes on
        source="A B2 V",
    ),
    EvidenceRow(
        id="gmeet.ended",
        kind=Kind.TEXT,
        patterns=_ENDED,
        within=_LOUD,
        whole=True,
        state=PageState.OVER,
        reason=StopReason.MEETING_ENDED,
        phase=Phase.AFTER,
        source="A V B2",
    ),
    EvidenceRow(
        id="gmeet.ended_plain",
        kind=Kind.TEXT,
        patterns=(*_ENDED, *_LEFT),
        state=PageState.OVER,
        reason=StopReason.MEETING_ENDED,
        phase=Phase.AFTER,
        unless=(
            "gmeet.controls",
            "gmeet.controls_named",
        ),
        source="A V B2",
    ),
    EvidenceRow(
        id="gmeet.rejoin",
        kind=Kind.BUTTON,
        patterns=("Rejoin",),
        state=PageState.OVER,
        reason=StopReason.MEETING_ENDED,
        phase=Phase.AFTER,
        unless=(
            "gmeet.controls",
            "gmeet.controls_named",
        ),
        settle_s=1.0,
        source="A V O",
    ),
)
