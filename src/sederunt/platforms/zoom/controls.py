"""Zoom's web client: the controls of the way in, of the call and of its chat, in the order in which they are tried."""

from sederunt.platforms.chat import ChatPanel
from sederunt.platforms.evidence import DIALOGS, EvidenceRow, Kind, Showing
from sederunt.platforms.page_state import PageState
from sederunt.platforms.site import Panel
from sederunt.platforms.targets import CONSENT_GIVEN, CONSENT_REFUSED, NO_PANEL, Act, Camera, Journey, Step, Target
from sederunt.platforms.zoom.evidence import JOIN_BUTTONS, NAME_FIELDS, PASSCODE_FIELDS

_BEFORE_KNOCK = frozenset({PageState.LOADING, PageState.DIALOG, PageState.PREJOIN})
_MODAL = (
    ".zm-modal",
    ".zm-modal-legacy",
    ".ReactModal__Content",
    ".consent-banner",
    '[class*="rtms-disclaimer"]',
    *DIALOGS,
)

_LAUNCH = Target(id="zoom.launch", names=("Launch Meeting",), source="V B2 S")
_BROWSER = Target(id="zoom.browser", names=("Join from your browser", "Join from browser"), source="V B2 S")
_COOKIES = Target(
    id="zoom.cookies",
    selectors=("#onetrust-reject-all-handler", "#onetrust-accept-btn-handler"),
    names=("Reject all", "Reject all cookies", "Accept all", "Accept all cookies", "Accept cookies"),
    source="B2 LMA",
)
_TERMS = Target(
    id="zoom.terms",
    selectors=("#wc_agree1", "#disclaimer_agree"),
    names=("I agree", "Agree", "Agree and continue", "I accept", "I understand"),
    but_not=("Disagree",),
    source="B2 MB",
)
# The microphone has to be allowed: without it the client plays no sound at all (V, B2).
_DEVICES = Target(
    id="zoom.devices",
    names=("Use microphone and camera", "Use microphone", "Allow"),
    source="V B2",
)
_NO_DEVICES = Target(
    id="zoom.no_devices",
    selectors=(".no-permission-confirm-container .continue", ".no-permission-confirm-container button.continue"),
    names=("Continue without microphone and camera", "Continue without audio and video", "Continue without*"),
    source="V B2 Z",
)
_CONSENT = Target(
    id="zoom.consent",
    within=tuple(modal + NO_PANEL for modal in _MODAL),
    holding=("recorded", "consent", "livestream", "archiv", "transcri", "ai companion", "disclaimer"),
    selectors=("button.zm-btn--primary",),
    names=CONSENT_GIVEN,
    but_not=CONSENT_REFUSED,
    source="Z B2 V LMA",
)
_DISMISS = Target(
    id="zoom.dismiss",
    within=(*_MODAL, ".relative-tooltip", ".settings-feature-tips", '[role="tooltip"]'),
    names=("Got it", "Dismiss", "Not now", "No thanks", "Skip", "Later"),
    source="Z LMA A B2",
)
_MICROPHONE_OFF = Target(
    id="zoom.microphone_off",
    selectors=('#preview-audio-control-button[aria-label="Mute" i]',),
    source="Z V B2",
)
_CAMERA_OFF = Target(
    id="zoom.camera_off",
    selectors=('#preview-video-control-button[aria-label="Stop Video" i]',),
    source="Z V B2",
)
_NAME = Target(id="zoom.name", selectors=NAME_FIELDS, source="A V B2 LMA S J Z")
_PASSCODE = Target(id="zoom.passcode", selectors=PASSCODE_FIELDS, source="A V B2 LMA Z")
_KNOCK = Target(
    id="zoom.knock",
    selectors=JOIN_BUTTONS,
    names=("Join",),
    but_not=("Join Audio*", "Join from*"),
    source="A V B2 LMA S J MB Z",
)
_JOIN_AUDIO = Target(
    id="zoom.join_audio",
    selectors=(".join-audio-by-voip__join-btn", 'button[aria-label="Join Audio by Computer" i]'),
    names=("Join Audio by Computer", "Join with Computer Audio", "Join Computer Audio"),
    source="Z V",
)
_OPEN_AUDIO = Target(
    id="zoom.open_audio",
    selectors=('button[aria-label="Join Audio" i]',),
    names=("Join Audio",),
    source="Z V",
)
_LEAVE = Target(
    id="zoom.leave",
    selectors=(
        '[footer-section="right"] button[aria-label="Leave"]',
        ':is(button,[role="button"])[aria-label="Leave"]',
        'button[aria-label="End"]',
        "button.leave-btn",
    ),
    showing=Showing.PRESENT,
    source="V B2 Z",
)
_LEAVE_CONFIRM = Target(
    id="zoom.leave_confirm",
    selectors=("button.leave-meeting-options__btn--danger", ".leave-meeting-options__btn--danger"),
    names=("Leave Meeting", "Leave Webinar"),
    source="V B2 Z",
)

