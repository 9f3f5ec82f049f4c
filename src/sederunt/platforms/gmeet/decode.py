"""Google Meet's signals as claims: roster, sound owners and chat from its own messages, and the page's display.

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
# A roster message is at most this late, and at most this many numbers are missing between two of them.
LATE_MS, MOST_LEFT_OUT = 30_000, 100
_SUSPECTED = 36  # field of that answer; absent when clean


class _RosterOrder:
    """The order of the roster's messages by their event numbers, since they may arrive in another order.

    What these numbers count is undocumented. So only a number that was missing and arrives later marks a message that
    others have overtaken; any other lower number says nothing.
    """

    def __init__(self) -> None:
        self._highest, self._highest_ms = -1, 0
        self._left_out: set[int] = set()
        self._numbers: dict[str, int] = {}  # key → number of the last message on whether they are here

    def is_late(self, number: int, at_ms: int) -> bool:
        """Return whether a message was overtaken by another one."""
        if number in self._left_out and at_ms - self._highest_ms < LATE_MS:
            self._left_out.remove(number)
            return True
        skipped_numbers = range(self._highest + 1, number) if self._highest >= 0 else range(0)
        if number < self._highest or len(skipped_numbers) > MOST_LEFT_OUT:  # the count restarted or changed
            self._left_out.clear()
            self._numbers.clear()
        elif number > self._highest:
            self._left_out.update(skipped_numbers)
            self._left_out = {skipped for skipped in self._left_out if skipped >= number - MOST_LEFT_OUT}
        self._highest, self._highest_ms = number, at_ms
        return False

    def is_news(self, number: int, key: str, *, is_status: bool) -> bool:
        """Return whether no newer message said whether somebody is here; note the number if this message does
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
        self._here: set[str] = set()  # according to the network
        self._owners: dict[str, str] = {}  # media source → device, as last claimed
        self._speaking: frozenset[str] = frozenset()
        self._told_ms = 0
        self.roster_heard = False
        self._self_keys: set[str] = set()
        self._space = ""  # of this meeting: the part of its keys taken from the bot's own key
        self._order = _RosterOrder()
        self._shares: dict[str, str] = {}  # pseudo-device of a screen share → owner of the screen
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
            for devices in wrapper.messages(3):  # after the users, which include the shared screens
                events += self._sources(devices.messages(2), at_ms)
        # The schema's path misses some records, so look for device outputs everywhere as well.
        return events + self._sources((message for message in event.walk() if _is_device_output(message)), at_ms)

    def _answer(self, url: str, body: bytes, at_ms: int) -> list[Told]:
        if _DEVICE_MADE in url:
            self._order = _RosterOrder()  # the page joins, perhaps again
            answer = parse(from_base64(body))
            if answer is not None and answer.number(_SUSPECTED):
                self._noted.add("suspected_bot")
            return []
        if _SYNC not in url or (answer := parse(from_base64(body))) is None:
            return []
        events: list[Told] = []
        for users in answer.messages(2, 2):
            events += self._users(users, at_ms, Extent.SNAPSHOT)
        return events + self._sources((message for message in answer.walk() if _is_device_output(message)), at_ms)

    def _users(self, users: Message, at_ms: int, kind: Extent) -> list[Told]:
        # An answer to "sync" names everybody; a message of the channel names everybody or only changes. An overtaken
        # message counts only for people about whom nothing newer arrived.
        number = next((event.number(1) for event in users.messages(1)), None)
        if number is not None and self._order.is_late(number, at_ms):
            kind = Extent.DELTA  # it lacks people who came since
        present: list[Subject] = []
        departures: list[Told] = []
        own_key = next((key for user in users.messages(2) if user.text(7) and (key := user.text(1))), "")
        self._space = _space_of(own_key) or self._space
        for user in users.messages(2):
            key = user.text(1)
            if not key or self._is_elsewhere(key):
                continue
            if user.text(21):
                self._shares[key] = user.text(21)  # the roster lists a shared screen like a person
                continue
            if user.text(7):
                self._self_keys.add(key)
            status = user.number(4)
            if number is not None and not self._order.is_news(number, key, is_status=status in _STATUSES):
                continue
            if status in (_NOT_IN_CALL, _REMOVED):
                departures += self._gone(key, status, at_ms)
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
            return departures
        self.roster_heard = True
        self._here |= {person.key for person in present}
        return [here(Source.PROTOCOL, present, at_ms, kind), *departures]

    def _is_elsewhere(self, key: str) -> bool:
        # Returns whether a key belongs to another meeting than the bot's.
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
        # Claims the owner of a voice; the sound of a shared screen is nobody's voice and belongs to the screen.
        if key not in self._shares:
            return self._owns(source, key, at_ms)
        return self._owns(screen_source(source), self._shares[key], at_ms)

    def _named_pictures(self, at_ms: int) -> list[Told]:
        # Claims whose camera or screen each video track shows, once both the network and the page have reported it.
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
            chat_message = ChatReceived(
                username="",
                key=message.text(2),
                content=text,
                at_ms=_unix_ms(message.number(3)) or at_ms,
                message_id=message.text(1) or None,
            )
            events.append(chat_message)
        return events

    def _media_snapshot(self, payload: bytes, at_ms: int) -> list[Told]:
        # Reads who speaks in the newer media stack: records with a device, numeric ids, and a mark of speech.
        frame = parse(payload)
        if frame is None:
            return []
        speaking = set(self._speaking)
        for _, _, packed in (entry for entry in frame.fields if entry[0] == 2 and isinstance(entry[2], bytes)):
            snapshot = parse(inflated(packed)) if isinstance(packed, bytes) else None
            for record in snapshot.walk() if snapshot else ():
                if _space_of(key := record.text(4)) and not self._is_elsewhere(key):
                    is_speaking = any(
                        True
                        for state in record.messages(9)
                        if any(field_number == 2 for field_number, _, _ in state.fields)
                    )
                    (speaking.add if is_speaking else speaking.discard)(key)
        previous_speakers, self._speaking = self._speaking, frozenset(speaking)
        if speaking == previous_speakers and (not speaking or at_ms - self._told_ms < RENEW_MS):
            return []
        self._told_ms = at_ms
        return [speak(Source.PROTOCOL, sorted(speaking), at_ms)]


def _is_device_output(message: Message) -> bool:
    return message.text(4).isdecimal() and message.text(6).startswith("spaces/")


def _space_of(key: str) -> str:
    # Returns the meeting of a key "spaces/<meeting>/devices/<device>"; empty if the key has another form.
    first, _, rest = key.partition("/")
    return rest.partition("/")[0] if first == "spaces" else ""


def _unix_ms(timestamp: int | None) -> int | None:
    # The timestamp is in seconds, milliseconds, microseconds or nanoseconds.
    if not timestamp:
        return None
    for threshold, divisor in ((10**17, 10**6), (10**14, 10**3), (10**11, 1)):
        if timestamp >= threshold:
            return timestamp // divisor
    return timestamp * 1000 if timestamp >= 10**8 else None
