"""Microsoft Teams: the call, the lobby and the way in, as its pages show them. Source tags: docs/platforms.md."""

from sederunt.model.status import StopReason
from sederunt.platforms.evidence import EvidenceRow, Kind, Phase, Showing
from sederunt.platforms.page_state import PageState
from sederunt.platforms.teams.endings import ENDINGS, REFUSALS

# Subtrees that people fill: chat, captions, roster, tiles.
NEVER = (
    '[data-tid="message-pane-list-runway"]',
    '[data-tid="chat-pane-list"]',
    '[data-tid="chat-pane-item"]',
    '[data-tid="chat-pane-message"]',
    '[role="log"]',
    '[data-tid^="closed-caption"]',
    '[role="tree"]',
    '[data-cid="roster-participant"]',
    '[data-tid^="participantsInCall-"]',
    "[data-stream-type]",
    '[data-cid="calling-participant-stream"]',
    '[data-tid="participant-info-nametag"]',
    "[contenteditable]",
)

NAME_FIELDS = (
    'input[data-tid="prejoin-display-name-input"]',
    "#prejoin-display-name",
    'input[placeholder="Type your name" i]',
    'input[placeholder*="name" i]',
    'input[aria-label*="your name" i]',
)
LAUNCHER_NAMES = (
    "Continue on this browser",
    "Join on this browser",
    "Join meeting from this browser",
    "Continue on this browser*",
    "Join on the web instead",
    "Use the web app instead",
)

# Controls that only a call has. The lobby has a leave button, a microphone and a camera of its own in some builds.
_ROSTER = '#roster-button,[data-tid="roster-button"],button[aria-label="People" i]'
_RAISE = '#raisehands-button,[data-tid="raisehands-button"],button[aria-label^="Raise" i]'
_REACT = '#reaction-menu-button,button[aria-label^="React" i]'
_CHAT = '#chat-button,[data-tid="chat-button"],button[data-tid="toggle-chat"]'
_MORE = "#callingButtons-showMoreBtn"
_VIEW = "#custom-view-button,#view-mode-button"
_CALL_ONLY = (_ROSTER, _RAISE, _REACT, _CHAT, _MORE, _VIEW)
_HANGUP = (
    '#hangup-button,[data-tid="hangup-main-btn"],[data-tid="hangup-button"],[data-inp="hangup-button"],'
    '[data-tid="call-hangup"],button[aria-label="Leave" i],button[aria-label^="Leave (" i]'
)
# The same by their names, whatever they are made of.
_CONTROL_NAMES = (
    "People*",
    "Chat",
    "Show conversation",
    "React",
    "Raise",
    "Raise your hand",
    "View",
    "Rooms",
    "Apps",
    "Share",
    "Share content",
    "Leave",
    "Leave (*",
)
_STAGE = '[data-tid="modern-stage-wrapper"],[data-tid="callingScreen"],[data-tid="calling-toolbar"]'

_WITNESSES = (
    EvidenceRow(
        id="teams.controls",
        kind=Kind.SELECTOR,
        patterns=(*_CALL_ONLY, _HANGUP),
        showing=Showing.LAID_OUT,
        at_least=2,
        source="A V B2 LMA",
    ),
    EvidenceRow(
        id="teams.controls_named",
        kind=Kind.BUTTON,
        patterns=_CONTROL_NAMES,
        showing=Showing.LAID_OUT,
        at_least=3,
        source="A V B2 LMA J",
    ),
    EvidenceRow(
        id="teams.join_button",
        kind=Kind.SELECTOR,
        patterns=('[data-tid="prejoin-join-button"],#prejoin-join-button',),
        showing=Showing.LAID_OUT,
        source="A V B2 LMA S J",
    ),
    EvidenceRow(id="teams.name_field", kind=Kind.SELECTOR, patterns=(",".join(NAME_FIELDS),), source="A V B2 S J"),
)

