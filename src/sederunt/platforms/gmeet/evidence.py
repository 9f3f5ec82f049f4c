"""Google Meet: what its pages show, and what that means. Source tags and dates: docs/platforms.md."""

from sederunt.platforms.evidence import DIALOGS, EvidenceRow, Kind, Phase, Showing
from sederunt.platforms.gmeet.endings import ADDRESSES, ENDINGS, REFUSALS
from sederunt.platforms.page_state import PageState

# Subtrees that people fill. A chat message, a caption or a name may say anything, even that the meeting has ended.
NEVER = (
    'aside[aria-label="Side panel"]',
    '[aria-label*="chat messages" i]',
    '[aria-label="In-call messages"]',
    "[data-message-id]",
    '[role="log"]',
    '[role="region"][aria-label*="Captions" i]',
    '[role="list"][aria-label="Participants"]',
    '[role="listitem"][data-participant-id]',
    "[data-participant-id]",
    "[data-requested-participant-id]",
    "[data-self-name]",
    "[data-cohort-id]",
    "span.notranslate",
    "[contenteditable]",
)

_CAPTIONS = '[aria-label="Turn on captions" i],[aria-label="Turn off captions" i]'
_CHAT = '[aria-label^="Chat with everyone" i],button[aria-label="In-call messages"]'
_PEOPLE = '[aria-label="Show everyone" i],button[aria-label^="People" i],nav button[data-panel-id="1"]'
_OTHER_CONTROLS = (
    '[role="region"][aria-label="Call controls"]',
    'button[aria-label*="Raise hand" i],button[aria-label*="Lower hand" i]',
    'button[aria-label*="Send a reaction" i]',
    'button[aria-label*="Share screen" i],button[aria-label*="Present now" i]',
    'button[aria-label*="Meeting details" i]',
    'button[aria-label*="Meeting tools" i]',
    "[data-self-name]",
)
_STRONG_CONTROLS = (_CAPTIONS, _CHAT, _PEOPLE)
# The same by their names, whatever they are made of. The lobby has none of these.
_CONTROL_NAMES = (
    "Turn on captions",
    "Turn off captions",
    "Chat with everyone*",
    "Show everyone",
    "People",
    "People -*",
    "Raise hand",
    "Lower hand",
    "Send a reaction",
    "Meeting details",
    "Meeting tools",
)

CTA_NAMES = (
    "Ask to join",
    "Join now",
    "Ask to join anyway",
    "Ask to join without camera",
    "Ask to join*",
    "Join the call now",
    "Join anyway",
    "Join here too",
    "Switch here",
    "Join",
    "Join meeting",
    "Enter meeting",
    "Teilnahme erbitten",
    "Jetzt teilnehmen",
    "Trotzdem teilnehmen",
)
NAME_FIELDS = (
    'input[type="text"][aria-label="Your name" i]',
    'input[aria-label*="name" i]:not([type="hidden"])',
    'input[jsname][type="text"]',
    'input[placeholder*="name" i]',
    'input[type="text"]:not([aria-hidden="true"])',
)

# Witnesses for other rows.
_WITNESSES: tuple[EvidenceRow, ...] = (
    EvidenceRow(
        id="gmeet.controls",
        kind=Kind.SELECTOR,
        patterns=_STRONG_CONTROLS,
        showing=Showing.LAID_OUT,
        source="A B2 E V",
    ),
    EvidenceRow(
        id="gmeet.controls_named",
        kind=Kind.BUTTON,
        patterns=_CONTROL_NAMES,
        showing=Showing.LAID_OUT,
        at_least=2,
        source="A B2 E V S",
    ),
    EvidenceRow(
        id="gmeet.name_field",
        kind=Kind.SELECTOR,
        patterns=(",".join(NAME_FIELDS[:2]),),
        source="A V B2 S J MB",
    ),
    EvidenceRow(id="gmeet.cta", kind=Kind.BUTTON, patterns=CTA_NAMES, source="A V B2 S J E"),
)

