"""Microsoft Teams: the controls for entering, for the call and for its chat, in the order in which they are tried."""

from sederunt.platforms.call_controls import CallControls, Camera, ChatPanel
from sederunt.platforms.evidence import DIALOGS, Showing
from sederunt.platforms.notices import DISMISSALS, DISMISSALS_IN_CALL, OFFERS, STAYS, outside_panels
from sederunt.platforms.rows import Targets
from sederunt.platforms.shared import (
    BEFORE_KNOCK,
    COOKIE_ANSWERS,
    consent,
    decline_steps,
    knock_step,
    name_step,
    panels,
)
from sederunt.platforms.targets import Journey, Step
from sederunt.platforms.teams.evidence import LAUNCHER_NAMES, NAME_FIELDS, WITHOUT_DEVICES

_target = Targets("teams")
_switch = Targets("teams", showing=Showing.LAID_OUT)
_DIALOG = (*DIALOGS, ".ui-dialog")
_NOTICE = (*_DIALOG, '[role="alert"]', '[role="status"]', '[data-tid*="notification"]', '[data-tid*="banner"]')
_DISMISSALS = (*DISMISSALS, "Maybe later")
_CONSENT = consent(_target, "K", within=outside_panels(_NOTICE), names=("Join now", "Join", "Allow*"), seen="2026-11")
_STAY = _target("stay", "K", within=_DIALOG, names=STAYS, seen="2026-11")

_LAUNCHER = _target(
    "launcher",
    "S V B2 O",
    selectors=(
        'button[data-tid="joinOnWeb"]',
        '[data-tid="joinOnWeb"]',
        'button[aria-label*="on this browser" i]',
        'button[aria-label*="from this browser" i]',
    ),
    names=LAUNCHER_NAMES,
)
_NO_DEVICES = _target("no_devices", "S V B2 I", names=WITHOUT_DEVICES)
_COOKIES = _target("cookies", "S", names=("Reject", "Accept", *COOKIE_ANSWERS))
_DISMISS = _target("dismiss", "S S'", names=_DISMISSALS)
_CLOSE = _target(
    "close",
    "S S'",
    within=_NOTICE,
    selectors=('button[aria-label="Close" i]', 'button[title="Close" i]', 'button[aria-label="Dismiss" i]'),
    names="OK | Close",
    lacking=OFFERS,
)
_MICROPHONE_OFF = _switch(
    "microphone_off",
    "A V B2 S J",
    selectors=(
        '[data-tid="toggle-mute"][aria-checked="true"]',
        'input[data-tid="toggle-mute"]:checked:not([aria-checked="false"])',
        'button[title="Mute mic" i]',
        'button[aria-label="Mute mic" i]',
        '[role="switch"][aria-label="Microphone" i][aria-checked="true"]',
    ),
)
_CAMERA_OFF = _switch(
    "camera_off",
    "A V B2 S J",
    selectors=(
        '[data-tid="toggle-video"][aria-checked="true"]',
        'input[data-tid="toggle-video"]:checked:not([aria-checked="false"])',
        'button[aria-label="Turn camera off" i]',
        'button[aria-label="Turn off camera" i]',
        'button[title="Turn camera off" i]',
        '[role="switch"][aria-label="Camera" i][aria-checked="true"]',
    ),
)
_COMPUTER_AUDIO = _switch(
    "computer_audio",
    "V",
    selectors=(
        '[role="radio"][aria-label*="Computer audio" i][aria-checked="false"]',
        'input[type="radio"][aria-label*="Computer audio" i]:not(:checked)',
        '[role="radio"][aria-checked="false"][data-tid*="computer-audio" i]',
    ),
)
# It may be recognisable only by words: the radio's own, or those of the label around its field or after it.
_COMPUTER_AUDIO_SAID = _switch(
    "computer_audio_said",
    "V",
    within=('[role="radio"]', "label"),
    holding="computer audio",
    selectors=(
        '[role="radio"][aria-checked="false"]',
        'label:has(input[type="radio"]:not(:checked))',
        'label:has([role="radio"][aria-checked="false"])',
        'input[type="radio"]:not(:checked) + label',
    ),
)
_NAME = _target("name", "A V B2 S J", selectors=NAME_FIELDS)
_KNOCK = _target(
    "knock",
    "A V B2 LMA S J",
    selectors=('[data-tid="prejoin-join-button"]', "#prejoin-join-button"),
    names="Join now | Join meeting | Join",
)

