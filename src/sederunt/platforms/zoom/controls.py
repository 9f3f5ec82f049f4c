"""Zoom's web client: the controls for entering, for the call and for its chat, in the order in which they are tried."""

from sederunt.platforms.call_controls import CallControls, Camera, ChatPanel
from sederunt.platforms.evidence import Showing
from sederunt.platforms.notices import ASKS_CONSENT, DISMISSALS_IN_CALL, STAYS, outside_panels
from sederunt.platforms.rows import Rows, Targets
from sederunt.platforms.shared import (
    BEFORE_KNOCK,
    COOKIE_ANSWERS,
    consent,
    decline_steps,
    knock_step,
    name_step,
    panels,
)
from sederunt.platforms.targets import Act, Journey, Step
from sederunt.platforms.zoom.evidence import (
    JOIN_AUDIO_NAMES,
    JOIN_BUTTONS,
    MODALS,
    NAME_FIELDS,
    OPEN_AUDIO_NAME,
    PASSCODE_FIELDS,
)

_target = Targets("zoom")

_LAUNCH = _target("launch", "V B2 S", names="Launch Meeting")
_BROWSER = _target("browser", "V B2 S", names="Join from your browser | Join from browser")
_COOKIES = _target(
    "cookies",
    "B2 LMA",
    selectors=("#onetrust-reject-all-handler", "#onetrust-accept-btn-handler"),
    names=(*COOKIE_ANSWERS, "Reject all cookies", "Accept all cookies", "Accept cookies"),
)
_TERMS = _target(
    "terms",
    "B2 MB",
    selectors=("#wc_agree1", "#disclaimer_agree"),
    names="I agree | Agree | Agree and continue | I accept | I understand",
    but_not="Disagree",
)
# An administrator's disclaimer may have any of these buttons, in any place. They come after the question for devices,
# which may have such a button too, and are pressed only while entering.
_TERMS_OTHERWISE = _target("terms_otherwise", "B2 MB", names="Accept | Continue | Got it")
# The microphone has to be allowed: without it the client plays no sound at all (V, B2).
_DEVICES = _target("devices", "V B2", names="Use microphone and camera | Use microphone | Allow")
_NO_DEVICES = _target(
    "no_devices",
    "V B2 Z",
    selectors=(".no-permission-confirm-container .continue", ".no-permission-confirm-container button.continue"),
    names="Continue without microphone and camera | Continue without audio and video | Continue without*",
)
_CONSENT = consent(
    _target,
    "Z B2 V LMA",
    within=outside_panels(MODALS),
    holding=(*ASKS_CONSENT, "disclaimer"),
    selectors=("button.zm-btn--primary",),
    names=("Join now", "Allow*"),
)
_STAY = _target("stay", "K", within=MODALS, names=STAYS, seen="2026-11")
_DISMISS = _target(
    "dismiss",
    "Z LMA A B2",
    within=outside_panels((*MODALS, ".relative-tooltip", ".settings-feature-tips", '[role="tooltip"]')),
    names=(*DISMISSALS_IN_CALL, "Close"),
)
_MICROPHONE_OFF = _target("microphone_off", "Z V B2", selectors=('#preview-audio-control-button[aria-label="Mute" i]',))
_CAMERA_OFF = _target("camera_off", "Z V B2", selectors=('#preview-video-control-button[aria-label="Stop Video" i]',))
_NAME = _target("name", "A V B2 LMA S J Z", selectors=NAME_FIELDS)
_PASSCODE = _target("passcode", "A V B2 LMA Z", selectors=PASSCODE_FIELDS)
_KNOCK = _target(
    "knock", "A V B2 LMA S J MB Z", selectors=JOIN_BUTTONS, names="Join", but_not="Join Audio* | Join from*"
)
_JOIN_AUDIO = _target(
    "join_audio",
    "Z V",
    selectors=(".join-audio-by-voip__join-btn", 'button[aria-label="Join Audio by Computer" i]'),
    names=JOIN_AUDIO_NAMES,
)
_OPEN_AUDIO = _target("open_audio", "Z V", selectors=('button[aria-label="Join Audio" i]',), names=OPEN_AUDIO_NAME)

