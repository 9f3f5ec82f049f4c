"""Zoom's signals as claims: roster and active speakers from the control socket, or the page's lists without it.

The control socket lives in a worker, which posts its messages as JSON text: evt 7937 carries changes of the roster,
evt 12033 the node ids that speak; an empty body means silence. One source, 2026-08, so the DOM is read as well. Audio
streams are named `<node>+…+CS+…`: of several, each belongs to one person, while a single one carries everybody.

A track's number identifies nobody for long: a new page counts anew, and a receiver may be reused for somebody else. So
the decoder claims the track's owner now, and its owner from a given moment on.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sederunt import foreign_json
from sederunt.claims.claim import Source, Subject, gone, here, owns, speak
from sederunt.claims.rules import RENEW_MS
from sederunt.model.events import source_since
from sederunt.platforms.addresses import decoded
from sederunt.platforms.dom_signals import DomSignals, bare_name
from sederunt.platforms.payloads import as_bytes
from sederunt.platforms.platform import Told

if TYPE_CHECKING:
    from sederunt.browser.signals import Signal

_NODE_BITS = 10  # the low bits of a node id tell a person's streams apart
_STREAM = re.compile(r"(\d+)\+(?:.*\+)?CS\+")
_SELF = re.compile(r"\((?:[^()]*,\s*)?me\b[^()]*\)", re.IGNORECASE)
_SCREEN = re.compile(r"[’']s? screen$", re.IGNORECASE)  # a tile that shows a shared screen
_LABELLED = re.compile(
    r"^(?P<sender>.+?) to (?P<to>[^,:]+?)(?:(?P<time>, \d{1,2}:\d{2}(?:\s?[AP]M)?, )|: |, )(?P<text>.*)$", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Held:
    """The owner of an audio track: the node id in its stream's name; None if it has no such name."""

    node: int | None
    since_ms: int


class ZoomDecoder:
    """Decodes one stay."""

    def __init__(self, own_name: str = "") -> None:
        self._page = DomSignals(own_name, read_person=person_in_row, read_message=message_in_row)
        self._known: set[str] = set()  # keys of everybody ever named
        self._speaking: set[str] = set()
        self._told_ms = 0
        self.roster_heard = False
        self._tracks: dict[str, _Held] = {}
        self._owners: dict[str, str] = {}  # source → key, as last claimed

    @property
    def noted(self) -> Collection[str]:
        return frozenset()

    def decode(self, signal: Signal) -> Sequence[Told]:
        return [*self._page.introduce(signal.at_ms), *self._decode(signal)]

    def _decode(self, signal: Signal) -> Sequence[Told]:
        if signal.kind == "capture":
            return self._stream(signal.data, signal.at_ms)
        if signal.kind not in ("worker", "websocket"):
            return self._page.decode(signal)
        events: list[Told] = []
        for message in _messages(as_bytes(signal.data.get("payload"))):
            body = message.get("body")
            match message.get("evt"):
                case 7937 if isinstance(body, Mapping):
                    events += self._people(body, signal.at_ms)
                case 12033:
                    events += self._speakers(body if isinstance(body, Mapping) else {}, signal.at_ms)
        return events

    def _stream(self, data: Mapping[str, Any], at_ms: int) -> list[Told]:
        if not isinstance(number := data.get("track"), int):
            return []
        track, node = f"track-{number}", None
        if data.get("event") == "stream" and data.get("media") == "audio":
            match = _STREAM.match(decoded(str(data.get("stream", ""))))
            node = int(match.group(1)) if match else None
        elif data.get("event") != "attached" or data.get("kind") not in ("audio", "graph"):
            return []
        if (assignment := self._tracks.get(track)) is not None and assignment.node == node:
            return []
        self._tracks[track] = _Held(node, at_ms)
        # From now on this track no longer carries its previous owner, even if that was on an earlier page.
        previous_owner_claims = self._owns(track, "", at_ms) if track in self._owners else []
        return previous_owner_claims + self._owns(source_since(track, at_ms), "", at_ms) + self._named_tracks(at_ms)

    def _named_tracks(self, at_ms: int) -> list[Told]:
        owners = {track: key for track, assignment in self._tracks.items() if (key := self._key_of(assignment.node))}
        if len(set(owners.values())) < 2:
            return []
        return [
            event
            for track, key in sorted(owners.items())
            for source in (track, source_since(track, self._tracks[track].since_ms))
            for event in self._owns(source, key, at_ms)
        ]

    def _owns(self, source: str, key: str, at_ms: int) -> list[Told]:
        if self._owners.get(source) == key:
            return []
        self._owners[source] = key
        return [owns(source, key, at_ms)]

    def _people(self, body: Mapping[str, Any], at_ms: int) -> list[Told]:
        present = [person for key, entry in _entries(body.get("add")) if (person := _person(key, entry))]
        present += [
            _person(key, entry) or Subject(key=key)
            for key, entry in _entries(body.get("update"))
            if key in self._known or _person(key, entry)
        ]
        events: list[Told] = [here(Source.PROTOCOL, present, at_ms)] if present else []
        self._known |= {person.key for person in present}
        events += [gone(key, at_ms) for key, _ in _entries(body.get("remove"))]
        self.roster_heard = self.roster_heard or bool(events)
        return events + self._named_tracks(at_ms)

    def _speakers(self, body: Mapping[str, Any], at_ms: int) -> list[Told]:
        nodes = [value for name, value in sorted(body.items()) if name.startswith("asn") and isinstance(value, int)]
        # Somebody may speak before the roster names them: use their user id, which the roster will use too.
        speaking_keys = {self._key_of(node) or str(node >> _NODE_BITS << _NODE_BITS or node) for node in nodes}
        if speaking_keys == self._speaking and (not speaking_keys or at_ms - self._told_ms < RENEW_MS):
            return []
        self._speaking, self._told_ms = speaking_keys, at_ms
        return [speak(Source.PROTOCOL, sorted(speaking_keys), at_ms)]

    def _key_of(self, node: int | None) -> str | None:
        # Returns the roster's key of a node: the id itself, or the only one that shares its high bits. Rosters name
        # people by user ids (low bits zero) or by one of their nodes.
        if node is None:
            return None
        if str(node) in self._known:
            return str(node)
        user = node >> _NODE_BITS
        keys = [key for key in self._known if key.isdecimal() and int(key) >> _NODE_BITS == user]
        return keys[0] if user and len(keys) == 1 else None


