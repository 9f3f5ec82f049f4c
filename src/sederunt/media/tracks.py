"""Choose a file's sound tracks: those with different speech, not those that repeat the same. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

# Dispositions of tracks that repeat or describe another one.
RETOLD = frozenset({"dub", "comment", "lyrics", "karaoke", "hearing_impaired", "visual_impaired", "descriptions"})
# Codes (ISO 639) that name no single language.
_NO_LANGUAGE = frozenset({"", "und", "mis", "mul", "zxx"})


@dataclass(frozen=True, kw_only=True, slots=True)
class SoundTrack:
    readable: bool
    dispositions: frozenset[str] = frozenset()
    language: str = ""  # as in the file: deu, en, en-GB, und


def heard(tracks: Sequence[SoundTrack]) -> tuple[int, ...]:
    """Return which tracks to read and add up. The first readable track is always among them.

    The first track with a language decides between languages; tracks without one are not excluded.
    """
    numbers: list[int] = []
    first_language = ""
    for number, track in enumerate(tracks):
        language = _language(track)
        is_other_language = bool(language and first_language and language != first_language)
        if track.readable and not (numbers and (is_other_language or track.dispositions & RETOLD)):
            numbers.append(number)
            first_language = first_language or language
    return tuple(numbers)


def _language(track: SoundTrack) -> str:
    """Return the code without region or script; empty if it names no language."""
    code = track.language.lower().replace("_", "-").partition("-")[0]
    return "" if code in _NO_LANGUAGE else code
