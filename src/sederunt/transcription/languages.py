"""Language tags as callers send them."""

# What asks for detection instead of naming a language.
DETECT = frozenset({"", "auto", "multi"})


def primary_tag(lang: str | None) -> str | None:
    """Return the language of a tag without region or script, lower case; None where detection is asked for.

    "en-US" → "en", "zh-Hans" → "zh", "auto" → None.
    """
    tag = (lang or "").strip().lower().replace("_", "-").partition("-")[0]
    return None if tag in DETECT else tag
