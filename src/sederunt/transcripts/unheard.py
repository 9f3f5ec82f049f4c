"""Loud sound of a track in which listeners were told no word: what a live transcript may lack."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sederunt.model.transcript import LiveLine

if TYPE_CHECKING:  # brings numpy
    from sederunt.transcription.whisper.sound import PcmSource

# So much is judged at once: both witnesses need surroundings.
LOOK_S = 20.0
# Coughs and laughter are loud, too: less than this in a row is no reason to transcribe a meeting again.
LONG_S = 4.0


def unheard_in(path: Path, lines: Iterable[LiveLine]) -> list[tuple[float, float]]:
    """Return what `unheard` finds in a recorded track."""
    from sederunt.media.pcm import read_pcm

    return unheard(lambda start_s: read_pcm(path, start_s=start_s), lines)


def unheard(source: PcmSource, lines: Iterable[LiveLine]) -> list[tuple[float, float]]:
    """Return where (seconds) a track sounds like speech, to the detector or by its loudness, and no line has a word.

    `lines` are those of the track. Blocks: decodes and judges the track, about 0.01 CPU-seconds per audible second.
    """
    from sederunt.transcription.whisper import reading, speech
    from sederunt.transcription.whisper.decoding import TimedWord
    from sederunt.transcription.whisper.sound import UnreadSound

    told = [
        TimedWord(word.word, word.start, word.end, word.confidence)
        for line in lines
        for utterance in line.segment.utterances
        for word in utterance.words
    ]
    sound, found = UnreadSound(source), list[tuple[float, float]]()
    while True:
        sound.skip_silence()
        samples, _ = sound.look(LOOK_S)
        if not len(samples):
            return [(start, end) for start, end in found if end - start >= LONG_S]
        at_s = sound.position_s
        stretches = [(at_s + start, at_s + end) for start, end in speech.listen(samples).audible()]
        found += reading.uncovered(stretches, told)
        sound.skip(LOOK_S)
