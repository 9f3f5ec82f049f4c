"""Zoom's web client: what the in-page scripts report."""

from typing import Any

from sederunt.platforms.dom_signals import BANNER

_ACTIVE = [
    "speaker-active-container__video-frame--active",
    "multi-speaker-active-container__video-frame--active",
    "speaker-bar-container__video-frame--active",
    "gallery-video-container__video-frame--active",
]
_LISTED = ".participants-li:not(.waiting-room-list-container *)"  # people who wait are not here yet
_TILE_NAMES = [".video-avatar__avatar-footer span", ".video-avatar__avatar-name"]

WATCH: dict[str, Any] = {
    # The control socket lives in a worker; its messages pass through the page as JSON text (B2; 2026-08).
    "workers": ['"evt"', '\\"evt\\"'],
    "webSockets": ["/"],
    # Rows have no lasting id: their label is reported instead, and marks the bot's own row (Z, J, B2; 2026-08). A
    # person alone on the stage says nothing about the others.
    "roster": {
        "row": [_LISTED, ".gallery-video-container__video-frame", ".speaker-bar-container__video-frame"],
        "whole": _LISTED,
        "name": [".participants-item__display-name", *_TILE_NAMES, {"attribute": "aria-label"}],
        "id": "aria-label",
        "avatar": "img",
    },
    "speaking": {
        "row": [
            ".participants-li",
            *(f".{name.removesuffix('--active')}" for name in _ACTIVE),
        ],
        "id": [".participants-item__display-name", *_TILE_NAMES],
        "within": ",".join(
            [
                ".participants-icon__voip-speaking-icon",
                ".participants-icon__phone-speaking-icon",
                *(f".{name}" for name in _ACTIVE),
            ]
        ),
        "classes": [
            "participants-icon__voip-speaking-icon",
            "participants-icon__phone-speaking-icon",
            *_ACTIVE,
        ],
    },
    # The newest client has no speaking mark: the stage shows the speaker (B2 LMA; 2026-07).
    "stage": {
        "row": [".single-main-container__video-frame", ".single-suspension-container__video-frame"],
        "id": _TILE_NAMES,
    },
    "chat": {
        "row": [
            '[id^="chat-message-"]:not([id*="list"])',
            '.new-chat-message__container:not([id^="chat-message-"] *)',
        ],
        "sender": [
            ".chat-item__sender",
            {"attribute": "aria-label"},
            {"selector": "[aria-label*=' to ']", "attribute": "aria-label"},
        ],
        "text": [
            ".chat-rtf-box__display",
            ".new-chat-message__text-box",
            {"attribute": "aria-label"},
            {"selector": "[aria-label*=' to ']", "attribute": "aria-label"},
        ],
        "id": [{"attribute": "id"}, {"selector": '[id^="chat-message-"]', "attribute": "id"}],
    },
    # The counter of the button that opens the list includes the bot (LMA Z; 2026-08).
    "banner": {
        **BANNER,
        "counts": [
            {"selector": "[aria-label*='participants list' i] .footer-button__number-counter"},
            {"selector": "button[aria-label*='participants list' i]", "attribute": "aria-label"},
        ],
    },
}
