"""Which sound tracks of a file are heard: those in which others may speak, not those that say the same again. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

# Dispositions of tracks that repeat what another one has, or tell of it.
RETOLD = frozenset({"dub", "comment", "lyrics", "karaoke", "hearing_impaired", "visual_impaired", "descriptions"})
# Codes (ISO 639) that name no one language.
_NO_LANGUAGE = frozenset({"", "und", "mis", "mul", "zxx"})


@dataclass(frozen=True, kw_only=True, slots=True)
class SoundTrack:
    readable: bool
    dispositions: frozenset[str] = frozenset()
    language: str = ""  # as the file tells it: deu, en, en-GB, und


def heard(tracks: Sequence[SoundTrack]) -> tuple[int, ...]:
    """Return which tracks are read, and added up. The first that can be read always is; none where none can.

    Of alternative languages that of the first track counts which tells one. What tells none is not taken for another.
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
    """Return the code without region or script; nothing where it names no language."""
    code = track.language.lower().replace("_", "-").partition("-")[0]
    return "" if code in _NO_LANGUAGE else code
