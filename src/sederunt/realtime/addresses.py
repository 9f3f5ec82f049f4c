"""Where a bot's realtime sockets are. The secret is in the address; one kind's address says nothing of the others'.

An address belongs to the API key to which it was told, and ends with it. Those that a person is shown belong to none.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from sederunt.model.bot import Bot

# Makes a key of a bot's own secret and the installation's, which is sealed: who reads the database opens no socket.
Derive = Callable[[str], bytes]


class SocketKind(StrEnum):
    """The last part but one of the path."""

    EVENTS = "events"
    READ_ONLY = "read-only"
    AUDIO = "audio"


@dataclass(frozen=True, slots=True)
class SocketAddresses:
    """The three addresses of a bot, ws:// or wss://."""

    events: str
    read_only: str
    audio: str


def socket_addresses(base_url: str, bot: Bot, key_id: UUID | None, derive: Derive) -> SocketAddresses:
    """Return <base>/realtime/<bot id>/<kind>/<token>, with the scheme of a socket for that of `base_url` (http or
    https)."""
    scheme, _, rest = base_url.rstrip("/").partition("://")
    below = f"{'wss' if scheme == 'https' else 'ws'}://{rest}/realtime/{bot.id}"
    key = derive(bot.secret)
    events, read_only, audio = (f"{below}/{kind}/{socket_token(key, kind, key_id)}" for kind in SocketKind)
    return SocketAddresses(events=events, read_only=read_only, audio=audio)


def socket_token(key: bytes, kind: SocketKind, key_id: UUID | None) -> str:
    """Return what opens one kind of a bot's sockets for as long as an API key is good: its id, and what proves it."""
    what = kind.encode() if key_id is None else kind.encode() + b":" + key_id.bytes
    proof = base64.urlsafe_b64encode(hmac.digest(key, what, hashlib.sha256)).rstrip(b"=").decode()
    return proof if key_id is None else f"{key_id.hex}.{proof}"


def key_of(token: str) -> UUID | None:
    """Return the key that an address belongs to. Raises ValueError for what is no token."""
    named, dot, _ = token.partition(".")
    return UUID(hex=named) if dot else None


def may_open(bot: Bot, kind: SocketKind, token: str, derive: Derive) -> bool:
    """Return whether a token opens this socket of the bot; compared in constant time."""
    try:
        expected = socket_token(derive(bot.secret), kind, key_of(token))
    except ValueError:
        return False
    return bool(bot.secret) and hmac.compare_digest(expected.encode(), token.encode("utf-8", "replace"))
