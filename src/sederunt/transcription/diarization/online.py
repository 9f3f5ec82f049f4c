"""Online diarization: each piece gets voices by the sound so far, and is not revised.

The speakers are not known in advance. So enough sound that is like nobody's founds a voice, different threads of one
piece tend to be different people, and two voices that turn out to be one continue under the older number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sederunt.transcription.diarization.clustering import SAME_THREAD, Labels, completed, narrow_bar
from sederunt.transcription.diarization.diarizer import Ears, VoiceSpan, spans, stretches_of
from sederunt.transcription.diarization.voice_stretches import Samples, Vector, VoiceStretch, unit
from sederunt.transcription.whisper.live.detector import Hearing

# A stretch belongs to a known voice from this cosine on. Otherwise it founds one, if it was heard for FOUNDS_S seconds.
ALIKE, FOUNDS_S = 0.36, 1.0
# Likeness subtracted from a voice that another thread of the same piece already has.
OTHER_THREAD = 0.15
# A shorter stretch that is less alike than this to everybody gets no voice by itself; its surroundings decide.
UNSURE = 0.26
# Two voices that are this much alike, after SETTLED_S seconds of each, are one.
ONE_VOICE, SETTLED_S = 0.6, 3.0
# Sound older than a voice's last so many seconds weighs less and less: rooms and microphones change.
REMEMBERED_S = 60.0
# Beyond so many voices the least heard is forgotten, so that noise cannot fill the memory.
MOST_VOICES = 64


@dataclass(slots=True)
class KnownVoice:
    """What a voice has sounded like so far."""

    number: int
    total: Vector  # sum of its stretches' voices, weighted by seconds heard
    heard_s: float

    @property
    def centre(self) -> Vector:
        return unit(self.total)

    def hear(self, voice: Vector, seconds: float) -> None:
        """Add a stretch."""
        decay = min(1.0, REMEMBERED_S / (self.heard_s + seconds))
        self.total = self.total * np.float32(decay) + voice * np.float32(seconds)
        self.heard_s = self.heard_s * decay + seconds


class VoiceFollower:
    """The voices of one stream. Not safe to use from two threads at once."""

    def __init__(self, ears: Ears) -> None:
        self._ears = ears
        self._known: list[KnownVoice] = []
        self._founded = 0
        self._numbers: dict[int, int] = {}
        self._bar = 0.0  # how much more alike voices must be, judged by the last piece

    def spans(self, samples: Samples, hearing: Hearing) -> list[VoiceSpan]:
        """Return who speaks when in the next piece of sound, given the detector's frames. Blocks.

        Times are seconds of the piece; voice numbers are those of the stream."""
        stretches = list(stretches_of(self._ears, [samples], lambda _: hearing))
        voice_spans = spans(stretches, self.labels(stretches), self._numbers)
        self._merge()
        return voice_spans

    def labels(self, stretches: Sequence[VoiceStretch]) -> Labels:
        """Return who speaks in each stretch of a piece, judging the best heard first; empty where that is unknown."""
        if any(stretch.voice is not None for stretch in stretches):
            self._bar = narrow_bar(stretches)
        single_labels: list[int | None] = [None] * len(stretches)
        threads: dict[int, int] = {}
        voiced = [(stretch, n) for n, stretch in enumerate(stretches) if stretch.voice is not None]
        for stretch, n in sorted(voiced, key=lambda pair: -pair[0].heard_s):
            voice_number = self._whose(stretch, threads)
            if voice_number is not None:
                single_labels[n] = threads[stretch.threads[0]] = voice_number
        return completed(stretches, single_labels)

    def _whose(self, stretch: VoiceStretch, threads: dict[int, int]) -> int | None:
        assert stretch.voice is not None
        scores = [float(voice.centre @ stretch.voice) + self._bias(voice, stretch, threads) for voice in self._known]
        best = int(np.argmax(scores)) if scores else -1
        if scores and scores[best] >= ALIKE + self._bar:
            self._known[best].hear(stretch.voice, stretch.heard_s)
        elif stretch.heard_s >= FOUNDS_S:
            best = self._found(stretch)
        elif not scores or scores[best] < UNSURE + self._bar:
            return None
        return self._known[best].number

    def _bias(self, voice: KnownVoice, stretch: VoiceStretch, threads: dict[int, int]) -> float:
        if threads.get(stretch.threads[0]) == voice.number:
            return SAME_THREAD
        return -OTHER_THREAD if voice.number in threads.values() else 0.0

    def _found(self, stretch: VoiceStretch) -> int:
        assert stretch.voice is not None
        if len(self._known) >= MOST_VOICES:
            self._known.remove(min(self._known, key=lambda voice: voice.heard_s))
        total = stretch.voice * np.float32(stretch.heard_s)
        self._known.append(KnownVoice(number=self._founded, total=total, heard_s=stretch.heard_s))
        self._founded += 1
        return len(self._known) - 1

    def _merge(self) -> None:
        """Merge voices that turned out to be one into the older one."""
        for n, older in enumerate(self._known):
            duplicates = [
                newer
                for newer in self._known[n + 1 :]
                if min(older.heard_s, newer.heard_s) >= SETTLED_S
                and float(older.centre @ newer.centre) >= ONE_VOICE + self._bar
            ]
            for newer in duplicates:
                older.hear(newer.centre, newer.heard_s)
                self._known.remove(newer)
