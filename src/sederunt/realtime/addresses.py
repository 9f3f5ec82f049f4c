"""Addresses of a bot's realtime sockets. Each contains a secret, and reveals nothing about those of other kinds.

An address belongs to the API key or personal session that received it, and expires with it.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sederunt.model.bot import Bot

# Makes a key from the bot's secret and the installation's sealed one: the database alone opens no socket.
Derive = Callable[[str], bytes]


class SocketKind(StrEnum):
    """The second-to-last part of the path."""

    EVENTS = "events"
    READ_ONLY = "read-only"
    AUDIO = "audio"


@dataclass(frozen=True, slots=True)
class SocketAddresses:
    """The three addresses of a bot, ws:// or wss://."""

    events: str
    read_only: str
    audio: str


def socket_addresses(base_url: str, bot: Bot, holder: bytes, derive: Derive) -> SocketAddresses:
    """Return <base>/realtime/<bot id>/<kind>/<token>; http and https of `base_url` become ws and wss.

    Args:
        holder: who receives them: `Caller.holder`.
    """
    scheme, _, authority = base_url.rstrip("/").partition("://")
    prefix = f"{'wss' if scheme == 'https' else 'ws'}://{authority}/realtime/{bot.id}"
    key = derive(bot.secret)
    events, read_only, audio = (f"{prefix}/{kind}/{socket_token(key, kind, holder)}" for kind in SocketKind)
    return SocketAddresses(events=events, read_only=read_only, audio=audio)


def socket_token(key: bytes, kind: SocketKind, holder: bytes) -> str:
    """Return the token that opens one kind of a bot's sockets while its holder has access: the holder and a proof."""
    message = kind.encode() + b":" + holder
    proof = base64.urlsafe_b64encode(hmac.digest(key, message, hashlib.sha256)).rstrip(b"=").decode()
    return f"{holder.hex()}.{proof}"


def holder_of(token: str) -> bytes:
    """Return the holder that an address was given to. Raises ValueError for an invalid token."""
    return bytes.fromhex(token.partition(".")[0])


def may_open(bot: Bot, kind: SocketKind, token: str, derive: Derive) -> bool:
    """Return whether a token opens this socket of the bot; compared in constant time."""
    try:
        expected_token = socket_token(derive(bot.secret), kind, holder_of(token))
    except ValueError:
        return False
    return bool(bot.secret) and hmac.compare_digest(expected_token.encode(), token.encode("utf-8", "replace"))
