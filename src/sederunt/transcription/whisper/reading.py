"""One window read with care: read again where the first reading loops, guesses, or leaves speech without words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sederunt.transcription.whisper.decoding import Decoded, Phrase, Reading, TimedWord
from sederunt.transcription.whisper.speech import FRAME_S, MAYBE, RATE, SURE, Activity, Samples

# Speech of this length without a word is read again; a word counts for so much on both sides of itself.
UNCOVERED_S, NEAR_S = 1.5, 0.4
# Around a stretch that is read again.
AROUND_S = 0.6
# A cut in mid-speech: words that end so close to it are left to the next window.
CUT_S = 0.5
# Words as unlikely as this, where no speech was found, were made up; so were those of a doubted window in which less
# than this share of their time is surely speech.
MADE_UP, VOICED = 0.5, 0.2


class Reads(Protocol):
    """A network, as far as it matters here."""

    def read(self, samples: Samples, reading: Reading, /) -> Decoded: ...


@dataclass(frozen=True, slots=True)
class Passage:
    """What a window turned out to say."""

    phrases: tuple[Phrase, ...]
    end: float  # the next window begins here; seconds of this one


@dataclass(frozen=True, kw_only=True, slots=True)
class Manner:
    """How all windows of a source are read."""

    language: str
    prompt: tuple[int, ...] = ()
    vocabulary: tuple[str, ...] = ()  # what the prompt says, folded, in order


def read(network: Reads, samples: Samples, activity: Activity, manner: Manner, *, clean: bool) -> Passage:
    """Read a window. `clean` says that it ends in a pause, so that its last word is whole."""
    phrases = _believed(_read_best(network, samples, manner, faint=activity.is_faint()), activity)
    end = len(samples) / RATE
    if not clean:
        phrases, end = _without_cut_word(phrases, end)
    stretches = uncovered(activity.stretches(), _words(phrases))
    for start, stop in stretches:
        # What follows the last word is left to the next window, unless this one said nothing at all.
        if stop >= end - NEAR_S and phrases and start > max(word.end for word in _words(phrases)) and start > 2:
            return Passage(phrases, start - NEAR_S / 2)
        phrases = _merged(phrases, _read_again(network, samples, (start, min(stop, end)), manner))
    return Passage(phrases, end)


def uncovered(stretches: Sequence[tuple[float, float]], words: Iterable[TimedWord]) -> list[tuple[float, float]]:
    """What remains of the stretches of speech, where it is long, when all words are taken away."""
    taken = sorted((word.start - NEAR_S, word.end + NEAR_S) for word in words)
    rest = []
    for start, end in stretches:
        for begin, finish in taken:
            if finish <= start or begin >= end:
                continue
            if begin - start > UNCOVERED_S:
                rest.append((start, begin))
            start = max(start, finish)
        if end - start > UNCOVERED_S:
            rest.append((start, end))
    return rest


def echoes(text: str, vocabulary: Sequence[str]) -> bool:
    """Whether a text recites the custom vocabulary: three entries in the order of the prompt, nothing between them."""
    folded = " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
    return any(" ".join(vocabulary[n : n + 3]) in folded for n in range(len(vocabulary) - 2))


def _read_best(network: Reads, samples: Samples, manner: Manner, *, faint: bool) -> Decoded:
    """The first reading that is good, or the best of all; faint sound that does not read well is left alone."""
    plain = Reading(language=manner.language)
    ways = (
        replace(plain, prompt=manner.prompt),
        replace(plain, full=True),
        replace(plain, full=True, beams=5, forbid_repeats=True),
    )
    tried = []
    for way in ways:
        decoded = network.read(samples, way)
        if way.prompt and echoes(decoded.text, manner.vocabulary):
            decoded = network.read(samples, replace(way, prompt=()))
        tried.append(decoded)
        good = not (decoded.repeats or decoded.is_guess)
        if good or (decoded.is_silence and decoded.is_guess) or (faint and decoded.is_doubted):
            return decoded
    return max(tried, key=lambda decoded: (not decoded.repeats, decoded.score))


def _believed(decoded: Decoded, activity: Activity) -> tuple[Phrase, ...]:
    """The phrases, less what was made up over silence or noise."""
    if decoded.is_silence or (decoded.is_doubted and activity.is_faint()):
        return ()
    return tuple(phrase for phrase in decoded.phrases if not _made_up(phrase, activity, decoded.is_doubted))


def _made_up(phrase: Phrase, activity: Activity, doubted: bool) -> bool:
    first = max(0, int((phrase.words[0].start - NEAR_S) / FRAME_S))
    last = int((phrase.words[-1].end + NEAR_S) / FRAME_S) + 1
    near = activity[first:last]
    if not near.active().any():
        return True
    if doubted and float((near.speech >= SURE).mean()) < VOICED:
        return True
    mean = sum(word.probability for word in phrase.words) / len(phrase.words)
    return mean < MADE_UP and float(near.speech.max(initial=0.0)) < MAYBE


def _without_cut_word(phrases: tuple[Phrase, ...], end: float) -> tuple[tuple[Phrase, ...], float]:
    """Drop the words near a cut; the next window begins where the last one kept ends."""
    kept = [replace(p, words=tuple(w for w in p.words if w.end <= end - CUT_S)) for p in phrases]
    kept = [phrase for phrase in kept if phrase.words]
    if not kept or kept[-1].words[-1].end < end / 2:
        return phrases, end
    return tuple(kept), kept[-1].words[-1].end


def _read_again(network: Reads, samples: Samples, stretch: tuple[float, float], manner: Manner) -> tuple[Phrase, ...]:
    """Read a stretch by itself at full context; only what lies in it, and is no guess, counts."""
    start = max(0.0, stretch[0] - AROUND_S)
    piece = samples[int(start * RATE) : int((stretch[1] + AROUND_S) * RATE)]
    decoded = network.read(piece, Reading(language=manner.language, full=True))
    if decoded.repeats or decoded.is_guess:
        return ()
    found = []
    for phrase in decoded.phrases:
        moved = [replace(word, start=word.start + start, end=word.end + start) for word in phrase.words]
        inside = tuple(w for w in moved if stretch[0] - NEAR_S / 2 <= (w.start + w.end) / 2 <= stretch[1] + NEAR_S / 2)
        if inside:
            found.append(Phrase(inside[0].start, inside[-1].end, inside))
    return tuple(found)


def _merged(phrases: tuple[Phrase, ...], more: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    """Phrases of two readings in order of time; one that is interrupted is cut in two."""
    merged = list(phrases)
    for new in more:
        for index, phrase in enumerate(merged):
            before = tuple(word for word in phrase.words if word.start < new.words[0].start)
            after = phrase.words[len(before) :]
            if before and after:
                merged[index : index + 1] = [replace(phrase, words=before), replace(phrase, words=after)]
                break
        merged.append(new)
        merged.sort(key=lambda phrase: phrase.words[0].start)
    return tuple(merged)


def _words(phrases: Iterable[Phrase]) -> list[TimedWord]:
    return [word for phrase in phrases for word in phrase.words]
