"""The baseline of `bench live`: the plain LocalAgreement-2 loop that most programs use over faster-whisper.

Every second the whole buffer is transcribed again; words that two results in a row agree on are fixed. The buffer is
cut behind its last fixed word once it is longer than fifteen seconds. No detector, no endpointing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sederunt.bench.live_speech import Told
from sederunt.transcription.text import folded, join
from sederunt.transcription.whisper.speech import RATE, Samples

STEP_S, BUFFER_S = 1.0, 15.0

_Word = tuple[str, float, float]


class LocalAgreement:
    """One stream, decoded in a thread of the caller's."""

    def __init__(self, model: Any, tell: Callable[[Told], None], now: Callable[[], float]) -> None:
        self._model, self._tell, self._now = model, tell, now
        self._buffer: Samples = np.zeros(0, np.float32)
        self._offset_s = 0.0
        self._fixed: list[_Word] = []  # of this buffer
        self._tail: list[_Word] = []
        self._number = 1

    def add(self, samples: Samples) -> None:
        self._buffer = np.concatenate([self._buffer, samples])

    def decode(self, *, last: bool = False) -> None:
        """Run one round of the loop."""
        segments, _ = self._model.transcribe(
            self._buffer, language="en", beam_size=1, word_timestamps=True, condition_on_previous_text=False
        )
        found = [
            (word.word, word.start + self._offset_s, word.end + self._offset_s)
            for segment in segments
            for word in segment.words
        ]
        fixed_s = self._fixed[-1][2] if self._fixed else self._offset_s
        fresh = [word for word in found if word[1] > fixed_s - 0.1]
        count = len(fresh) if last else _agreed(self._tail, fresh)
        self._fixed += fresh[:count]
        self._tail = fresh[count:]
        too_long = len(self._buffer) > BUFFER_S * RATE and bool(self._fixed)
        self._report(final=too_long or last)
        if too_long:
            cut_s = self._fixed[-1][2]
            self._buffer = self._buffer[round((cut_s - self._offset_s) * RATE) :]
            self._offset_s, self._fixed, self._number = cut_s, [], self._number + 1

    def _report(self, *, final: bool) -> None:
        words = self._fixed if final else [*self._fixed, *self._tail]
        if words:
            self._tell(
                Told(
                    at=self._now(),
                    segment_id=str(self._number),
                    transcript=join(word for word, _, _ in words),
                    start=words[0][1],
                    end=words[-1][2],
                    final=final,
                    fixed_s=self._fixed[-1][2] if self._fixed else 0.0,
                )
            )


def _agreed(one: list[_Word], other: list[_Word]) -> int:
    count = 0
    for mine, yours in zip(one, other, strict=False):
        if folded(mine[0]) != folded(yours[0]):
            break
        count += 1
    return count
