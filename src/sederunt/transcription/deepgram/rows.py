"""What Deepgram offers."""

from types import MappingProxyType

from sederunt.transcription.rows import Can, ModelRow, Price, ProviderRow, Region, RowSource, VocabularyRule

NOVA_2, NOVA_3 = "nova-2", "nova-3"


PROVIDER_ROW = ProviderRow(
    name="deepgram",
    title="Deepgram",
    max_file_bytes=2_000_000_000,
    url="https://api.deepgram.com",
    socket_url="wss://api.deepgram.com",
    regions=MappingProxyType(
        {
            name: Region(url=f"https://api.{name}.deepgram.com", socket_url=f"wss://api.{name}.deepgram.com")
            for name in ("eu", "au", "in")
        }
    ),
    paths=("/v1/listen", "/v1/projects"),
    sources=(
        RowSource("languages of nova-2", "Deepgram's changelog of 2024-05-14", "2026-11-22"),
        RowSource("variants of languages", "Deepgram's changelog, 2025-08 to 2026-03", "2026-11-26"),
        RowSource("scopes of keys", "developers.deepgram.com/docs/working-with-roles", "2026-11-27"),
    ),
)

_ALL = frozenset(Can)
_LIVE = _ALL - {Can.DETECT_LANGUAGE}  # a stream's language is not detected; "multi" follows several

# Deepgram's changelog of 2024-05-14 (36 languages and variants); read 2026-11-22. No language was added since.
_NOVA_2 = "bg ca zh cs da nl en et fi fr de el hi hu id it ja ko lv lt ms no pl pt ro ru sk es sv th tr uk vi"
_NOVA_2_LANGUAGES = frozenset(_NOVA_2.split())
# Languages are added to nova-3 every few weeks (the changelog has ten such entries from 2025-08 to 2026-03, and its
# "multi" knew 55 in 2026-10): a list here would refuse some that Deepgram takes. Its own refusal states the cause.
_NOVA_3_LANGUAGES = None

# Tags with a region or script, by Deepgram's changelog of 2025-08 to 2026-03, and English; read 2026-11-26. Of any
# other ("fr-FR") only the language is sent: Deepgram would answer "No such model/language/tier combination".
VARIANTS = MappingProxyType(
    {
        tag.lower(): tag
        for tag in [
            "da-DK",
            "de-CH",
            "en-AU",
            "en-GB",
            "en-IN",
            "en-NZ",
            "en-US",
            "es-419",
            "fr-CA",
            "ko-KR",
            "nl-BE",
            "pt-BR",
            "pt-PT",
            "sv-SE",
            "th-TH",
            "zh-CN",
            "zh-HK",
            "zh-Hans",
            "zh-Hant",
            "zh-TW",
        ]
    }
)

# Keywords are single words: phrases are split. Key terms may be phrases.
MOST_KEYWORDS = 100
_KEYWORDS = VocabularyRule(terms=MOST_KEYWORDS)
_KEYTERMS = VocabularyRule(terms=100, words=6, letters=100, tokens=500)

MODELS = (
    ModelRow(
        identifier="vendor2",
        aliases=("deepgram",),
        keys=("deepgram/nova-2",),
        provider="deepgram",
        vendor_model=NOVA_2,
        for_recordings=True,
        can=_ALL,
        languages=_NOVA_2_LANGUAGES,
        vocabulary=_KEYWORDS,
        price=Price(per_hour=0.26, as_of="2026-08-01", note="read second-hand; diarization $0.12/h on top"),
    ),
    # Not `for_recordings`: the specification's list for recordings lacks it.
    ModelRow(
        identifier="vendor2-v3",
        aliases=("deepgram-v3",),
        keys=("deepgram/nova-3", "deepgram/nova-3-multilingual"),
        provider="deepgram",
        vendor_model=NOVA_3,
        can=_ALL,
        languages=_NOVA_3_LANGUAGES,
        vocabulary=_KEYTERMS,
        price=Price(per_hour=0.46, as_of="2026-08-01", note="read second-hand; $0.26 in May"),
    ),
    ModelRow(
        identifier="vendor2-realtime",
        aliases=("deepgram-realtime",),
        keys=("deepgram/nova-2-realtime",),
        provider="deepgram",
        vendor_model=NOVA_2,
        realtime=True,
        can=_LIVE,
        languages=_NOVA_2_LANGUAGES,
        default_lang="multi",
        vocabulary=_KEYWORDS,
        price=Price(per_hour=0.35, as_of="2026-08-01", note="read second-hand"),
    ),
    ModelRow(
        identifier="vendor2-realtime-v3",
        aliases=("deepgram-realtime-v3",),
        keys=("deepgram/nova-3-realtime", "deepgram/nova-3-multilingual-realtime"),
        provider="deepgram",
        vendor_model=NOVA_3,
        realtime=True,
        can=_ALL,
        languages=_NOVA_3_LANGUAGES,
        default_lang="multi",
        vocabulary=_KEYTERMS,
        price=Price(per_hour=0.35, as_of="2026-08-01", note="read second-hand; several languages"),
    ),
)
