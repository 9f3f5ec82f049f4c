"""What AssemblyAI offers."""

from types import MappingProxyType

from sederunt.transcription.rows import Can, ModelRow, Price, ProviderRow, Region, RowSource, VocabularyRule

PROVIDER_ROW = ProviderRow(
    name="assemblyai",
    title="AssemblyAI",
    max_audio_minutes=600,
    max_file_bytes=2_200_000_000,
    url="https://api.assemblyai.com",
    socket_url="wss://streaming.assemblyai.com",
    regions=MappingProxyType(
        {
            "eu": Region(url="https://api.eu.assemblyai.com", socket_url="wss://streaming.eu.assemblyai.com"),
            "us": Region(url="https://api.assemblyai.com", socket_url="wss://streaming.us.assemblyai.com"),
        }
    ),
    paths=("/v2/upload", "/v2/transcript", "/v3/ws"),
    sources=(
        RowSource("languages of universal-2", "assemblyai.com/docs/pre-recorded-audio/universal-2", "2026-11-28"),
        RowSource("languages of streams", "AssemblyAI's page on multilingual streaming", "2026-11-22"),
        RowSource("billing of open sockets", "assemblyai.com/docs/billing-and-pricing", "2026-11-27"),
    ),
)

# AssemblyAI's page on universal-2, read 2026-11-28; without its variants of English.
_TAGS = """
    af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu
    hy id is it ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt
    ro ru sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo zh
"""
_UNIVERSAL_2 = frozenset(_TAGS.split())

MODELS = (
    ModelRow(
        identifier="vendor3",
        aliases=("assembly-ai",),
        keys=("assemblyai/universal-2", "assemblyai/universal"),
        provider="assemblyai",
        vendor_model="universal-2",
        for_recordings=True,
        can=frozenset(Can),
        languages=_UNIVERSAL_2,
        vocabulary=VocabularyRule(terms=200, words=6),
        price=Price(per_hour=0.15, as_of="2026-10-07", note="read second-hand"),
    ),
    ModelRow(
        identifier="vendor3-realtime",
        aliases=("assembly-ai-realtime",),
        keys=("assemblyai/universal-streaming",),
        provider="assemblyai",
        vendor_model="universal-streaming",
        realtime=True,
        can=frozenset(Can),
        # AssemblyAI's page on multilingual streaming, read 2026-11-22.
        languages=frozenset({"en", "es", "de", "fr", "pt", "it"}),
        vocabulary=VocabularyRule(terms=100, letters=50),
        price=Price(per_hour=0.15, as_of="2026-03-23", note="by stream time; key terms $0.04/h on top"),
    ),
)
