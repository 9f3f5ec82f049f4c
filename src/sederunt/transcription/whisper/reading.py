"""One window read with care: read again where the first reading loops, guesses, or leaves speech without words."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count, groupby
from typing import Protocol

from sederunt.transcription.text import folded
from sederunt.transcription.whisper import windows
from sederunt.transcription.whisper.decoding import (
    FASTEST_S,
    FULL_CONTEXT,
    HALF_CONTEXT,
    LEAST_CONTEXT,
    Decoded,
    ReadingOptions,
    TimedWord,
    TokenPhrase,
)
from sederunt.transcription.whisper.loops import loop_in, rounds_in
from sederunt.transcription.whisper.speech import FRAME_S, MAYBE, RATE, SPOKEN, SURE, Samples, SpeechActivity
from sederunt.transcription.whisper.wording import tightened

# A stretch of speech in which so much is without a word is read again; a word counts for so much on both sides of
# itself, and for no more than anyone would take for it: over what it skips the network draws the next word's time out.
UNCOVERED_S, NEAR_S, WORD_S = 1.2, 0.25, 0.8
# Gaps between words that are shorter than this are how people speak.
GAP_S = 0.4
# The same behind the last word: a text may end too soon, and a few words said fast take less time than a gap.
BEHIND_S = 0.7
# Longer stretches with fewer words per second than this hold more: words drawn out over a gap seem to fill it.
THIN_S, LEAST_RATE = 2.0, 0.8
# A window with so much speech in several gaps between its words is read again as a whole first: pieces out of their
# context are read badly, and several cost more.
SKIPPED_S = 3.0
# Around a stretch that is read again.
AROUND_S = 0.6
# A cut in mid-speech: words that end so close to it are left to the next window.
CUT_S = 0.5
# A sentence that the window's length cuts short is left to the next window, if it begins in so much of this one's end:
# the one half is misheard without the other. Longer ones would be dear to read twice.
BEGUN = 1 / 3
ENDS, QUOTES = (".", "!", "?", "。", "！", "？", "।", "؟", "۔"), "\"'”’»)]"
# Words as unlikely as this, where no speech was found, were made up; so were those of a doubted window in which less
# than this share of their time is surely speech.
MADE_UP, VOICED = 0.5, 0.2
# So many words without time behind the last one that has some are an echo.
ECHO = 3


class Reads(Protocol):
    """A network, as far as it matters here."""

    def read(self, samples: Samples, reading: ReadingOptions, /) -> Decoded: ...


@dataclass(frozen=True, slots=True)
class Passage:
    """What a window turned out to say."""

    phrases: tuple[TokenPhrase, ...]
    end: float  # the next window begins here; seconds of this one
    wordless: tuple[tuple[float, float], ...] = ()  # sound that somebody may speak in, read twice, without a word


@dataclass(frozen=True, kw_only=True, slots=True)
class Manner:
    """How all windows of a source are read."""

    language: str
    prompt: tuple[int, ...] = ()
    vocabulary: tuple[str, ...] = ()  # what the prompt says, folded, in order
    thorough: bool = False  # loud sound counts as speech, whatever the detector thinks; it costs time
    beams: int = 1  # texts that are followed side by side
    context: int = LEAST_CONTEXT  # frames the encoder sees at least in a first reading


def read(
    network: Reads,
    samples: Samples,
    activity: SpeechActivity,
    manner: Manner,
    *,
    clean: bool,
    full: bool = False,
    last: bool = False,
    told_s: float = 0.0,
    first: Decoded | None = None,
) -> Passage:
    """Read a window. `clean` says that it ends in a pause, so that its last word is whole; `full`, that it ends
    for its length alone, and what is said may go on behind it.

    `last` says that no other window will begin where the passage ends: speech behind the last word is then read here.
    What lies before `told_s` was told before and is heard along: no word is looked for that may lack there, and a first
    reading that is not good gives no words at all, for the rest can be read by itself.
    """
    best = _read_best(network, samples, manner, first, faint=activity.is_faint(), once=told_s > 0)
    if best is None:
        return Passage((), len(samples) / RATE)
    phrases = _believed(best, activity)
    if not (told_s or best.is_doubted):
        phrases = _fuller(network, samples, activity, manner, phrases)
    end = len(samples) / RATE
    if not clean:
        phrases, end = _without_cut_word(phrases, end)
    # Behind a cut in mid-speech the next window begins anyway.
    lacking = _unread if clean else uncovered
    for start, stop in lacking(_spoken(activity, manner, told_s), _words(phrases)):
        # What follows the last word is left to the next window, if there is one, unless this one said nothing at all.
        behind = stop >= end - NEAR_S and phrases and start > max(word.end for word in _words(phrases))
        if behind and start > 2 and not last:
            end = start - NEAR_S / 2
            break
        phrases = _merged(phrases, _read_again(network, samples, activity, (start, min(stop, end)), manner))
    wordless = uncovered(_spoken(activity, manner), _words(phrases)) if manner.thorough else []
    if full and clean and end == len(samples) / RATE:
        phrases, end = _without_begun_sentence(phrases, end, activity)
    return Passage(phrases, end, tuple((start, min(stop, end)) for start, stop in wordless if start < end))


def plainly(manner: Manner) -> ReadingOptions:
    """Return how a window is read first."""
    return ReadingOptions(language=manner.language, prompt=manner.prompt, beams=manner.beams, context=manner.context)


def _spoken(activity: SpeechActivity, manner: Manner, from_s: float = 0.0) -> list[tuple[float, float]]:
    """Return where somebody should be understood, by the detector, or by whichever of it and loudness says so."""
    found = activity.audible() if manner.thorough else activity.stretches()
    return [(max(start, from_s), end) for start, end in found if end > from_s]


def uncovered(stretches: Sequence[tuple[float, float]], words: Iterable[TimedWord]) -> list[tuple[float, float]]:
    """Return the parts of stretches of speech that lack words: from the first moment without one to the last."""
    taken = sorted(
        (max(word.start, word.end - WORD_S) - NEAR_S, word.end + NEAR_S) for word in words if _is_word(word.text)
    )
    found = []
    for start, end in stretches:
        rest = [(begin, finish) for begin, finish in _less(start, end, taken) if finish - begin >= GAP_S]
        if sum(finish - begin for begin, finish in rest) > UNCOVERED_S:
            found.append((rest[0][0], rest[-1][1]))
        elif end - start > THIN_S and _words_in(start, end, taken) < LEAST_RATE * (end - start):
            found.append((start, end))
    return found


def _unread(stretches: list[tuple[float, float]], words: Sequence[TimedWord]) -> list[tuple[float, float]]:
    """Return the parts of stretches that lack words, with what is left of the last one behind the last word."""
    found = uncovered(stretches, words)
    last = max((word.end for word in words if _is_word(word.text)), default=None)
    if last is None or not stretches or (found and found[-1][1] >= stretches[-1][1]):
        return found
    start, end = max(stretches[-1][0], last + NEAR_S), stretches[-1][1]
    return [*found, (start, end)] if end - start > BEHIND_S else found


def echoes(text: str, vocabulary: Sequence[str]) -> bool:
    """Return whether a text recites the custom vocabulary: three entries in the order of the prompt, nothing between
    them.
    """
    folded = " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
    return any(" ".join(vocabulary[n : n + 3]) in folded for n in range(len(vocabulary) - 2))


def _read_best(
    network: Reads,
    samples: Samples,
    manner: Manner,
    first: Decoded | None = None,
    *,
    faint: bool,
    once: bool = False,
) -> Decoded | None:
    """Return the first reading that is good, or the best of all; faint sound that does not read well is left alone.

    None where it is to be read `once` and does not read well.
    """
    plain = plainly(manner)
    ways = (
        plain,
        replace(plain, prompt=(), context=FULL_CONTEXT),
        replace(plain, prompt=(), context=FULL_CONTEXT, beams=5, forbid_repeats=True),
    )
    tried = []
    for way in ways:
        decoded = first if first is not None and way is plain else network.read(samples, way)
        if way.prompt and echoes(decoded.text, manner.vocabulary):
            decoded = network.read(samples, replace(way, prompt=()))
        decoded = _as_often_as_heard(decoded, samples)
        tried.append(decoded)
        good = not (decoded.repeats or decoded.is_guess)
        if good or (decoded.is_silence and decoded.is_guess) or (faint and decoded.is_doubted):
            return decoded
        if once:
            return None
    best = max(tried, key=lambda decoded: (not decoded.repeats, decoded.score))
    return _without_loops(best) if best.repeats else best


def _as_often_as_heard(decoded: Decoded, samples: Samples) -> Decoded:
    """Return a reading with as many rounds of its loop as the sound has; the same where the sound repeats nothing."""
    words = _words(decoded.phrases)
    loop = loop_in([word.text for word in words])
    if loop is None or not loop.size:
        return decoded
    # What lies between the words around it is the loop's: its own times follow from the text.
    start = words[loop.first - 1].end if loop.first else 0.0
    end = words[loop.end].start if loop.end < len(words) else len(samples) / RATE
    rounds = rounds_in(samples[int(start * RATE) : int(end * RATE)])
    written = (loop.end - loop.first) // loop.size
    if rounds is None or rounds.count > 2 * written:  # a network that loops writes too much rather than half
        return decoded
    step_s = rounds.period_s / loop.size
    moments = (start + rounds.start_s + step_s * n for n in range(rounds.count * loop.size))
    said = (
        replace(words[loop.first + n % loop.size], start=moment, end=moment + step_s)
        for n, moment in enumerate(moments)
    )
    told = (*words[: loop.first], *said, *words[loop.end :])
    text = "".join(word.text for word in told).strip()
    phrase = TokenPhrase(told[0].start, told[-1].end, told)
    return replace(decoded, phrases=(phrase,), text=text, rounds_heard=True)


def _without_loops(decoded: Decoded) -> Decoded:
    """Return a reading without the words of its loops: their sound has no word then, and is read by itself."""
    words = _words(decoded.phrases)
    left = list(range(len(words)))
    while (loop := loop_in([words[n].text for n in left])) is not None:
        del left[loop.first : loop.end]
    kept, numbers = set(left), count()
    phrases = (
        replace(phrase, words=tuple(word for word in phrase.words if next(numbers) in kept))
        for phrase in decoded.phrases
    )
    return replace(decoded, phrases=tuple(phrase for phrase in phrases if phrase.words))


def _fuller(
    network: Reads, samples: Samples, activity: SpeechActivity, manner: Manner, phrases: tuple[TokenPhrase, ...]
) -> tuple[TokenPhrase, ...]:
    """Return the phrases; or where several gaps between them hold seconds of speech, those of a reading with more care,
    if it skips less.
    """
    spoken = _spoken(activity, manner)
    skipped = _skipped(spoken, phrases)
    if len(skipped) < 2 or sum(skipped) < SKIPPED_S:
        return phrases
    careful = ReadingOptions(language=manner.language, context=FULL_CONTEXT, beams=5)
    again = _as_often_as_heard(network.read(samples, careful), samples)
    if again.repeats or again.is_guess or again.is_doubted:
        return phrases
    found = _believed(again, activity)
    return found if found and sum(_skipped(spoken, found)) < sum(skipped) else phrases


def _skipped(spoken: Sequence[tuple[float, float]], phrases: Sequence[TokenPhrase]) -> list[float]:
    """Return the seconds of each gap before the last word; what follows it is the next window's."""
    words = _words(phrases)
    last = max((word.end for word in words), default=0.0)
    return [min(end, last) - start for start, end in uncovered(spoken, words) if start < last]


