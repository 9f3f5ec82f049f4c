"""What live transcription is measured with and by: a paced recording, and judgements on what was told when.

Latencies are against word times of the offline base model, and ends of speech against the sound itself, not against
marks made by hand. No detector is asked: the one that is measured would judge itself.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sederunt.bench.transcribe import SpeechSample, source
from sederunt.bench.words import normalised
from sederunt.transcription.whisper.engine import Whisper
from sederunt.transcription.whisper.speech import RATE, Samples

# Speech has ended where nothing follows for so long; less is a pause within what somebody says.
PAUSE_S = 1.0
# A model's word ends are early by up to half a second (measured on a slow "words", whose s hisses on): speech goes on
# while some band stands so far above its noise, and not so far below its loudest, without a gap so long.
BANDS_HZ = ((100, 1000), (1000, 3000), (3000, 8000))
ABOVE_NOISE_DB, BELOW_SPEECH_DB, QUIET_S = 8.0, 20.0, 0.1
# Around a word's end that is judged by.
BEFORE_S, BEHIND_S = 4.0, 0.7
WINDOW, STEP = 512, 160
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


def recording(clips: Sequence[SpeechSample], gap_s: float) -> tuple[Samples, str]:
    """Join clips one after the other, with room noise that no clip is without."""
    gap = np.zeros(round(gap_s * RATE), np.float32)
    samples = np.concatenate([piece for clip in clips for piece in (clip.samples, gap)])
    noise = np.random.default_rng(7).normal(0, 0.0001, len(samples)).astype(np.float32)
    return samples + noise, " ".join(clip.text for clip in clips)


def words_of(whisper: Whisper, clips: Sequence[SpeechSample], gap_s: float) -> list[SaidWord]:
    """Return the words of that recording with their times, each clip heard alone."""
    found, offset = [], 0.0
    for clip in clips:
        for utterance in whisper.transcribe(source(clip.samples), lang="en").utterances:
            for word in utterance.words:
                parts = normalised(word.word).split()
                found += [SaidWord(part, word.start + offset, word.end + offset) for part in parts]
        offset += len(clip.samples) / RATE + gap_s
    return found


def judge(told: Sequence[Told], said: Sequence[SaidWord], ends_s: Sequence[float]) -> Judgement:
    """Return how soon and how steadily the words that were said, and their `ends`, were told."""
    shown: dict[int, float] = {}
    drafts: dict[str, list[str]] = {}
    revised = words = 0
    for each in told:
        text = normalised(each.transcript).split()
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
        final_s=tuple(_fixed_after(told, end) for end in ends_s),
        revised=revised,
        words=words,
        text=" ".join(each.transcript for each in finals),
    )


def ends(said: Sequence[SaidWord], samples: Samples) -> list[float]:
    """Return where speech ends: before each pause, and at the end; as late as it is heard."""
    following = [*(word.start for word in said[1:]), float("inf")]
    found = [word.end for word, start in zip(said, following, strict=True) if start - word.end >= PAUSE_S]
    return [_heard_until(samples, end) for end in found]


def shift_between(heard: Sequence[SaidWord], said: Sequence[SaidWord]) -> float:
    """Return what to add to the times of words that were heard by another clock; the median, 0 where none was heard."""
    pairs = _common([word.text for word in heard], [word.text for word in said])
    return float(np.median([said[b].start - heard[a].start for a, b in pairs])) if pairs else 0.0


def _heard_until(samples: Samples, end_s: float) -> float:
    """Return how long sound goes on behind a word's end."""
    begin = max(0, round((end_s - BEFORE_S) * RATE))
    near = samples[begin : round((end_s + BEHIND_S) * RATE)]
    first = (round(end_s * RATE) - begin - WINDOW // 2) // STEP
    if len(near) < WINDOW:
        return end_s
    levels = _levels(near)
    least = np.maximum(np.percentile(levels, 10, axis=0) + ABOVE_NOISE_DB, levels.max(axis=0) - BELOW_SPEECH_DB)
    last = first
    for n in np.flatnonzero((levels >= least).any(axis=1)):
        if first < n <= last + QUIET_S * RATE / STEP:
            last = int(n)
    return end_s + (last - first) * STEP / RATE


def _levels(samples: Samples) -> NDArray[np.float64]:
    """Return the level in dB per window and band."""
    windows = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[::STEP] * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(windows)) ** 2
    hz = np.fft.rfftfreq(WINDOW, 1 / RATE)
    bands = [power[:, (hz >= low) & (hz < high)].sum(axis=1) for low, high in BANDS_HZ]
    return np.asarray(10 * np.log10(np.stack(bands, axis=1) + 1e-9))


def _fixed_after(told: Sequence[Told], end: float) -> float:
    """Return how long after the end of speech what was said is fixed; infinite where it never is."""
    return next((each.at - end for each in told if each.fixed_s >= end - SLACK_S and each.at > end), float("inf"))


def _common(one: list[str], other: list[str]) -> list[tuple[int, int]]:
    blocks = difflib.SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [(block.a + n, block.b + n) for block in blocks for n in range(block.size)]
