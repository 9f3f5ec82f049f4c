"""What Meet's own channels carry: roster, audio sources and chat as protocol buffers. Pure."""

import gzip
import zlib
from collections.abc import Iterable, Sequence

from sederunt.practice.people import ChatMessage, Occupant
from sederunt.practice.protobuf import ProtoMessage, repeated

IN_CALL, NOT_IN_CALL, REMOVED = 1, 6, 7
AUDIO, VIDEO = 1, 2


def sync_response(number: int, people: Iterable[Occupant], own: Occupant | None) -> bytes:
    """Return the body of SyncMeetingSpaceCollections, before base64; `number` grows from one roster message to the
    next."""
    return bytes(ProtoMessage((2, ProtoMessage((2, _users(number, people, own))))))


def roster_event(number: int, people: Sequence[Occupant], own: Occupant | None, *, sources: bool = True) -> bytes:
    """Return a frame of the `collections` channel: who is here, and whose each CSRC (`sources`) and video stream is."""
    outputs = [_audio_output(person) for person in people if sources] + [_video_output(person) for person in people]
    devices = ProtoMessage(*repeated(2, outputs))
    return _collection(devices, ProtoMessage((1, _users(number, people, own))))


def chat_event(message: ChatMessage) -> bytes:
    """Return a frame of the `collections` channel: one chat message."""
    chat = ProtoMessage(
        (1, f"{message.sender.key.split('/devices/')[0]}/messages/{message.id}"),
        (2, message.sender.key),
        (3, message.at_ms * 1000),
        (5, ProtoMessage((1, message.text))),
    )
    return _collection(None, ProtoMessage((4, ProtoMessage((2, chat)))))


def speakers_event(people: Iterable[Occupant], speaking: Sequence[int]) -> bytes:
    """Return a frame of the `dcrpc` channel: a snapshot of everybody; field 9.2 is there while one speaks."""
    records = (
        ProtoMessage(
            (4, person.key),
            (8, person.csrc),
            (9, ProtoMessage((1, 0), (2, 1 if person.csrc in speaking else None))),
        )
        for person in people
    )
    snapshot = ProtoMessage((2, ProtoMessage((2, ProtoMessage(*repeated(2, records))))))
    return bytes(ProtoMessage((2, gzip.compress(bytes(snapshot), mtime=0))))


def device_created(key: str, *, suspected: bool) -> bytes:
    """Return the body of CreateMeetingDevice, before base64; field 36 is the bot mark."""
    return bytes(ProtoMessage((1, ProtoMessage((1, key))), (36, 1 if suspected else None)))


def _collection(devices: ProtoMessage | None, users_and_chat: ProtoMessage) -> bytes:
    event = ProtoMessage((1, ProtoMessage((2, ProtoMessage((3, devices), (13, users_and_chat))))))
    return zlib.compress(bytes(event))


def _users(number: int, people: Iterable[Occupant], own: Occupant | None) -> ProtoMessage:
    users = [user for person in people for user in _with_share(person, own)]
    return ProtoMessage((1, ProtoMessage((1, number))), *repeated(2, users))


def _with_share(person: Occupant, own: Occupant | None) -> list[ProtoMessage]:
    user = _user(person, own)
    if not person.sharing:
        return [user]
    share = ProtoMessage(
        (1, f"{person.key}/share"), (2, person.name), (4, IN_CALL), (21, person.key), (29, person.name)
    )
    return [user, share]


def _user(person: Occupant, own: Occupant | None) -> ProtoMessage:
    status = REMOVED if person.removed else IN_CALL if person.present else NOT_IN_CALL
    return ProtoMessage(
        (1, person.key),
        (2, person.name),
        (3, person.avatar or f"https://lh3.googleusercontent.com/practice/{person.number}"),
        (4, status),
        (7, "self" if person is own else None),
        (29, person.name),
        (34, 1 if person.host else None),
    )


def video_stream(number: int) -> str:
    """Return the id of the stream that shows a person's camera. Video slots show the people in the order of the
    cast.
    """
    return str(3000 + number)


def _video_output(person: Occupant) -> ProtoMessage:
    return ProtoMessage((2, VIDEO), (4, video_stream(person.number)), (6, person.key), (10, ProtoMessage((1, 0))))


def _audio_output(person: Occupant) -> ProtoMessage:
    return ProtoMessage(
        (2, AUDIO), (4, str(person.csrc)), (6, person.key), (10, ProtoMessage((1, 1 if person.muted else 0)))
    )
