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
        vocabulary=VocabularyRule(),
        price=Price(
            per_hour=0.12, as_of="2026-11-21", note="product page without a date; by the time that a line is open"
        ),
    ),
)
