"""Google Meet: what the in-page scripts report. Network first; the page's own lists for sessions that hide it."""

from typing import Any

WATCH: dict[str, Any] = {
    # Payloads of these, whoever opened the channel (A, B2, V; 2026-08).
    "dataChannels": ["collections", "dcrpc"],
    "fetches": ["MeetingSpaceService/SyncMeetingSpaceCollections", "MeetingDeviceService/CreateMeetingDevice"],
    "webSockets": [],
    # Rows of the people panel and tiles of the stage (J, B2, MB, V; 2026-08).
    "roster": {
        "row": '[role="list"] [role="listitem"][data-participant-id], div[data-participant-id]',
        "name": {"attribute": "aria-label", "selectors": ["span.notranslate", "[data-self-name]", ".zWGUib"]},
        "id": "data-participant-id",
        "avatar": "img",
        "self": "[data-self-name]",
    },
    # Class names of speaking tiles rotate: several generations side by side (V, 2026-08; B2's colours left out).
    "speaking": {
        "row": "[data-participant-id]",
        "id": "data-participant-id",
        "classes": ["Oaajhc", "HX2H7", "wEsLMd", "OgVli"],
        "attributes": ['[data-audio-level]:not([data-audio-level="0"])'],
    },
    "chat": {
        "row": "[data-message-id]",
        "sender": [".poVWob", ".HNucUd [data-sender-name]"],
        "text": [".jO4O1", 'div[jsname="dTKtvb"]'],
        "id": "data-message-id",
    },
}
