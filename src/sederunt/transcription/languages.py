"""Language tags as callers send them."""

from collections.abc import Mapping

# Tags that ask for detection.
DETECT = frozenset({"", "auto", "multi"})

# ISO 639-1, and languages for which Whisper or the vendors have only a code of three letters. For any other tag, even
# if well-formed, the language is detected.
_TWO_LETTERS = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo
    es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu iw ja jv jw
    ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng
    nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv
    sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
_THREE_LETTERS = """
    amh asm ast ceb ckb fil ful gaa hau haw ibo jav kea khm kir kur lao lin ltz lug luo mao mri mya nan nso nya oci
    ori pus sna snd som tgk uig umb wol wuu xho yue zul
"""
_KNOWN = frozenset((_TWO_LETTERS + _THREE_LETTERS).split())
# Other codes of the same language: obsolete ones of two letters, and ISO 639-3 or 639-2, as some vendors answer.
_PAIRS = """
    nb:no iw:he in:id ji:yi fil:tl
    afr:af ara:ar aze:az bel:be ben:bn bos:bs bul:bg cat:ca ces:cs cze:cs cmn:zh zho:zh chi:zh cym:cy wel:cy dan:da
    deu:de ger:de ell:el gre:el eng:en est:et eus:eu baq:eu fas:fa per:fa fin:fi fra:fr fre:fr gle:ga glg:gl guj:gu
    heb:he hin:hi hrv:hr hun:hu hye:hy arm:hy ind:id isl:is ice:is ita:it jpn:ja kan:kn kat:ka geo:ka kaz:kk kor:ko
    lav:lv lit:lt mal:ml mar:mr mkd:mk mac:mk mlt:mt mon:mn msa:ms may:ms nep:ne nld:nl dut:nl nor:no nob:no pan:pa
    pol:pl por:pt ron:ro rum:ro rus:ru slk:sk slo:sk slv:sl spa:es sqi:sq alb:sq srp:sr swa:sw swe:sv tam:ta tel:te
    tgl:tl tha:th tur:tr ukr:uk urd:ur uzb:uz vie:vi
"""
_OTHERWISE: Mapping[str, str] = dict(pair.split(":") for pair in _PAIRS.split())


def primary_tag(lang: str | None) -> str | None:
    """Return the language of a tag without region or script, lower case; None if detection is asked for.

    "en-US" → "en", "zh-Hans" → "zh", "nb" → "no", "deu" → "de", "auto" → None.
    """
    tag = (lang or "").strip().lower().replace("_", "-").partition("-")[0]
    return None if tag in DETECT else _OTHERWISE.get(tag, tag)


def is_known(lang: str | None) -> bool:
    """Return whether a tag names a language that is transcribed anywhere: "xx" and "tlh-Latn" do not."""
    return primary_tag(lang) in _KNOWN
