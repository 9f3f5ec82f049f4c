"""What SaladCloud offers."""

from sederunt.transcription.rows import Can, ModelRow, Price, ProviderRow, RowSource, VocabularyRule

PROVIDER_ROW = ProviderRow(
    name="salad",
    title="Salad",
    needs_organisation=True,
    max_audio_minutes=150,
    max_file_bytes=100_000_000,  # what its storage takes in one request; jobs take 3 GB
    url="https://api.salad.com",
    paths=("/api/public/organizations", "/organizations"),
    sources=(RowSource("requests and answers", "salad-cloud-transcription-sdk 1.0.0a1", "2026-11-27"),),
)

MODELS = (
    ModelRow(
        identifier="vendor9",
        aliases=("salad",),
        keys=("salad/transcription",),
        provider="salad",
        vendor_model="transcribe",
        for_recordings=True,
        # Without a language it detects one and does not say which; a wrong one causes a translation.
        can=frozenset({Can.DIARIZE, Can.VOCABULARY}),
        vocabulary=VocabularyRule(),
        price=Price(per_hour=0.20, as_of="2026-04-09"),
    ),
)
