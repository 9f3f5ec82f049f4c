"""Google Meet: the controls of the way in, of the call and of its chat, in the order in which they are tried."""

from sederunt.platforms.chat import ChatPanel
from sederunt.platforms.evidence import DIALOGS, EvidenceRow, Kind, Showing
from sederunt.platforms.gmeet.evidence import CTA_NAMES, NAME_FIELDS
from sederunt.platforms.page_state import PageState
from sederunt.platforms.site import Panel
from sederunt.platforms.targets import CONSENT_GIVEN, CONSENT_REFUSED, NO_PANEL, Act, Camera, Journey, Step, Target

_BEFORE_KNOCK = frozenset({PageState.LOADING, PageState.DIALOG, PageState.PREJOIN})
_NOTICE = tuple(dialog + NO_PANEL for dialog in DIALOGS)

_WITHOUT_DEVICES = Target(
    id="gmeet.without_devices",
    names=(
        "Continue without microphone and camera",
        "Continue without camera and microphone",
        "Continue without microphone",
        "Continue without camera",
        "Continue without*",
        "Ohne Mikrofon und Kamera fortfahren",
    ),
    source="A V B2 S J",
)
# Where going without is not offered.
_WITH_DEVICES = Target(
    id="gmeet.with_devices", names=("Use microphone and camera", "Use microphone", "Use camera"), source="A V B2 S J"
)
# Recording, transcription and note-taking notices are a gate of their own: their button may read like a knock.
_CONSENT = Target(
    id="gmeet.consent",
    within=_NOTICE,
    holding=("recorded", "recording", "transcribed", "transcription", "taking notes", "take notes", "live stream"),
    selectors=('button[data-mdc-dialog-action="ok"]',),
    names=("Join now", "Join", *CONSENT_GIVEN),
    but_not=CONSENT_REFUSED,
    source="A V B2",
)
_STAY = Target(
    id="gmeet.stay",
    within=DIALOGS,
    names=("Stay in the call", "Stay in call", "Stay"),
    source="K",
)
_COOKIES = Target(
    id="gmeet.cookies",
    names=("Reject all", "Accept all", "Accept all cookies", "I agree"),
    source="A",
)
_DISMISS = Target(
    id="gmeet.dismiss",
    names=("Got it", "Dismiss", "No thanks", "Not now", "Skip", "OK"),
    source="B2 S",
)
_CLOSE = Target(
    id="gmeet.close",
    within=_NOTICE,
    selectors=('button[aria-label="Close"]', 'button[aria-label^="Close dialog"]'),
    names=("Close", "Not now"),
    but_not=("Close side panel",),
    source="S B2",
)
_NO_ACCOUNT = Target(id="gmeet.no_account", names=("Use without an account",), source="B1 B2", seen="2025-06")
_MICROPHONE_OFF = Target(
    id="gmeet.microphone_off",
    selectors=('[aria-label^="Turn off microphone" i]',),
    source="A V B2 S J",
)
_CAMERA_OFF = Target(
    id="gmeet.camera_off",
    selectors=('[aria-label^="Turn off camera" i]',),
    source="A V B2 S J",
)
_NAME = Target(id="gmeet.name", selectors=NAME_FIELDS, source="A V B2 S J MB")
_KNOCK = Target(
    id="gmeet.knock",
    names=CTA_NAMES,
    but_not=(
        "Ask to join again",
        "Ask to join and use*",
        "Other ways to join",
        "Join and use a phone for audio",
        "Cast this meeting",
    ),
    source="A V B2 S J E",
)
_ANY_KNOCK = Target(
    id="gmeet.any_knock",
    backstops=("button[jsname]:not([aria-label]):has(span)",),
    but_not=(
        "Ask to join again",
        "Other ways to join",
        "Join and use a phone for audio",
        "Cast this meeting",
        "Sign in",
        "Learn more",
        "Leave call",
        "Return to home screen",
        "Present",
        "More options",
    ),
    source="V",
)

_LEAVE = Target(
    id="gmeet.leave",
    selectors=(
        'button[jsname="CQylAd"][aria-label="Leave call"]',
        'button[aria-label="Leave call" i]',
        '[role="button"][aria-label="Leave call" i]',
    ),
    names=("Leave call",),
    showing=Showing.PRESENT,
    source="A V O R",
)
_LEAVE_ONLY = Target(
    id="gmeet.leave_only",
    within=DIALOGS,
    names=("Just leave the meeting", "Just leave the call", "Leave meeting", "Leave"),
    source="A V",
)