def _believed(decoded: Decoded, activity: SpeechActivity) -> tuple[TokenPhrase, ...]:
    """Return the phrases with plausible times, less what was made up over silence or noise."""
    if decoded.is_silence or (decoded.is_doubted and activity.is_faint()):
        return ()
    spoken = (_without_echo(phrase) for phrase in decoded.phrases)
    return tuple(
        replace(phrase, words=tuple(tightened(word, activity) for word in phrase.words))
        for phrase in spoken
        if phrase.words and not _made_up(phrase, activity, decoded.is_doubted)
    )


def _without_echo(phrase: TokenPhrase) -> TokenPhrase:
    """Return the phrase without words at its end that take no time: the last sentence again, over the silence behind
    it.
    """
    kept = len(phrase.words)
    while kept and phrase.words[kept - 1].end - phrase.words[kept - 1].start < FASTEST_S:
        kept -= 1
    return phrase if len(phrase.words) - kept < ECHO else replace(phrase, words=phrase.words[:kept])


def _made_up(phrase: TokenPhrase, activity: SpeechActivity, doubted: bool) -> bool:
    first = max(0, int((phrase.words[0].start - NEAR_S) / FRAME_S))
    last = int((phrase.words[-1].end + NEAR_S) / FRAME_S) + 1
    near = activity[first:last]
    if not near.active.any():
        return True
    if doubted and float((near.speech >= SURE).mean()) < VOICED:
        return True
    mean = sum(word.probability for word in phrase.words) / len(phrase.words)
    return mean < MADE_UP and float(near.speech.max(initial=0.0)) < MAYBE


