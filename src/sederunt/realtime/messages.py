"""The texts sent to listeners, and the reasons for closing their sockets."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sederunt import foreign_json
from sederunt.bus.feeds import FeedEvent


@dataclass(frozen=True, slots=True)
class Closing:
    """How a socket is closed: a code of RFC 6455 or one of ours, and a sentence of at most 123 bytes."""

    code: int
    reason: str


ENDED = Closing(1000, "The bot has ended.")
REVOKED = Closing(4401, "The key or session to which this address was told is over.")
DELETED = Closing(4404, "The bot was deleted.")
TOO_SLOW = Closing(1013, "This listener reads too slowly. Connect again; since=<seq> resumes.")
OUR_FAULT = Closing(1011, "Something went wrong on our side. Connect again; since=<seq> resumes.")

PING = '{"type": "ping"}'


def stored(event: FeedEvent) -> str:
    """Return an event with its number."""
    return _text({**event.event, "seq": event.sequence})


def connected(values: Mapping[str, Any], sequence: int) -> str:
    """Return the first message: the state, and the number of the last event in it."""
    return _text({"type": "connected", "data": values, "seq": sequence})


def draft(message: Mapping[str, Any]) -> str:
    """Return a draft: words just spoken, which may still change."""
    return _text(message)


def error(sentence: str) -> str:
    """Return an error for the one connection whose request failed."""
    return _text({"type": "error", "data": {"message": sentence}})


def _text(message: Mapping[str, Any]) -> str:
    return foreign_json.whole(json.dumps(message, ensure_ascii=False))
