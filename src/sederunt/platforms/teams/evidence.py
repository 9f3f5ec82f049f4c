"""Microsoft Teams: the signs on its pages, and their meanings. Source tags and dates: docs/platforms.md."""

from sederunt.model.status import MEETING_FULL, StopReason
from sederunt.platforms.evidence import DIALOGS, EvidenceRow, Phase, Showing
from sederunt.platforms.page_state import PageState
from sederunt.platforms.refusals import endings_by_meaning, refusals_by_meaning
from sederunt.platforms.rows import Rows, phrases
from sederunt.platforms.shared import EndTexts, call_endings, call_notices, failed_pages, lobby_endings, named_controls

_SITE = "teams"
_LOGIN = r"^https?://(?:[a-z0-9-]+\.)*login\.(?:microsoft|live)[a-z0-9.-]*(?:[:/?#]|$)"
_ELSEWHERE = (
    r"^https?://(?!(?:[a-z0-9-]+\.)*(?:teams\.microsoft\.com|teams\.live\.com|teams\.microsoft\.us|"
    r"teams\.cloud\.microsoft)(?:[:/?#]|$))"
)
_CONTROLS = ("teams.controls", "teams.controls_named")

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
_NAME_FIELD = ",".join(NAME_FIELDS)
_JOIN_BUTTON = '[data-tid="prejoin-join-button"],#prejoin-join-button'
LAUNCHER_NAMES = phrases(
    "Continue on this browser | Join on this browser | Join meeting from this browser | Continue on this browser* | "
    "Join on the web instead | Use the web app instead"
)
WITHOUT_DEVICES = phrases("Continue without audio or video | Continue without audio | Continue without video")

# Controls that only a call has. The lobby has a leave button, a microphone and a camera of its own in some builds.
_CALL_ONLY = (
    '#roster-button,[data-tid="roster-button"],button[aria-label="People" i]',
    '#raisehands-button,[data-tid="raisehands-button"],button[aria-label^="Raise" i]',
    '#reaction-menu-button,button[aria-label^="React" i]',
    '#chat-button,[data-tid="chat-button"],button[data-tid="toggle-chat"]',
    "#callingButtons-showMoreBtn",
    "#custom-view-button,#view-mode-button",
)
_HANGUP = (
    '#hangup-button,[data-tid="hangup-main-btn"],[data-tid="hangup-button"],[data-inp="hangup-button"],'
    '[data-tid="call-hangup"],button[aria-label="Leave" i],button[aria-label^="Leave (" i]'
)
_STAGE = '[data-tid="modern-stage-wrapper"],[data-tid="callingScreen"],[data-tid="calling-toolbar"]'
_END_SCREEN = 'button[data-tid="anon-meeting-end-screen-rejoin-button"]'
_CONTROL_NAMES = phrases(
    "People* | Chat | Show conversation | React | Raise | Raise your hand | View | Rooms | Apps | Share | "
    "Share content | Leave | Leave (*"
)
_WAITING = phrases(
    "Someone will let you in | Someone in the meeting should let you in | "
    "When the meeting starts, we'll let people in | We'll let people in when the meeting starts | "
    "let people in the meeting know you're waiting | let people know you're waiting | You're in the lobby | "
    "Waiting for someone to let you in | Waiting to be admitted | when someone admits you | "
    "Your request to join has been sent"
)

_ENDS = EndTexts(
    removed=(
        phrases(
            "You've been removed from this meeting | You've been removed from the meeting | "
            "You have been removed from | You were removed from | Removed from the meeting"
        ),
        "A V",
    ),
    ended=(
        phrases(
            "The meeting has ended | This meeting has ended | Meeting has ended | Meeting ended | Call ended | "
            "The call has ended | This call has ended"
        ),
        "A V LMA",
    ),
    left=phrases("You left the meeting | You've left the meeting"),
    left_s=1.0,
    loud=(
        "h1",
        "h2",
        '[role="heading"]',
        *DIALOGS,
        "#calling-retry-screen-title",
        '[data-tid="calling-retry-screen"]',
    ),
    controls=_CONTROLS,
)