def _without_cut_word(phrases: tuple[TokenPhrase, ...], end: float) -> tuple[tuple[TokenPhrase, ...], float]:
    """Drop the words near a cut; the next window begins where the last one kept ends."""
    kept = [replace(p, words=tuple(w for w in p.words if w.end <= end - CUT_S)) for p in phrases]
    kept = [phrase for phrase in kept if phrase.words]
    if not kept or kept[-1].words[-1].end < end / 2:
        return phrases, end
    return tuple(kept), kept[-1].words[-1].end


def _without_begun_sentence(
    phrases: tuple[TokenPhrase, ...], end: float, activity: SpeechActivity
) -> tuple[tuple[TokenPhrase, ...], float]:
    """Drop the words of a sentence that has begun and not ended; the next window begins in the pause before it."""
    words = _words(phrases)
    begun = next((n for n in range(len(words), 0, -1) if ends_sentence(words[n - 1].text)), len(words))
    if begun == len(words) or words[begun].start < end * (1 - BEGUN):
        return phrases, end
    # The network draws words out over a pause, so the sound tells where it is.
    before, after = words[begun - 1], words[begun]
    pause = windows.best_pause(activity, (before.start + before.end) / 2, (after.start + after.end) / 2)
    if pause is None:
        return phrases, end
    kept, left = list[TokenPhrase](), begun
    for phrase in phrases:
        kept.append(replace(phrase, words=phrase.words[:left]))
        left = max(0, left - len(phrase.words))
    return tuple(phrase for phrase in kept if phrase.words), pause


