"""Online diarization: each piece is given a voice by what was heard before it, and is not revised.

Nobody knows yet who will speak. So a voice is founded by enough sound that is like nobody's, one piece's threads are
rather different people's, and two voices that turn out to be one go on under the older number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sederunt.transcription.diarization.clustering import SAME_THREAD, Labels, completed, narrow_bar
from sederunt.transcription.diarization.diarizer import Ears, VoiceSpan, spans, stretches_of
from sederunt.transcription.diarization.voice_stretches import Samples, Vector, VoiceStretch, unit
from sederunt.transcription.whisper.live.detector import Hearing

# A stretch is a known voice's from this cosine on. Else it founds one, if it was heard for so long (seconds).
ALIKE, FOUNDS_S = 0.36, 1.0
# What it takes away that another thread of the same piece is that voice.
OTHER_THREAD = 0.15
# Shorter stretches that are less alike than this to everybody are nobody's by themselves.
UNSURE = 0.26
# Two voices so much alike, after so many seconds of each, are one.
ONE_VOICE, SETTLED_S = 0.6, 3.0
# What was heard before the last so many seconds of a voice weighs less and less: rooms and microphones change.
REMEMBERED_S = 60.0
# The least heard of more voices than this is forgotten, so that noise cannot fill the memory.
MOST_VOICES = 64


@dataclass(slots=True)
class KnownVoice:
    """What a voice sounded like so far."""

    number: int
    total: Vector  # each stretch as long as it was heard
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
        self._bar = 0.0  # how much more alike voices have to be, as the last piece came

    def spans(self, samples: Samples, hearing: Hearing) -> list[VoiceSpan]:
        """Return who speaks when in the next piece of sound, in seconds of it, by what the detector heard in its
        frames; numbers are the stream's. Blocks."""
        stretches = list(stretches_of(self._ears, [samples], lambda _: hearing))
        voice_spans = spans(stretches, self.labels(stretches), self._numbers)
        self._merge()
        return voice_spans

    def labels(self, stretches: Sequence[VoiceStretch]) -> Labels:
        """Return who speaks in each stretch of a piece, the best heard first; nobody where that cannot be told."""
        if any(stretch.voice is not None for stretch in stretches):
            self._bar = narrow_bar(stretches)
        single: list[int | None] = [None] * len(stretches)
        threads: dict[int, int] = {}
        voiced = [(stretch, n) for n, stretch in enumerate(stretches) if stretch.voice is not None]
        for stretch, n in sorted(voiced, key=lambda pair: -pair[0].heard_s):
            voice_number = self._whose(stretch, threads)
            if voice_number is not None:
                single[n] = threads[stretch.threads[0]] = voice_number
        return completed(stretches, single)

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
        """Let two voices that are one go on as the older one."""
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
