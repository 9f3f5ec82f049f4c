"""Cuts one stream of sound into utterances as it arrives, and tells what to read next.

Driven by samples: the same sound gives the same utterances at any speed, as long as readings in pauses keep up.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.sessions import Said
from sederunt.transcription.whisper.live.detector import NOTHING, Hearing, SpeechDetector, silence
from sederunt.transcription.whisper.live.hypothesis import Hypothesis
from sederunt.transcription.whisper.reading import ends_sentence
from sederunt.transcription.whisper.speech import FRAME, FRAME_S, RATE, Samples, runs

# Frames that the detector judges at once: a tenth of a second.
BLOCK = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Cuts:
    """Where utterances begin and end. Probabilities are the detector's; seconds of sound."""

    opens: float = 0.4  # two frames of a block above this begin an utterance, and so do two loud ones
    holds: float = 0.3  # frames above this keep it open
    lead_s: float = 0.4  # sound kept before the first frame
    end_s: float = 0.4  # silence that ends it
    settle_s: float = 0.19  # silence after which it is read as if it were over; mostly it is
    whole_s: float = 1.5  # speech that may be a whole sentence; shorter clauses are better read together with more
    limit_s: float = 15.0  # the longest utterance
    search_s: float = 8.0  # from this length on, a pause of pause_s ends it
    pause_s: float = 0.22
    told_s: float = 0.25  # the least speech for a draft
    loud_s: float = 1.5  # how long merely loud sound keeps an utterance open after speech, and delays its final
    most_waiting: int = 4  # if more closed utterances are unread, later ones are joined
    joined_s: float = 28.0  # the longest joined utterance, which the network reads at once
    backlog_s: float = 180.0  # the longest backlog; beyond it, the oldest utterances are given up


class HearsSpeech(Protocol):
    def hear(self, samples: Samples, /) -> Hearing: ...


class Turn(Enum):
    """What to read."""

    FINAL = 0  # a closed utterance
    SETTLE = 1  # an open one in a pause
    DRAFT = 2  # an open one that grows


@dataclass(slots=True)
class OpenUtterance:
    key: str
    first: int  # its first sample in the stream
    samples: NDArray[np.int16]
    heard: Hearing
    hypothesis: Hypothesis = field(default_factory=Hypothesis)
    window: int = 0  # drafts are read from this sample of it on
    drafted: int = 0  # samples of it that the last draft covers
    settled: tuple[Said, float] | None = None  # result of a reading in the current pause, valid while the pause lasts
    clean: bool = True  # it ends in a pause
    also: list[str] = field(default_factory=list)  # keys of others that were joined to it

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE

    def spoken_s(self, cuts: Cuts) -> float:
        """Return for how many seconds the detector hears speech."""
        return float((self.heard.speech >= cuts.holds).sum()) * FRAME_S

    def silence_s(self, cuts: Cuts) -> float:
        """Return the seconds of silence at its end, by both the detector and loudness."""
        return _idle_s(self.heard.sounding(cuts.holds))

    def deaf_s(self, cuts: Cuts) -> float:
        """Return how long the detector has heard no speech at its end; 0 if it never heard any."""
        speech_flags = self.heard.speech >= cuts.holds
        return _idle_s(speech_flags) if speech_flags.any() else 0.0