_seen = Rows(_SITE)
_refused = Rows(_SITE, phase=Phase.BEFORE, state=PageState.REFUSED)
_denied = Rows(_SITE, phase=Phase.BEFORE, state=PageState.REFUSED, reason=StopReason.REQUEST_DENIED)
_sign_in = Rows(_SITE, phase=Phase.BEFORE, state=PageState.SIGN_IN_NEEDED)
_challenged = Rows(_SITE, phase=Phase.BEFORE, state=PageState.CHALLENGED)
_trouble = Rows(_SITE, state=PageState.TROUBLE)
_over = Rows(_SITE, phase=Phase.AFTER, state=PageState.OVER, reason=StopReason.MEETING_ENDED)
_lobby = Rows(_SITE, state=PageState.LOBBY)
_in_call = Rows(_SITE, state=PageState.IN_CALL, showing=Showing.LAID_OUT)
_entering = Rows(
    _SITE,
    phase=Phase.BEFORE,
    state=PageState.IN_CALL,
    showing=Showing.LAID_OUT,
    unless=("teams.join_button", "teams.name_field"),
)
_prejoin = Rows(_SITE, state=PageState.PREJOIN)

_WITNESSES = (
    _seen.selector("controls", (*_CALL_ONLY, _HANGUP), "A V B2 LMA", showing=Showing.LAID_OUT, at_least=2),
    named_controls(_SITE, _CONTROL_NAMES, "A V B2 LMA J", at_least=3),
    _seen.selector("join_button", _JOIN_BUTTON, "A V B2 LMA S J", showing=Showing.LAID_OUT),
    _seen.selector("name_field", _NAME_FIELD, "A V B2 S J"),
)

_REFUSALS = (
    _denied.signal("signal.denied", "conversation_end:5854", "A V B2"),
    # The frame names the person who removed the bot: this is surer than the text of any end screen.
    _denied.signal(
        "signal.removed_from_lobby",
        "conversation_end:5000:removed | conversation_end:5300:removed",
        "A V",
        unless=_CONTROLS,
    ),
    _sign_in.signal("signal.anonymous_disabled", "conversation_end:5723", "A B2"),
    # The silent sign-in probe visits this address and returns.
    _sign_in.address("address.sign_in", _LOGIN, "A O B2 LMA", settle_s=8.0),
    # If its links lead nowhere, Teams may show the login pages' form at one of its own addresses (A).
    _sign_in.selector(
        "login_form",
        'input[name="loginfmt"][type="email"]',
        "A",
        unless=("teams.name_field", "teams.join_button"),
        settle_s=8.0,
    ),
    *failed_pages(_SITE, server_s=3.0, elsewhere=_ELSEWHERE, elsewhere_s=10.0, source="B2", state=PageState.TROUBLE),
    _challenged.selector("captcha", '[data-tid="HIP-Captcha-Image"]', "A LMA"),
    _challenged.text("captcha_words", "Verify you're a real person | Verify you are a real person", "A LMA"),
    _denied.text(
        "denied",
        "you were denied access to the meeting | Your request to join was declined | Your request to join was denied | "
        "You were denied entry | Access denied | Request denied",
        "A V B2",
    ),
    # No source shows the copy of these two.
    _denied.text(
        "locked",
        "meeting is locked | meeting has been locked",
        "own",
        unless=("teams.name_field", "teams.join_button", "teams.prejoin_words"),  # a meeting may be titled like that
        seen="2026-11",
    ),
    _denied.text(
        "full",
        "meeting is full | lobby is full",
        "own",
        cause=MEETING_FULL,
        unless=("teams.name_field", "teams.join_button", "teams.prejoin_words"),
        seen="2026-11",
    ),
    _refused.text(
        "invalid",
        "Looks like the meeting URL is incorrect | Please check the URL and try again | Meeting not found | "
        "We couldn't find the meeting",
        "A V B2",
        reason=StopReason.INVALID_MEETING_URL,
    ),
    _sign_in.text(
        "sign_in",
        "We need to verify your info before you can join | To join, sign in or use Teams on the web | "
        "You need to be signed in to Teams to access this meeting | "
        "If you're not signed in to a Teams (work or school) account | "
        "Sign in to Teams to join, or contact the meeting organizer | "
        "To join this Teams meeting, you need to be signed in to an account | you need to be signed in | "
        "To join this meeting, sign in again or select another account | Due to org policy, you need to sign in | "
        "Only people with a work or school account | anonymous users can't join | verify your email | "
        "Enter the code sent to | External participants are not permitted to join before the event begins",
        "A O B2 LMA",
        settle_s=1.0,
    ),
    *refusals_by_meaning(
        _SITE,
        unless=(
            "teams.name_field",
            "teams.join_button",
            "teams.prejoin_words",
            "teams.launcher",
            "teams.no_devices",
            *_CONTROLS,
        ),
        waiting=("teams.lobby", "teams.lobby_element"),
        dialogs=DIALOGS,
    ),
    _trouble.text(
        "blocked",
        "we couldn't connect you | Connection failed | Unable to join | Join failed",
        "A V",
        phase=Phase.BEFORE,
        settle_s=1.0,
    ),
    _trouble.selector("encrypted", '[data-tid="calling-e2ee-end-screen"]', "A"),
    _trouble.text("encrypted_words", "An encryption error occurred", "A", unless=_CONTROLS),
    *lobby_endings(_SITE, _ENDS, over_source="A V LMA"),
    _refused.selector("end_screen_early", _END_SCREEN, "LMA", reason=StopReason.WAITING_ROOM_TIMEOUT, settle_s=2.0),
    _denied.signal(
        "signal.over_early",
        "conversation_end:5000 | conversation_end:5300",
        "A",
        unless=_CONTROLS,
        settle_s=3.0,
    ),
)

