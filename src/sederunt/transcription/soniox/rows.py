"""What Soniox offers."""

from sederunt.transcription.rows import Can, ModelRow, Price, ProviderRow, VocabularyRule

PROVIDER_ROW = ProviderRow(
    name="soniox",
    title="Soniox",
    max_audio_minutes=300,
    url="https://api.soniox.com",
    socket_url="wss://stt-rt.soniox.com",
    paths=("/v1/files", "/v1/transcriptions", "/v1/models", "/transcribe-websocket"),
)

# Soniox's page on supported languages, the same for files and streams; read 2026-11-28.
_TAGS = """
    af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr gl gu he hi hr hu id it ja kk kn ko lt lv mk
    ml mr ms nl no pa pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur vi zh
"""
_LANGUAGES = frozenset(_TAGS.split())

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
        vocabulary=VocabularyRule(),
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
        vocabulary=VocabularyRule(),
        price=Price(
            per_hour=0.12, as_of="2026-11-21", note="product page without a date; by the time that a line is open"
        ),
    ),
)
