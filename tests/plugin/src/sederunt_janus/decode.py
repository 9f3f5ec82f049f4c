"""Janus' socket as claims: who is in the room, who talks, and whose an m-line is.

One socket carries everything as JSON. Whoever joins is told of all who are there, then of changes; "talking" and
"stopped-talking" come where the room was made so. A connection for listening says with each description whose each of
its m-lines is, and an m-line that somebody left is given to the next who comes. Seen at Janus 1.1.2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sederunt.claims.claim import Extent, Fact, Source, Subject, gone, here, owns, said, speak
from sederunt.model.events import camera_source, source_since
from sederunt.platforms.dom_signals import DomSignals
from sederunt.platforms.payloads import as_bytes
from sederunt.platforms.platform import Told

if TYPE_CHECKING:
    from sederunt.browser.signals import Signal

_ROOMS = ("videoroom", "audiobridge")
_UFRAG = re.compile(r"^a=ice-ufrag:(\S+)", re.MULTILINE)
_Line = tuple[str, str]  # a connection, by the user fragment of who offered it, and an m-line of it


class JanusDecoder:
    """Decodes one stay."""

    def __init__(self, own_name: str = "") -> None:
        self._page = DomSignals(own_name)
        self._own_id = ""
        self._talking: set[str] = set()
        self._offered: dict[object, str] = {}  # plug-in handle → the user fragment in its offers
        self._owners: dict[_Line, str] = {}  # m-line → who is heard or seen there
        self._tracks: dict[_Line, tuple[str, str]] = {}  # m-line → (track, "audio" or "video")
        self._told: dict[str, str] = {}  # source → whose it was told to be
        self._noted: set[str] = set()
        self.roster_heard = False

    @property
    def noted(self) -> Collection[str]:
        return self._noted

    def decode(self, signal: Signal) -> Sequence[Told]:
        """Read one signal of the page."""
        introduced = self._page.introduce(signal.at_ms)
        if signal.kind == "capture":
            return [*introduced, *self._stream(signal.data, signal.at_ms)]
        if signal.kind == "websocket":
            return [*introduced, *self._message(_json(as_bytes(signal.data.get("payload"))), signal.at_ms)]
        return introduced

    def _message(self, message: object, at_ms: int) -> list[Told]:
        told = _at(message, "plugindata", "data")
        if not isinstance(message, Mapping) or not isinstance(told, Mapping):
            return []
        what = next((str(told[room]) for room in _ROOMS if room in told), "")
        match what:
            case "joined" | "roomchanged" | "event":
                return self._people(told, at_ms, everybody=what != "event" and "id" in told)
            case "talking" | "stopped-talking":
                return self._talk(str(told.get("id")), at_ms, now=what == "talking")
            case "attached" | "updated":
                return self._lines(message, told, at_ms)
            case "destroyed":
                self._noted.add("destroyed")
                return [said(Fact.OVER, at_ms)]
        return []

    def _people(self, told: Mapping[str, Any], at_ms: int, *, everybody: bool) -> list[Told]:
        claims: list[Told] = []
        present = [person for entry in _listed(told) if (person := _person(entry))]
        if everybody:
            self._own_id = str(told["id"])
            present.append(Subject(key=self._own_id, is_self=True))
        if present:
            claims.append(here(Source.PROTOCOL, present, at_ms, Extent.SNAPSHOT if everybody else Extent.DELTA))
            self.roster_heard = True
        for key in (str(told[word]) for word in ("leaving", "kicked") if word in told):
            if key in ("ok", self._own_id):
                claims += self._put_out(str(told.get("reason", "kicked" if "kicked" in told else "")), at_ms)
            else:
                claims += [gone(key, at_ms), *self._talk(key, at_ms, now=False)]
        return claims

    def _put_out(self, reason: str, at_ms: int) -> list[Told]:
        if reason != "kicked":
            return []
        self._noted.add("kicked")
        return [said(Fact.REMOVED, at_ms)]

    def _talk(self, key: str, at_ms: int, *, now: bool) -> list[Told]:
        if (key in self._talking) == now:
            return []
        self._talking ^= {key}
        return [speak(Source.PROTOCOL, sorted(self._talking), at_ms)]

    def _lines(self, message: Mapping[str, Any], told: Mapping[str, Any], at_ms: int) -> list[Told]:
        """Note whose the m-lines of a connection are from now on."""
        found = _UFRAG.search(str(_at(message, "jsep", "sdp") or ""))
        ufrag = found.group(1) if found else self._offered.get(message.get("sender"))
        streams = told.get("streams")
        if ufrag is None or not isinstance(streams, list):
            return []
        self._offered[message.get("sender")] = ufrag
        claims: list[Told] = []
        for stream in streams:
            if isinstance(stream, Mapping):
                line = ufrag, str(stream.get("mid"))
                self._owners[line] = str(stream["feed_id"]) if "feed_id" in stream else ""
                claims += self._owned(line, at_ms)
        return claims

    def _stream(self, data: Mapping[str, Any], at_ms: int) -> list[Told]:
        if data.get("event") != "stream" or not isinstance(number := data.get("track"), int):
            return []
        line = str(data.get("ufrag")), str(data.get("mid"))
        self._tracks[line] = f"track-{number}", str(data.get("media"))
        return self._owned(line, at_ms)

    def _owned(self, line: _Line, at_ms: int) -> list[Told]:
        if line not in self._tracks or line not in self._owners:
            return []
        (track, media), key = self._tracks[line], self._owners[line]
        source = track if media == "audio" else camera_source(track)
        if self._told.get(source, "") == key:
            return []
        self._told[source] = key
        return [owns(source, key, at_ms), owns(source_since(source, at_ms), key, at_ms)]


def _listed(told: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for word in ("publishers", "participants", "joining"):
        entries = told.get(word)
        for entry in entries if isinstance(entries, list) else [entries]:
            if isinstance(entry, Mapping):
                yield entry


def _person(entry: Mapping[str, Any]) -> Subject | None:
    name = str(entry.get("display") or "")
    return Subject(key=str(entry["id"]), name=name) if "id" in entry and name else None


def _json(payload: bytes) -> object:
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        return None


def _at(value: object, *path: str) -> object:
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