JOURNEY = Journey(
    steps=(
        Step(target=_WITHOUT_DEVICES, states=_BEFORE_KNOCK),
        Step(target=_WITH_DEVICES, states=_BEFORE_KNOCK, patience_s=3.0),
        Step(target=_CONSENT, most=6, again_s=0.8),
        Step(target=_COOKIES),
        Step(target=_DISMISS),
        Step(target=_CLOSE),
        Step(target=_NO_ACCOUNT, states=_BEFORE_KNOCK),
        Step(target=_MICROPHONE_OFF, states=_BEFORE_KNOCK),
        Step(target=_CAMERA_OFF, states=_BEFORE_KNOCK),
        Step(target=_NAME, act=Act.FILL_NAME, states=_BEFORE_KNOCK, most=6, again_s=1.0),
        Step(target=_KNOCK, states=_BEFORE_KNOCK, unpointed=3, most=8, again_s=4.0, without_name_s=6.0, knocks=True),
        Step(
            target=_ANY_KNOCK,
            states=_BEFORE_KNOCK,
            most=2,
            again_s=8.0,
            patience_s=10.0,
            without_name_s=15.0,
            knocks=True,
        ),
    ),
)

NOTICES = (
    Step(target=_CONSENT),
    Step(target=_STAY),
    Step(target=Target(id="gmeet.dismiss_in_call", within=DIALOGS, names=_DISMISS.names, source="B2")),
    Step(target=_CLOSE),
    # The site resets both switches on the way from the lobby to the call (B2).
    Step(target=_MICROPHONE_OFF, most=1),
)
CAMERA = Camera(
    on=Target(id="gmeet.camera_on", selectors=('[aria-label^="Turn on camera" i]',), source="A V B2"),
    off=_CAMERA_OFF,
)
LEAVING = (_LEAVE, _LEAVE_ONLY)

CHAT = ChatPanel(
    open=Target(
        id="gmeet.chat_open",
        selectors=(
            'button[aria-label^="Chat with everyone" i]',
            'button[aria-label="In-call messages" i]',
            'nav button[data-panel-id="2"]',
        ),
        names=("Chat", "Chat with everyone*"),
        showing=Showing.PRESENT,
        source="B2 E A",
    ),
    composer=Target(
        id="gmeet.composer",
        selectors=(
            'textarea[aria-label="Send a message"]',
            'textarea[aria-label="Send a message to everyone"]',
            'textarea[aria-label^="Send a message" i]',
            'textarea[placeholder*="Send a message" i]',
            '[contenteditable="true"][role="textbox"][aria-label^="Send a message" i]',
            '[contenteditable][role="textbox"][aria-label*="message" i]',
        ),
        source="A B2 J E",
    ),
    send=Target(
        id="gmeet.chat_send",
        selectors=(
            'button[aria-label="Send a message"][jsname="SoqoBf"]',
            'button[aria-label="Send a message" i]',
            'button[aria-label="Send message" i]',
        ),
        source="A B2",
    ),
    messages=("[data-message-id]", ".jO4O1", 'div[jsname="dTKtvb"]'),
)

# Where the network tells of neither people nor chat, both lists are read; on this site one takes the other's place.
PANELS = (
    Panel(
        control=CHAT.open,
        rows=(
            EvidenceRow(
                id="gmeet.chat_panel",
                kind=Kind.SELECTOR,
                patterns=(
                    *CHAT.composer.selectors,
                    'button[aria-label^="Chat with everyone" i]:is([aria-pressed="true"],[aria-expanded="true"])',
                ),
                showing=Showing.LAID_OUT,
                source="A B2 J E",
            ),
        ),
        for_roster=True,
    ),
    Panel(
        control=Target(
            id="gmeet.people",
            selectors=(
                'button[aria-label="Show everyone" i]',
                'button[aria-label^="People" i]',
                'nav button[data-panel-id="1"]',
                'div[role="button"][aria-haspopup="dialog"][aria-label^="People" i]',
            ),
            names=("People", "Show everyone"),
            showing=Showing.LAID_OUT,
            source="B2 S V",
        ),
        rows=(
            EvidenceRow(
                id="gmeet.roster",
                kind=Kind.SELECTOR,
                patterns=(
                    '[role="list"][aria-label="Participants"] [role="listitem"]',
                    '[role="listitem"][data-participant-id]',
                    'button[aria-label^="People" i]:is([aria-pressed="true"],[aria-expanded="true"])',
                ),
                source="J B2 MB",
            ),
        ),
        for_roster=True,
    ),
)