def ends_sentence(text: str) -> bool:
    """Return whether a text, or its last word, ends a sentence; an ellipsis says that it goes on."""
    bare = text.strip().rstrip(QUOTES)
    return bare.endswith(ENDS) and not bare.endswith("..")


def _read_again(
    network: Reads, samples: Samples, activity: SpeechActivity, stretch: tuple[float, float], manner: Manner
) -> tuple[TokenPhrase, ...]:
    """Read a stretch by itself, with more context than its length asks for; what is a guess or outside counts not."""
    start = max(0.0, stretch[0] - AROUND_S)
    piece = samples[int(start * RATE) : int((stretch[1] + AROUND_S) * RATE)]
    plain = ReadingOptions(language=manner.language, context=HALF_CONTEXT, beams=manner.beams)
    decoded = _as_often_as_heard(network.read(piece, plain), piece)
    if decoded.repeats and manner.thorough:
        decoded = network.read(piece, replace(plain, context=FULL_CONTEXT, beams=5, forbid_repeats=True))
    inside = activity[int(stretch[0] / FRAME_S) : int(stretch[1] / FRAME_S) + 1]
    loud_alone = float(inside.speech.max(initial=0.0)) < SPOKEN
    if decoded.repeats or decoded.is_guess or (decoded.is_doubted and loud_alone):
        return ()
    found = []
    for phrase in decoded.phrases:
        moved = [replace(word, start=word.start + start, end=word.end + start) for word in phrase.words]
        fitting = tuple(word for word in moved if word.end > stretch[0] and word.start < stretch[1])
        if fitting:
            found.append(TokenPhrase(fitting[0].start, fitting[-1].end, fitting))
    return tuple(found)


