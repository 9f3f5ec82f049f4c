"""A bot's request for a page."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class PageRequest:
    """The properties of one bot's page."""

    bot_id: UUID
    account_id: UUID | None = None  # whose browsers it may share
    mode: Literal["shell", "headless", "headful"]
    backend: Literal["encoded", "worklet"] = "encoded"
    forward: bool = False  # whether the page's own decoder gets the audio too
    batch_ms: int = 500
    video: bool = False  # whether video is received, and its encoded frames passed on
    watch: Mapping[str, Any]  # the platform's watch plan
    hosts: tuple[str, ...]  # origins that get permissions
    storage_state: Mapping[str, Any] | None = field(default=None, repr=False)  # signed in; needs its own browser
    signs_in: bool = False  # the bot is going to sign in; needs its own browser, too
    host_rules: str | None = None  # to reach a practice site, in a browser of its own that takes any certificate
    avatar: bytes | None = None  # the bot's camera picture, which the browser can decode; None for no camera
