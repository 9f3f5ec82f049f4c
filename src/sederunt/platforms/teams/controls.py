"""Microsoft Teams: the controls of the way in, of the call and of its chat, in the order in which they are tried."""

from sederunt.platforms.chat import ChatPanel
from sederunt.platforms.evidence import DIALOGS, EvidenceRow, Kind, Showing
from sederunt.platforms.page_state import PageState
from sederunt.platforms.site import Panel
from sederunt.platforms.targets import Act, Camera, Journey, Step, Target
from sederunt.platforms.teams.evidence import LAUNCHER_NAMES, NAME_FIELDS

_BEFORE_KNOCK = frozenset({PageState.LOADING, PageState.DIALOG, PageState.PREJOIN})
_DIALOG = (*DIALOGS, ".ui-dialog")

_LAUNCHER = Target(
    id="teams.launcher",
    selectors=(
        'button[data-tid="joinOnWeb"]',
        '[data-tid="joinOnWeb"]',
        'button[aria-label*="on this browser" i]',
        'button[aria-label*="from this browser" i]',
    ),
    names=LAUNCHER_NAMES,
    source="S V B2 O",
)
_NO_DEVICES = Target(
    id="teams.no_devices",
    names=("Continue without audio or video", "Continue without audio", "Continue without video"),
    source="S V B2 I",
)
_COOKIES = Target(id="teams.cookies", names=("Reject", "Reject all", "Accept", "Accept all"), source="S")
_DISMISS = Target(id="teams.dismiss", names=("Got it", "Dismiss", "Not now", "Maybe later", "No thanks"), source="S S'")
_CLOSE = Target(
    id="teams.close",
    within=(*_DIALOG, '[role="alert"]', '[role="status"]', '[data-tid*="notification"]', '[data-tid*="banner"]'),
    selectors=('button[aria-label="Close" i]', 'button[title="Close" i]', 'button[aria-label="Dismiss" i]'),
    names=("OK", "Close"),
    source="S S'",
)
_MICROPHONE_OFF = Target(
    id="teams.microphone_off",
    selectors=(
        '[data-tid="toggle-mute"][aria-checked="true"]',
        'input[data-tid="toggle-mute"]:checked:not([aria-checked="false"])',
        'button[title="Mute mic" i]',
        'button[aria-label="Mute mic" i]',
        '[role="switch"][aria-label="Microphone" i][aria-checked="true"]',
    ),
    showing=Showing.LAID_OUT,
    source="A V B2 S J",
)
_CAMERA_OFF = Target(
    id="teams.camera_off",
    selectors=(
        '[data-tid="toggle-video"][aria-checked="true"]',
        'input[data-tid="toggle-video"]:checked:not([aria-checked="false"])',
        'button[aria-label="Turn camera off" i]',
        'button[aria-label="Turn off camera" i]',
        'button[title="Turn camera off" i]',
        '[role="switch"][aria-label="Camera" i][aria-checked="true"]',
    ),
    showing=Showing.LAID_OUT,
    source="A V B2 S J",
)
_COMPUTER_AUDIO = Target(
    id="teams.computer_audio",
    selectors=(
        '[role="radio"][aria-label*="Computer audio" i][aria-checked="false"]',
        'input[type="radio"][aria-label*="Computer audio" i]:not(:checked)',
        '[role="radio"][aria-checked="false"][data-tid*="computer-audio" i]',
    ),
    showing=Showing.LAID_OUT,
    source="V",
)
_NAME = Target(id="teams.name", selectors=NAME_FIELDS, source="A V B2 S J")
_KNOCK = Target(
    id="teams.knock",
    selectors=('[data-tid="prejoin-join-button"]', "#prejoin-join-button"),
    names=("Join now", "Join meeting", "Join"),
    source="A V B2 LMA S J",
)
_CANCEL = Target(
    id="teams.cancel",
    selectors=('[data-tid="prejoin-cancel-button"]', '[data-tid="lobby-leave-button"]'),
    names=("Cancel",),
    source="A V B2",
)
_LEAVE = Target(
    id="teams.leave",
    selectors=(
        "#hangup-button",
        'button[data-tid="hangup-main-btn"]',
        '[data-tid="hangup-button"]',
        '[data-inp="hangup-button"]',
        '[data-tid="call-hangup"]',
        'button[aria-label="Leave" i]',
        'button[aria-label^="Leave (" i]',
    ),
    names=("Leave",),
    showing=Showing.LAID_OUT,
    source="A V B2 LMA",
)
_LEAVE_CONFIRM = Target(id="teams.leave_confirm", within=_DIALOG, names=("Leave", "Leave now"), source="A V")

