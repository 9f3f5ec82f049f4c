"""Zoom's web client: the call, the waiting room and the way in, as its pages show them. Tags: docs/platforms.md."""

from sederunt.model.status import StopReason
from sederunt.platforms.evidence import DIALOGS, EvidenceRow, Kind, Phase, Showing
from sederunt.platforms.page_state import PageState
from sederunt.platforms.zoom.endings import ENDINGS, LOUD, REFUSALS

# Subtrees that people fill: chat, captions, roster, names on tiles.
NEVER = (
    '[aria-label="Chat Message List"]',
    ".chat-virtuoso-wrapper",
    "#chat-list-content",
    '[id^="chat-message-"]',
    ".new-chat-message__container",
    ".chat-rtf-box__display",
    ".chat-rtf-box__editor-outer",
    ".chat-container",
    '[role="log"]',
    '[class*="chat-message"]',
    '[class*="chat-tip"]',
    "#participants-ul",
    ".participants-li",
    ".waiting-room-list-container",
    "#live-transcription-subtitle",
    ".live-transcription-subtitle__item",
    "#full-transcription",
    ".video-avatar__avatar",
    ".video-avatar__avatar-footer",
    ".video-avatar__avatar-name",
    "[contenteditable]",
)

NAME_FIELDS = (
    "#input-for-name",
    "#inputname",
    'input[placeholder*="your name" i]',
    'input[aria-label*="your name" i]',
    'input[name="name"]',
)
PASSCODE_FIELDS = (
    "#input-for-pwd",
    "#inputpasscode",
    "#websdk-password",
    'input[placeholder*="passcode" i]',
    'input[type="password"]',
)
JOIN_BUTTONS = ("button.preview-join-button", ".preview-join-button", "#joinBtn", "button[type=submit].zm-btn")

# The exact label: the waiting room's own button says Leave but carries no label.
_LEAVE = ':is(button,[role="button"]):is([aria-label="Leave"],[aria-label="End"])'
_STAGE = (
    ".single-main-container__video-frame",
    ".single-suspension-container__video-frame",
    ".gallery-video-container__main-view",
    "#video-share-layout video-player",
)
_FOOTER = (
    "#foot-bar button,#wc-footer button",
    ':is(button,[role="button"])[aria-label*="participants list" i],.footer-button__number-counter',
    ':is(button,[role="button"])[aria-label*="the chat panel" i]',
    ".join-audio-container__btn",
    ".send-video-container__btn",
)
# The same by their names, whatever they are made of.
_FOOTERS = ("#foot-bar", "#wc-footer", "footer", '[role="toolbar"]', '[class*="footer"]')
_CONTROL_NAMES = ("Participants*", "Chat*", "Leave", "End", "Reactions", "React", "Share Screen", "Share", "More")
_WAITING = (".waiting-room-container", ".wr-information", ".wr-topic", ".wr-tip", ".wr-title", ".on-hold-main")

_WITNESSES = (
    EvidenceRow(
        id="zoom.leave_button",
        kind=Kind.SELECTOR,
        patterns=(_LEAVE,),
        showing=Showing.LAID_OUT,
        source="V B2 Z",
    ),
    EvidenceRow(
        id="zoom.controls_named",
        kind=Kind.BUTTON,
        patterns=_CONTROL_NAMES,
        within=_FOOTERS,
        showing=Showing.LAID_OUT,
        at_least=3,
        source="Z V B2 LMA",
    ),
    EvidenceRow(
        id="zoom.join_button", kind=Kind.SELECTOR, patterns=(",".join(JOIN_BUTTONS),), source="A V B2 LMA S J MB Z"
    ),
    EvidenceRow(id="zoom.name_field", kind=Kind.SELECTOR, patterns=(",".join(NAME_FIELDS),), source="A V B2 LMA S J"),
)

_WAITING_WORDS = (
    "Waiting for the host to start",
    "Please wait for the host to start",
    "If you are the host, sign in to start",
    "the meeting host will let you in soon",
    "host will let you in soon",
    "will let you in soon",
    "let them know you're here",
    "admitted shortly",
    "Waiting for a host to join",
    "the host lost connection",
)

