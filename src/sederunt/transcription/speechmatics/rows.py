"""What Speechmatics offers."""

from types import MappingProxyType

from sederunt.transcription.rows import Can, ModelRow, Price, ProviderRow, Region, RowSource, VocabularyRule

_HOST = "asr.api.speechmatics.com"

PROVIDER_ROW = ProviderRow(
    name="speechmatics",
    title="Speechmatics",
    max_file_bytes=999_999_999,
    url=f"https://{_HOST}",
    socket_url="wss://eu.rt.speechmatics.com",
    regions=MappingProxyType(
        {
            "eu": Region(url=f"https://eu1.{_HOST}", socket_url="wss://eu.rt.speechmatics.com"),
            "us": Region(url=f"https://us1.{_HOST}", socket_url="wss://us.rt.speechmatics.com"),
            "au": Region(url=f"https://au1.{_HOST}", socket_url="wss://global.rt.speechmatics.com"),
        }
    ),
    paths=("/v2/jobs", "/v2"),
    sources=(RowSource("requests and answers", "speechmatics-batch 1.1.0, speechmatics-rt 1.2.1", "2026-11-27"),),
)

_VOCABULARY = VocabularyRule(terms=1000, words=6)

MODELS = (
    ModelRow(
        identifier="vendor4",
        aliases=("speechmatics",),
        keys=("speechmatics/batch-enhanced",),
        provider="speechmatics",
        vendor_model="enhanced",
        for_recordings=True,
        can=frozenset({Can.DIARIZE, Can.DETECT_LANGUAGE, Can.VOCABULARY}),
        vocabulary=_VOCABULARY,
        price=Price(per_hour=0.30, as_of="2026-06-12", note="read second-hand"),
    ),
    ModelRow(
        identifier="vendor4-standard",
        aliases=("speechmatics-standard",),
        keys=("speechmatics/batch-standard",),
        provider="speechmatics",
        vendor_model="standard",
        for_recordings=True,
        can=frozenset({Can.DIARIZE, Can.DETECT_LANGUAGE, Can.VOCABULARY}),
        vocabulary=_VOCABULARY,
    ),
    ModelRow(
        identifier="vendor4-realtime",
        aliases=("speechmatics-realtime",),
        keys=("speechmatics/realtime-enhanced",),
        provider="speechmatics",
        vendor_model="enhanced",
        realtime=True,
        can=frozenset({Can.DIARIZE, Can.VOCABULARY}),  # a stream's language is not found
        default_lang="en",
        vocabulary=_VOCABULARY,
        price=Price(per_hour=0.24, as_of="2026-06-12", note='read second-hand, "from"'),
    ),
    ModelRow(
        identifier="vendor4-realtime-standard",
        aliases=("speechmatics-realtime-standard",),
        keys=("speechmatics/realtime-standard",),
        provider="speechmatics",
        vendor_model="standard",
        realtime=True,
        can=frozenset({Can.DIARIZE, Can.VOCABULARY}),
        default_lang="en",
        vocabulary=_VOCABULARY,
    ),
)