JOURNEY = Journey(
    steps=(
        Step(target=_LAUNCHER, states=_BEFORE_KNOCK, most=4, again_s=4.0),
        Step(target=_NO_DEVICES, most=6, again_s=1.0),
        Step(target=_COOKIES, states=_BEFORE_KNOCK),
        Step(target=_DISMISS),
        Step(target=_CLOSE),
        Step(target=_COMPUTER_AUDIO, states=_BEFORE_KNOCK, most=2),
        Step(target=_MICROPHONE_OFF, states=_BEFORE_KNOCK),
        Step(target=_CAMERA_OFF, states=_BEFORE_KNOCK),
        Step(target=_NAME, act=Act.FILL_NAME, states=_BEFORE_KNOCK, most=6, again_s=1.0),
        Step(target=_KNOCK, states=_BEFORE_KNOCK, unpointed=3, most=10, again_s=3.0, without_name_s=6.0, knocks=True),
    ),
    loading_s=25.0,  # the anonymous client can stay on its splash for short links
)

NOTICES = (
    Step(target=_NO_DEVICES),
    Step(target=Target(id="teams.dismiss_in_call", within=_CLOSE.within, names=_DISMISS.names, source="S S'")),
    Step(target=_CLOSE),
    # The site resets both switches on the way from the lobby to the call (B2, LMA).
    Step(
        target=Target(
            id="teams.mute_in_call",
            selectors=('#microphone-button[aria-label^="Mute" i]', 'button[aria-label^="Mute mic" i]'),
            source="A B2",
        ),
        most=1,
    ),
)
CAMERA = Camera(
    on=Target(
        id="teams.camera_on_in_call",
        selectors=(
            '#video-button[aria-label*="camera on" i]',
            'button[aria-label^="Turn camera on" i]',
            'button[aria-label^="Turn on camera" i]',
        ),
        source="A B2",
    ),
    off=Target(
        id="teams.camera_off_in_call",
        selectors=('#video-button[aria-label*="camera off" i]', 'button[aria-label^="Turn camera off" i]'),
        source="A B2",
    ),
)
LEAVING = (_LEAVE, _CANCEL, _LEAVE_CONFIRM)

CHAT = ChatPanel(
    open=Target(
        id="teams.chat_open",
        selectors=(
            "#chat-button",
            '[data-tid="chat-button"]',
            'button[data-tid="toggle-chat"]',
            'button[aria-label="Chat" i]',
            'button[aria-label*="show conversation" i]',
        ),
        names=("Chat", "Show conversation"),
        showing=Showing.LAID_OUT,
        source="A LMA",
    ),
    composer=Target(
        id="teams.composer",
        selectors=(
            '[contenteditable="true"][aria-label="Type a message" i]',
            '[aria-label="Type a message" i][contenteditable]',
            '[data-tid="ckeditor"] [contenteditable="true"]',
            '[data-tid="ckeditor"][contenteditable="true"]',
            'div[contenteditable="true"][data-tid="ckeditor-replyBox"]',
            'div[role="textbox"][aria-label*="message" i]',
            '[contenteditable="true"]:is([aria-placeholder*="message" i],[placeholder*="message" i])',
        ),
        source="A LMA J",
    ),
    send=Target(
        id="teams.chat_send",
        selectors=(
            'button[data-tid="newMessageCommands-send"]',
            '[data-tid="newMessageCommands-send"]',
            'button[name="send"]',
            'button[aria-label^="Send" i]',
        ),
        source="A LMA",
    ),
    messages=(
        '[data-tid="chat-pane-item"]',
        '[data-tid="chat-pane-message"]',
        '[data-tid="messageBodyContent"]',
        '[id^="content-"]',
    ),
)

# Chat reaches nobody but the open panel. Where the network tells the roster its panel, which would take the chat's
# place, stays closed.
PANELS = (
    Panel(
        control=CHAT.open,
        rows=(
            EvidenceRow(
                id="teams.chat_list",
                kind=Kind.SELECTOR,
                patterns=(
                    '[data-tid="message-pane-list-runway"]',
                    '[data-tid="chat-pane-list"]',
                    *CHAT.composer.selectors,
                    '#chat-button:is([aria-pressed="true"],[aria-expanded="true"])',
                ),
                showing=Showing.LAID_OUT,
                source="J LMA A",
            ),
        ),
    ),
    Panel(
        control=Target(
            id="teams.people",
            selectors=("#roster-button", '[data-tid="roster-button"]', 'button[aria-label^="People" i]'),
            names=("People",),
            showing=Showing.LAID_OUT,
            source="J MB V",
        ),
        rows=(
            EvidenceRow(
                id="teams.roster",
                kind=Kind.SELECTOR,
                patterns=(
                    '[role="tree"][aria-label="Attendees" i]',
                    '[data-tid^="participantsInCall-"]',
                    '[data-cid="roster-participant"]',
                    '#roster-button:is([aria-pressed="true"],[aria-expanded="true"])',
                ),
                showing=Showing.LAID_OUT,
                source="J MB V",
            ),
        ),
        for_roster=True,
    ),
)
