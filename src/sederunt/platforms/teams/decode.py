"""Microsoft Teams' signals as claims: the signalling socket's roster and endings, the main channel's speakers.

Socket frames are text that begins with `3:::`, JSON after it; the roster's body is base64 of compressed JSON. A page
that comes late is told of changes alone there, and asks for the full roster (B2; 2026-07). The data channel
`main-channel` carries JSON after a binary prefix. Field names: three independent sources, 2026-08.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sederunt import foreign_json
from sederunt.claims.claim import Claim, Extent, Fact, Source, Subject, gone, here, owns, said, speak
from sederunt.claims.rules import RENEW_MS
from sederunt.platforms.dom_signals import DomSignals, as_person, bare_name
from sederunt.platforms.payloads import as_bytes, from_base64, inflated
from sederunt.platforms.platform import Told
from sederunt.platforms.teams.own_call import ACCOUNTS, CallMessage, OwnCall, call_message

if TYPE_CHECKING:
    from sederunt.browser.signals import Signal

MAIN_CHANNEL = "main-channel"
_FRAME = "3:::"
_END = "conversation/conversationEnd"
_REMOVALS = frozenset({5000, 5300})  # a removal where the frame names who did it
_NOT_ADMITTED = frozenset({5854, 5723})
_REMARK = re.compile(
    r",\s*(?=(?:un)?muted\b|(?:co-)?organi[sz]er\b|presenter\b|attendee\b|guest\b|external\b|unverified\b|has\b|"
    r"hand raised\b|raised hand\b|context menu\b|in the meeting\b|on hold\b|microphone\b|camera\b|video\b)",
    re.IGNORECASE,
)
# What stands behind a name without brackets, or as an element of its own ("Ada LovelaceUnverified" once read): B2,
# 2026-09. "Guest" is left alone there: people are called so.
_BADGE = re.compile(
    r"(?<=\S)\s+(?:external|unfamiliar|unverified)$|(?<=[^\W_])(?-i:External|Unfamiliar|Unverified)$", re.IGNORECASE
)


class TeamsDecoder:
    """Decodes one stay."""

    def __init__(self, own_name: str = "") -> None:
        self._page = DomSignals(own_name, read_person=person_in_row, read_name=name_in_label)
        self._noted: set[str] = set()
        self._call = OwnCall(own_name)
        self._here: set[str] = set()  # as far as the network tells
        self._owners: dict[str, str] = {}  # audio source → key
        self._is_told = self._is_told_in_full = False  # who is here, by the network
        self._count: int | None = None  # how many the page says are here
        self._dominant = ""  # source id, as the channel tells it
        self._speaking: tuple[str | None, str] = (None, "")  # key, or the source of somebody who is not known yet
        self._told_ms = 0

    @property
    def noted(self) -> Collection[str]:
        return self._noted

    @property
    def roster_heard(self) -> bool:
        """Return whether everybody was told of: a change of some people, or of the bot itself, is no roster."""
        if self._is_told_in_full or not self._here:
            return self._is_told_in_full
        return len(self._here) >= (self._count or 2)

    def decode(self, signal: Signal) -> Sequence[Told]:
        return [*self._page.introduce(signal.at_ms), *self._decode(signal)]

    def _decode(self, signal: Signal) -> Sequence[Told]:
        data, at_ms, payload = signal.data, signal.at_ms, as_bytes(signal.data.get("payload"))
        url = str(data.get("url", ""))
        match signal.kind:
            case "websocket":
                self._call.connected(url)
                return self._frame(payload.decode("utf-8", "replace"), at_ms)
            case "fetch":
                self._call.requested(url, str(data.get("request") or ""))
                text = inflated(payload).decode("utf-8", "replace")
                return self._people(self._call.take(_message(url, text)), at_ms)
            case "datachannel" if data.get("label") == MAIN_CHANNEL:
                return self._channel(payload, at_ms)
            case "call":
                self._call.named(str(data.get("id") or ""))
            case "self":
                self._call.bot_is(str(data.get("key") or ""))
            case "banner":
                self._count = count if type(count := data.get("count")) is int else None
        told = self._page.decode(signal)
        rows = [one for each in told if isinstance(each, Claim) and each.fact is Fact.HERE for one in each.subjects]
        if rows:
            own = frozenset(one.name for one in rows if one.is_self)
            self._call.shows(frozenset(one.name for one in rows), own)
        return [*told, *self._people(self._call.known(), at_ms)]

    def _frame(self, text: str, at_ms: int) -> list[Told]:
        if not text.startswith(_FRAME) or not isinstance(frame := _json(text[len(_FRAME) :]), Mapping):
            return []
        url, headers = str(frame.get("url", "")), frame.get("headers")
        is_end = _END in url
        if not is_end and "roster" not in url.lower():
            return []
        body = _body_text(frame.get("body"))
        message = _message(url, body, headers if isinstance(headers, Mapping) else {})
        if not is_end:
            return self._people(self._call.take(message), at_ms)
        told = _json(body)
        return self._end(told if isinstance(told, Mapping) else {}, at_ms) if self._call.is_own_end(message) else []

    def _end(self, body: Mapping[str, Any], at_ms: int) -> list[Told]:
        code = _number(body.get("subCode"))
        removed = code in _REMOVALS and bool(body.get("sender"))
        self._noted.add(f"conversation_end:{code}" + (":removed" if removed else ""))
        if removed:
            return [said(Fact.REMOVED, at_ms)]
        # Some clients hang up a first connection on the way in: without a roster there was no meeting to end.
        over = code not in _NOT_ADMITTED and self._is_told
        return [said(Fact.OVER, at_ms)] if over else []

    def _people(self, messages: Sequence[CallMessage], at_ms: int) -> list[Told]:
        return [each for message in messages for each in self._roster(message, at_ms)]

    def _roster(self, message: CallMessage, at_ms: int) -> list[Told]:
        present: list[Subject] = []
        events: list[Told] = []
        sources: list[tuple[str, str]] = []
        for key, entry in message.entries:
            name = message.people[key]
            if str(entry.get("state", "active")).lower() == "inactive":
                self._here.discard(key)
                events.append(gone(key, at_ms))
            elif name or key in self._here:
                present.append(Subject(key=key, name=name, lasting=key.startswith(ACCOUNTS)))
            sources += [(source, key) for source in _audio_sources(entry)]
        # Who asks for a roster stands in it, by an endpoint like everybody; what else is answered may be a part of one.
        in_full = message.is_answer and bool(message.endpoints) and len(present) > 1 and self._call.has_bot(message)
        if present:
            events.insert(0, here(Source.PROTOCOL, present, at_ms, Extent.SNAPSHOT if in_full else Extent.SEVERAL))
            self._here |= {person.key for person in present}
        self._is_told = self._is_told or bool(events)
        self._is_told_in_full = self._is_told_in_full or in_full
        for source, key in sources:
            if self._owners.get(source) != key:
                self._owners[source] = key
                events.append(owns(source, key, at_ms))
        return events + (self._dominance(at_ms) if sources else [])

    def _channel(self, payload: bytes, at_ms: int) -> list[Told]:
        events: list[Told] = []
        for item in _items(payload):
            history = item.get("history")
            if item.get("type") == "dsh" and isinstance(history, list):
                self._dominant = str(history[0]) if history else ""
                events += self._dominance(at_ms, is_said=True)
        return events

    def _dominance(self, at_ms: int, *, is_said: bool = False) -> list[Told]:
        """One person speaks at a time, as far as the channel tells. What it says again is passed on now and then. A
        source that the roster does not name yet is claimed as such, unless the roster names none at all."""
        key = self._owners.get(self._dominant)
        now = (key, "" if key else self._dominant)
        is_told = now == self._speaking and not (is_said and self._dominant and at_ms - self._told_ms >= RENEW_MS)
        if is_told or (self._dominant and not self._owners):
            return []
        self._speaking, self._told_ms = now, at_ms
        return [speak(Source.PROTOCOL, [key] if key else [], at_ms, media=[now[1]] if now[1] else [])]


def name_in_label(label: str) -> str:
    """Return the name that a label begins with, without the remarks and badges behind it."""
    name = _without_badges(label)
    while (shorter := _without_badges(bare_name(name))) != name:
        name = shorter
    return name


def person_in_row(entry: Mapping[str, Any]) -> Subject | None:
    """Read a row of the people panel, or a tile. They have no ids: names are their keys."""
    return as_person({**entry, "name": _without_badges(str(entry.get("name") or "")), "key": ""}, name_in_label)


def _without_badges(label: str) -> str:
    name = _REMARK.split(label)[0].rstrip()
    while (shorter := _BADGE.sub("", name)) != name:
        name = shorter
    return name


def _message(url: str, text: str, headers: Mapping[str, Any] | None = None) -> CallMessage:
    """Read a roster, or the end of a call. `headers`: of a frame of the socket."""
    entries = list(_participants(_json(text)))
    people = {
        key: _name_in(details) if isinstance(details := entry.get("details"), Mapping) else "" for key, entry in entries
    }
    return call_message(url, text, entries, people, headers)


def _participants(told: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(key, entry) wherever a message keeps its participants: a map by key, or a list of entries with an id."""
    if not isinstance(told, Mapping):
        return
    if isinstance(inner := told.get("roster"), Mapping):
        yield from _participants(inner)
    for name in ("participants", "value"):
        people = told.get(name)
        if isinstance(people, Mapping):
            yield from ((str(key), entry) for key, entry in people.items() if isinstance(entry, Mapping))
        elif isinstance(people, list):
            for entry in people:
                if isinstance(entry, Mapping) and (key := _key_of(entry)):
                    yield key, entry if "details" in entry else {**entry, "details": entry}