JOURNEY = Journey(
    steps=(
        Step(target=_COOKIES),
        Step(target=_BROWSER, states=BEFORE_KNOCK, again_s=4.0),
        Step(target=_LAUNCH, states=BEFORE_KNOCK, most=2, again_s=6.0),
        Step(target=_JOIN_AUDIO),
        Step(target=_TERMS),
        Step(target=_CONSENT, most=6, again_s=1.0),
        Step(target=_DEVICES, states=BEFORE_KNOCK),
        Step(target=_NO_DEVICES, states=BEFORE_KNOCK),
        Step(target=_TERMS_OTHERWISE, states=BEFORE_KNOCK),
        Step(target=_DISMISS),
        Step(target=_MICROPHONE_OFF, states=BEFORE_KNOCK),
        Step(target=_CAMERA_OFF, states=BEFORE_KNOCK),
        name_step(_NAME),
        Step(target=_PASSCODE, act=Act.FILL_PASSCODE, states=BEFORE_KNOCK, most=4, again_s=1.0),
        knock_step(_KNOCK),
    ),
    loading_s=25.0,
    # A meeting whose host has not come yet may show the same page as an unknown number: bots of V and B2 look again for
    # ten minutes, as ours do if the caller expects it. A wrong number to be joined at once is reported sooner.
    load_again=dict.fromkeys(("zoom.invalid", "zoom.title.invalid", "zoom.means.unknown"), (10.0, 5))
    | {"zoom.unknown": (3.0, 1)},
    name_means_guest=False,  # a token from another account still comes with a name of its own
)

_CHAT = ChatPanel(
    open=_target(
        "chat_open",
        "J LMA B2 Z",
        selectors=('button[aria-label="open the chat panel" i]', '[aria-label^="open the chat" i]'),
        names="Chat",
        showing=Showing.LAID_OUT,
    ),
    composer=_target(
        "composer",
        "LMA J B2",
        selectors=(
            '.chat-rtf-box__editor-outer [contenteditable="true"]',
            ".chat-rtf-box__editor-outer [contenteditable]",
            ".tiptap.ProseMirror",
            '[contenteditable="true"]:has(p[data-placeholder*="Type message here"])',
            'textarea[placeholder*="Type message here" i]',
        ),
    ),
    send=_target("chat_send", "LMA J B2", selectors=('button[aria-label="send" i]', ".chat-rtf-box__send")),
    messages=('[id^="chat-message-"]', ".new-chat-message__container", ".chat-rtf-box__display"),
    disabled=(Rows("zoom").text("chat_disabled", "Chat disabled | disabled chat", "J Z"),),
)

CONTROLS = CallControls(
    notices=(
        *decline_steps(_target, MODALS),
        # Sound is blocked until consent is given (Z).
        Step(target=_CONSENT),
        Step(target=_STAY),
        # The question for sound can also be closed: then there is no sound.
        Step(target=_JOIN_AUDIO),
        Step(target=_OPEN_AUDIO, most=2),
        Step(target=_DISMISS),
        # Answering the consent may reconnect the sound, unmuted (B2).
        Step(
            target=_target(
                "mute_in_call",
                "J V B2",
                selectors=('button[aria-label^="mute my microphone" i]', 'button[aria-label="Mute" i]'),
            ),
            most=2,
        ),
    ),
    camera=Camera(
        on=_target(
            "camera_on_in_call",
            "J V B2",
            selectors=('button[aria-label^="start my video" i]', 'button[aria-label="Start Video" i]'),
        ),
        off=_target(
            "camera_off_in_call",
            "J V B2",
            selectors=('button[aria-label^="stop my video" i]', 'button[aria-label="Stop Video" i]'),
        ),
    ),
    chat=_CHAT,
    # Some layouts show only one of the two at a time: then the chat stays open.
    panels=panels(
        "zoom",
        _CHAT,
        chat_signs=('[aria-label="Chat Message List"]', '[aria-label^="close the chat" i]'),
        chat_source="J LMA B2 Z",
        people=_target(
            "people",
            "Z J B2",
            selectors=(
                'button[aria-label*="open the participants list pane" i]',
                ':is(button,[role="button"])[aria-label^="open the" i][aria-label*="participants" i]',
            ),
            names="Participants",
            showing=Showing.LAID_OUT,
        ),
        roster_signs=(
            "#participants-ul",
            ".participants-li",
            '[aria-label^="close the" i][aria-label*="participants" i]',
        ),
        roster_source="Z J B2",
    ),
    leaving=(
        _target(
            "leave",
            "V B2 Z",
            selectors=(
                '[footer-section="right"] button[aria-label="Leave"]',
                ':is(button,[role="button"])[aria-label="Leave"]',
                'button[aria-label="End"]',
                "button.leave-btn",
                # If an account's own language overrides the pinned one.
                '[footer-section="right"] button[aria-label]',
            ),
            showing=Showing.PRESENT,
        ),
        _target(
            "leave_confirm",
            "V B2 Z",
            selectors=("button.leave-meeting-options__btn--danger", ".leave-meeting-options__btn--danger"),
            names="Leave Meeting | Leave Webinar",
        ),
    ),
)
