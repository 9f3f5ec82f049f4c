"""Whisper over a whole source: window after window, in bounded memory, resumable, stoppable.

Windows are read sequentially. faster-whisper's own `vad_filter` and batched pipeline are slightly faster, but lose
whole sentences where voices or levels change (measured: 9 to 44 % of the words of a hard recording).
"""

import math
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from sederunt import log
from sederunt.model.transcript import WORDLESS, Doubt, Utterance
from sederunt.transcription.languages import primary_tag
from sederunt.transcription.provider import FinishedPart
from sederunt.transcription.scheduler import Lane, Rank, Turns, lane_alone
from sederunt.transcription.whisper import reading, speech, windows, wording
from sederunt.transcription.whisper.decoding import Decoded, ReadingOptions
from sederunt.transcription.whisper.quality import BALANCED, Quality
from sederunt.transcription.whisper.section_readers import SectionReaders
from sederunt.transcription.whisper.sections import Sections, SoundSection, covered, reached
from sederunt.transcription.whisper.sound import PcmSource, UnreadSound
from sederunt.transcription.whisper.speech import FRAME_S, RATE, Samples, SpeechActivity
from sederunt.transcription.whisper.speech_network import SpeechNetwork, first_readings

logger = log.get(component="transcription")

# The language is decided on DETECTIONS windows of speech, at most DETECTION_S long and APART_S apart, within the first
# SEARCHED_S seconds.
DETECTIONS, DETECTION_S, APART_S, SEARCHED_S = 5, 10.0, 15.0, 1800.0
# Wrong answers had at most 0.52 in the measurements. Two windows that agree beyond doubt need no third.
SURE_OF_LANGUAGE, BEYOND_DOUBT = 0.6, 0.95
# Windows that are planned at a time, each ending in a pause, whether the network decodes them together or not.
PLANNED = 2
# Most tokens of custom vocabulary before a window, so that its text has room.
MOST_VOCABULARY = 160


@dataclass(frozen=True, slots=True)
class Language:
    """A guess of the language; report the best `tag` only when it is sure."""

    tag: str
    probability: float

    @property
    def sure(self) -> bool:
        return self.probability >= SURE_OF_LANGUAGE


@dataclass(frozen=True, slots=True)
class HeardWords:
    """The words of a whole source."""

    utterances: tuple[Utterance, ...]
    detected_lang: str | None  # None if the caller named it, or if the guess is not sure
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True, slots=True)
class _JudgedSound:
    """The part of a source that is judged at once."""

    samples: Samples
    activity: SpeechActivity
    last: bool  # the source ends with it
    at_s: float  # where it begins in the source


@dataclass(slots=True)
class _ReadSound:
    """What was read of the judged sound so far."""

    utterances: list[Utterance] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    end_s: float = 0.0  # seconds of the stretch