class Track:
    """One stream, cut into utterances. Not safe to use from two threads at once."""

    def __init__(self, cuts: Cuts | None = None, detector: HearsSpeech | None = None) -> None:
        self.cuts = cuts or Cuts()
        self.open: OpenUtterance | None = None
        self.closed: deque[OpenUtterance] = deque()
        self._detector: HearsSpeech = detector or SpeechDetector()
        self._rest = np.zeros(0, np.int16)  # less than a block
        self._lead = np.zeros(0, np.int16)  # sound that a new utterance would begin with
        self._lead_heard = NOTHING
        self._taken = self._count = 0
        self.given_up = 0  # utterances that were closed and will not be read
        self.finished = False

    @property
    def wants(self) -> int:
        """Return how many samples complete a block."""
        return FRAME * BLOCK - len(self._rest)

    def take(self, samples: NDArray[np.int16]) -> list[OpenUtterance]:
        """Take the next sound; returns the utterances that it opens."""
        sound = np.concatenate([self._rest, samples])
        whole_length = len(sound) // (FRAME * BLOCK) * (FRAME * BLOCK)
        self._rest = sound[whole_length:]
        new_utterances = []
        for first in range(0, whole_length, FRAME * BLOCK):
            new_utterances += self._block(sound[first : first + FRAME * BLOCK])
        return new_utterances

    def skip(self, samples: int) -> list[OpenUtterance]:
        """Note that samples were lost; returns utterances as `take` does. An open utterance ends before the gap."""
        silent_samples = min(samples, self.wants)  # completes the current block
        new_utterances = self.take(np.zeros(silent_samples, np.int16))
        self._close()
        self._lead, self._lead_heard = self._lead[:0], NOTHING
        self._taken += samples - silent_samples
        return new_utterances

    def finish(self) -> list[OpenUtterance]:
        """End the sound and close an open utterance; returns utterances as `take` does."""
        new_utterances = self.take(np.zeros(self.wants, np.int16)) if len(self._rest) else []
        self._close()
        self.finished = True
        return new_utterances

    def turn(self, step_s: float, *, pressed: bool = False) -> tuple[Turn, OpenUtterance, float] | None:
        """Return what to read next, and for how many seconds of sound it has been due; a draft every `step_s`.

        Under pressure a pause is not read before it has ended the utterance. No draft begins in a pause: it would
        delay the reading of the pause, and has nothing new to tell.
        """
        if self.closed:
            return Turn.FINAL, self.closed[0], self.overdue(Turn.FINAL, self.closed[0], step_s)
        if self.open is None or self.open.spoken_s(self.cuts) < self.cuts.told_s:
            return None
        silence_s = self.open.silence_s(self.cuts)
        if silence_s >= self.cuts.settle_s:
            is_due = self.open.settled is None and not pressed
            return (Turn.SETTLE, self.open, self.overdue(Turn.SETTLE, self.open, step_s)) if is_due else None
        if silence_s >= BLOCK * FRAME_S:
            return None
        waited_s = self.overdue(Turn.DRAFT, self.open, step_s)
        return (Turn.DRAFT, self.open, waited_s) if waited_s >= 0 else None

    def overdue(self, kind: Turn, utterance: OpenUtterance, step_s: float) -> float:
        """Return for how many seconds of sound a reading has been due; negative if it is not due yet."""
        if kind is Turn.FINAL:
            return (self._taken - utterance.first - len(utterance.samples)) / RATE
        if kind is Turn.SETTLE:
            return utterance.silence_s(self.cuts) - self.cuts.settle_s
        return (len(utterance.samples) - utterance.drafted) / RATE - step_s

    def settle(self, utterance: OpenUtterance, reading: tuple[Said, float]) -> None:
        """Note that the open utterance was read in a pause; if it is a whole sentence, close it."""
        utterance.settled, utterance.drafted = reading, len(utterance.samples)
        if utterance.spoken_s(self.cuts) >= self.cuts.whole_s and ends_sentence(reading[0].transcript):
            self._close()

    def done(self, utterance: OpenUtterance, end_s: float) -> None:
        """Note that the first closed utterance was read up to `end_s`; the rest belongs to the next."""
        self.closed.popleft()
        remainder = utterance.samples[round(end_s * RATE) // FRAME * FRAME :]
        following = self.closed[0] if self.closed else self.open
        end_sample = utterance.first + len(utterance.samples)
        if utterance.clean or not len(remainder) or following is None or following.first != end_sample:
            return
        following.samples = np.concatenate([remainder, following.samples])
        following.heard = utterance.heard[-(len(remainder) // FRAME) :].then(following.heard)
        following.first -= len(remainder)
        following.hypothesis, following.window, following.drafted = Hypothesis(), 0, 0

    def _block(self, block: NDArray[np.int16]) -> list[OpenUtterance]:
        hearing = self._detector.hear(as_float(block))
        self._taken += len(block)
        if self.open is None:
            return self._maybe_open(block, hearing)
        self.open.samples = np.concatenate([self.open.samples, block])
        self.open.heard = self.open.heard.then(hearing)
        if hearing.sounding(self.cuts.holds).any():
            self.open.settled = None
        silence_s = self.open.silence_s(self.cuts)
        if silence_s >= self.cuts.end_s or (self.open.seconds >= self.cuts.search_s and silence_s >= self.cuts.pause_s):
            self._close()
        elif self.open.seconds >= self.cuts.limit_s:
            return self._cut(best_pause(self.open.heard.sounding(self.cuts.holds)) or len(self.open.heard))
        elif self.open.deaf_s(self.cuts) >= self.cuts.loud_s:
            return self._cut(len(self.open.heard))
        return []

    def _maybe_open(self, block: NDArray[np.int16], hearing: Hearing) -> list[OpenUtterance]:
        sound = np.concatenate([self._lead, block])
        hearing = self._lead_heard.then(hearing)
        latest = hearing[-2 * BLOCK :]
        if max(int((latest.speech >= self.cuts.opens).sum()), int(latest.loud.sum())) < 2:
            lead_frames = round(self.cuts.lead_s / FRAME_S)
            self._lead, self._lead_heard = sound[-lead_frames * FRAME :], hearing[-lead_frames:]
            return []
        self._lead, self._lead_heard = self._lead[:0], NOTHING
        self.open = self._utterance(self._taken - len(sound), sound, hearing)
        return [self.open]

    def _utterance(self, first: int, samples: NDArray[np.int16], hearing: Hearing) -> OpenUtterance:
        self._count += 1
        return OpenUtterance(str(self._count), first, samples, hearing)

    def _close(self) -> None:
        if self.open is not None:
            self._wait(self.open)
        self.open = None

    def _wait(self, utterance: OpenUtterance) -> None:
        """Queue an utterance, by itself, or joined to the last one if the machine is behind."""
        last_utterance = self.closed[-1] if len(self.closed) > self.cuts.most_waiting else None
        if (
            last_utterance is not None
            and (utterance.first - last_utterance.first) / RATE + utterance.seconds <= self.cuts.joined_s
        ):
            silent_frames = (utterance.first - last_utterance.first - len(last_utterance.samples)) // FRAME
            last_utterance.samples = np.concatenate(
                [last_utterance.samples, np.zeros(silent_frames * FRAME, np.int16), utterance.samples]
            )
            last_utterance.heard = last_utterance.heard.then(silence(silent_frames)).then(utterance.heard)
            last_utterance.settled, last_utterance.clean = None, utterance.clean
            last_utterance.also += [utterance.key, *utterance.also]
        else:
            self.closed.append(utterance)
        while len(self.closed) > 1 and sum(closed.seconds for closed in self.closed) > self.cuts.backlog_s:
            self.closed.popleft()
            self.given_up += 1

    def _cut(self, at: int) -> list[OpenUtterance]:
        """Cut the open utterance at a frame; a cut at its end may split a word."""
        assert self.open is not None
        utterance = self.open
        utterance.clean = at < len(utterance.heard)
        self.open = self._utterance(utterance.first + at * FRAME, utterance.samples[at * FRAME :], utterance.heard[at:])
        utterance.samples, utterance.heard, utterance.settled = (
            utterance.samples[: at * FRAME],
            utterance.heard[:at],
            None,
        )
        self._wait(utterance)
        return [self.open]


def best_pause(sounding: NDArray[np.bool_]) -> int | None:
    """Return the middle frame of the longest pause in the second half, preferring later ones; None if there is none."""
    begin = len(sounding) // 2
    pauses = runs(~sounding[begin:], least=2)
    if not len(pauses):
        return None
    lateness = pauses[:, 0] / max(1, len(sounding) - begin)
    best = pauses[int(np.argmax((pauses[:, 1] - pauses[:, 0]) * FRAME_S + 0.5 * lateness))]
    return begin + int(best[0] + best[1]) // 2


def _idle_s(flags: NDArray[np.bool_]) -> float:
    """Return the seconds since the last flag that is set."""
    set_frames = np.flatnonzero(flags)
    return (len(flags) - 1 - int(set_frames[-1]) if len(set_frames) else len(flags)) * FRAME_S


def as_float(samples: NDArray[np.int16]) -> Samples:
    return samples.astype(np.float32) / np.float32(32768)
