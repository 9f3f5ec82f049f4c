"""Microsoft Teams: what the in-page scripts report."""

from typing import Any

from sederunt.platforms.dom_signals import BANNER
from sederunt.platforms.teams.decode import MAIN_CHANNEL

_AUTHORS = ['[data-tid="message-author-name"]', '[id^="author-"]']
_BODIES = ['[data-tid="messageBodyContent"]', '[id^="content-"]']

# The name on a tile or a row. Some builds key tiles by address, or by an element's name; the label has badges after the
# name (B2; 2026-09).
_NAME = [
    {"selector": "span[title]:not([title*='@'])", "attribute": "title"},
    '[data-tid="participant-info-nametag"]',
    {"selector": "[data-stream-type]:not([data-tid*='@'],[data-tid^='menu'])", "attribute": "data-tid"},
    {"attribute": "aria-label"},
]

WATCH: dict[str, Any] = {
    "dataChannels": [MAIN_CHANNEL],
    # The signalling socket's host changes; its frames are recognised by their beginning (A, B2, V; 2026-08).
    "webSockets": ["/"],
    # Only an answer at …flightproxy…/conv/… names the people who were here before the bot (B2; 2026-07).
    "fetches": ["roster", "conversation", "callagent", "/conv/", "flightproxy"],
    "roster": {
        "row": [
            '[data-tid^="participantsInCall-"]',
            # People who wait in the lobby have rows of their own.
            '[data-cid="roster-participant"][aria-label]:not([data-tid*="lobby" i],[data-tid*="lobby" i] *)',
            '[data-stream-type="Video"][data-tid]',
            '[data-cid="calling-participant-stream"]:has([data-tid="participant-info-nametag"])',  # older clients
        ],
        # Tiles show only some.
        "whole": '[role="tree"][aria-label="Attendees" i],[data-tid^="participantsInCall-"],'
        '[data-cid="roster-participant"]',
        "name": _NAME,
    },
    "speaking": {
        "row": '[data-stream-type="Video"][data-tid]',
        "id": _NAME,
        "within": '[data-tid="voice-level-stream-outline"]',
        "classes": ["vdi-frame-occlusion"],
    },
    "chat": {
        "row": [
            '[data-tid="chat-pane-item"]',
            '[data-tid="chat-pane-message"]:not([data-tid="chat-pane-item"] *)',
        ],
        "sender": _AUTHORS,
        "text": [
            *_BODIES,
            'div[dir="auto"][role="heading"][aria-level="4"]',  # older clients
            # An unknown kind of row. Known kinds contain author and time, and their body may come later.
            {"selector": '[data-tid="chat-pane-message"]', "unless": ",".join([*_AUTHORS, *_BODIES])},
        ],
        "id": [
            {"selector": '[id^="content-"]', "attribute": "id"},
            {"attribute": "id"},
            {"attribute": "data-mid"},
        ],
        "time": [{"selector": "time[datetime]", "attribute": "datetime"}],  # J, LMA, A; 2026-08
    },
    # The badge of the people button counts the bot too (LMA; 2026-08). The chat's badge has the same name.
    "banner": {
        **BANNER,
        "counts": [
            {
                "selector": ":is(#roster-button,[data-tid='roster-button'],button[aria-label^='People' i]) "
                "[data-tid='toolbar-item-badge']"
            }
        ],
    },
    "own": ["callingDebug.observableCall.callerMri"],  # the roster does not mark the bot's own entry (A; 2026-08)
    # The socket also carries other calls of an account (A, B2; 2026-09). A short link names no call.
    "call": ["callingDebug.observableCall._callId", "callingDebug.observableCall.threadId", "location.href"],
}
