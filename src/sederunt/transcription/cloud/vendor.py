"""The interface of a cloud vendor: rows, pure functions, and one coroutine that makes its calls in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from sederunt.errors import ProviderFault
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import VendorCall
from sederunt.transcription.cloud.faults import Explain, Explained, explain
from sederunt.transcription.languages import is_known
from sederunt.transcription.provider import Result
from sederunt.transcription.rows import Can, ModelRow, ProviderRow
from sederunt.transcription.sessions import CopyNotes, SessionEvent, Terms

if TYPE_CHECKING:
    from sederunt.transcription.cloud.client import Client
    from sederunt.transcription.cloud.job import VendorJob

Message: TypeAlias = str | bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """What is asked of a vendor for a file or a live session, as builders of requests need it."""

    model: ModelRow
    access: Access
    lang: str | None = None  # a language tag as the caller wrote it; None: detect it
    several_languages: bool = False  # the caller said "multi"
    vocabulary: tuple[str, ...] = ()
    mask_profanity: bool = False  # only if the model can
    diarize: bool = False  # several people are in the sound, and the model can tell them apart
    reference: str = ""  # ours; sent with the job, so that it can be found again
    file_name: str = "sound.ogg"
    media_type: str = "audio/ogg"
    duration_s: float = 0.0  # of the file


def asked(
    model: ModelRow,
    access: Access,
    *,
    lang: str | None,
    vocabulary: Sequence[str],
    mask_profanity: bool,
    mixed: bool,
) -> Ask:
    """Return what to ask of this model, without what it cannot do."""
    tag = (lang or "").strip()
    is_lang_unknown = not is_known(tag)
    default_lang = None if Can.DETECT_LANGUAGE in model.can else model.default_lang
    return Ask(
        model=model,
        access=access,
        lang=default_lang if is_lang_unknown else tag,
        several_languages=tag.lower() == "multi",
        vocabulary=tuple(vocabulary) if Can.VOCABULARY in model.can else (),
        mask_profanity=mask_profanity and Can.MASK_PROFANITY in model.can,
        diarize=mixed and Can.DIARIZE in model.can,
    )


# --- live -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ready:
    """The vendor accepts sound from now on."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Everything that was sent has been answered."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The vendor has received this many bytes of the session's sound; they need not be sent again."""

    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamRefused:
    """An error message. What the vendor sends after it is ignored."""

    kind: ProviderFault
    message: str
    code: str = ""


Told: TypeAlias = SessionEvent | Ready | Finished | Acknowledged | StreamRefused


class StreamCodec(Protocol):
    """Encodes and decodes the messages of a session. Pure: no socket, no clock. Times are seconds of its sound."""

    def opening(self) -> Sequence[Message]:
        """Return the messages to send first."""

    def audio(self, pcm: bytes) -> Message:
        """Return the message for a frame of sound: 16 bit, little endian, mono, 16 kHz."""

    def read(self, message: Message) -> Iterable[Told]:
        """Return the events of a vendor's message. Never raises: an unknown message has none."""

    def closing(self) -> Sequence[Message]:
        """Return the messages to send after the last sound; the vendor answers with `Finished` or a close."""


# All unanswered sound is kept for the next session; the vendor bills the seconds that a socket is open.
TERMS = Terms(resend_s=float("inf"), unanswered_s=20.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Live:
    """How a vendor transcribes live."""

    codec: Callable[[Ask], StreamCodec]
    path: Callable[[Ask], str] | None = None  # of the socket, with its query, below the vendor's root
    # Or: request the socket's whole URL first, and note what the vendor keeps of the session.
    start: Callable[[Client, Ask, CopyNotes], Awaitable[str]] | None = None
    terms: Terms = TERMS
    frame_ms: int = 100
    pace: float = 1.2  # sound may be sent this many times faster than real time
    waits: bool = False  # for `Ready` before sound is sent
    keepalive: Message | None = None  # sent after `keepalive_s` without another message
    keepalive_s: float = 5.0
    resumes: bool = False  # a lost connection is reopened at the same URL, from the last acknowledged byte
    closes: Mapping[int, ProviderFault] | None = None  # close codes with a meaning of their own
    ends: frozenset[int] = frozenset()  # close codes after which the session cannot be resumed: another is opened


# --- the vendor -------------------------------------------------------------------------------------------------------


def no_calls(_access: Access, _copy: str) -> Sequence[VendorCall]:
    """Return no calls, for vendors that keep nothing."""
    return ()


async def itself(_client: Client, copy: str) -> Sequence[str]:
    """Return the copy itself, for vendors whose notes name copies directly."""
    return (copy,)


@dataclass(frozen=True, kw_only=True, slots=True)
class Vendor:
    """Everything that is special about one vendor."""

    row: ProviderRow
    models: tuple[ModelRow, ...]
    headers: Callable[[Access], Mapping[str, str]]  # authentication, of requests and handshakes
    batch: Callable[[VendorJob], Awaitable[Result]]
    check: Callable[[Access], VendorCall]  # the cheapest call that needs the key
    explain: Explain = explain  # reads refusals: of requests by status, of sockets by close code
    erase: Callable[[Access, str], Sequence[VendorCall]] = no_calls  # deletes a copy that `Job.leaves` noted
    copies: Callable[[Client, str], Awaitable[Sequence[str]]] = itself  # looks up copies that a note names indirectly
    live: Live | None = None


__all__ = [
    "TERMS",
    "Acknowledged",
    "Ask",
    "Explained",
    "Finished",
    "Live",
    "Message",
    "Ready",
    "StreamCodec",
    "StreamRefused",
    "Told",
    "Vendor",
    "asked",
]
