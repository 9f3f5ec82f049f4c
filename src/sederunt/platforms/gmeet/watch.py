"""Google Meet: what the in-page scripts report. The network first; the page's own lists if a session hides it."""

from typing import Any

from sederunt.platforms.dom_signals import BANNER

_SPEAKING_CLASSES = ["Oaajhc", "HX2H7", "wEsLMd", "OgVli"]  # they rotate: several generations side by side

WATCH: dict[str, Any] = {
    # Payloads of these, whoever opened the channel (A, B2, V; 2026-08).
    "dataChannels": ["collections", "dcrpc"],
    "fetches": ["SyncMeetingSpaceCollections", "CreateMeetingDevice"],
    # Rows of the people panel and tiles of the stage; the lobby's effects tile is nobody (J, B2, V).
    "roster": {
        "row": '[data-participant-id]:not([data-participant-id*="effects" i],[aria-label*="effects" i],'
        '[aria-label="Merged audio" i])',
        "whole": '[role="list"][aria-label="Participants" i]',  # tiles show only some
        "name": [
            "span.notranslate",
            {"selector": "[data-self-name]", "attribute": "data-self-name"},
            ".zWGUib",
            {"attribute": "aria-label"},
        ],
        "id": "data-participant-id",
        "avatar": "img",
        "self": "[data-self-name]",
        "nobody": ["Presentation"],  # a shared screen has a row of its own (J, B2)
    },
    "speaking": {
        "row": "[data-participant-id]",
        "id": "data-participant-id",
        "within": ",".join(f".{name}" for name in _SPEAKING_CLASSES)
        + ',[data-audio-level]:not([data-audio-level="0"])',
        "classes": _SPEAKING_CLASSES,
        "attributes": {"data-audio-level": None},
    },
    # A group of messages shows its sender once, above them (E, J, B2; 2026-08).
    "chat": {
        "row": "[data-message-id]",
        "sender": [".poVWob", {"closest": ".aops0b", "selector": ".poVWob"}],
        "text": [".jO4O1", 'div[jsname="dTKtvb"]'],
        "id": "data-message-id",
    },
    # The counter of the button that opens the list includes the bot (S, V; 2026-08).
    "banner": {
        **BANNER,
        "counts": [
            {"selector": "[data-avatar-count]", "attribute": "data-avatar-count"},
            {"selector": 'button[aria-label^="People -" i]', "attribute": "aria-label"},
        ],
    },
}
