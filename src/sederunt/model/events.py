"""What happens in a meeting, as the platforms' decoders tell it. Times are Unix milliseconds of this machine."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ParticipantSeen:
    """Someone is in the roster: new, or known with a better name. The bot itself comes with `is_self`.

    `known_as`: the key under which another witness told of the same person before.
    """

    key: str
    name: str
    at_ms: int
    avatar: str | None = None
    is_self: bool = False
    known_as: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ParticipantLeft:
    key: str
    at_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceNamed:
    """A source belongs to a participant: of sound (a CSRC in decimal, or a track name), or of pictures (below).

    With a name by `source_since` it is so from a moment on; the key is empty where it is nobody's in particular.
    """

    source: str
    key: str
    at_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeakingChanged:
    """The site shows that someone began or stopped to speak. Audio captured per person is the better witness."""

    key: str
    speaking: bool
    at_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StageTaken:
    """The site shows someone large, as it does with whoever spoke last: speaking only while sound is heard."""

    key: str
    at_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatReceived:
    username: str
    content: str
    at_ms: int
    message_id: str | None = None
    avatar: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Removed:
    """The roster says that the bot itself was put out."""

    at_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MeetingOver:
    """The site's own signal that the meeting ended for everyone."""

    at_ms: int


_CAMERA, _SCREEN, _SINCE = "camera:", "screen:", "@"


def camera_source(track: str) -> str:
    """Return the name under which a video track is known as somebody's camera."""
    return _CAMERA + track


def screen_source(track: str) -> str:
    """Return the name under which a video track is known as somebody's shared screen."""
    return _SCREEN + track


def camera_track(source: str) -> str | None:
    """Return the track of such a name; None for any other source."""
    return source.removeprefix(_CAMERA) if source.startswith(_CAMERA) else None


def screen_track(source: str) -> str | None:
    return source.removeprefix(_SCREEN) if source.startswith(_SCREEN) else None


def source_since(source: str, at_ms: int) -> str:
    """Return the name under which it is known whose a source is from a moment on: a track may have been another's
    before.
    """
    return f"{source}{_SINCE}{at_ms}"


def since_of(name: str) -> tuple[str, int] | None:
    """Return (source, Unix milliseconds) of such a name; None for any other."""
    source, _, at_ms = name.rpartition(_SINCE)
    return (source, int(at_ms)) if source and at_ms.isdecimal() else None


MeetingEvent = (
    ParticipantSeen
    | ParticipantLeft
    | SourceNamed
    | SpeakingChanged
    | StageTaken
    | ChatReceived
    | Removed
    | MeetingOver
)
