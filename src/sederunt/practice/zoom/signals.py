"""What Zoom's control socket carries: roster deltas and active speakers as JSON events. Pure."""

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from sederunt.practice.people import Occupant

ROSTER, SPEAKERS, LEVEL, STATUS = 7937, 12033, 8005, 7938


def node_id(number: int) -> int:
    """Return a participant's node; the user id is the node id without its lowest ten bits."""
    return (16_384 + number) << 10 | 1


def audio_stream(number: int) -> str:
    """Return the id of a participant's stream of sound: another node of the same user, URL-encoded."""
    return quote(f"{node_id(number) + 1}+audio+CS+{number}", safe="")


def roster_event(added: Iterable[Occupant], changed: Iterable[Occupant], gone: Iterable[Occupant]) -> str:
    """Return who came (a list), who changed and who left (maps by id)."""
    body: dict[str, Any] = {
        "add": [_person(person) for person in added],
        "update": {str(person.csrc): _person(person) for person in changed},
        "remove": {str(person.csrc): {"id": person.csrc} for person in gone},
    }
    return _event(ROSTER, {name: value for name, value in body.items() if value})


def speakers_event(nodes: Sequence[int]) -> str:
    """Return the active speakers, most recent first; an empty body is silence."""
    return _event(SPEAKERS, {f"asn{place}": node for place, node in enumerate(nodes, 1)})


def _person(person: Occupant) -> dict[str, Any]:
    return {
        "id": person.csrc,
        "dn2": base64.b64encode(person.name.encode()).decode(),
        "bBotUser": False,
        "bHost": person.host,
        "muted": person.muted,
        "role": 1 if person.host else 0,
    }


def _event(number: int, body: dict[str, Any]) -> str:
    return json.dumps({"evt": number, "seq": 0, "body": body})
