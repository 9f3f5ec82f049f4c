"""Microsoft Teams' signals as claims: the signalling socket's roster and endings, the main channel's speakers.

Socket frames are text: `3:::`, then JSON; the roster's body is base64 of compressed JSON. A page that joins late gets
only changes there, and requests the full roster (B2; 2026-07). The data channel `main-channel` carries JSON after a
binary prefix. Field names: three independent sources, 2026-08.
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
# Badges after a name without brackets, or in an element of their own (read as "Ada LovelaceUnverified"): B2, 2026-09.
# "Guest" is kept there: people may have that name.
_BADGE = re.compile(
    r"(?<=\S)\s+(?:external|unfamiliar|unverified)$|(?<=[^\W_])(?-i:External|Unfamiliar|Unverified)$", re.IGNORECASE
)


class TeamsDecoder:
    """Decodes one stay."""

    def __init__(self, own_name: str = "") -> None:
        self._page = DomSignals(own_name, read_person=person_in_row, read_name=name_in_label)
        self._noted: set[str] = set()
        self._call = OwnCall(own_name)
        self._here: set[str] = set()  # according to the network
        self._owners: dict[str, str] = {}  # audio source → key
        self._is_told = self._is_told_in_full = False  # whether the network named people, or everybody
        self._count: int | None = None  # of people, according to the page
        self._dominant = ""  # source id from the channel
        self._speaking: tuple[str | None, str] = (None, "")  # key, or the source of somebody who is not known yet
        self._told_ms = 0

    @property
    def noted(self) -> Collection[str]:
        return self._noted

    @property
    def roster_heard(self) -> bool:
        """Return whether the network named everybody: a change of some people, or of the bot itself, is no roster."""
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
        events = self._page.decode(signal)
        persons = [
            person
            for event in events
            if isinstance(event, Claim) and event.fact is Fact.HERE
            for person in event.subjects
        ]
        if persons:
            own_names = frozenset(person.name for person in persons if person.is_self)
            self._call.shows(frozenset(person.name for person in persons), own_names)
        return [*events, *self._people(self._call.known(), at_ms)]

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
        content = _json(body)
        return (
            self._end(content if isinstance(content, Mapping) else {}, at_ms) if self._call.is_own_end(message) else []
        )

    def _end(self, body: Mapping[str, Any], at_ms: int) -> list[Told]:
        code = _number(body.get("subCode"))
        is_removal = code in _REMOVALS and bool(body.get("sender"))
        self._noted.add(f"conversation_end:{code}" + (":removed" if is_removal else ""))
        if is_removal:
            return [said(Fact.REMOVED, at_ms)]
        # Some clients hang up a first connection while entering: without a roster there was no meeting to end.
        is_over = code not in _NOT_ADMITTED and self._is_told
        return [said(Fact.OVER, at_ms)] if is_over else []

    def _people(self, messages: Sequence[CallMessage], at_ms: int) -> list[Told]:
        return [event for message in messages for event in self._roster(message, at_ms)]

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
        # A requested roster includes the page that asked, with an endpoint like everybody; others may be partial.
        is_full_roster = (
            message.is_answer and bool(message.endpoints) and len(present) > 1 and self._call.has_bot(message)
        )
        if present:
            events.insert(
                0, here(Source.PROTOCOL, present, at_ms, Extent.SNAPSHOT if is_full_roster else Extent.SEVERAL)
            )
            self._here |= {person.key for person in present}
        self._is_told = self._is_told or bool(events)
        self._is_told_in_full = self._is_told_in_full or is_full_roster
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
        # The channel reports one speaker at a time. A repeated report is passed on every RENEW_MS. A source that the
        # roster does not name yet is claimed by its id, unless the roster names no source at all.
        key = self._owners.get(self._dominant)
        speaker = (key, "" if key else self._dominant)
        is_repeat = speaker == self._speaking and not (is_said and self._dominant and at_ms - self._told_ms >= RENEW_MS)
        if is_repeat or (self._dominant and not self._owners):
            return []
        self._speaking, self._told_ms = speaker, at_ms
        return [speak(Source.PROTOCOL, [key] if key else [], at_ms, media=[speaker[1]] if speaker[1] else [])]


def name_in_label(label: str) -> str:
    """Return the name at the beginning of a label, without the remarks and badges after it."""
    name = _without_badges(label)
    while (shorter := _without_badges(bare_name(name))) != name:
        name = shorter
    return name


def person_in_row(entry: Mapping[str, Any]) -> Subject | None:
    """Read a row of the people panel, or a tile. They have no ids, so names are their keys."""
    return as_person({**entry, "name": _without_badges(str(entry.get("name") or "")), "key": ""}, name_in_label)


def _without_badges(label: str) -> str:
    name = _REMARK.split(label)[0].rstrip()
    while (shorter := _BADGE.sub("", name)) != name:
        name = shorter
    return name


def _message(url: str, text: str, headers: Mapping[str, Any] | None = None) -> CallMessage:
    # Reads a roster, or the end of a call. `headers` belong to a frame of the socket.
    entries = list(_participants(_json(text)))
    people = {
        key: _name_in(details) if isinstance(details := entry.get("details"), Mapping) else "" for key, entry in entries
    }
    return call_message(url, text, entries, people, headers)


def _participants(message: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    # Yields (key, entry) wherever a message has its participants: a map by key, or a list of entries with an id.
    if not isinstance(message, Mapping):
        return
    if isinstance(inner := message.get("roster"), Mapping):
        yield from _participants(inner)
    for name in ("participants", "value"):
        people = message.get(name)
        if isinstance(people, Mapping):
            yield from ((str(key), entry) for key, entry in people.items() if isinstance(entry, Mapping))
        elif isinstance(people, list):
            for entry in people:
                if isinstance(entry, Mapping) and (key := _key_of(entry)):
                    yield key, entry if "details" in entry else {**entry, "details": entry}


def _name_in(details: Mapping[str, Any]) -> str:
    # Empty while the site itself does not know the name.
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
    # Yields the JSON objects of a channel message, after its binary prefix.
    starts = [position for position in (payload.find(b"["), payload.find(b"{")) if position >= 0]
    content = _json(payload[min(starts) :]) if starts else None
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, Mapping):
            yield item


def _body_text(body: object) -> str:
    # The body is an object, JSON, or base64 of compressed JSON.
    if not isinstance(body, str):
        return json.dumps(body)
    return body if _json(body) is not None else inflated(from_base64(body.encode())).decode("utf-8", "replace")


def _json(text: str | bytes) -> Any:
    try:
        return foreign_json.read(text)
    except ValueError:
        return None


def _number(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        return 0
