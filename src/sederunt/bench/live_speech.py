"""What live transcription is measured with and by: a paced recording, and judgements on what was told when.

Latencies are against word times of the offline base model, not against marks made by hand.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sederunt.bench.transcribe import Clip, source
from sederunt.transcription.whisper.engine import Whisper
from sederunt.transcription.whisper.speech import RATE, Samples

# Speech has ended where nothing follows for so long; less is a pause within what somebody says.
PAUSE_S = 1.0
# Times of two models differ by so much for the same word.
SLACK_S = 0.35
# Words of a text are looked for among those that were said so near to it.
NEAR_S = 1.0


@dataclass(frozen=True, slots=True)
class SaidWord:
    """A word of the reference, folded as the Whisper normaliser does. Seconds of the recording."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Told:
    """What a listener was told of a segment, all of it, and when (seconds since the recording began)."""

    at: float
    segment_id: str
    transcript: str
    start: float
    end: float
    final: bool
    fixed_s: float  # what was said before this moment will not be told otherwise


@dataclass(frozen=True, slots=True)
class Judgement:
    shown_s: tuple[float, ...]  # per word, from its end until it was first told
    final_s: tuple[float, ...]  # per end of speech, until what was said before it was fixed
    revised: int  # words that were told and then told otherwise
    words: int  # words of the finals
    text: str  # of the finals, in order


def recording(clips: Sequence[Clip], gap_s: float) -> tuple[Samples, str]:
    """Clips one after the other, with room noise that no clip is without."""
    gap = np.zeros(round(gap_s * RATE), np.float32)
    samples = np.concatenate([piece for clip in clips for piece in (clip.samples, gap)])
    noise = np.random.default_rng(7).normal(0, 0.0001, len(samples)).astype(np.float32)
    return samples + noise, " ".join(clip.text for clip in clips)


def reference(whisper: Whisper, clips: Sequence[Clip], gap_s: float) -> list[SaidWord]:
    """The words of that recording with their times, each clip heard alone."""
    found, offset = [], 0.0
    for clip in clips:
        for utterance in whisper.transcribe(source(clip.samples), lang="en").utterances:
            for word in utterance.words:
                parts = folded(word.word)
                found += [SaidWord(part, word.start + offset, word.end + offset) for part in parts]
        offset += len(clip.samples) / RATE + gap_s
    return found


def judge(told: Sequence[Told], said: Sequence[SaidWord]) -> Judgement:
    """How soon and how steadily the words that were said were told."""
    shown: dict[int, float] = {}
    drafts: dict[str, list[str]] = {}
    revised = words = 0
    for each in told:
        text = folded(each.transcript)
        near = [n for n, w in enumerate(said) if w.end > each.start - NEAR_S and w.start < each.end + NEAR_S]
        for mine, _ in _common([said[n].text for n in near], text):
            shown.setdefault(near[mine], each.at)
        before = drafts.get(each.segment_id, [])
        revised += len(before) - len(_common(before, text))
        drafts[each.segment_id] = text
        words += len(text) if each.final else 0
    finals = sorted((each for each in told if each.final), key=lambda each: each.start)
    return Judgement(
        shown_s=tuple(at - said[n].end for n, at in shown.items()),
        final_s=tuple(_fixed_after(told, end) for end in ends(said)),
        revised=revised,
        words=words,
        text=" ".join(each.transcript for each in finals),
    )


def ends(said: Sequence[SaidWord]) -> list[float]:
    """Where speech ends: before each pause, and at the end."""
    following = [*(word.start for word in said[1:]), float("inf")]
    return [word.end for word, start in zip(said, following, strict=True) if start - word.end >= PAUSE_S]


def _fixed_after(told: Sequence[Told], end: float) -> float:
    """How long after the end of speech what was said is fixed; infinite where it never is."""
    return next((each.at - end for each in told if each.fixed_s >= end - SLACK_S and each.at > end), float("inf"))


def _common(one: list[str], other: list[str]) -> list[tuple[int, int]]:
    blocks = difflib.SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [(block.a + n, block.b + n) for block in blocks for n in range(block.size)]


def folded(text: str) -> list[str]:
    """Words after the Whisper English normaliser."""
    return str(_normaliser()(text)).split()


@cache
def _normaliser() -> Any:
    from whisper_normalizer.english import EnglishTextNormalizer

    return EnglishTextNormalizer()
