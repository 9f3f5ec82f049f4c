"""Where a bot's realtime sockets are. The secret is in the address; one kind's address says nothing of the others'."""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from enum import StrEnum

from sederunt.model.bot import Bot


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


def socket_addresses(base_url: str, bot: Bot) -> SocketAddresses:
    """<base>/realtime/<bot id>/<kind>/<token>, with the scheme of a socket for that of `base_url` (http or https)."""
    scheme, _, rest = base_url.rstrip("/").partition("://")
    below = f"{'wss' if scheme == 'https' else 'ws'}://{rest}/realtime/{bot.id}"
    events, read_only, audio = (f"{below}/{kind}/{socket_token(bot.secret, kind)}" for kind in SocketKind)
    return SocketAddresses(events=events, read_only=read_only, audio=audio)


def socket_token(secret: str, kind: SocketKind) -> str:
    """Return what opens one kind of a bot's sockets."""
    digest = hmac.digest(secret.encode(), kind.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def may_open(bot: Bot, kind: SocketKind, token: str) -> bool:
    """Return whether a token opens this socket of the bot; compared in constant time."""
    expected = socket_token(bot.secret, kind)
    return bool(bot.secret) and hmac.compare_digest(expected.encode(), token.encode("utf-8", "replace"))