def _name_in(details: Mapping[str, Any]) -> str:
    """Empty while the site itself does not know it."""
    name = name_in_label(str(details.get("displayName") or ""))
    return "" if name.lower() == "unknown user" else name


def _key_of(entry: Mapping[str, Any]) -> str:
    details = entry.get("details")
    return str(entry.get("id") or (details.get("id") if isinstance(details, Mapping) else "") or "")


def _audio_sources(entry: Mapping[str, Any]) -> Iterator[str]:
    endpoints = entry.get("endpoints")
    for endpoint in endpoints.values() if isinstance(endpoints, Mapping) else ():
        call = endpoint.get("call") if isinstance(endpoint, Mapping) else None
        streams = call.get("mediaStreams") if isinstance(call, Mapping) else None
        for stream in streams if isinstance(streams, list) else ():
            if isinstance(stream, Mapping) and stream.get("type") == "audio" and stream.get("sourceId") is not None:
                yield str(stream["sourceId"])


def _items(payload: bytes) -> Iterator[Mapping[str, Any]]:
    """Return the JSON objects of a channel message, after its binary prefix."""
    starts = [at for at in (payload.find(b"["), payload.find(b"{")) if at >= 0]
    told = _json(payload[min(starts) :]) if starts else None
    for item in told if isinstance(told, list) else [told]:
        if isinstance(item, Mapping):
            yield item


def _body_text(body: object) -> str:
    """Return a frame's body as text: an object, JSON, or base64 of compressed JSON."""
    if not isinstance(body, str):
        return json.dumps(body)
    return body if _json(body) is not None else inflated(from_base64(body.encode())).decode("utf-8", "replace")


def _json(text: str | bytes) -> Any:
    """Whatever JSON the text is; None where it is none."""
    try:
        return foreign_json.read(text)
    except ValueError:
        return None


def _number(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        return 0
