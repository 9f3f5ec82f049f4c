"""Google Meet: the controls for entering, for the call and for its chat, in the order in which they are tried."""

from sederunt.platforms.call_controls import CallControls, Camera, ChatPanel
from sederunt.platforms.evidence import DIALOGS, Showing
from sederunt.platforms.gmeet import labels
from sederunt.platforms.gmeet.evidence import CTA_NAMES, NAME_FIELDS
from sederunt.platforms.notices import DISMISSALS, DISMISSALS_IN_CALL, OFFERS, SHARED_WITH, STAYS, outside_panels
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

_target = Targets("gmeet")
_NOTICE = outside_panels(DIALOGS)
_DISMISSALS = (*DISMISSALS, "Skip", "OK")
_DISMISSALS_IN_CALL = (*DISMISSALS_IN_CALL, "OK")

_WITHOUT_DEVICES = _target(
    "without_devices",
    "A V B2 S J",
    names="Continue without microphone and camera | Continue without camera and microphone | "
    "Continue without microphone | Continue without camera | Continue without* | "
    "Ohne Mikrofon und Kamera fortfahren",
)
# If the page does not offer to continue without devices.
_WITH_DEVICES = _target("with_devices", "A V B2 S J", names="Use microphone and camera | Use microphone | Use camera")
# Recording, transcription and note-taking notices must be answered separately: their button may read like a knock.
_CONSENT = consent(
    _target,
    "A V B2",
    within=_NOTICE,
    selectors=('button[data-mdc-dialog-action="ok"]',),
    names=("Join now", "Join", *labels.JOIN),
)
# Meet's consent to sharing data with another product, whichever it names; it need not be a dialog.
_SHARING = consent(
    _target,
    "I",
    name="sharing_consent",
    within=(*_NOTICE, "form", "main"),
    holding=SHARED_WITH,
    names=("Join now", "Join call", "Join", "Allow*"),
    seen="2026-09",
)
_STAY = _target("stay", "K", within=DIALOGS, names=STAYS)
_COOKIES = _target("cookies", "A", names=(*COOKIE_ANSWERS, "Accept all cookies", "I agree"))
_DISMISS = _target("dismiss", "B2 S", names=_DISMISSALS)
_CLOSE = _target(
    "close",
    "S B2",
    within=_NOTICE,
    selectors=('button[aria-label="Close"]', 'button[aria-label^="Close dialog"]'),
    names="Close | Not now",
    but_not="Close side panel",
)
_NO_ACCOUNT = _target("no_account", "B1 B2", names="Use without an account", seen="2025-06")
_MICROPHONE_OFF = _target(
    "microphone_off",
    "A V B2 S J",
    selectors=('[aria-label^="Turn off microphone" i]', labels.beginning(labels.MICROPHONE_OFF)),
)
_CAMERA_OFF = _target(
    "camera_off",
    "A V B2 S J",
    selectors=('[aria-label^="Turn off camera" i]', labels.beginning(labels.CAMERA_OFF)),
)
_CAMERA_ON = _target("camera_on", "A V B2", selectors=('[aria-label^="Turn on camera" i]',))
_NAME = _target("name", "A V B2 S J MB", selectors=NAME_FIELDS)
_KNOCK = _target(
    "knock",
    "A V B2 S J E",
    names=CTA_NAMES,
    but_not="Ask to join again | Ask to join and use* | Other ways to join | Join and use a phone for audio | "
    "Cast this meeting",
)
_ANY_KNOCK = _target(
    "any_knock",
    "V",
    backstops=("button[jsname]:not([aria-label]):has(span)",),
    but_not="Ask to join again | Other ways to join | Join and use a phone for audio | Cast this meeting | Sign in | "
    "Learn more | Leave call | Return to home screen | Present | More options",
)

# Meet ends a request that nobody answers after some ten minutes (I, 2026-08). Each one rings for the people in the
# call, so there is a pause: half a minute is little beside the ten.
_ASK_AGAIN_S = 30.0

