"""Find a track's loud sound without words, which a live transcript may lack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sederunt.model.transcript import Word

if TYPE_CHECKING:  # brings numpy
    from sederunt.transcription.whisper.sound import PcmSource

# Judged at once: detector and loudness both need context.
LOOK_S = 20.0
ONE_STRETCH_S = 0.3  # stretches this close are joined, also across two looks


def unheard_in(path: Path, words: Iterable[Word]) -> list[tuple[float, float]]:
    """Return what `unheard` finds in a recorded track."""
    from sederunt.media.pcm import read_pcm

    return unheard(lambda start_s: read_pcm(path, start_s=start_s), words)


def unheard(source: PcmSource, words: Iterable[Word]) -> list[tuple[float, float]]:
    """Return where (seconds) a track sounds like speech, by the detector or its loudness, and has no words.

    `words` are the track's published words. Blocks: decodes and judges the track, about 0.01 CPU-seconds per audible
    second.
    """
    from sederunt.transcription.whisper import speech
    from sederunt.transcription.whisper.sound import UnreadSound

    word_list, sound, stretches = list(words), UnreadSound(source), list[tuple[float, float]]()
    while True:
        sound.skip_silence()
        samples, _ = sound.look(LOOK_S)
        if not len(samples):
            return still_without(stretches, word_list)
        at_s = sound.position_s
        for start, end in speech.listen(samples).audible():
            if stretches and at_s + start - stretches[-1][1] <= ONE_STRETCH_S:  # continues from the last look
                stretches[-1] = (stretches[-1][0], at_s + end)
            else:
                stretches.append((at_s + start, at_s + end))
        sound.skip(LOOK_S)


def still_without(stretches: Sequence[tuple[float, float]], words: Iterable[Word]) -> list[tuple[float, float]]:
    """Return the parts of the stretches that lack words."""
    from sederunt.transcription.whisper import reading
    from sederunt.transcription.whisper.decoding import TimedWord

    timed_words = [TimedWord(word.word, word.start, word.end, word.confidence) for word in words]
    return reading.uncovered(stretches, timed_words)
