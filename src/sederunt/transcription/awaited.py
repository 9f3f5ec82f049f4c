"""Rows of vendors whose folder is not there yet: a vendor's rows move into its folder with its first code."""

from sederunt.transcription.rows import Can, ModelRow, ProviderRow

AWAITED_PROVIDERS = (
    ProviderRow(name="assemblyai", title="AssemblyAI", max_audio_minutes=600),
    ProviderRow(name="speechmatics", title="Speechmatics", max_file_bytes=999_999_999),
    ProviderRow(name="gladia", title="Gladia", max_audio_minutes=135, max_file_bytes=1_000_000_000),
)

_ALL = frozenset(Can)
_NO_MASK = _ALL - {Can.MASK_PROFANITY}


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


AWAITED_MODELS: tuple[ModelRow, ...] = (
    _batch("vendor3", "assembly-ai", "assemblyai", "universal", _ALL),
    _realtime("vendor3-realtime", "assembly-ai-realtime", "assemblyai", "universal-streaming", _ALL),
    _batch("vendor4", "speechmatics", "speechmatics", "enhanced", _NO_MASK),
    _realtime("vendor4-realtime", "speechmatics-realtime", "speechmatics", "enhanced", _NO_MASK),
    _batch("vendor8", "gladia", "gladia", "solaria-1", _NO_MASK),
    _realtime("vendor8-realtime", "gladia-realtime", "gladia", "solaria-1", _NO_MASK - {Can.DIARIZE}),
)
