"""Chat messages from decoders, and the names of media sources. Everything else from decoders is a claim (`claims`)."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatReceived:
    """A message to everyone, as reported by the site's own channel or by the page.

    The channel may name its sender only by `key`; `is_own` is set if the page says "you".
    """

    username: str
    content: str
    at_ms: int
    message_id: str | None = None
    avatar: str | None = None
    key: str = ""
    is_own: bool = False
    by_page: bool = False


_CAMERA, _SCREEN, _SINCE = "camera:", "screen:", "@"


def camera_source(track: str) -> str:
    """Return the source name of a video track that is somebody's camera."""
    return _CAMERA + track


def screen_source(track: str) -> str:
    """Return the source name of a video track that is somebody's shared screen."""
    return _SCREEN + track


def camera_track(source: str) -> str | None:
    """Return the track of such a name; None for any other source."""
    return source.removeprefix(_CAMERA) if source.startswith(_CAMERA) else None


def screen_track(source: str) -> str | None:
    return source.removeprefix(_SCREEN) if source.startswith(_SCREEN) else None


def is_sound(source: str) -> bool:
    """Return whether a source is captured sound: no picture, and without a moment."""
    return not source.startswith((_CAMERA, _SCREEN)) and _SINCE not in source


def source_since(source: str, at_ms: int) -> str:
    """Return the key of a source's owner from a moment on: the track may have been somebody else's before."""
    return f"{source}{_SINCE}{at_ms}"


def since_of(name: str) -> tuple[str, int] | None:
    """Return (source, Unix milliseconds) of such a name; None for any other."""
    source, _, at_ms = name.rpartition(_SINCE)
    return (source, int(at_ms)) if source and at_ms.isdecimal() else None
