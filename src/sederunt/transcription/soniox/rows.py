"""What Soniox offers."""

from types import MappingProxyType

from sederunt.transcription.rows import Can, ModelRow, Price, ProviderRow, Region, RowSource, VocabularyRule

PROVIDER_ROW = ProviderRow(
    name="soniox",
    title="Soniox",
    max_audio_minutes=300,
    url="https://api.soniox.com",
    socket_url="wss://stt-rt.soniox.com",
    # Soniox's page on data residency, read 2026-11-27; a key belongs to one region.
    regions=MappingProxyType(
        {
            "us": Region(url="https://api.soniox.com", socket_url="wss://stt-rt.soniox.com"),
            "eu": Region(url="https://api.eu.soniox.com", socket_url="wss://stt-rt.eu.soniox.com"),
            "jp": Region(url="https://api.jp.soniox.com", socket_url="wss://stt-rt.jp.soniox.com"),
        }
    ),
    paths=("/v1/files", "/v1/transcriptions", "/v1/models", "/transcribe-websocket"),
    sources=(
        RowSource("languages", "soniox.com/docs/stt/concepts/supported-languages", "2026-11-28"),
        RowSource("custom words", "soniox.com/docs/speech-to-text/guides/context", "2026-11-27"),
        RowSource("regions", "soniox.com/docs/stt/data-residency", "2026-11-27"),
        RowSource("ends of jobs", "soniox.com/docs/api-reference/errors", "2026-11-27"),
    ),
)

# Soniox's page on supported languages, the same for files and streams; read 2026-11-28.
_TAGS = """
    af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr gl gu he hi hr hu id it ja kk kn ko lt lv mk
    ml mr ms nl no pa pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur vi zh
"""
_LANGUAGES = frozenset(_TAGS.split())

# A request's context holds 8,000 tokens, some 10,000 characters: Soniox's page on context, read 2026-11-27.
_VOCABULARY = VocabularyRule(letters_in_all=10_000)

_CAN = frozenset({Can.DIARIZE, Can.DETECT_LANGUAGE, Can.VOCABULARY})

MODELS = (
    ModelRow(
        identifier="vendor7",
        aliases=("soniox",),
        keys=("soniox/stt-async-v4", "soniox/stt-async-v5"),
        provider="soniox",
        vendor_model="stt-async-v5",
        for_recordings=True,
        can=_CAN,
        languages=_LANGUAGES,
        vocabulary=_VOCABULARY,
        price=Price(per_hour=0.10, as_of="2026-11-21", note="product page without a date"),
    ),
    ModelRow(
        identifier="vendor7-realtime",
        aliases=("soniox-realtime",),
        keys=("soniox/stt-rt-v4", "soniox/stt-rt-v5"),
        provider="soniox",
        vendor_model="stt-rt-v5",
        realtime=True,
        can=_CAN,
        languages=_LANGUAGES,
        vocabulary=_VOCABULARY,
        price=Price(
            per_hour=0.12, as_of="2026-11-21", note="product page without a date; by the time that a line is open"
        ),
    ),
)
