"""What Gladia offers."""

from types import MappingProxyType

from sederunt.transcription.rows import Can, ModelRow, Price, ProviderRow, Region, RowSource, VocabularyRule

_URL, _SOCKET = "https://api.gladia.io", "wss://api.gladia.io"

PROVIDER_ROW = ProviderRow(
    name="gladia",
    title="Gladia",
    max_audio_minutes=135,
    max_file_bytes=1_000_000_000,
    url=_URL,
    socket_url=_SOCKET,  # the real URL of a session comes with the answer that begins it
    regions=MappingProxyType({name: Region(url=_URL, socket_url=_SOCKET) for name in ("eu-west", "us-west")}),
    paths=("/v2/upload", "/v2/pre-recorded", "/v2/live"),
    sources=(
        RowSource("languages", "the enumeration of Gladia's API file", "2026-11-28"),
        RowSource("what is kept", "docs.gladia.io/chapters/limits-and-specifications/data-retention", "2026-11-27"),
        RowSource("longest live session", "gladiaio/docs, PR 105 of 2026-02-10", "2026-11-27"),
    ),
)

# The codes of Gladia's enumeration, one for files and streams; read 2026-11-28.
_TAGS = """
    af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu
    hy id is it ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt
    ro ru sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo zh
"""
_LANGUAGES = frozenset(_TAGS.split())

_VOCABULARY = VocabularyRule(terms=100, words=5, letters_in_all=10_000)

MODELS = (
    ModelRow(
        identifier="vendor8",
        aliases=("gladia",),
        keys=("gladia/async",),
        provider="gladia",
        vendor_model="solaria-1",
        for_recordings=True,
        can=frozenset({Can.DIARIZE, Can.DETECT_LANGUAGE, Can.VOCABULARY}),
        languages=_LANGUAGES,
        vocabulary=_VOCABULARY,
        price=Price(per_hour=0.61, as_of="2026-06-12", note="read second-hand; from $0.20 by plan"),
    ),
    ModelRow(
        identifier="vendor8-realtime",
        aliases=("gladia-realtime",),
        keys=("gladia/realtime",),
        provider="gladia",
        vendor_model="solaria-1",
        realtime=True,
        can=frozenset({Can.DETECT_LANGUAGE, Can.VOCABULARY}),
        languages=_LANGUAGES,
        vocabulary=_VOCABULARY,
        price=Price(per_hour=0.75, as_of="2026-06-12", note="read second-hand; from $0.25 by plan"),
    ),
)
