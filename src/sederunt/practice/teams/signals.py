"""What Teams' own channels carry: trouter frames (roster, end of the conversation) and the main data channel. Pure."""

import base64
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from sederunt.practice.people import Occupant

DENIED, REMOVED, ENDED = 5854, 5000, 0
# What stands before the JSON on the main channel; readers look for the first bracket.
_PREFIX = bytes([0x01, 0x00, 0x00, 0x02])


def roster_frame(number: int, call: str, people: Iterable[Occupant]) -> str:
    """Return joins, leaves and changes: base64 of deflated JSON in a trouter frame."""
    body = base64.b64encode(zlib.compress(json.dumps(roster(people)).encode())).decode()
    return _frame(number, call, "rosterUpdate/", body)


def end_frame(number: int, call: str, sub_code: int, *, sender: str | None = None) -> str:
    """Return the end of the conversation for this participant, and why."""
    body = {"code": 0, "subCode": sub_code} | ({"sender": sender} if sender else {})
    return _frame(number, call, "conversation/conversationEnd/", json.dumps(body))


def roster(people: Iterable[Occupant]) -> dict[str, Any]:
    """Return the participants as the HTTP snapshot and the frames hold them."""
    return {"participants": {person.key: _participant(person) for person in people}}


def dominant_speakers(history: Sequence[int]) -> bytes:
    """Return the main channel's list of source ids that spoke, newest first."""
    return _PREFIX + json.dumps([{"type": "dsh", "history": list(history)}]).encode()


def _participant(person: Occupant) -> dict[str, Any]:
    streams = [{"type": "audio", "sourceId": person.csrc, "direction": "sendrecv", "label": "main-audio"}]
    if person.video:
        streams.append({"type": "video", "sourceId": person.csrc + 1, "direction": "sendonly", "label": "main-video"})
    if person.sharing:
        share = {"sourceId": person.csrc + 2, "direction": "sendonly", "label": "applicationsharing-video"}
        streams.append({"type": "applicationsharing-video"} | share)
    return {
        "details": {"id": person.key, "displayName": person.name},
        "state": "active" if person.present else "inactive",
        "meetingRole": "organizer" if person.host else "attendee",
        "endpoints": {f"endpoint-{person.number}": {"call": {"mediaStreams": streams, "serverMuted": person.muted}}},
    }


def _frame(number: int, call: str, ending: str, body: str) -> str:
    content = {
        "id": number,
        "method": "POST",
        "url": f"/v4/f/practice/callAgent/{call}/{ending}",
        "headers": {"X-Microsoft-Skype-Chain-ID": call},
        "body": body,
    }
    return f"3:::{json.dumps(content)}"
