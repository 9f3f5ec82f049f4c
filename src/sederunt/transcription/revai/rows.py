"""What Rev.ai offers."""

from types import MappingProxyType

from sederunt.transcription.rows import Can, ModelRow, Price, ProviderRow, Region, RowSource, VocabularyRule

PROVIDER_ROW = ProviderRow(
    name="revai",
    title="Rev.ai",
    max_audio_minutes=1020,
    max_file_bytes=2_000_000_000,
    url="https://api.rev.ai",
    regions=MappingProxyType({"eu": Region(url="https://ec1.api.rev.ai")}),
    paths=("/speechtotext/v1", "/languageid/v1"),
    sources=(RowSource("requests and answers", "rev-ai 2.21.0", "2026-11-27"),),
)

MODELS = (
    ModelRow(
        identifier="vendor5",
        aliases=("rev-ai",),
        keys=("revai/reverb-foreign-language", "revai/machine"),
        provider="revai",
        vendor_model="machine",
        for_recordings=True,
        can=frozenset(Can),  # the language is found by a job of its own
        vocabulary=VocabularyRule(terms=1000, words=12, word_letters=34, digits=False),
        price=Price(
            per_hour=0.30,
            as_of="2026-06-12",
            note="read second-hand; English $0.20; finding the language $0.18/h on top",
        ),
    ),
)