def _merged(phrases: tuple[TokenPhrase, ...], more: tuple[TokenPhrase, ...]) -> tuple[TokenPhrase, ...]:
    """Phrases of two readings in order of time. A word in both stays once, and of two words at one time the second
    reading's; a phrase that is interrupted is cut. A second reading that has no more words than the first in its time
    found no gap, but slow speech: it is the worse one, for it heard less.
    """
    more = _fresh(phrases, more)
    if not more:
        return phrases
    found = _words(more)
    middles = [(word.start + word.end) / 2 for word in _words(phrases)]
    if sum(found[0].start < middle < found[-1].end for middle in middles) >= len(found):
        return phrases
    first, last = max(0.0, found[0].start - NEAR_S), found[-1].end + NEAR_S
    phrases = _led_to(phrases, found, first)
    again = {folded(word.text) for word in found}
    starts = [phrase.words[0].start for phrase in more]
    kept: list[TokenPhrase] = []
    for phrase in phrases:
        words = (
            word
            for word in phrase.words
            if word.start <= first or not (_is_twice(word, last, again) or _is_instead(word, found))
        )
        # One word near the seam may begin before the second reading; what follows it comes behind that.
        for _, part in groupby(words, key=lambda word: bisect_right(starts, word.start)):
            kept.append(replace(phrase, words=tuple(part)))
    return tuple(sorted((*kept, *more), key=lambda phrase: phrase.words[0].start))


def _fresh(phrases: tuple[TokenPhrase, ...], more: tuple[TokenPhrase, ...]) -> tuple[TokenPhrase, ...]:
    """Return the second reading without a first word that the first reading ends with: both heard it at the seam."""
    if not more:
        return ()
    opening = more[0].words[0]
    before = [word for word in _words(phrases) if _is_word(word.text) and word.start <= opening.start]
    if before and folded(before[-1].text) == folded(opening.text) and before[-1].end >= opening.start - NEAR_S:
        rest = replace(more[0], words=more[0].words[1:])
        return (rest, *more[1:]) if rest.words else more[1:]
    return more


def _is_twice(word: TimedWord, last: float, again: set[str]) -> bool:
    return word.start < last and folded(word.text) in again


def _led_to(phrases: tuple[TokenPhrase, ...], found: Sequence[TimedWord], moment: float) -> tuple[TokenPhrase, ...]:
    """Return the first reading with what it says before the second one's two opening words put before that moment: the
    last word before a gap is drawn out over it, and may be timed at its end.
    """
    texts = [folded(word.text) for word in _words(phrases)]
    opening = [folded(word.text) for word in found[:2]]
    place = next((n for n in range(len(texts) - 1) if texts[n : n + 2] == opening), 0)
    led, left = list[TokenPhrase](), place
    for phrase in phrases:
        before = [replace(w, start=min(w.start, moment), end=min(w.end, moment)) for w in phrase.words[:left]]
        led.append(replace(phrase, words=(*before, *phrase.words[left:])))
        left = max(0, left - len(phrase.words))
    return tuple(led)


def _is_instead(word: TimedWord, found: Sequence[TimedWord]) -> bool:
    """Return whether one of these words was heard in the middle of that one."""
    middle = (word.start + word.end) / 2
    return any(max(each.start, each.end - WORD_S) <= middle <= each.end for each in found)


def _less(start: float, end: float, taken: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return what remains of a stretch when the ordered intervals are taken away."""
    rest = []
    for begin, finish in taken:
        if finish <= start or begin >= end:
            continue
        if begin > start:
            rest.append((start, begin))
        start = finish
    return [*rest, (start, end)] if start < end else rest


def _words_in(start: float, end: float, taken: Iterable[tuple[float, float]]) -> int:
    return sum(1 for begin, finish in taken if start <= (begin + finish) / 2 <= end)


def _is_word(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


def _words(phrases: Iterable[TokenPhrase]) -> list[TimedWord]:
    return [word for phrase in phrases for word in phrase.words]
