"""Rows that describe a transcription provider and its models: the data that a plug-in brings.

Capabilities are those of the vendor's model, by the vendors' specifications as of November 2026. Validation, the
documentation's tables and the prices all read these rows; no fact about a vendor is repeated elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

_NOTHING: Mapping[str, "Region"] = MappingProxyType({})


class Can(StrEnum):
    """What a model can do beyond turning speech into words."""

    DIARIZE = "diarize"  # tells voices apart in mixed sound
    DETECT_LANGUAGE = "detect_language"  # detects the language, and says which
    VOCABULARY = "vocabulary"  # takes custom words
    MASK_PROFANITY = "mask_profanity"  # masks profanity itself; for other models `profanity` does


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """The addresses of a vendor in one part of the world."""

    url: str
    socket_url: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class VocabularyRule:
    """A vendor's limits on custom words; None for no limit."""

    terms: int | None = None  # in all
    words: int | None = None  # in one term
    letters: int | None = None  # characters in one term
    letters_in_all: int | None = None  # characters in all terms together
    word_letters: int | None = None  # characters in one word of a term
    tokens: int | None = None  # pieces of words in all terms together
    digits: bool = True  # whether a term may contain digits


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """The vendor's price of an hour of sound, as far as it is known."""

    per_hour: float  # US dollars
    as_of: str  # the day on which it was read, ISO
    note: str = ""


@dataclass(frozen=True, slots=True)
class RowSource:
    """The source of a row."""

    subject: str
    document: str
    read_on: str  # ISO


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderRow:
    """One vendor of speech to text, or the built-in model."""

    name: str  # the key in settings.providers, of stored credentials, and the entry point's name
    title: str  # as people write it
    needs_key: bool = True
    needs_organisation: bool = False  # the credential names one, beside the key
    reads_channels: bool = False  # it can read one channel of a file
    max_audio_minutes: int | None = None  # longest file taken in one piece; None if a 10 h file is taken
    max_file_bytes: int | None = None
    url: str = ""  # the vendor's address, unless the settings or a credential's region have another
    socket_url: str | None = None
    regions: Mapping[str, Region] = field(default_factory=lambda: _NOTHING)
    # Beginnings of the paths of all its requests and sockets: an address in the settings may end with part of one. If
    # empty, an address may end with the beginning of a request's path.
    paths: tuple[str, ...] = ()
    sources: tuple[RowSource, ...] = ()

    @property
    def beginnings(self) -> tuple[str, ...]:
        """Return the beginnings of its paths, the longest first: of "/v1/listen", that and "/v1"."""
        parts = (path.split("/")[1:] for path in self.paths)
        beginnings = {"/" + "/".join(names[: n + 1]) for names in parts for n in range(len(names))}
        return tuple(sorted(beginnings, key=lambda beginning: (-len(beginning), beginning)))


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRow:
    """One model that a caller may name."""

    identifier: str
    aliases: tuple[str, ...]
    provider: str | None  # None for "none" alone
    keys: tuple[str, ...] = ()  # further names, as clients of a hosted service write them: "deepgram/nova-2"
    vendor_model: str = ""  # the vendor's name for it; "" if the installation chooses
    end_of_life: str | None = None  # the announced day, ISO, on which the vendor removes it
    successor: str | None = None  # the identifier of the model to use once the vendor has no such model any more
    realtime: bool = False  # transcribes during the meeting
    for_bots: bool = True
    for_recordings: bool = False
    can: frozenset[Can] = frozenset()
    languages: frozenset[str] | None = None  # tags it takes, "de" for every "de-…"; None: the vendor judges
    default_lang: str | None = None  # sent if none is given and the model cannot detect
    vocabulary: VocabularyRule = VocabularyRule()
    price: Price | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name a caller may write, the canonical one first."""
        return (self.identifier, *self.aliases, *self.keys)