_WAY: tuple[EvidenceRow, ...] = (
    EvidenceRow(
        id="gmeet.reconnecting",
        kind=Kind.TEXT,
        patterns=(
            "Connection lost",
            "Unable to connect",
            "Reconnecting",
            "Trying to reconnect",
            "You lost your network connection",
        ),
        whole=True,
        state=PageState.RECONNECTING,
        source="V",
    ),
    EvidenceRow(
        id="gmeet.lobby_in_call",
        kind=Kind.TEXT,
        patterns=("Asking to be let in", "You'll join the call when someone lets you in"),
        state=PageState.LOBBY,
        phase=Phase.AFTER,
        unless=(
            "gmeet.controls",
            "gmeet.controls_named",
        ),
        source="A V B2",
    ),
    EvidenceRow(
        id="gmeet.lobby",
        kind=Kind.TEXT,
        patterns=(
            "Asking to be let in",
            "Asking to join",
            "You'll join the call when someone lets you in",
            "join the call when someone lets you in",
            "brings you into the call",
            "Please wait until a meeting host",
            "admits you to the call",
            "Waiting for the host",
            "You're in the waiting room",
            "waiting to be let in",
            "Your request to join",
        ),
        state=PageState.LOBBY,
        phase=Phase.BEFORE,
        source="A V B2 O",
    ),
    EvidenceRow(
        id="gmeet.lobby_label",
        kind=Kind.SELECTOR,
        patterns=(
            '[aria-label*="Please wait until" i]',
            '[aria-label*="brings you into" i]',
            '[aria-label*="admits you" i]',
            '[aria-label*="waiting" i]',
        ),
        state=PageState.LOBBY,
        phase=Phase.BEFORE,
        unless=("gmeet.controls", "gmeet.controls_named", "gmeet.name_field", "gmeet.cta"),
        source="B2",
    ),
    EvidenceRow(
        id="gmeet.notice",
        kind=Kind.TEXT,
        patterns=(
            "Do you want people to see and hear you",
            "Do you want people to hear you",
            "Do you want people to see you",
            "is being recorded",
            "is being transcribed",
            "is being live streamed",
            "taking notes",
            "take notes for me",
            "Others may see your video differently",
            "Other people may see your video differently",
        ),
        within=DIALOGS,
        state=PageState.DIALOG,
        source="A V B2",
    ),
    EvidenceRow(
        id="gmeet.still_there",
        kind=Kind.BUTTON,
        patterns=("Stay in the call", "Stay in call"),
        within=DIALOGS,
        state=PageState.DIALOG,
        phase=Phase.AFTER,
        source="K",
    ),
    EvidenceRow(
        id="gmeet.in_call_still",
        kind=Kind.SELECTOR,
        patterns=_STRONG_CONTROLS,
        showing=Showing.LAID_OUT,
        state=PageState.IN_CALL,
        phase=Phase.AFTER,
        source="A B2 E V",
    ),
    EvidenceRow(
        id="gmeet.in_call",
        kind=Kind.SELECTOR,
        patterns=_STRONG_CONTROLS,
        showing=Showing.LAID_OUT,
        at_least=2,
        state=PageState.IN_CALL,
        phase=Phase.BEFORE,
        unless=("gmeet.name_field",),
        settle_s=0.15,  # two looks
        source="B2 E V",
    ),
    EvidenceRow(
        id="gmeet.in_call_one",
        kind=Kind.SELECTOR,
        patterns=_STRONG_CONTROLS,
        showing=Showing.LAID_OUT,
        state=PageState.IN_CALL,
        phase=Phase.BEFORE,
        unless=("gmeet.name_field", "gmeet.cta"),
        source="A",
    ),
    EvidenceRow(
        id="gmeet.in_call_controls",
        kind=Kind.SELECTOR,
        patterns=_OTHER_CONTROLS,
        showing=Showing.LAID_OUT,
        at_least=2,
        state=PageState.IN_CALL,
        unless=("gmeet.name_field", "gmeet.cta"),
        source="B2 V",
    ),
    EvidenceRow(
        id="gmeet.in_call_named",
        kind=Kind.BUTTON,
        patterns=_CONTROL_NAMES,
        showing=Showing.LAID_OUT,
        at_least=2,
        state=PageState.IN_CALL,
        unless=("gmeet.name_field", "gmeet.cta"),
        source="A B2 E V S",
    ),
    EvidenceRow(
        id="gmeet.prejoin",
        kind=Kind.BUTTON,
        patterns=CTA_NAMES,
        state=PageState.PREJOIN,
        source="A V B2 S J E",
    ),
    EvidenceRow(
        id="gmeet.prejoin_name",
        kind=Kind.SELECTOR,
        patterns=(",".join(NAME_FIELDS[:2]),),
        state=PageState.PREJOIN,
        source="A V B2 S J MB",
    ),
    # The toolbar hides itself; some layouts take it out of sight altogether.
    EvidenceRow(
        id="gmeet.in_call_hidden",
        kind=Kind.SELECTOR,
        patterns=_STRONG_CONTROLS,
        showing=Showing.PRESENT,
        state=PageState.IN_CALL,
        settle_s=1.0,
        source="A B2",
    ),
    EvidenceRow(
        id="gmeet.in_call_words",
        kind=Kind.TEXT,
        patterns=(
            "You have joined the call",
            "You've been admitted",
            "You're the only one here",
            "other person in the call",
            "other people in the call",
        ),
        state=PageState.IN_CALL,
        showing=Showing.LAID_OUT,
        settle_s=1.0,
        source="V S",
    ),
)

ROWS: tuple[EvidenceRow, ...] = (*ADDRESSES, *_WITNESSES, *REFUSALS, *ENDINGS, *_WAY)
