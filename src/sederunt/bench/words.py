"""Words as they are counted, and their error rate as others compute it: jiwer over the Whisper English normaliser."""

import re
from functools import cache
from typing import Any


def normalised(text: str) -> str:
    """Return a text after the Whisper English normaliser."""
    return str(_normaliser()(text))


def as_counted(text: str) -> str:
    """Return a text after the Whisper English normaliser, each digit a word of its own.

    The normaliser makes one number of "one, two, three" but "one 2 3" of "1, 2, 3", so that an engine which counts in
    digits would have as many errors as numbers, and none that anybody hears.
    """
    return re.sub(r"\d", r" \g<0> ", re.sub(r"\bone\b", "1", normalised(text)))


def word_error_rate(reference: str, heard: str) -> float:
    """Share of reference words that are wrong, missing or added; 0 is perfect, may exceed 1."""
    import jiwer

    return float(jiwer.wer(normalised(reference), normalised(heard)))


@cache
def _normaliser() -> Any:
    # Belongs, with jiwer, to the practice extra; an installation without it measures nothing.
    from whisper_normalizer.english import EnglishTextNormalizer

    return EnglishTextNormalizer()