JOURNEY = Journey(
    steps=(
        Step(target=_COOKIES),
        Step(target=_BROWSER, states=_BEFORE_KNOCK, again_s=4.0),
        Step(target=_LAUNCH, states=_BEFORE_KNOCK, most=2, again_s=6.0),
        Step(target=_JOIN_AUDIO),
        Step(target=_TERMS),
        Step(target=_CONSENT, most=6, again_s=1.0),
        Step(target=_DEVICES, states=_BEFORE_KNOCK),
        Step(target=_NO_DEVICES, states=_BEFORE_KNOCK),
        Step(target=_DISMISS),
        Step(target=_MICROPHONE_OFF, states=_BEFORE_KNOCK),
        Step(target=_CAMERA_OFF, states=_BEFORE_KNOCK),
        Step(target=_NAME, act=Act.FILL_NAME, states=_BEFORE_KNOCK, most=6, again_s=1.0),
        Step(target=_PASSCODE, act=Act.FILL_PASSCODE, states=_BEFORE_KNOCK, most=4, again_s=1.0),
        Step(target=_KNOCK, states=_BEFORE_KNOCK, unpointed=3, most=8, again_s=4.0, without_name_s=6.0, knocks=True),
    ),
    loading_s=25.0,
    # A meeting whose host has not come yet may show the same page as an unknown number (V, B2).
    load_again={"zoom.invalid": (10.0, 2), "zoom.title.invalid": (10.0, 2)},
    name_means_guest=False,  # a token from another account still comes with a name of its own
)

NOTICES = (
    Step(target=_CONSENT),
    Step(target=_DISMISS),
    Step(target=_JOIN_AUDIO, most=2),
    Step(target=_OPEN_AUDIO, most=2),
    # Answering the consent may connect the sound anew, unmuted (B2).
    Step(
        target=Target(
            id="zoom.mute_in_call",
            selectors=('button[aria-label^="mute my microphone" i]', 'button[aria-label="Mute" i]'),
            source="J V B2",
        ),
        most=2,
    ),
)
CAMERA = Camera(
    on=Target(
        id="zoom.camera_on_in_call",
        selectors=('button[aria-label^="start my video" i]', 'button[aria-label="Start Video" i]'),
        source="J V B2",
    ),
    off=Target(
        id="zoom.camera_off_in_call",
        selectors=('button[aria-label^="stop my video" i]', 'button[aria-label="Stop Video" i]'),
        source="J V B2",
    ),
)
LEAVING = (_LEAVE, _LEAVE_CONFIRM)

CHAT = ChatPanel(
    open=Target(
        id="zoom.chat_open",
        selectors=('button[aria-label="open the chat panel" i]', '[aria-label^="open the chat" i]'),
        names=("Chat",),
        showing=Showing.LAID_OUT,
        source="J LMA B2 Z",
    ),
    composer=Target(
        id="zoom.composer",
        selectors=(
            '.chat-rtf-box__editor-outer [contenteditable="true"]',
            ".chat-rtf-box__editor-outer [contenteditable]",
            ".tiptap.ProseMirror",
            '[contenteditable="true"]:has(p[data-placeholder*="Type message here"])',
            'textarea[placeholder*="Type message here" i]',
        ),
        source="LMA J B2",
    ),
    send=Target(
        id="zoom.chat_send",
        selectors=('button[aria-label="send" i]', ".chat-rtf-box__send"),
        source="LMA J B2",
    ),
    messages=('[id^="chat-message-"]', ".new-chat-message__container", ".chat-rtf-box__display"),
    disabled=(
        EvidenceRow(id="zoom.chat_disabled", kind=Kind.TEXT, patterns=("Chat disabled", "disabled chat"), source="J Z"),
    ),
)

# Some layouts show one of the two at a time: then the chat rests open.
PANELS = (
    Panel(
        control=CHAT.open,
        rows=(
            EvidenceRow(
                id="zoom.chat_list",
                kind=Kind.SELECTOR,
                patterns=(
                    '[aria-label="Chat Message List"]',
                    '[aria-label^="close the chat" i]',
                    *CHAT.composer.selectors,
                ),
                showing=Showing.LAID_OUT,
                source="J LMA B2 Z",
            ),
        ),
    ),
    Panel(
        control=Target(
            id="zoom.people",
            selectors=(
                'button[aria-label*="open the participants list pane" i]',
                ':is(button,[role="button"])[aria-label^="open the" i][aria-label*="participants" i]',
            ),
            names=("Participants",),
            showing=Showing.LAID_OUT,
            source="Z J B2",
        ),
        rows=(
            EvidenceRow(
                id="zoom.roster",
                kind=Kind.SELECTOR,
                patterns=(
                    "#participants-ul",
                    ".participants-li",
                    '[aria-label^="close the" i][aria-label*="participants" i]',
                ),
                showing=Showing.LAID_OUT,
                source="Z J B2",
            ),
        ),
        for_roster=True,
    ),
)