_ENDINGS = (
    _seen.signal(
        "signal.removed",
        "conversation_end:5000:removed | conversation_end:5300:removed",
        "A",
        phase=Phase.AFTER,
        state=PageState.REMOVED,
        reason=StopReason.KICKED,
        unless=_CONTROLS,
    ),
    *call_endings(_SITE, _ENDS),
    *endings_by_meaning(
        _SITE,
        unless=("teams.name_field", "teams.join_button", "teams.prejoin_words", *_CONTROLS),
        dialogs=DIALOGS,
    ),
    _over.selector("end_screen", _END_SCREEN, "LMA"),
    _over.button("rejoin", "Rejoin | Rejoin meeting", "LMA O", unless=_CONTROLS, settle_s=1.0),
    _over.address("address.over", (r"/postmeeting", r"/meetingended", r"calling/end", _ELSEWHERE), "LMA", settle_s=2.0),
)

_WAY_IN = (
    *call_notices(_SITE, within=(*DIALOGS, ".ui-dialog")),
    _seen.text(
        "reconnecting",
        "Connection lost | Unable to connect | Reconnecting | Trying to reconnect | Trying to connect",
        "V",
        whole=True,
        state=PageState.RECONNECTING,
    ),
    _seen.button(
        "launcher",
        LAUNCHER_NAMES,
        "S V B2 O",
        state=PageState.DIALOG,
        phase=Phase.BEFORE,
        unless=("teams.name_field",),
    ),
    _seen.button("no_devices", WITHOUT_DEVICES, "S V B2 I", state=PageState.DIALOG),
    _lobby.text("lobby", _WAITING, "A V B2 O J", phase=Phase.BEFORE),
    _lobby.selector(
        "lobby_element",
        ('[data-tid*="lobby" i]', '[data-tid*="waiting" i]'),
        "A V B2",
        phase=Phase.BEFORE,
        unless=(*_CONTROLS, "teams.name_field"),
    ),
    _lobby.text(
        "lobby_again",
        _WAITING,
        "A V B2 O J",
        phase=Phase.AFTER,
        unless=("teams.name_field", "teams.join_button", *_CONTROLS),
    ),
    _in_call.selector("in_call_still", (*_CALL_ONLY, _HANGUP), "A V B2 LMA", phase=Phase.AFTER),
    _entering.selector("in_call", _CALL_ONLY, "A V B2 LMA", at_least=2),
    _entering.selector("in_call_stage", (*_CALL_ONLY, _HANGUP, _STAGE), "A V B2 LMA", at_least=3, settle_s=1.5),
    # A narrow layout keeps people and chat behind "More". Three of these alone may be a lobby's.
    _entering.selector(
        "in_call_narrow",
        (*_CALL_ONLY, _HANGUP, _STAGE, "#microphone-button", "#video-button"),
        "A B2",
        at_least=4,
        settle_s=1.5,
    ),
    _in_call.button(
        "in_call_named",
        _CONTROL_NAMES,
        "A V B2 LMA J",
        at_least=3,
        unless=("teams.join_button", "teams.name_field", "teams.prejoin_words"),
        settle_s=1.0,
    ),
    _prejoin.selector("prejoin", _JOIN_BUTTON, "A V B2 LMA S J"),
    _prejoin.button("prejoin_words", "Join now | Join meeting", "A V B2 S J"),
    _prejoin.selector("prejoin_name", _NAME_FIELD, "A V B2 S J"),
    _in_call.selector("in_call_hidden", _CALL_ONLY, "A V", showing=Showing.PRESENT, at_least=2, settle_s=1.0),
    _refused.status("status.invalid", "4..", "B2", reason=StopReason.INVALID_MEETING_URL, settle_s=3.0),
)

ROWS: tuple[EvidenceRow, ...] = (*_WITNESSES, *_REFUSALS, *_ENDINGS, *_WAY_IN)