JOURNEY = Journey(
    ask_again=dict.fromkeys(("gmeet.no_answer", "gmeet.means.unanswered"), _ASK_AGAIN_S),
    steps=(
        Step(target=_WITHOUT_DEVICES, states=BEFORE_KNOCK),
        Step(target=_WITH_DEVICES, states=BEFORE_KNOCK, patience_s=3.0),
        Step(target=_CONSENT, most=6, again_s=0.8),
        Step(target=_SHARING, most=6, again_s=0.8),
        Step(target=_COOKIES),
        Step(target=_DISMISS),
        Step(target=_CLOSE),
        Step(target=_NO_ACCOUNT, states=BEFORE_KNOCK),
        Step(target=_MICROPHONE_OFF, states=BEFORE_KNOCK),
        Step(target=_CAMERA_OFF, states=BEFORE_KNOCK),
        name_step(_NAME),
        knock_step(_KNOCK),
        Step(
            target=_ANY_KNOCK,
            states=BEFORE_KNOCK,
            most=2,
            again_s=8.0,
            patience_s=10.0,
            without_name_s=15.0,
            knocks=True,
        ),
    ),
)

_CHAT = ChatPanel(
    open=_target(
        "chat_open",
        "B2 E A",
        selectors=(
            'button[aria-label^="Chat with everyone" i]',
            'button[aria-label="In-call messages" i]',
            'nav button[data-panel-id="2"]',
            labels.beginning(labels.CHAT, "button"),
        ),
        names="Chat | Chat with everyone*",
        showing=Showing.PRESENT,
    ),
    composer=_target(
        "composer",
        "A B2 J E",
        selectors=(
            'textarea[aria-label="Send a message"]',
            'textarea[aria-label="Send a message to everyone"]',
            'textarea[aria-label^="Send a message" i]',
            'textarea[placeholder*="Send a message" i]',
            '[contenteditable="true"][role="textbox"][aria-label^="Send a message" i]',
            '[contenteditable][role="textbox"][aria-label*="message" i]',
            labels.beginning(labels.COMPOSER, ':is(textarea,[contenteditable="true"])'),
        ),
    ),
    send=_target(
        "chat_send",
        "A B2",
        selectors=(
            'button[aria-label="Send a message"][jsname="SoqoBf"]',
            'button[aria-label="Send a message" i]',
            'button[aria-label="Send message" i]',
            labels.beginning(labels.COMPOSER, "button"),
        ),
    ),
    messages=("[data-message-id]", ".jO4O1", 'div[jsname="dTKtvb"]'),
)

CONTROLS = CallControls(
    notices=(
        *decline_steps(_target, DIALOGS),
        Step(target=_CONSENT),
        Step(target=_SHARING),
        Step(target=_STAY),
        Step(target=_target("dismiss_in_call", "B2", within=DIALOGS, names=_DISMISSALS_IN_CALL, lacking=OFFERS)),
        Step(target=_CLOSE),
        # The site resets both switches on the way from the lobby to the call (B2).
        Step(target=_MICROPHONE_OFF, most=1),
    ),
    camera=Camera(on=_CAMERA_ON, off=_CAMERA_OFF),
    chat=_CHAT,
    # If the network reports neither people nor chat, both lists are read; here one replaces the other.
    panels=panels(
        "gmeet",
        _CHAT,
        chat_for_roster=True,
        chat_signs=('button[aria-label^="Chat with everyone" i]:is([aria-pressed="true"],[aria-expanded="true"])',),
        chat_source="A B2 J E",
        people=_target(
            "people",
            "B2 S V",
            selectors=(
                'button[aria-label="Show everyone" i]',
                'button[aria-label^="People" i]',
                'nav button[data-panel-id="1"]',
                'div[role="button"][aria-haspopup="dialog"][aria-label^="People" i]',
                labels.beginning(labels.PEOPLE, "button"),
            ),
            names="People | Show everyone",
            showing=Showing.LAID_OUT,
        ),
        roster_signs=(
            '[role="list"][aria-label="Participants"] [role="listitem"]',
            '[role="listitem"][data-participant-id]',
            'button[aria-label^="People" i]:is([aria-pressed="true"],[aria-expanded="true"])',
        ),
        roster_source="J B2 MB",
        roster_showing=Showing.VISIBLE,
    ),
    leaving=(
        _target(
            "leave",
            "A V O R",
            selectors=(
                'button[jsname="CQylAd"][aria-label="Leave call"]',
                'button[aria-label="Leave call" i]',
                '[role="button"][aria-label="Leave call" i]',
                labels.beginning(labels.LEAVE),
                'button[jsname="CQylAd"]',
            ),
            names="Leave call",
            showing=Showing.PRESENT,
        ),
        _target(
            "leave_only",
            "A V",
            within=DIALOGS,
            names="Just leave the meeting | Just leave the call | Leave meeting | Leave",
        ),
    ),
)