JOURNEY = Journey(
    steps=(
        Step(target=_LAUNCHER, states=BEFORE_KNOCK, most=4, again_s=4.0),
        Step(target=_NO_DEVICES, most=6, again_s=1.0),
        Step(target=_CONSENT, most=6, again_s=1.0),
        Step(target=_COOKIES, states=BEFORE_KNOCK),
        Step(target=_COMPUTER_AUDIO, states=BEFORE_KNOCK, most=2),
        Step(target=_COMPUTER_AUDIO_SAID, states=BEFORE_KNOCK, most=2),
        Step(target=_DISMISS),
        Step(target=_CLOSE),
        Step(target=_MICROPHONE_OFF, states=BEFORE_KNOCK),
        Step(target=_CAMERA_OFF, states=BEFORE_KNOCK),
        name_step(_NAME),
        knock_step(_KNOCK, most=10, again_s=3.0),
    ),
    loading_s=25.0,  # the anonymous client can stay on its splash for short links
)

_CHAT = ChatPanel(
    open=_target(
        "chat_open",
        "A LMA",
        selectors=(
            "#chat-button",
            '[data-tid="chat-button"]',
            'button[data-tid="toggle-chat"]',
            'button[aria-label="Chat" i]',
            'button[aria-label*="show conversation" i]',
        ),
        names="Chat | Show conversation",
        showing=Showing.LAID_OUT,
    ),
    composer=_target(
        "composer",
        "A LMA J",
        selectors=(
            '[contenteditable="true"][aria-label="Type a message" i]',
            '[aria-label="Type a message" i][contenteditable]',
            '[data-tid="ckeditor"] [contenteditable="true"]',
            '[data-tid="ckeditor"][contenteditable="true"]',
            'div[contenteditable="true"][data-tid="ckeditor-replyBox"]',
            'div[role="textbox"][aria-label*="message" i]',
            '[contenteditable="true"]:is([aria-placeholder*="message" i],[placeholder*="message" i])',
        ),
    ),
    send=_target(
        "chat_send",
        "A LMA",
        selectors=(
            'button[data-tid="newMessageCommands-send"]',
            '[data-tid="newMessageCommands-send"]',
            'button[name="send"]',
            'button[aria-label^="Send" i]',
        ),
    ),
    messages=(
        '[data-tid="chat-pane-item"]',
        '[data-tid="chat-pane-message"]',
        '[data-tid="messageBodyContent"]',
        '[id^="content-"]',
    ),
)

CONTROLS = CallControls(
    notices=(
        *decline_steps(_target, _DIALOG),
        Step(target=_NO_DEVICES),
        Step(target=_CONSENT),
        Step(target=_STAY),
        Step(target=_target("dismiss_in_call", "S S'", within=_NOTICE, names=DISMISSALS_IN_CALL)),
        Step(target=_CLOSE),
        # The site resets both switches on the way from the lobby to the call (B2, LMA).
        Step(
            target=_target(
                "mute_in_call",
                "A B2",
                selectors=('#microphone-button[aria-label^="Mute" i]', 'button[aria-label^="Mute mic" i]'),
            ),
            most=1,
        ),
    ),
    camera=Camera(
        on=_target(
            "camera_on_in_call",
            "A B2",
            selectors=(
                '#video-button[aria-label*="camera on" i]',
                'button[aria-label^="Turn camera on" i]',
                'button[aria-label^="Turn on camera" i]',
            ),
        ),
        off=_target(
            "camera_off_in_call",
            "A B2",
            selectors=('#video-button[aria-label*="camera off" i]', 'button[aria-label^="Turn camera off" i]'),
        ),
    ),
    chat=_CHAT,
    # Only the open panel receives chat. If the network reports the roster, the roster's panel, which would replace
    # the chat's, stays closed.
    panels=panels(
        "teams",
        _CHAT,
        chat_signs=(
            '[data-tid="message-pane-list-runway"]',
            '[data-tid="chat-pane-list"]',
            '#chat-button:is([aria-pressed="true"],[aria-expanded="true"])',
        ),
        chat_source="J LMA A",
        people=_target(
            "people",
            "J MB V",
            selectors=("#roster-button", '[data-tid="roster-button"]', 'button[aria-label^="People" i]'),
            names="People",
            showing=Showing.LAID_OUT,
        ),
        roster_signs=(
            '[role="tree"][aria-label="Attendees" i]',
            '[data-tid^="participantsInCall-"]',
            '[data-cid="roster-participant"]',
            '#roster-button:is([aria-pressed="true"],[aria-expanded="true"])',
        ),
        roster_source="J MB V",
    ),
    leaving=(
        _target(
            "leave",
            "A V B2 LMA",
            selectors=(
                "#hangup-button",
                'button[data-tid="hangup-main-btn"]',
                '[data-tid="hangup-button"]',
                '[data-inp="hangup-button"]',
                '[data-tid="call-hangup"]',
                'button[aria-label="Leave" i]',
                'button[aria-label^="Leave (" i]',
            ),
            names="Leave",
            showing=Showing.LAID_OUT,
        ),
        _target(
            "cancel",
            "A V B2",
            selectors=('[data-tid="prejoin-cancel-button"]', '[data-tid="lobby-leave-button"]'),
            names="Cancel",
        ),
        _target("leave_confirm", "A V", within=_DIALOG, names="Leave | Leave now"),
    ),
)
