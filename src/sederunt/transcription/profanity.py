"""Mask profanity for models that cannot: whole words, with the first letter kept and the rest as stars.

The lists are short on purpose. A word that is mostly innocent (a first name, an animal, a bird) is not on them, and
nothing is matched inside other words. English words are masked in every language, since they are used everywhere.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from sederunt.model.transcript import Segment, Transcript, Utterance
from sederunt.transcription.languages import primary_tag
from sederunt.transcription.text import join

# Language → words without accents, lower case. "fuck+" stands for the word with any of its language's endings.
_WORDS: Mapping[str, str] = {
    "en": """
        fuck+ motherfuck+ clusterfuck+ unfuck+ fuckup fuckups fuckwit fuckwits fuckface fuckin shit+ shitty shittier
        shittiest shithead shitheads shithole shitholes shitshow bullshit+ horseshit dipshit dipshits apeshit batshit
        cunt+ cunty bitch+ bitchy bastard bastards asshole assholes arsehole arseholes ass asses arse arses dumbass
        dumbasses jackass jackasses badass badasses dickhead dickheads cocksucker cocksuckers cocksucking prick pricks
        piss+ pissy wank+ twat twats bollocks slut sluts slutty whore whores goddamn goddamned goddammit tosser
        tossers bugger buggers nigger niggers nigga niggas faggot faggots kike kikes retard retards retarded pussies
        tits titties jizz blowjob blowjobs handjob handjobs
    """,
    "de": """
        scheisse scheiss scheissen scheissegal beschissen beschissene arschloch arschlocher arsch wichser fotze fotzen
        hurensohn hurensohne hure huren ficken fick gefickt ficker schlampe schlampen missgeburt verpiss
    """,
    "es": """
        mierda mierdas joder jodido jodida jodete puta putas puto putos putamadre cono cabron cabrona cabrones
        gilipollas pendejo pendeja pendejos chingar chingada chingado verga culero hijoputa maricon maricones
    """,
    "fr": """
        merde merdes merdique putain putains pute putes connard connards connasse connasses salope salopes salaud
        salauds encule encules enculer enfoire enfoires bordel foutre nique niquer batard batards couille couilles
    """,
    "it": """
        cazzo cazzi cazzata cazzate merda merde stronzo stronza stronzi stronze puttana puttane vaffanculo fanculo
        coglione coglioni troia troie bastardo bastardi minchia incazzato incazzata
    """,
    "nl": """
        kut kutwijf klootzak klootzakken lul hoer hoeren godverdomme verdomme kanker tering tyfus neuken eikel
    """,
    "pl": """
        kurwa kurwy kurwe chuj chuja chuje pierdole pierdolic pierdolony spierdalaj jebac jebany pizda skurwysyn
    """,
    "pt": """
        merda merdas porra caralho caralhos foder fodase fodido fodida puta putas puto putos cabrao viado buceta
        arrombado babaca
    """,
    "sv": "fan javla javlar fitta fittor hora horor kuk knulla helvete skit skitstovel",
}
_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "en": ("", "s", "es", "ed", "er", "ers", "ing", "in", "ings", "able"),
}
# Letters with the marks within a word; the apostrophe of "ass's" ends the word, so that the word before is masked.
_WORD = re.compile(r"[^\W\d_]+")


def mask(transcript: Transcript, lang: str | None = None) -> Transcript:
    """Return the transcript with profanity masked at every level.

    Each utterance is masked in its own language; `lang` is for those without one.
    """
    return replace(transcript, segments=tuple(_segment(segment, lang) for segment in transcript.segments))


def mask_utterances(utterances: Iterable[Utterance], lang: str | None = None) -> tuple[Utterance, ...]:
    """Mask profanity in utterances, as `mask` does; also for live utterances, which are no transcript yet."""
    return tuple(_utterance(utterance, utterance.lang or lang) for utterance in utterances)


def _segment(segment: Segment, lang: str | None) -> Segment:
    utterances = mask_utterances(segment.utterances, lang)
    text = (
        join(utterance.transcript for utterance in utterances)
        if utterances
        else _masked(segment.transcript, _list_of(lang))
    )
    return replace(segment, transcript=text, utterances=utterances)


def _utterance(utterance: Utterance, lang: str | None) -> Utterance:
    bad_words = _list_of(lang)
    words = tuple(replace(word, word=_masked(word.word, bad_words)) for word in utterance.words)
    return replace(utterance, transcript=_masked(utterance.transcript, bad_words), words=words)


def _masked(text: str, bad_words: frozenset[str]) -> str:
    # Accents may be separate characters; once composed, each letter is one character, and becomes one star.
    return _WORD.sub(
        lambda match: _starred(match[0]) if _plain(match[0]) in bad_words else match[0],
        text if text.isascii() else unicodedata.normalize("NFC", text),
    )


def _starred(word: str) -> str:
    return word[0] + "*" * (len(word) - 1)


def _plain(word: str) -> str:
    """Return a word as in the lists: lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _list_of(lang: str | None) -> frozenset[str]:
    return _vocabulary(primary_tag(lang) or "en")


@cache
def _vocabulary(language: str) -> frozenset[str]:
    return frozenset(
        word.removesuffix("+") + ending
        for tag in {"en", language} & _WORDS.keys()
        for word in _WORDS[tag].split()
        for ending in (_ENDINGS[tag] if word.endswith("+") else ("",))
    )
