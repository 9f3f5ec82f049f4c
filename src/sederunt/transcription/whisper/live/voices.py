"""Tells which voice each part of a final belongs to, in a stream that several people share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sederunt import log
from sederunt.transcription import text
from sederunt.transcription.diarization.diarizer import Ears, VoiceSpan
from sederunt.transcription.diarization.online import VoiceFollower
from sederunt.transcription.diarization.wording import by_voice
from sederunt.transcription.sessions import Said
from sederunt.transcription.whisper.live.track import OpenUtterance, as_float
from sederunt.transcription.whisper.speech import RATE

logger = log.get(component="transcription")


class SharedStream:
    """Tells the voices of one stream apart. `load` is called at the first final and returns None without weights."""

    def __init__(self, load: Callable[[], Ears | None]) -> None:
        self._load = load
        self._follower: VoiceFollower | None = None
        self._is_over = False

    def parts(self, final: Said, utterance: OpenUtterance) -> list[Said]:
        """Cut a final where the voice changes; each part has its voice as label. Without weights, or after an error,
        the final stays whole and has no label. Blocks, mostly for a twentieth of a second."""
        if self._is_over or not final.transcript:
            return [final]
        try:
            return labelled(final, self._spans(utterance))
        except Exception as fault:  # the words are still delivered
            self._is_over = True
            logger.warning("Voices are not told apart live.", action="voices_untold", why=str(fault), exc_info=True)
            return [final]

    def _spans(self, utterance: OpenUtterance) -> list[VoiceSpan]:
        if self._follower is None:
            ears = self._load()
            if ears is None:
                self._is_over = True
                return []
            self._follower = VoiceFollower(ears)
        first_s = utterance.first / RATE
        spans = self._follower.spans(as_float(utterance.samples), utterance.heard)
        return [replace(span, start=span.start + first_s, end=span.end + first_s) for span in spans]


def labelled(final: Said, spans: Sequence[VoiceSpan]) -> list[Said]:
    """Cut a final where its voice changes, given the spans of voices; the first part keeps its key."""
    if not spans:
        return [final]
    (labelled_utterance,) = by_voice((final.utterance(),), spans)
    runs = text.runs(labelled_utterance, [word.speaker for word in labelled_utterance.words])
    return [
        replace(
            final,
            key=final.key if n == 0 else f"{final.key}.{n + 1}",
            start=part.start if n else final.start,
            end=part.end if n + 1 < len(runs) else final.end,
            transcript=part.transcript,
            confidence=part.confidence,
            words=tuple(replace(word, speaker=0) for word in part.words),
            label=str(labelled_utterance.speaker if voice is None else voice),
        )
        for n, (voice, part) in enumerate(runs)
    ]
