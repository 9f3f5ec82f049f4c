"""Whether words of a transcript lie where they were spoken: each clip found in the recording, each word in its clip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np

from harness.sound import RATE, Samples, find
from sederunt.media.pcm import read_pcm
from sederunt.practice import clips
from sederunt.practice.script import Script

# When each word of a clip ends, in seconds: the middle of what Whisper's base and tiny.en align with the clean clip, in
# faster-whisper's own loop. They are 0.2 s apart in the middle, 0.7 s at worst.
SPOKEN: Mapping[str, str] = {
    "cities_times": "it 0.9 was 1.1 the 1.2 best 1.5 of 1.7 times 2.2 it 2.6 was 2.8 the 3.0 worst 3.2 of 3.5 times 4.0"
    " it 4.6 was 4.8 the 4.9 age 5.1 of 5.3 wisdom 5.6 it 6.3 was 6.4 the 6.6 age 6.8 of 7.0 foolishness 7.4",
    "jfk": "and 0.6 so 1.0 my 1.3 fellow 1.7 americans 2.2 ask 3.8 not 4.4 what 5.6 your 5.9 country 6.3 can 6.7 do 6.9"
    " for 7.2 you 7.7 ask 8.6 what 8.8 you 9.2 can 9.4 do 9.6 for 9.8 your 10.1 country 10.4",
    "librivox_0870": "and 0.4 mr 0.6 john 1.0 dashwood 1.6 had 1.9 then 2.2 leisure 2.6 to 3.0 consider 3.4 how 3.9"
    " much 4.3 there 4.6 might 4.8 be 5.0 prudently 5.5 in 5.6 his 5.8 power 6.0 to 6.2 do 6.4 for 6.6 them 6.9",
    "cities_epoch": "it 0.2 was 0.4 the 0.6 epoch 0.9 of 1.1 belief 1.5 it 2.2 was 2.4 the 2.6 epoch 3.0 of 3.2"
    " incredulity 4.1 it 4.9 was 5.1 the 5.2 season 5.4 of 5.6 light 6.0 it 6.6 was 6.7 the 6.9 season 7.1 of 7.4"
    " darkness 7.7",
}
# How far a word may end from there, and lie outside of its clip.
OFF_S, OUTSIDE_S = 0.8, 0.3
# So many of a clip's words must be among those that lie in it.
LEAST_SHARE = 0.75
# Samples by which a clip is found: half a second.
CHUNK = RATE // 2


@dataclass(frozen=True, kw_only=True)
class Misplaced:
    """A word that does not lie where it was spoken. Seconds of the recording."""

    word: str
    start: float
    end: float
    expected: str


def misplaced(script: Script, transcript: Sequence[Mapping[str, Any]], recording: Path) -> list[Misplaced]:
    """Return the words that lie elsewhere than in the recording, or AssertionError where they are too few to tell."""
    sound = np.concatenate([block.samples for block in read_pcm(recording)]).astype(np.float64) * 32_768
    words = sorted(
        (word for segment in transcript for utterance in segment["utterances"] for word in utterance["words"]),
        key=lambda word: word["start"],
    )
    found: list[Misplaced] = []
    spoken = [act for act in script.acts if act.do == "say"]
    heard = [_heard(act.clip, sound) for act in spoken]
    spans = [
        (float(clip.at(0.0)), float(clip.at(clips.load(act.clip).duration_s)))
        for act, clip in zip(spoken, heard, strict=True)
    ]
    for act, clip, (first, last) in zip(spoken, heard, spans, strict=True):
        own = [word for word in words if first - OUTSIDE_S <= (word["start"] + word["end"]) / 2 <= last + OUTSIDE_S]
        found += _off(act.clip, clip, own)
    lost = (word for word in words if not any(_inside(word, *span) for span in spans))
    return [*found, *(_misplaced(word, "one of the clips") for word in lost)]


@dataclass(frozen=True)
class HeardClip:
    """Where a clip was heard: seconds of the clip, and of the recording. A site that is behind stretches its pauses."""

    own_s: Samples
    recording_s: Samples

    def at(self, seconds: float) -> float:
        """Return the recording's second."""
        late = self.recording_s - self.own_s
        return seconds + float(np.interp(seconds, self.own_s, late))


def _heard(clip: str, sound: Samples) -> HeardClip:
    samples = clips.load(clip).samples.astype(np.float64)
    third: Samples = samples[: len(samples) // 3 * 3].reshape(-1, 3).mean(axis=1)
    chunks = [(first, third[first : first + CHUNK]) for first in range(0, len(third) - CHUNK + 1, CHUNK // 2)]
    loud = [(first, chunk) for first, chunk in chunks if chunk @ chunk > 0.2 * (third @ third) * CHUNK / len(third)]
    places = [(first / RATE, find(chunk, sound)) for first, chunk in loud]
    sure = [(own_s, place.at_s) for own_s, place in places if place.likeness > 0.6]
    assert len(sure) >= len(loud) / 2, (clip, places)
    assert sure == sorted(sure, key=lambda pair: pair[1]), (clip, sure)
    return HeardClip(*np.array(sure).T)


def _off(clip: str, heard: HeardClip, words: Sequence[Mapping[str, Any]]) -> list[Misplaced]:
    """The words that were understood and do not end when the clip says them."""
    parts = SPOKEN[clip].split()
    texts, ends = parts[::2], [heard.at(float(end)) for end in parts[1::2]]
    told = ["".join(c for c in word["word"].casefold() if c.isalnum()) for word in words]
    blocks = SequenceMatcher(None, texts, told, autojunk=False).get_matching_blocks()
    pairs = [(ends[block.a + n], words[block.b + n]) for block in blocks for n in range(block.size)]
    assert len(pairs) >= LEAST_SHARE * len(texts), (clip, told)
    return [_misplaced(word, f"an end at {end:.2f}") for end, word in pairs if abs(word["end"] - end) > OFF_S]


def _inside(word: Mapping[str, Any], first: float, last: float) -> bool:
    return bool(first - OUTSIDE_S <= word["start"] <= word["end"] <= last + OUTSIDE_S)


def _misplaced(word: Mapping[str, Any], expected: str) -> Misplaced:
    return Misplaced(word=word["word"], start=word["start"], end=word["end"], expected=expected)