def person_in_row(entry: Mapping[str, Any]) -> Subject | None:
    """Read a row of the participants panel, or a tile: a row's label, passed as key, marks the bot's own row."""
    name, label = str(entry.get("name") or ""), str(entry.get("key") or "")
    if name == label:  # no element has only the name: the label begins with it
        name = re.split(r",\s*\(|,\s*(?:computer|phone|no) audio|\s*\((?:host|me|guest|co-host)", name, flags=re.I)[0]
    name = bare_name(name)
    if not name or _SCREEN.search(name):
        return None
    is_self = bool(_SELF.search(label)) or bool(entry.get("is_self"))
    return Subject(key=name, name=name, avatar=str(entry.get("avatar") or "") or None, is_self=is_self)


def message_in_row(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Return (sender, text) of a chat row; a row without separate parts is read from its label."""
    sender, text = str(entry.get("sender") or ""), str(entry.get("text") or "")
    labelled_sender, labelled_text = _LABELLED.match(sender), _LABELLED.match(text)
    if labelled_sender and (labelled_text or _is_label(labelled_sender, text)):
        sender = labelled_sender["sender"]
    if labelled_text and labelled_text["sender"] == sender:
        text = labelled_text["text"]
    return sender, text


def _is_label(label_match: re.Match[str], text: str) -> bool:
    # Distinguishes a row's label from a name with " to " and a comma in it. A label has the message on one line; it may
    # leave out a quotation, or mention a picture that the text does not.
    if label_match["to"] == "Everyone" or label_match["time"]:
        return True
    label, text = (" ".join(value.split()) for value in (label_match["text"], text))
    return bool(label and text) and (label in text or text in label)


def _person(key: str, entry: Mapping[str, Any]) -> Subject | None:
    name = bare_name(_name_of(entry.get("dn2")) or str(entry.get("displayName") or ""))
    return Subject(key=key, name=name) if name else None


def _name_of(encoded: object) -> str:
    # `dn2` is the name in base64, or plain.
    if not isinstance(encoded, str):
        return ""
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return encoded


def _entries(entries: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    # Yields (id, entry) of a list of entries or of a map by id.
    if isinstance(entries, Mapping):
        for key, entry in entries.items():
            yield str(key), entry if isinstance(entry, Mapping) else {}
    elif isinstance(entries, list):
        for entry in entries:
            if isinstance(entry, Mapping) and entry.get("id") is not None:
                yield str(entry["id"]), entry
            elif isinstance(entry, int | str):
                yield str(entry), {}


def _messages(payload: bytes) -> Iterator[Mapping[str, Any]]:
    # Yields a payload's control messages: alone, in a list, or wrapped as text in a field `data`.
    try:
        content = foreign_json.read(payload)
    except ValueError:
        return
    for message in content if isinstance(content, list) else [content]:
        if not isinstance(message, Mapping):
            continue
        if "evt" in message:
            yield message
        elif isinstance(inner := message.get("data"), str):
            yield from _messages(inner.encode("utf-8", "replace"))
        elif isinstance(inner, Mapping) and "evt" in inner:
            yield inner