_WAY = (
    EvidenceRow(
        id="teams.reconnecting",
        kind=Kind.TEXT,
        patterns=("Connection lost", "Unable to connect", "Reconnecting", "Trying to reconnect", "Trying to connect"),
        whole=True,
        state=PageState.RECONNECTING,
        source="V",
    ),
    EvidenceRow(
        id="teams.launcher",
        kind=Kind.BUTTON,
        patterns=LAUNCHER_NAMES,
        state=PageState.DIALOG,
        phase=Phase.BEFORE,
        unless=("teams.name_field",),
        source="S V B2 O",
    ),
    EvidenceRow(
        id="teams.no_devices",
        kind=Kind.BUTTON,
        patterns=("Continue without audio or video", "Continue without audio", "Continue without video"),
        state=PageState.DIALOG,
        source="S V B2 I",
    ),
    EvidenceRow(
        id="teams.lobby",
        kind=Kind.TEXT,
        patterns=(
            "Someone will let you in",
            "Someone in the meeting should let you in",
            "When the meeting starts, we'll let people in",
            "We'll let people in when the meeting starts",
            "let people in the meeting know you're waiting",
            "let people know you're waiting",
            "You're in the lobby",
            "Waiting for someone to let you in",
            "Waiting to be admitted",
            "when someone admits you",
            "Your request to join has been sent",
        ),
        state=PageState.LOBBY,
        phase=Phase.BEFORE,
        source="A V B2 O J",
    ),
    EvidenceRow(
        id="teams.lobby_element",
        kind=Kind.SELECTOR,
        patterns=('[data-tid*="lobby" i]', '[data-tid*="waiting" i]'),
        state=PageState.LOBBY,
        phase=Phase.BEFORE,
        unless=("teams.controls", "teams.controls_named", "teams.name_field"),
        source="A V B2",
    ),
    EvidenceRow(
        id="teams.lobby_again",
        kind=Kind.TEXT,
        patterns=("Someone will let you in", "You're in the lobby"),
        state=PageState.LOBBY,
        phase=Phase.AFTER,
        unless=(
            "teams.controls",
            "teams.controls_named",
        ),
        source="A V",
    ),
    EvidenceRow(
        id="teams.in_call_still",
        kind=Kind.SELECTOR,
        patterns=(*_CALL_ONLY, _HANGUP),
        showing=Showing.LAID_OUT,
        state=PageState.IN_CALL,
        phase=Phase.AFTER,
        source="A V B2 LMA",
    ),
    EvidenceRow(
        id="teams.in_call",
        kind=Kind.SELECTOR,
        patterns=_CALL_ONLY,
        showing=Showing.LAID_OUT,
        at_least=2,
        state=PageState.IN_CALL,
        phase=Phase.BEFORE,
        unless=("teams.join_button", "teams.name_field"),
        source="A V B2 LMA",
    ),
    EvidenceRow(
        id="teams.in_call_stage",
        kind=Kind.SELECTOR,
        patterns=(*_CALL_ONLY, _HANGUP, _STAGE),
        showing=Showing.LAID_OUT,
        at_least=3,
        state=PageState.IN_CALL,
        phase=Phase.BEFORE,
        unless=("teams.join_button", "teams.name_field"),
        settle_s=1.5,
        source="A V B2 LMA",
    ),
    EvidenceRow(
        id="teams.in_call_named",
        kind=Kind.BUTTON,
        patterns=_CONTROL_NAMES,
        showing=Showing.LAID_OUT,
        at_least=3,
        state=PageState.IN_CALL,
        unless=("teams.join_button", "teams.name_field", "teams.prejoin_words"),
        settle_s=1.0,
        source="A V B2 LMA J",
    ),
    EvidenceRow(
        id="teams.prejoin",
        kind=Kind.SELECTOR,
        patterns=('[data-tid="prejoin-join-button"],#prejoin-join-button',),
        state=PageState.PREJOIN,
        source="A V B2 LMA S J",
    ),
    EvidenceRow(
        id="teams.prejoin_words",
        kind=Kind.BUTTON,
        patterns=("Join now", "Join meeting"),
        state=PageState.PREJOIN,
        source="A V B2 S J",
    ),
    EvidenceRow(
        id="teams.prejoin_name",
        kind=Kind.SELECTOR,
        patterns=(",".join(NAME_FIELDS),),
        state=PageState.PREJOIN,
        source="A V B2 S J",
    ),
    EvidenceRow(
        id="teams.in_call_hidden",
        kind=Kind.SELECTOR,
        patterns=_CALL_ONLY,
        showing=Showing.PRESENT,
        at_least=2,
        state=PageState.IN_CALL,
        settle_s=1.0,
        source="A V",
    ),
    EvidenceRow(
        id="teams.status.invalid",
        kind=Kind.STATUS,
        patterns=("4..",),
        state=PageState.REFUSED,
        reason=StopReason.INVALID_MEETING_URL,
        phase=Phase.BEFORE,
        settle_s=3.0,
        source="B2",
    ),
)

ROWS: tuple[EvidenceRow, ...] = (*_WITNESSES, *REFUSALS, *ENDINGS, *_WAY)