_WAY = (
    EvidenceRow(
        id="zoom.reconnecting",
        kind=Kind.TEXT,
        patterns=(
            "attempt to reconnect",
            "Trying to reconnect",
            "Meeting is reconnecting",
            "Meeting Disconnected",
        ),
        within=(*LOUD, '[class*="reconnect"]', '[role="alert"]', '[role="status"]', "#wc-leave"),
        state=PageState.RECONNECTING,
        source="Z",
    ),
    EvidenceRow(
        id="zoom.reconnecting_element",
        kind=Kind.SELECTOR,
        patterns=(".dialog-reconnect-container",),
        state=PageState.RECONNECTING,
        source="Z",
    ),
    EvidenceRow(
        id="zoom.waiting_for_host",
        kind=Kind.TEXT,
        patterns=_WAITING_WORDS,
        state=PageState.LOBBY,
        phase=Phase.BEFORE,
        source="Z V B2",
    ),
    EvidenceRow(
        id="zoom.waiting_room",
        kind=Kind.SELECTOR,
        patterns=_WAITING,
        state=PageState.LOBBY,
        phase=Phase.BEFORE,
        source="Z V B2",
    ),
    EvidenceRow(
        id="zoom.on_hold",
        kind=Kind.SELECTOR,
        patterns=_WAITING,
        state=PageState.LOBBY,
        phase=Phase.AFTER,
        unless=("zoom.leave_button", "zoom.controls_named"),
        source="Z",
    ),
    EvidenceRow(
        id="zoom.consent",
        kind=Kind.TEXT,
        patterns=(
            "This meeting is being recorded",
            "you consent to being recorded",
            "you are consenting to be recorded",
            "Audio and video are blocked until consent is given",
            "is being livestreamed",
            "is being archived",
            "is being transcribed",
            "AI Companion",
        ),
        within=(
            ".zm-modal",
            ".zm-modal-legacy",
            ".ReactModal__Content",
            ".consent-banner",
            '[class*="rtms-disclaimer"]',
            *DIALOGS,
        ),
        state=PageState.DIALOG,
        source="Z B2 V",
    ),
    EvidenceRow(
        id="zoom.join_audio",
        kind=Kind.SELECTOR,
        patterns=(".join-audio-by-voip__join-btn", 'button[aria-label="Join Audio" i]'),
        showing=Showing.LAID_OUT,
        state=PageState.DIALOG,
        phase=Phase.AFTER,
        source="Z V",
    ),
    EvidenceRow(
        id="zoom.wrong_passcode",
        kind=Kind.TEXT,
        patterns=(
            "Passcode wrong",
            "Incorrect passcode",
            "Wrong passcode",
            "Meeting passcode is wrong",
            "passcode is incorrect",
            "Please re-enter",
        ),
        state=PageState.PREJOIN,
        reason=StopReason.INVALID_MEETING_URL,
        phase=Phase.BEFORE,
        settle_s=6.0,  # the right one may still be on its way; after that the link is bad
        source="Z ZD",
    ),
    EvidenceRow(
        id="zoom.prejoin",
        kind=Kind.SELECTOR,
        patterns=(",".join(JOIN_BUTTONS), ",".join(NAME_FIELDS), ",".join(PASSCODE_FIELDS[:3])),
        state=PageState.PREJOIN,
        phase=Phase.BEFORE,
        source="A V B2 LMA S J MB Z",
    ),
    EvidenceRow(
        id="zoom.launcher",
        kind=Kind.BUTTON,
        patterns=("Join from your browser", "Join from browser", "Launch Meeting"),
        state=PageState.DIALOG,
        phase=Phase.BEFORE,
        source="V B2 S",
    ),
    EvidenceRow(
        id="zoom.joining",
        kind=Kind.TEXT,
        patterns=("Joining Meeting", "Connecting to the meeting"),
        whole=True,
        state=PageState.LOADING,  # the stage stands behind it already, and means nothing yet
        phase=Phase.BEFORE,
        source="B2",
    ),
    EvidenceRow(
        id="zoom.in_call",
        kind=Kind.SELECTOR,
        patterns=(_LEAVE,),
        showing=Showing.PRESENT,
        state=PageState.IN_CALL,
        source="B2 LMA V",
    ),
    EvidenceRow(
        id="zoom.in_call_stage",
        kind=Kind.SELECTOR,
        patterns=(",".join(_STAGE), *_FOOTER),
        showing=Showing.PRESENT,
        at_least=2,
        state=PageState.IN_CALL,
        settle_s=1.5,
        source="B2 LMA Z",
    ),
    EvidenceRow(
        id="zoom.in_call_named",
        kind=Kind.BUTTON,
        patterns=_CONTROL_NAMES,
        within=_FOOTERS,
        showing=Showing.LAID_OUT,
        at_least=3,
        state=PageState.IN_CALL,
        unless=("zoom.join_button", "zoom.name_field"),
        settle_s=1.5,
        source="Z V B2 LMA",
    ),
)

ROWS: tuple[EvidenceRow, ...] = (*_WITNESSES, *REFUSALS, *ENDINGS, *_WAY)