class Whisper:
    """A loaded model. Every method blocks and may be called from any thread."""

    def __init__(self, name: str, network: SpeechNetwork, companion: Callable[[], SpeechNetwork | None]) -> None:
        self.name = name
        self.network = network
        self._companion = companion  # returns a network that detects languages if this one cannot

    @property
    def languages(self) -> frozenset[str]:
        """Return the languages that it can transcribe."""
        return self.network.languages

    def transcribe(
        self,
        source: PcmSource,
        *,
        lang: str | None = None,
        likely_lang: str | None = None,
        vocabulary: Sequence[str] = (),
        quality: Quality = BALANCED,
        resume: Sequence[FinishedPart] = (),
        on_part: Callable[[FinishedPart], None] | None = None,
        on_progress: Callable[[float], None] | None = None,
        cancelled: threading.Event | None = None,
        lane: Lane | None = None,
    ) -> HeardWords:
        """Transcribe a source; times are seconds from its start.

        `lang` is a language tag, "multi", "auto" or None; a language that the model does not know counts as None.
        `likely_lang` is used if the language must be detected and the source does not tell it surely. Each finished
        part goes to `on_part` as soon as it is complete; the parts in `resume`, from an earlier try, are not read
        again. `lane` lends cores: as many threads read sections of the source, each window in its own turn. Parts then
        come one at a time, in no order. Raises Cancelled between two windows once `cancelled` is set.
        """
        lane, cancelled = lane or lane_alone(), cancelled or threading.Event()
        per_window = (lang or "").lower() == "multi"
        finished_stretches = covered(resume)
        done_s = sum(end - start for start, end in finished_stretches)
        parts = list(resume)

        def unread(section: SoundSection, pause: Callable[[], None]) -> Iterator[FinishedPart]:
            start_s = reached(finished_stretches, section.start_s)
            sound = UnreadSound(section.source, max(start_s, section.block.start_s))
            return self._parts(sound, start_s, manner, per_window=per_window, pause=pause)

        def keep(part: FinishedPart) -> None:
            nonlocal done_s
            done_s += part.end - part.start
            parts.append(part)
            lane.reached(done_s)
            if on_part and part.end > part.start:
                on_part(part)
            if on_progress:
                on_progress(done_s)

        with lane.turns(cancelled.is_set, Rank.CHAIN) as turns:  # from the language to the end of the first section
            guess = None
            if primary_tag(lang) not in self.languages:
                guess = self._heard_language([source], turns)
                turns.pause()
            plain_manner = self.manner(chosen(self.languages, lang, guess, likely_lang), vocabulary)
            manner = replace(plain_manner, thorough=quality.thorough, beams=quality.beams, context=quality.context)
            sections = Sections(
                source, reached(finished_stretches, 0.0), known=[start for start, _ in finished_stretches]
            )
            SectionReaders(sections, unread, keep, lane, cancelled).run(turns)
        parts.sort(key=lambda part: part.start)
        detected_lang = guess.tag if guess is not None and guess.sure else None
        return HeardWords(
            tuple(utterance for part in parts for utterance in part.utterances),
            detected_lang,
            tuple(doubt for part in parts for doubt in part.doubts),
        )

    def detect_language(
        self, sources: Iterable[PcmSource], *, cancelled: threading.Event | None = None, lane: Lane | None = None
    ) -> Language | None:
        """Return the language of one or several tracks of the same talk; None without speech or without a model that
        detects languages.
        """
        lane, cancelled = lane or lane_alone(), cancelled or threading.Event()
        with lane.turns(cancelled.is_set, Rank.CHAIN) as turns:
            return self._heard_language(sources, turns)

    def _heard_language(self, sources: Iterable[PcmSource], turns: Turns) -> Language | None:
        network = self.network if self.network.multilingual else self._companion()
        if network is None:
            return None
        odds: list[dict[str, float]] = []
        for source in sources:
            for samples in _speech_samples(source, turns.pause):
                odds.append(odds_of(network, samples))
                is_settled = len(odds) > 1 and pooled(odds).probability >= BEYOND_DOUBT
                if is_settled or len(odds) >= DETECTIONS:
                    return pooled(odds)
                turns.pause()
        return pooled(odds) if odds else None

    def sure_language(
        self, source: PcmSource, *, cancelled: threading.Event | None = None, lane: Lane | None = None
    ) -> str | None:
        """Return the language that a source would be transcribed in by itself; None if that would be a guess."""
        if len(self.languages) == 1:
            return next(iter(self.languages))
        guess = self.detect_language([source], cancelled=cancelled, lane=lane)
        return guess.tag if guess is not None and guess.sure else None

    def _parts(
        self,
        sound: UnreadSound,
        start: float,
        manner: reading.Manner,
        *,
        per_window: bool,
        pause: Callable[[], None],
    ) -> Iterator[FinishedPart]:
        most_windows = 1 if per_window else PLANNED
        look_s = windows.LOOK * FRAME_S + (most_windows - 1) * windows.WINDOW_S
        while True:
            sound.skip_silence(pause)
            samples, is_last = sound.look(look_s)
            if not len(samples):
                yield FinishedPart(start=start, end=sound.position_s)
                return
            length = windows.until_silence(speech.loudness(samples)) * speech.FRAME
            samples, is_last = samples[:length], is_last and length >= len(samples)
            stretch = _JudgedSound(samples, speech.listen(samples), is_last, sound.position_s)
            read_sound = self._read_stretch(stretch, manner, most_windows, per_window=per_window, pause=pause)
            sound.skip(read_sound.end_s)
            sound.skip_silence()
            yield FinishedPart(
                start=start,
                end=sound.position_s,
                utterances=tuple(read_sound.utterances),
                doubts=tuple(read_sound.doubts),
            )
            start = sound.position_s

    def _read_stretch(
        self,
        stretch: _JudgedSound,
        manner: reading.Manner,
        most_windows: int,
        *,
        per_window: bool,
        pause: Callable[[], None],
    ) -> _ReadSound:
        """Read the windows of a stretch whose ends are known; at least one window, or a silence."""
        read_sound, at = _ReadSound(), 0  # frames
        while next_windows := windows.planned(stretch.activity[at:], last=stretch.last, most=most_windows):
            if at:
                pause()
            start_s = at * FRAME_S
            moved_windows = [
                replace(window, start=window.start + start_s, end=window.end + start_s) for window in next_windows
            ]
            self._read_ahead(moved_windows, stretch, manner, read_sound, per_window=per_window, pause=pause)
            at = round(read_sound.end_s / FRAME_S)
        if not at:
            judged_s = min(len(stretch.samples) / RATE, windows.LOOK * FRAME_S)
            is_all = stretch.last and judged_s == len(stretch.samples) / RATE
            read_sound.end_s = judged_s - (0.0 if is_all else windows.MARGIN_S)
        return read_sound

    def _read_ahead(
        self,
        next_windows: Sequence[windows.Window],
        stretch: _JudgedSound,
        manner: reading.Manner,
        read_sound: _ReadSound,
        *,
        per_window: bool,
        pause: Callable[[], None],
    ) -> None:
        """Read the next windows, their first readings together; skip one in which nobody speaks. If one ends sooner
        than planned, readings of the windows after it are dropped.
        """
        spans = [(round(window.start / FRAME_S), round(window.end / FRAME_S)) for window in next_windows]
        activities = [stretch.activity[first:stop] for first, stop in spans]
        speech_activities = list(takewhile(SpeechActivity.has_speech, activities))
        if not speech_activities:
            read_sound.end_s = next_windows[0].end
            return
        pieces = [
            stretch.samples[first * speech.FRAME : stop * speech.FRAME]
            for first, stop in spans[: len(speech_activities)]
        ]
        if per_window and self.network.multilingual:
            manner = self._in_its_language(pieces[0], manner)
        readings = first_readings(self.network, pieces, reading.plainly(manner), pause)
        network = _InTurns(self.network, pause)
        for window, inside, piece, first in zip(next_windows, speech_activities, pieces, readings, strict=False):
            passage = reading.read(network, piece, inside, manner, clean=window.clean, full=window.full, first=first)
            at_s = stretch.at_s + window.start
            read_sound.utterances += wording.utterances(passage.phrases, inside, at_s, manner.language)
            read_sound.doubts += [
                Doubt(start=round(at_s + start, 2), end=round(at_s + end, 2), why=WORDLESS)
                for start, end in passage.wordless
            ]
            if passage.end < len(piece) / RATE:
                # Whole frames, so that their speech activity holds for the next window too.
                end_s = window.start + int(passage.end / FRAME_S + 0.01) * FRAME_S
                read_sound.end_s = max(read_sound.end_s + 1.0, end_s)
                return
            read_sound.end_s = window.end

    def _in_its_language(self, samples: Samples, manner: reading.Manner) -> reading.Manner:
        tag, probability = max(odds_of(self.network, samples).items(), key=lambda pair: pair[1])
        if probability < SURE_OF_LANGUAGE:
            return manner
        return replace(manner, language=tag)

    def manner(self, language: str, vocabulary: Sequence[str]) -> reading.Manner:
        """Return the manner of reading, with as many leading vocabulary entries as fit."""
        entries: list[str] = []
        tokens: list[int] = []
        for entry in vocabulary:
            entry_tokens = self.network.tokens(f" {entry.strip()}," if entry.strip() else "")
            if len(tokens) + len(entry_tokens) > MOST_VOCABULARY:
                break
            tokens += entry_tokens
            entries.append(" ".join("".join(c if c.isalnum() else " " for c in entry.casefold()).split()))
        return reading.Manner(language=language, prompt=tuple(tokens), vocabulary=tuple(entries))


