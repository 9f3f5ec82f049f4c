"""What a bot asks of the page it is given."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class PageRequest:
    """How one bot's page is to be."""

    bot_id: UUID
    account_id: UUID | None = None  # whose browsers it may share
    mode: Literal["shell", "headless", "headful"]
    backend: Literal["encoded", "worklet"] = "encoded"
    forward: bool = False  # whether the page's own decoder gets the audio too
    batch_ms: int = 500
    video: bool = False  # whether video is received, and its encoded frames handed over
    watch: Mapping[str, Any]  # the platform's watch plan
    hosts: tuple[str, ...]  # origins that get permissions
    storage_state: Mapping[str, Any] | None = field(default=None, repr=False)  # signed in: a browser of its own
    signs_in: bool = False  # is going to sign in there: a browser of its own as well
    host_rules: str | None = None  # to reach a practice site, in a browser of its own that takes any certificate
    avatar: bytes | None = None  # what the bot's camera shows, a picture the browser can decode; no camera without
