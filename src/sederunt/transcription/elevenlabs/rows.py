"""What ElevenLabs offers."""

from types import MappingProxyType

from sederunt.transcription.rows import Can, ModelRow, Price, ProviderRow, Region, RowSource, VocabularyRule

SCRIBE_1, SCRIBE_2 = "scribe_v1", "scribe_v2"

_HOSTS = {
    "us": "api.us.elevenlabs.io",
    "eu": "api.eu.residency.elevenlabs.io",
    "in": "api.in.residency.elevenlabs.io",
    "sg": "api.sg.residency.elevenlabs.io",
}

PROVIDER_ROW = ProviderRow(
    name="elevenlabs",
    title="ElevenLabs",
    max_audio_minutes=600,
    max_file_bytes=3_000_000_000,
    url="https://api.elevenlabs.io",
    regions=MappingProxyType({name: Region(url=f"https://{host}") for name, host in _HOSTS.items()}),
    paths=("/v1/speech-to-text", "/v1/user"),
    sources=(
        RowSource("end of scribe_v1", "elevenlabs.io/docs/changelog/2026/6/8", "2026-11-27"),
        RowSource("permissions of keys", "elevenlabs.io/docs/api-reference/authentication", "2026-11-27"),
    ),
)

_PRICE = Price(per_hour=0.40, as_of="2026-11-21", note="read second-hand, $0.36 to 0.60; key terms cost extra")

MODELS = (
    ModelRow(
        identifier="vendor6",
        aliases=("elevenlabs",),
        keys=("elevenlabs/scribe-v1",),
        provider="elevenlabs",
        vendor_model=SCRIBE_1,
        end_of_life="2026-07-09",  # ElevenLabs' changelog of 2026-06-08, read 2026-11-27
        successor="vendor6-v2",
        for_recordings=True,
        can=frozenset({Can.DIARIZE, Can.DETECT_LANGUAGE}),
        price=_PRICE,
    ),
    ModelRow(
        identifier="vendor6-v2",
        aliases=("elevenlabs-v2",),
        keys=("elevenlabs/scribe-v2",),
        provider="elevenlabs",
        vendor_model=SCRIBE_2,
        for_recordings=True,
        can=frozenset({Can.DIARIZE, Can.DETECT_LANGUAGE, Can.VOCABULARY}),
        vocabulary=VocabularyRule(terms=1000, words=5, letters=49),
        price=_PRICE,
    ),
)
