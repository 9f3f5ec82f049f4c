"""The rows that describe a transcription provider and its models: data that a plug brings along, and no more.

Capabilities are those of the vendor's model, as read in the vendors' own specifications in November 2026. Validation,
the documentation's tables and the prices all read these rows; nothing about a vendor is written down twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

_NOTHING: Mapping[str, "Region"] = MappingProxyType({})


class Can(StrEnum):
    """What a model can do beyond turning speech into words."""

    DIARIZE = "diarize"  # tells voices apart in mixed sound
    DETECT_LANGUAGE = "detect_language"  # finds the language, and says which
    VOCABULARY = "vocabulary"  # takes custom words
    MASK_PROFANITY = "mask_profanity"  # masks by itself; where it cannot, `profanity` masks here


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """The addresses of a vendor in one part of the world."""

    url: str
    socket_url: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class VocabularyRule:
    """What a vendor takes as custom words; None where it sets no limit."""

    terms: int | None = None  # so many in all
    words: int | None = None  # so many in one term
    letters: int | None = None  # so many characters in one term
    letters_in_all: int | None = None  # so many characters in all terms together
    word_letters: int | None = None  # so many characters in one word of a term
    tokens: int | None = None  # so many pieces of words in all terms together
    digits: bool = True  # whether a term may hold digits


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What the vendor charges for an hour of sound, as far as it is known."""

    per_hour: float  # US dollars
    as_of: str  # the day of the reading, ISO
    note: str = ""


@dataclass(frozen=True, slots=True)
class RowSource:
    """What a row rests on."""

    subject: str
    document: str
    read_on: str  # ISO


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderRow:
    """One vendor of speech to text, or the model in the box."""

    name: str  # the key in settings.providers, of stored credentials, and the entry point's name
    title: str  # as people write it
    needs_key: bool = True
    needs_organisation: bool = False  # the credential names one, beside the key
    reads_channels: bool = False  # a channel of a file by itself
    max_audio_minutes: int | None = None  # longest file taken in one piece; None where a 10 h file is taken
    max_file_bytes: int | None = None
    url: str = ""  # where the vendor is, unless the settings or a credential's region say otherwise
    socket_url: str | None = None
    regions: Mapping[str, Region] = field(default_factory=lambda: _NOTHING)
    # How all paths of its requests and sockets begin: an address in the settings may hold a beginning of them. Without
    # any, an address may end as the path of a request begins.
    paths: tuple[str, ...] = ()
    sources: tuple[RowSource, ...] = ()

    @property
    def beginnings(self) -> tuple[str, ...]:
        """Return the beginnings of its paths, the longest first: of "/v1/listen", that and "/v1"."""
        parts = (path.split("/")[1:] for path in self.paths)
        found = {"/" + "/".join(names[: n + 1]) for names in parts for n in range(len(names))}
        return tuple(sorted(found, key=lambda each: (-len(each), each)))


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRow:
    """One identifier a caller may send."""

    identifier: str
    aliases: tuple[str, ...]
    provider: str | None  # None for "none" alone
    keys: tuple[str, ...] = ()  # further names, as clients of a hosted service write them: "deepgram/nova-2"
    vendor_model: str = ""  # what the vendor calls it; "" where the installation chooses
    end_of_life: str | None = None  # the day, ISO, on which the vendor removes that model, as announced
    successor: str | None = None  # the identifier that takes over when the vendor answers that it has no such model
    realtime: bool = False  # transcribes while the meeting goes on
    for_bots: bool = True
    for_recordings: bool = False
    can: frozenset[Can] = frozenset()
    languages: frozenset[str] | None = None  # tags it takes, "de" for every "de-…"; None: the vendor judges
    default_lang: str | None = None  # sent where none is given and the model cannot detect
    vocabulary: VocabularyRule = VocabularyRule()
    price: Price | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name a caller may write, the canonical one first."""
        return (self.identifier, *self.aliases, *self.keys)