class _InTurns:
    """A network whose readings each wait for a turn, since hard sound takes several."""

    def __init__(self, network: reading.Reads, pause: Callable[[], None]) -> None:
        self._network, self._pause = network, pause

    def read(self, samples: Samples, options: ReadingOptions, /) -> Decoded:
        self._pause()
        return self._network.read(samples, options)


def odds_of(network: SpeechNetwork, samples: Samples) -> dict[str, float]:
    """Return the probability of each language in some speech. If the cheap answer leaves a doubt, ask again with the
    full context, which tells close languages apart.
    """
    odds = network.odds(samples)
    return dict(odds if max(odds.values()) >= BEYOND_DOUBT else network.odds(samples, thorough=True))


def chosen(languages: Collection[str], lang: str | None, guess: Language | None, likely: str | None) -> str:
    """Return the language to read in: the first that the model knows of the one named, surely detected, likely, or
    guessed; otherwise English.

    Args:
        languages: those that the model can transcribe.
        likely: the language of others in the same talk.
    """
    guessed_tag = guess.tag if guess is not None else None
    sure_tag = guessed_tag if guess is not None and guess.sure else None
    return next(
        (tag for tag in (primary_tag(lang), sure_tag, likely, guessed_tag) if tag is not None and tag in languages),
        "en",
    )


def pooled(odds: Sequence[dict[str, float]]) -> Language:
    """Pool several windows' odds into one guess by the geometric mean, so that no outlier decides alone."""
    tags = odds[0].keys()
    means = {
        tag: math.exp(sum(math.log(max(1e-9, window.get(tag, 0.0))) for window in odds) / len(odds)) for tag in tags
    }
    total = sum(means.values())
    best = max(means, key=lambda tag: means[tag])
    return Language(best, means[best] / total)


def _speech_samples(source: PcmSource, pause: Callable[[], None]) -> Iterable[Samples]:
    """Yield some stretches with speech, spread over the first half hour; `pause` is called after all others."""
    sound = UnreadSound(source)
    while sound.position_s < SEARCHED_S:
        sound.skip_silence(pause)
        samples, is_last = sound.look(DETECTION_S)
        if not len(samples):
            return
        activity = speech.listen(samples)
        speech_s = sum(end - start for start, end in activity.stretches())
        if speech_s >= min(2.0, 0.3 * len(samples) / RATE):
            yield samples
            sound.skip(DETECTION_S)
            sound.look(APART_S)
            sound.skip(APART_S)
        else:
            sound.skip(DETECTION_S / 2 if not is_last else DETECTION_S)
            pause()
