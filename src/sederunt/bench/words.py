"""Word error rate as others compute it: jiwer over the Whisper English normaliser."""


def word_error_rate(reference: str, heard: str) -> float:
    """Share of reference words that are wrong, missing or added; 0 is perfect, may exceed 1."""
    # Both belong to the practice extra; an installation without it measures nothing.
    import jiwer
    from whisper_normalizer.english import EnglishTextNormalizer

    normalise = EnglishTextNormalizer()
    return float(jiwer.wer(normalise(reference), normalise(heard)))
