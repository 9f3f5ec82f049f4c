"""THE table of transcription models: which identifiers a caller may send, who stands behind each, what it can do.

An identifier is `vendor<n>` with a suffix; the ordinals are fixed for good (the specification's decision table).
Plain names are aliases. What a response shows is the identifier that was sent, so nothing here rewrites one.
Capabilities are those of the vendor's model, as read in the vendors' own specifications in November 2026.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

# The model that transcribes nothing: a bot with it records only.
NONE = "none"


class Can(StrEnum):
    """What a model can do beyond turning speech into words."""

    DIARIZE = "diarize"  # tells voices apart in mixed sound
    DETECT_LANGUAGE = "detect_language"  # finds the language, and says which
    VOCABULARY = "vocabulary"  # takes custom words
    MASK_PROFANITY = "mask_profanity"  # masks by itself; where it cannot, `profanity` masks here


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderRow:
    """One vendor of speech to text, or the model in the box."""

    name: str  # the key in settings.providers, of stored credentials, and the entry point's name
    title: str  # as people write it
    needs_key: bool = True
    max_audio_minutes: int | None = None  # longest file taken in one piece; None where a 10 h file is taken
    max_file_bytes: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRow:
    """One identifier a caller may send."""

    identifier: str
    aliases: tuple[str, ...]
    provider: str | None  # None for "none" alone
    vendor_model: str = ""  # what the vendor calls it; "" where the installation chooses
    realtime: bool = False  # transcribes while the meeting goes on
    for_bots: bool = True
    for_recordings: bool = False
    can: frozenset[Can] = frozenset()


PROVIDERS: Mapping[str, ProviderRow] = MappingProxyType(
    {
        row.name: row
        for row in (
            ProviderRow(name="whisper", title="Whisper", needs_key=False),
            ProviderRow(name="deepgram", title="Deepgram", max_file_bytes=2_000_000_000),
            ProviderRow(name="assemblyai", title="AssemblyAI", max_audio_minutes=600),
            ProviderRow(name="speechmatics", title="Speechmatics", max_file_bytes=999_999_999),
            ProviderRow(name="revai", title="Rev.ai", max_audio_minutes=1020),
            ProviderRow(name="elevenlabs", title="ElevenLabs", max_audio_minutes=600),
            ProviderRow(name="soniox", title="Soniox", max_audio_minutes=300),
            ProviderRow(name="gladia", title="Gladia", max_audio_minutes=135, max_file_bytes=1_000_000_000),
            ProviderRow(name="salad", title="Salad", max_audio_minutes=150, max_file_bytes=3_000_000_000),
        )
    }
)

_ALL = frozenset(Can)
_NO_MASK = _ALL - {Can.MASK_PROFANITY}
_LIVE_WHISPER = frozenset({Can.DETECT_LANGUAGE, Can.VOCABULARY})
_WHISPER = _LIVE_WHISPER | {Can.DIARIZE}  # where the weights are installed; `sederunt doctor` tells


def _batch(
    identifier: str,
    alias: str,
    provider: str,
    vendor_model: str,
    can: frozenset[Can],
    *,
    for_recordings: bool = True,
) -> ModelRow:
    return ModelRow(
        identifier=identifier,
        aliases=(alias,),
        provider=provider,
        vendor_model=vendor_model,
        for_recordings=for_recordings,
        can=can,
    )


def _realtime(identifier: str, alias: str, provider: str, vendor_model: str, can: frozenset[Can]) -> ModelRow:
    return ModelRow(
        identifier=identifier, aliases=(alias,), provider=provider, vendor_model=vendor_model, realtime=True, can=can
    )


# vendor2-v3 is absent from the recordings' list of the specification; so it is here.
MODELS: tuple[ModelRow, ...] = (
    ModelRow(identifier=NONE, aliases=(), provider=None),
    _batch("vendor1", "whisper", "whisper", "", _WHISPER),
    _realtime("vendor1-realtime", "whisper-realtime", "whisper", "", _LIVE_WHISPER),  # our extension
    _batch("vendor2", "deepgram", "deepgram", "nova-2", _ALL),
    _batch("vendor2-v3", "deepgram-v3", "deepgram", "nova-3", _ALL, for_recordings=False),
    _realtime("vendor2-realtime", "deepgram-realtime", "deepgram", "nova-2", _ALL - {Can.DETECT_LANGUAGE}),
    _realtime("vendor2-realtime-v3", "deepgram-realtime-v3", "deepgram", "nova-3", _ALL),
    _batch("vendor3", "assembly-ai", "assemblyai", "universal", _ALL),
    _realtime("vendor3-realtime", "assembly-ai-realtime", "assemblyai", "universal-streaming", _ALL),
    _batch("vendor4", "speechmatics", "speechmatics", "enhanced", _NO_MASK),
    _realtime("vendor4-realtime", "speechmatics-realtime", "speechmatics", "enhanced", _NO_MASK),
    _batch("vendor5", "rev-ai", "revai", "machine", _ALL - {Can.DETECT_LANGUAGE}),
    _batch("vendor6", "elevenlabs", "elevenlabs", "scribe_v1", frozenset({Can.DIARIZE, Can.DETECT_LANGUAGE})),
    _batch("vendor6-v2", "elevenlabs-v2", "elevenlabs", "scribe_v2", _NO_MASK),
    _batch("vendor7", "soniox", "soniox", "stt-async-v5", _NO_MASK),
    _realtime("vendor7-realtime", "soniox-realtime", "soniox", "stt-rt-v5", _NO_MASK),
    _batch("vendor8", "gladia", "gladia", "solaria-1", _NO_MASK),
    _realtime("vendor8-realtime", "gladia-realtime", "gladia", "solaria-1", _NO_MASK - {Can.DIARIZE}),
    _batch("vendor9", "salad", "salad", "transcribe", frozenset({Can.DIARIZE, Can.VOCABULARY})),
)

_BY_NAME: Mapping[str, ModelRow] = MappingProxyType(
    {name: row for row in MODELS for name in (row.identifier, *row.aliases)}
)

# Every identifier and alias a bot, or a recording, may name: what validation lists, canonical names first.
BOT_MODELS: tuple[str, ...] = tuple(row.identifier for row in MODELS if row.for_bots) + tuple(
    alias for row in MODELS if row.for_bots for alias in row.aliases
)
RECORDING_MODELS: tuple[str, ...] = tuple(row.identifier for row in MODELS if row.for_recordings) + tuple(
    alias for row in MODELS if row.for_recordings for alias in row.aliases
)


def find(identifier: str) -> ModelRow | None:
    """The row an identifier or an alias names; None where there is no such model."""
    return _BY_NAME.get(identifier)


def has_sockets(identifier: str, *, realtime_audio: bool) -> bool:
    """Whether a bot with this model has realtime sockets: the model is a live one, or the caller asked for them."""
    row = find(identifier)
    return realtime_audio or (row is not None and row.realtime)


def is_live_here(identifier: str) -> bool:
    """Whether this machine itself transcribes while the meeting goes on: it can follow only so many bots."""
    row = find(identifier)
    return row is not None and row.realtime and row.provider == "whisper"


def provider_of(row: ModelRow) -> ProviderRow | None:
    """Who transcribes for this model; None for "none"."""
    return PROVIDERS[row.provider] if row.provider else None


def missing_key(provider: ProviderRow) -> str:
    """The sentence for a caller who named a model whose provider has no key, theirs or the operator's."""
    return (
        f"No credential for {provider.title}. Add one with 'sederunt credentials add {provider.name}' and send its id "
        f"as transcription_credentials, or let the operator set SEDERUNT_PROVIDERS__{provider.name.upper()}__KEY."
    )


def missing_provider(provider: ProviderRow) -> str:
    """The sentence for a caller who named a model that this installation has nothing to transcribe with."""
    return (
        f"{provider.title} is not part of this installation: no package introduces '{provider.name}' as a transcriber. "
        "Choose another transcription_model, or let the operator install one."
    )


def batch_twin(row: ModelRow) -> ModelRow:
    """The model that re-transcribes what a realtime one heard: same provider, same generation where there is one."""
    if not row.realtime:
        return row
    offline = [other for other in MODELS if other.provider == row.provider and not other.realtime]
    same = [other for other in offline if other.vendor_model == row.vendor_model]
    return (same or offline)[0]
