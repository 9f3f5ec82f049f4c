"""Google Meet's signals as claims: the roster, sound owners and chat of its own messages, and what its page shows.

The roster comes twice in the same shape: in the answer of SyncMeetingSpaceCollections (base64 text) and, compressed,
through the data channel `collections`. Field numbers: two independent sources, 2026-08.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from sederunt.claims.claim import Extent, Fact, Source, Subject, gone, here, owns, said, speak
from sederunt.claims.rules import RENEW_MS
from sederunt.model.events import ChatReceived, camera_source, screen_source
from sederunt.platforms.dom_signals import DomSignals
from sederunt.platforms.payloads import as_bytes, from_base64, inflated
from sederunt.platforms.platform import Told
from sederunt.platforms.protobuf import Message, parse

if TYPE_CHECKING:
    from sederunt.browser.signals import Signal

_STATUSES = _IN_CALL, _NOT_IN_CALL, _REMOVED = 1, 6, 7
_AUDIO, _VIDEO = 1, 2
_SYNC = "SyncMeetingSpaceCollections"
_DEVICE_MADE = "CreateMeetingDevice"
# A message of the roster is overtaken by no more, and no more numbers are left out between two of them.
LATE_MS, MOST_LEFT_OUT = 30_000, 100
_SUSPECTED = 36  # field of that answer; absent when clean


class _RosterOrder:
    """The order of the roster's messages, by the event numbers in them: they may come in another.

    Nobody has said what these numbers count. So one alone that was left out, and comes after all, is of a message that
    others have overtaken; any other number that is lower says nothing.
    """

    def __init__(self) -> None:
        self._highest, self._highest_ms = -1, 0
        self._left_out: set[int] = set()
        self._numbers: dict[str, int] = {}  # key → of the last word on whether they are here

    def is_late(self, number: int, at_ms: int) -> bool:
        """Return whether a message was overtaken by another one."""
        if number in self._left_out and at_ms - self._highest_ms < LATE_MS:
            self._left_out.remove(number)
            return True
        between = range(self._highest + 1, number) if self._highest >= 0 else range(0)
        if number < self._highest or len(between) > MOST_LEFT_OUT:  # counted anew, or in another way
            self._left_out.clear()
            self._numbers.clear()
        elif number > self._highest:
            self._left_out.update(between)
            self._left_out = {each for each in self._left_out if each >= number - MOST_LEFT_OUT}
        self._highest, self._highest_ms = number, at_ms
        return False

    def is_news(self, number: int, key: str, *, is_status: bool) -> bool:
        """Return whether nothing newer was told of whether somebody is here; note what is told where this is
        (`is_status`)."""
        if number < self._numbers.get(key, number):
            return False
        if is_status:
            self._numbers[key] = number
        return True


class MeetDecoder:
    """Decodes one stay."""

    def __init__(self, own_name: str = "") -> None:
        self._page = DomSignals(own_name)
        self._noted: set[str] = set()
        self._here: set[str] = set()  # as far as the network tells
        self._owners: dict[str, str] = {}  # media source → device, as it was told
        self._speaking: frozenset[str] = frozenset()
        self._told_ms = 0
        self.roster_heard = False
        self._self_keys: set[str] = set()
        self._space = ""  # of this meeting: the beginning of its keys, by the bot's own
        self._order = _RosterOrder()
        self._shares: dict[str, str] = {}  # pseudo-device of a screen share → whose screen
        self._pictures: dict[str, str] = {}  # id of a video stream → device
        self._streams: dict[str, int] = {}  # id of a video stream → the track that receives it

    @property
    def noted(self) -> Collection[str]:
        return self._noted

    def decode(self, signal: Signal) -> Sequence[Told]:
        return [*self._page.introduce(signal.at_ms), *self._decode(signal)]

    def _decode(self, signal: Signal) -> Sequence[Told]:
        match signal.kind:
            case "datachannel":
                return self._channel(
                    str(signal.data.get("label", "")), as_bytes(signal.data.get("payload")), signal.at_ms
                )
            case "fetch":
                return self._answer(str(signal.data.get("url", "")), as_bytes(signal.data.get("payload")), signal.at_ms)
            case "capture" if signal.data.get("event") == "stream":
                stream = signal.data.get("stream")
                track = signal.data.get("track")
                if isinstance(stream, str) and isinstance(track, int):
                    self._streams[stream] = track
                return self._named_pictures(signal.at_ms)
            case _:
                return self._page.decode(signal)

    def _channel(self, label: str, payload: bytes, at_ms: int) -> list[Told]:
        if label == "dcrpc":
            return self._media_snapshot(payload, at_ms)
        if label != "collections" or (event := parse(inflated(payload))) is None:
            return []
        events: list[Told] = []
        for wrapper in event.messages(1, 2):
            for collections in wrapper.messages(13):
                for users in collections.messages(1):
                    events += self._users(users, at_ms, Extent.SEVERAL)
                events += self._chats(collections.messages(4), at_ms)
            for devices in wrapper.messages(3):  # after the users, among whom the shared screens are
                events += self._sources(devices.messages(2), at_ms)
        # The schema's path misses some records, so device outputs are looked for everywhere as well.
        return events + self._sources((m for m in event.walk() if _is_device_output(m)), at_ms)

    def _answer(self, url: str, body: bytes, at_ms: int) -> list[Told]:
        if _DEVICE_MADE in url:
            self._order = _RosterOrder()  # the page joins, be it anew
            answer = parse(from_base64(body))
            if answer is not None and answer.number(_SUSPECTED):
                self._noted.add("suspected_bot")
            return []
        if _SYNC not in url or (answer := parse(from_base64(body))) is None:
            return []
        events: list[Told] = []
        for users in answer.messages(2, 2):
            events += self._users(users, at_ms, Extent.SNAPSHOT)
        return events + self._sources((m for m in answer.walk() if _is_device_output(m)), at_ms)

    def _users(self, users: Message, at_ms: int, kind: Extent) -> list[Told]:
        """An answer to "sync" tells of everybody. What the channel sends may do so too, or tell of changes. A message
        that another one has overtaken tells of those alone of whom nothing newer was told."""
        number = next((event.number(1) for event in users.messages(1)), None)
        if number is not None and self._order.is_late(number, at_ms):
            kind = Extent.DELTA  # who came since is not in it
        present: list[Subject] = []
        told: list[Told] = []
        own = next((key for user in users.messages(2) if user.text(7) and (key := user.text(1))), "")
        self._space = _space_of(own) or self._space
        for user in users.messages(2):
            key = user.text(1)
            if not key or self._is_elsewhere(key):
                continue
            if user.text(21):
                self._shares[key] = user.text(21)  # a shared screen sits in the roster like a person
                continue
            if user.text(7):
                self._self_keys.add(key)
            status = user.number(4)
            if number is not None and not self._order.is_news(number, key, is_status=status in _STATUSES):
                continue
            if status in (_NOT_IN_CALL, _REMOVED):
                told += self._gone(key, status, at_ms)
            elif status == _IN_CALL or key in self._here:
                present.append(
                    Subject(
                        key=key,
                        name=user.text(2) or user.text(29),
                        avatar=user.text(3) or None,
                        is_self=key in self._self_keys,
                    )
                )
        if not present:
            return told
        self.roster_heard = True
        self._here |= {person.key for person in present}
        return [here(Source.PROTOCOL, present, at_ms, kind), *told]

    def _is_elsewhere(self, key: str) -> bool:
        """Return whether a key is of another meeting than the one in which the bot stands."""
        return bool(self._space) and _space_of(key) not in ("", self._space)

    def _gone(self, key: str, status: int, at_ms: int) -> list[Told]:
        self._here.discard(key)
        self.roster_heard = True
        if status == _REMOVED and key in self._self_keys:
            self._noted.add(f"self_status:{status}")
            return [gone(key, at_ms), said(Fact.REMOVED, at_ms)]
        return [gone(key, at_ms)]

    def _owns(self, source: str, key: str, at_ms: int) -> list[Told]:
        if not key or self._owners.get(source) == key or self._is_elsewhere(key):
            return []
        self._owners[source] = key
        return [owns(source, key, at_ms)]

    def _sources(self, outputs: Iterable[Message], at_ms: int) -> list[Told]:
        events: list[Told] = []
        for output in outputs:
            kind, stream, key = output.number(2), output.text(4), output.text(6)
            if kind in (_AUDIO, None) and stream.isdecimal():
                events += self._heard(str(int(stream)), key, at_ms)
            elif kind == _VIDEO and stream and key:
                self._pictures[stream] = key
        return events + self._named_pictures(at_ms)

    def _heard(self, source: str, key: str, at_ms: int) -> list[Told]:
        """Whose a voice is; what a shared screen plays is nobody's voice, and told as the screen's."""
        if key not in self._shares:
            return self._owns(source, key, at_ms)
        return self._owns(screen_source(source), self._shares[key], at_ms)

    def _named_pictures(self, at_ms: int) -> list[Told]:
        """Whose camera or screen each video track shows, as far as both the network and the page have told."""
        events: list[Told] = []
        for stream in sorted(self._pictures.keys() & self._streams.keys()):
            key, track = self._pictures[stream], f"track-{self._streams[stream]}"
            source = screen_source(track) if key in self._shares else camera_source(track)
            events += self._owns(source, self._shares.get(key, key), at_ms)
        return events

    def _chats(self, wrappers: Iterable[Message], at_ms: int) -> list[Told]:
        events: list[Told] = []
        for message in (inner for wrapper in wrappers for inner in wrapper.messages(2)):
            text = next((body.text(1) for body in message.messages(5)), "")
            if not text or self._is_elsewhere(message.text(2)):
                continue
            told = ChatReceived(
                username="",
                key=message.text(2),
                content=text,
                at_ms=_unix_ms(message.number(3)) or at_ms,
                message_id=message.text(1) or None,
            )
            events.append(told)
        return events

    def _media_snapshot(self, payload: bytes, at_ms: int) -> list[Told]:
        """Return who speaks, in the newer media stack: records with a device, numeric ids, and a mark of speech."""
        frame = parse(payload)
        if frame is None:
            return []
        speaking = set(self._speaking)
        for _, _, packed in (entry for entry in frame.fields if entry[0] == 2 and isinstance(entry[2], bytes)):
            snapshot = parse(inflated(packed)) if isinstance(packed, bytes) else None
            for record in snapshot.walk() if snapshot else ():
                if _space_of(key := record.text(4)) and not self._is_elsewhere(key):
                    speaks = any(True for state in record.messages(9) if any(n == 2 for n, _, _ in state.fields))
                    (speaking.add if speaks else speaking.discard)(key)
        before, self._speaking = self._speaking, frozenset(speaking)
        if speaking == before and (not speaking or at_ms - self._told_ms < RENEW_MS):
            return []
        self._told_ms = at_ms
        return [speak(Source.PROTOCOL, sorted(speaking), at_ms)]


def _is_device_output(message: Message) -> bool:
    return message.text(4).isdecimal() and message.text(6).startswith("spaces/")


def _space_of(key: str) -> str:
    """Return which meeting a key "spaces/<meeting>/devices/<device>" is of; empty where it does not say."""
    first, _, rest = key.partition("/")
    return rest.partition("/")[0] if first == "spaces" else ""


def _unix_ms(timestamp: int | None) -> int | None:
    """Milliseconds of a time told in seconds, milliseconds, or microseconds."""
    if not timestamp:
        return None
    for least, divisor in ((10**17, 10**6), (10**14, 10**3), (10**11, 1)):
        if timestamp >= least:
            return timestamp // divisor
    return timestamp * 1000 if timestamp >= 10**8 else None
