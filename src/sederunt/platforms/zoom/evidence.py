"""Zoom's web client: the signs on its pages, and their meanings. Source tags and dates: docs/platforms.md."""

from sederunt.model.status import MEETING_FULL, StopReason
from sederunt.platforms.evidence import DIALOGS, EvidenceRow, Phase, Showing
from sederunt.platforms.notices import outside_panels
from sederunt.platforms.page_state import PageState
from sederunt.platforms.refusals import endings_by_meaning, refusals_by_meaning
from sederunt.platforms.rows import Rows, phrases
from sederunt.platforms.shared import EndTexts, call_endings, call_notices, failed_pages, lobby_endings, named_controls

_SITE = "zoom"
_ELSEWHERE = r"^https?://(?!(?:[a-z0-9-]+\.)*(?:zoom\.us|zoom\.com|zoomgov\.com)(?:[:/?#]|$))"
_END_PAGES = (r"/postattendee", r"/wc/leave", r"/wc/?\?ref_from=")
_CONTROLS = ("zoom.leave_button", "zoom.controls_named")

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
MODALS = (
    ".zm-modal",
    ".zm-modal-legacy",
    ".ReactModal__Content",
    ".consent-banner",
    '[class*="rtms-disclaimer"]',
    *DIALOGS,
)
# Endings count only in the site's own texts: bots were once ended by their own chat message. The client keeps hidden
# template copies of its modals, so every row requires visible elements.
_LOUD = (
    ".zm-modal",
    ".zm-modal-legacy",
    ".ReactModal__Content",
    *DIALOGS,
    '[class*="meeting-ended"]',
    '[class*="end-screen"]',
    '[class*="leave-page"]',
    '[aria-label="Meeting is end now"]',
    "h1",
    "h2",
    '[role="heading"]',
    "#prompt",
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
JOIN_AUDIO_NAMES = phrases("Join Audio by Computer | Join with Computer Audio | Join Computer Audio")
OPEN_AUDIO_NAME = "Join Audio"  # of the button in the footer, which opens the question
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
_FOOTERS = ("#foot-bar", "#wc-footer", "footer", '[role="toolbar"]', '[class*="footer"]')
_CONTROL_NAMES = phrases("Participants* | Chat* | Leave | End | Reactions | React | Share Screen | Share | More")
_WAITING = (".waiting-room-container", ".wr-information", ".wr-topic", ".wr-tip", ".wr-title", ".on-hold-main")
_WITHOUT_HOST = phrases(
    "Waiting for the host to start | Please wait for the host to start | If you are the host, sign in to start"
)
_HOST_AWAY = phrases("Waiting for a host to join | the host lost connection")
_WAITING_WORDS = phrases(
    "the meeting host will let you in soon | host will let you in soon | will let you in soon | "
    "let them know you're here | admitted shortly"
)

_ENDS = EndTexts(
    removed=(
        phrases(
            "You have been removed from this meeting | You've been removed from this meeting | You have been removed | "
            "You were removed | has removed you | previously removed by the host"
        ),
        "Z A",
    ),
    ended=(
        phrases(
            "This meeting has been ended by | The meeting has been ended | Meeting has been ended | "
            "This meeting has ended | This free Zoom meeting has ended | Your free meeting has ended | "
            "The meeting has ended | has ended this meeting | has ended the meeting | This webinar has been ended | "
            "This webinar has ended | Meeting is end now"
        ),
        "Z A V B2 LMA",
    ),
    loud=_LOUD,
    controls=_CONTROLS,
    whole=False,
    plain_s=1.0,
)

_seen = Rows(_SITE)
_refused = Rows(_SITE, phase=Phase.BEFORE, state=PageState.REFUSED)
_denied = Rows(_SITE, phase=Phase.BEFORE, state=PageState.REFUSED, reason=StopReason.REQUEST_DENIED)
_unknown = Rows(_SITE, phase=Phase.BEFORE, state=PageState.REFUSED, reason=StopReason.INVALID_MEETING_URL)
_sign_in = Rows(_SITE, phase=Phase.BEFORE, state=PageState.SIGN_IN_NEEDED, settle_s=2.0)
_challenged = Rows(_SITE, phase=Phase.BEFORE, state=PageState.CHALLENGED, settle_s=1.0)
_trouble = Rows(_SITE, phase=Phase.BEFORE, state=PageState.TROUBLE, settle_s=1.0)
_over = Rows(_SITE, phase=Phase.AFTER, state=PageState.OVER, reason=StopReason.MEETING_ENDED)
_reconnecting = Rows(_SITE, state=PageState.RECONNECTING)
_lobby = Rows(_SITE, phase=Phase.BEFORE, state=PageState.LOBBY)
_in_call = Rows(_SITE, state=PageState.IN_CALL)

_WITNESSES = (
    _seen.selector("leave_button", _LEAVE, "V B2 Z", showing=Showing.LAID_OUT),
    named_controls(_SITE, _CONTROL_NAMES, "Z V B2 LMA", at_least=3, within=_FOOTERS),
    _seen.selector("join_button", ",".join(JOIN_BUTTONS), "A V B2 LMA S J MB Z"),
    _seen.selector("name_field", ",".join(NAME_FIELDS), "A V B2 LMA S J"),
)

_REFUSALS = (
    *failed_pages(_SITE, server_s=3.0, elsewhere=_ELSEWHERE, elsewhere_s=8.0, source="B2", state=PageState.TROUBLE),
    _sign_in.address("address.sign_in", r"//(?:[a-z0-9-]+\.)*zoom(?:gov)?\.(?:us|com)/(?:signin|login)", "A B2"),
    _challenged.text(
        "robot_wall",
        "Automated bots aren't allowed | Automated bots are not allowed | We detected you may be a bot | "
        "you may be a bot | If this was a mistake and you are a human | must use Zoom RTMS | "
        "You failed the reCAPTCHA verification",
        "Z V A LMA S I",
    ),
    _challenged.selector(
        "captcha",
        (
            ".component_smart_captcha",
            ".captcha_code_img",
            ".captcha_code_input",
            ".CaptchaContainer",
            'input[placeholder*="captcha" i]',
            ".preview-reCaptcha-error",
        ),
        "Z A B2",
    ),
    # The invisible frame is the default and means nothing.
    _challenged.selector("captcha_frame", 'iframe[src*="recaptcha"]', "Z V", least_px=(120, 40)),
    _refused.text(
        "host_elsewhere",
        "The host has another meeting in progress | host has another meeting | host another meeting concurrently | "
        "host is in another meeting",
        "Z ZD",
        reason=StopReason.HOST_IN_ANOTHER_MEETING,
    ),
    _denied.text(
        "locked",
        "Host has locked this meeting | meeting has been locked by the host | because the host locked it | "
        "meeting is locked",
        "Z",
    ),
    _denied.text(
        "full",
        "Meeting capacity has been reached | at the host's allowed capacity | "
        "has reached the maximum number of participants | has reached its maximum capacity",
        "Z",
        cause=MEETING_FULL,
        settle_s=1.0,
    ),
    # The robot wall says "sign in" too.
    _sign_in.text(
        "sign_in",
        "Sign in to join this meeting | The host requires authentication | sign into Zoom with an email address | "
        "Sign in using an email address that is authorized | only authenticated users can join | "
        "this meeting requires authentication | This meeting is for authorized attendees only",
        "A Z B2",
        unless=("zoom.robot_wall",),
        settle_s=1.5,
    ),
    # The same demand in words that no row has.
    _sign_in.selector(
        "sign_in_gate",
        ("button.login-btn-zoom", ".login-btn-info"),
        "A LMA Z",
        unless=("zoom.robot_wall", "zoom.name_field", "zoom.join_button", *_CONTROLS),
    ),
    _sign_in.selector(
        "registration",
        (".new-register-webinar", 'form[class*="register"]'),
        "Z B2",
        unless=("zoom.name_field",),
    ),
    _trouble.text(
        "not_here",
        "blocked by your organizational policy | End-to-end encrypted meetings are not supported on the browser",
        "Z ZD",
    ),
    *lobby_endings(_SITE, _ENDS, removed="denied your request to join", over_source="Z A V B2 LMA"),
    # A meeting whose host has not come yet may show this page, too.
    _unknown.text("invalid", "This meeting link is invalid", "V B2 ZD", settle_s=2.0),
    _unknown.text("unknown", "Invalid meeting ID | Meeting ID is not valid | does not exist", "V B2 ZD", settle_s=2.0),
    *refusals_by_meaning(
        _SITE,
        unless=(
            "zoom.name_field",
            "zoom.join_button",
            "zoom.prejoin",
            "zoom.launcher",
            "zoom.joining",
            "zoom.consent",
            *_CONTROLS,
        ),
        waiting=("zoom.waiting_for_host", "zoom.host_away", "zoom.waiting_room"),
        dialogs=MODALS,
    ),
    _unknown.title("title.invalid", "Error - Zoom", "V B2", settle_s=4.0),
    _denied.title("title.unable", "Unable to join this meeting", "Z", settle_s=2.0),
    _trouble.text(
        "no_connection",
        "Joining Meeting Timeout | Your network connection has timed out | "
        "disabled access to Zoom from the browser | Connection Timeout | You are already in another meeting",
        "A Z",
        settle_s=2.0,
    ),
    _refused.address("end_page_early", _END_PAGES, "B2 LMA", reason=StopReason.CALL_ALREADY_FINISHED, settle_s=3.0),
)

_ENDINGS = (
    *call_endings(_SITE, _ENDS),
    *endings_by_meaning(
        _SITE,
        unless=("zoom.name_field", "zoom.join_button", *_CONTROLS),
        dialogs=MODALS,
    ),
    _over.selector("ended_label", '[aria-label="Meeting is end now"]', "Z LMA"),
    _over.address("address.over", (*_END_PAGES, r"zoom\.us/signin", r"/wc/?$", _ELSEWHERE), "B2 LMA", settle_s=2.0),
    _over.title("title.over", "Join a Meeting - Zoom", "B2 LMA", unless=_CONTROLS, settle_s=2.0),
)

_STRANGE_LOBBY = ("zoom.name_field", "zoom.join_button", *_CONTROLS)
_WAY_IN = (
    *call_notices(_SITE, within=MODALS),
    _reconnecting.text(
        "reconnecting",
        "attempt to reconnect | Trying to reconnect | Meeting is reconnecting | Meeting Disconnected",
        "Z",
        within=(*_LOUD, '[class*="reconnect"]', '[role="alert"]', '[role="status"]', "#wc-leave"),
    ),
    _reconnecting.selector("reconnecting_element", ".dialog-reconnect-container", "Z"),
    _lobby.text("waiting_for_host", (*_WITHOUT_HOST, *_WAITING_WORDS), "Z V B2"),
    # The meeting has started already, and may go on behind this text.
    _lobby.text("host_away", _HOST_AWAY, "Z", unless=_CONTROLS),
    _lobby.text("waiting_again", _WAITING_WORDS, "Z", phase=Phase.AFTER, unless=_STRANGE_LOBBY),
    _lobby.text(
        "waiting_for_host_again",
        (*_WITHOUT_HOST, *_HOST_AWAY),
        "Z",
        reason=StopReason.MEETING_ENDED,  # of a host who does not come back
        phase=Phase.AFTER,
        unless=_STRANGE_LOBBY,
    ),
    _lobby.selector("waiting_room", _WAITING, "Z V B2"),
    _lobby.selector("on_hold", _WAITING, "Z", phase=Phase.AFTER, unless=_CONTROLS),
    # Such a line may stay during the whole call, without a button.
    _seen.selector("consent_button", "button.zm-btn--primary", "Z LMA A B2", within=outside_panels(MODALS)),
    _seen.text(
        "consent",
        "This meeting is being recorded | you consent to being recorded | you are consenting to be recorded | "
        "Audio and video are blocked until consent is given | is being livestreamed | is being archived | "
        "is being transcribed | AI Companion",
        "Z B2 V",
        state=PageState.DIALOG,
        within=MODALS,
        beside=("zoom.notice_accepts", "zoom.consent_button"),
    ),
    _seen.selector(
        "join_audio",
        (".join-audio-by-voip__join-btn", 'button[aria-label="Join Audio" i]'),
        "Z V",
        state=PageState.DIALOG,
        phase=Phase.AFTER,
        showing=Showing.LAID_OUT,
    ),
    _seen.button(
        "join_audio_named",
        (*JOIN_AUDIO_NAMES, OPEN_AUDIO_NAME),
        "Z V",
        state=PageState.DIALOG,
        phase=Phase.AFTER,
        showing=Showing.LAID_OUT,
    ),
    # The right passcode may still be filled in; after the settle time the link is wrong.
    _seen.text(
        "wrong_passcode",
        "Passcode wrong | Incorrect passcode | Wrong passcode | Meeting passcode is wrong | passcode is incorrect | "
        "Please re-enter",
        "Z ZD",
        state=PageState.PREJOIN,
        reason=StopReason.INVALID_MEETING_URL,
        phase=Phase.BEFORE,
        settle_s=6.0,
    ),
    _seen.selector(
        "prejoin",
        (",".join(JOIN_BUTTONS), ",".join(NAME_FIELDS), ",".join(PASSCODE_FIELDS[:3])),
        "A V B2 LMA S J MB Z",
        state=PageState.PREJOIN,
        phase=Phase.BEFORE,
    ),
    _seen.button(
        "launcher",
        "Join from your browser | Join from browser | Launch Meeting",
        "V B2 S",
        state=PageState.DIALOG,
        phase=Phase.BEFORE,
    ),
    # The stage is shown behind it already, and means nothing yet.
    _seen.text(
        "joining",
        "Joining Meeting | Connecting to the meeting",
        "B2",
        whole=True,
        state=PageState.LOADING,
        phase=Phase.BEFORE,
    ),
    _in_call.selector("in_call", _LEAVE, "B2 LMA V", showing=Showing.PRESENT),
    _in_call.selector(
        "in_call_stage",
        (",".join(_STAGE), *_FOOTER),
        "B2 LMA Z",
        showing=Showing.PRESENT,
        at_least=2,
        settle_s=1.5,
    ),
    _in_call.button(
        "in_call_named",
        _CONTROL_NAMES,
        "Z V B2 LMA",
        within=_FOOTERS,
        showing=Showing.LAID_OUT,
        at_least=3,
        unless=("zoom.join_button", "zoom.name_field"),
        settle_s=1.5,
    ),
    # A reloaded page asks to join again. In a call its card may linger, so this row comes last.
    _seen.selector(
        "prejoin_again",
        (",".join(JOIN_BUTTONS), ",".join(NAME_FIELDS)),
        "A V B2 LMA S J MB Z",
        state=PageState.PREJOIN,
        phase=Phase.AFTER,
    ),
)

ROWS: tuple[EvidenceRow, ...] = (*_WITNESSES, *_REFUSALS, *_ENDINGS, *_WAY_IN)
