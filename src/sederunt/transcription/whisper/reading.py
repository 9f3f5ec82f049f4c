"""Reads one window with care: again where the first reading loops, guesses, or leaves speech without words."""

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

# A stretch of speech with more than UNCOVERED_S without a word is read again. A word covers NEAR_S on both sides, and
# lasts at most WORD_S: the network draws the next word's time out over what it skips.
UNCOVERED_S, NEAR_S, WORD_S = 1.2, 0.25, 0.8
# Shorter gaps between words are normal speech.
GAP_S = 0.4
# The limit after the last word: a text may end too soon, and a few fast words take less time than a gap.
BEHIND_S = 0.7
# Stretches longer than THIN_S with fewer words per second than LEAST_RATE hold more: words drawn out over a gap seem
# to fill it.
THIN_S, LEAST_RATE = 2.0, 0.8
# A window with so much speech in several gaps is first read again as a whole: pieces without context are read badly,
# and several of them cost more.
SKIPPED_S = 3.0
# Sound added on both sides of a stretch that is read again.
AROUND_S = 0.6
# Words that end this close to a cut in mid-speech are left to the next window.
CUT_S = 0.5
# A sentence that the window's length cuts short is left to the next window if it begins in this last share of the
# window: half a sentence is misheard. Longer ones would cost too much to read twice.
BEGUN = 1 / 3
ENDS, QUOTES = (".", "!", "?", "。", "！", "？", "।", "؟", "۔"), "\"'”’»)]"
# Words less likely than MADE_UP, where no speech was found, were made up; so were those of a doubted window if less
# than the share VOICED of their time is surely speech.
MADE_UP, VOICED = 0.5, 0.2
# So many words without duration, after the last one that has some, are an echo.
ECHO = 3


class Reads(Protocol):
    """The part of a network that is used here."""

    def read(self, samples: Samples, reading: ReadingOptions, /) -> Decoded: ...


@dataclass(frozen=True, slots=True)
class Passage:
    """The words of a window."""

    phrases: tuple[TokenPhrase, ...]
    end: float  # the next window begins here; seconds of this one
    wordless: tuple[tuple[float, float], ...] = ()  # possible speech that stayed without a word after two readings


@dataclass(frozen=True, kw_only=True, slots=True)
class Manner:
    """How to read all windows of a source."""

    language: str
    prompt: tuple[int, ...] = ()
    vocabulary: tuple[str, ...] = ()  # the entries of the prompt, folded, in order
    thorough: bool = False  # loud sound counts as speech, whatever the detector thinks; this costs time
    beams: int = 1  # beam size
    context: int = LEAST_CONTEXT  # the least frames that the encoder sees in a first reading


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
    """Read a window. `clean`: it ends in a pause, so that its last word is whole. `full`: it ends only because of its
    length, and speech may continue after it.

    `last`: no other window begins where the passage ends, so speech after the last word is read here.
    Sound before `told_s` was transcribed earlier and is only context: missing words there are not searched, and a poor
    first reading returns no words at all, because the rest can be read by itself.
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
    # After a cut in mid-speech the next window begins anyway.
    find_gaps = _unread if clean else uncovered
    for start, stop in find_gaps(_spoken(activity, manner, told_s), _words(phrases)):
        # Speech after the last word is left to the next window, if there is one, unless this one has no words at all.
        is_behind = stop >= end - NEAR_S and phrases and start > max(word.end for word in _words(phrases))
        if is_behind and start > 2 and not last:
            end = start - NEAR_S / 2
            break
        phrases = _merged(phrases, _read_again(network, samples, activity, (start, min(stop, end)), manner))
    wordless = uncovered(_spoken(activity, manner), _words(phrases)) if manner.thorough else []
    if full and clean and end == len(samples) / RATE:
        phrases, end = _without_begun_sentence(phrases, end, activity)
    return Passage(phrases, end, tuple((start, min(stop, end)) for start, stop in wordless if start < end))


def plainly(manner: Manner) -> ReadingOptions:
    """Return the options of a window's first reading."""
    return ReadingOptions(language=manner.language, prompt=manner.prompt, beams=manner.beams, context=manner.context)


def _spoken(activity: SpeechActivity, manner: Manner, from_s: float = 0.0) -> list[tuple[float, float]]:
    """Return the stretches that should have words, by the detector, or, if thorough, by detector or loudness."""
    stretches = activity.audible() if manner.thorough else activity.stretches()
    return [(max(start, from_s), end) for start, end in stretches if end > from_s]


def uncovered(stretches: Sequence[tuple[float, float]], words: Iterable[TimedWord]) -> list[tuple[float, float]]:
    """Return the parts of stretches of speech that lack words, from the first moment without one to the last."""
    word_times = sorted(
        (max(word.start, word.end - WORD_S) - NEAR_S, word.end + NEAR_S) for word in words if _is_word(word.text)
    )
    gaps = []
    for start, end in stretches:
        free_parts = [(begin, finish) for begin, finish in _less(start, end, word_times) if finish - begin >= GAP_S]
        if sum(finish - begin for begin, finish in free_parts) > UNCOVERED_S:
            gaps.append((free_parts[0][0], free_parts[-1][1]))
        elif end - start > THIN_S and _words_in(start, end, word_times) < LEAST_RATE * (end - start):
            gaps.append((start, end))
    return gaps


def _unread(stretches: list[tuple[float, float]], words: Sequence[TimedWord]) -> list[tuple[float, float]]:
    """Return the parts of stretches that lack words, including the rest of the last stretch after the last word."""
    gaps = uncovered(stretches, words)
    last_end = max((word.end for word in words if _is_word(word.text)), default=None)
    if last_end is None or not stretches or (gaps and gaps[-1][1] >= stretches[-1][1]):
        return gaps
    start, end = max(stretches[-1][0], last_end + NEAR_S), stretches[-1][1]
    return [*gaps, (start, end)] if end - start > BEHIND_S else gaps


def echoes(text: str, vocabulary: Sequence[str]) -> bool:
    """Return whether a text recites the custom vocabulary: three adjacent entries in the order of the prompt."""
    plain_text = " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
    return any(" ".join(vocabulary[n : n + 3]) in plain_text for n in range(len(vocabulary) - 2))


def _read_best(
    network: Reads,
    samples: Samples,
    manner: Manner,
    first: Decoded | None = None,
    *,
    faint: bool,
    once: bool = False,
) -> Decoded | None:
    """Return the first good reading, or the best of all; faint sound that does not read well is not read again.

    Return None if `once` is set and the first reading is poor.
    """
    plain_options = plainly(manner)
    attempts = (
        plain_options,
        replace(plain_options, prompt=(), context=FULL_CONTEXT),
        replace(plain_options, prompt=(), context=FULL_CONTEXT, beams=5, forbid_repeats=True),
    )
    readings = []
    for options in attempts:
        decoded = first if first is not None and options is plain_options else network.read(samples, options)
        if options.prompt and echoes(decoded.text, manner.vocabulary):
            decoded = network.read(samples, replace(options, prompt=()))
        decoded = _as_often_as_heard(decoded, samples)
        readings.append(decoded)
        is_good = not (decoded.repeats or decoded.is_guess)
        if is_good or (decoded.is_silence and decoded.is_guess) or (faint and decoded.is_doubted):
            return decoded
        if once:
            return None
    best = max(readings, key=lambda decoded: (not decoded.repeats, decoded.score))
    return _without_loops(best) if best.repeats else best


def _as_often_as_heard(decoded: Decoded, samples: Samples) -> Decoded:
    """Return a reading with as many rounds of its loop as the sound has; unchanged if the sound has no rounds."""
    words = _words(decoded.phrases)
    loop = loop_in([word.text for word in words])
    if loop is None or not loop.size:
        return decoded
    # The loop's sound lies between the words around it; its own times come from the text and are useless.
    start = words[loop.first - 1].end if loop.first else 0.0
    end = words[loop.end].start if loop.end < len(words) else len(samples) / RATE
    rounds = rounds_in(samples[int(start * RATE) : int(end * RATE)])
    written_rounds = (loop.end - loop.first) // loop.size
    if (
        rounds is None or rounds.count > 2 * written_rounds
    ):  # a looping network writes too many rounds, rarely half of them
        return decoded
    step_s = rounds.period_s / loop.size
    moments = (start + rounds.start_s + step_s * n for n in range(rounds.count * loop.size))
    round_words = (
        replace(words[loop.first + n % loop.size], start=moment, end=moment + step_s)
        for n, moment in enumerate(moments)
    )
    new_words = (*words[: loop.first], *round_words, *words[loop.end :])
    text = "".join(word.text for word in new_words).strip()
    phrase = TokenPhrase(new_words[0].start, new_words[-1].end, new_words)
    return replace(decoded, phrases=(phrase,), text=text, rounds_heard=True)


def _without_loops(decoded: Decoded) -> Decoded:
    """Return a reading without the words of its loops; their sound then lacks words, and is read by itself."""
    words = _words(decoded.phrases)
    remaining = list(range(len(words)))
    while (loop := loop_in([words[n].text for n in remaining])) is not None:
        del remaining[loop.first : loop.end]
    kept_places, numbers = set(remaining), count()
    phrases = (
        replace(phrase, words=tuple(word for word in phrase.words if next(numbers) in kept_places))
        for phrase in decoded.phrases
    )
    return replace(decoded, phrases=tuple(phrase for phrase in phrases if phrase.words))


def _fuller(
    network: Reads, samples: Samples, activity: SpeechActivity, manner: Manner, phrases: tuple[TokenPhrase, ...]
) -> tuple[TokenPhrase, ...]:
    """Return the phrases; or, if several gaps between them hold seconds of speech, those of a more careful reading that
    skips less.
    """
    stretches = _spoken(activity, manner)
    skipped_gaps = _skipped(stretches, phrases)
    if len(skipped_gaps) < 2 or sum(skipped_gaps) < SKIPPED_S:
        return phrases
    careful_options = ReadingOptions(language=manner.language, context=FULL_CONTEXT, beams=5)
    second_reading = _as_often_as_heard(network.read(samples, careful_options), samples)
    if second_reading.repeats or second_reading.is_guess or second_reading.is_doubted:
        return phrases
    fuller_phrases = _believed(second_reading, activity)
    return (
        fuller_phrases if fuller_phrases and sum(_skipped(stretches, fuller_phrases)) < sum(skipped_gaps) else phrases
    )


def _skipped(stretches: Sequence[tuple[float, float]], phrases: Sequence[TokenPhrase]) -> list[float]:
    """Return the seconds of each gap before the last word; sound after it belongs to the next window."""
    words = _words(phrases)
    last_end = max((word.end for word in words), default=0.0)
    return [min(end, last_end) - start for start, end in uncovered(stretches, words) if start < last_end]


def _believed(decoded: Decoded, activity: SpeechActivity) -> tuple[TokenPhrase, ...]:
    """Return the phrases with plausible times, without those made up over silence or noise."""
    if decoded.is_silence or (decoded.is_doubted and activity.is_faint()):
        return ()
    phrases = (_without_echo(phrase) for phrase in decoded.phrases)
    return tuple(
        replace(phrase, words=tuple(tightened(word, activity) for word in phrase.words))
        for phrase in phrases
        if phrase.words and not _made_up(phrase, activity, decoded.is_doubted)
    )


def _without_echo(phrase: TokenPhrase) -> TokenPhrase:
    """Return the phrase without final words that take no time: an echo of the last sentence over the next silence."""
    length = len(phrase.words)
    while length and phrase.words[length - 1].end - phrase.words[length - 1].start < FASTEST_S:
        length -= 1
    return phrase if len(phrase.words) - length < ECHO else replace(phrase, words=phrase.words[:length])


def _made_up(phrase: TokenPhrase, activity: SpeechActivity, is_doubted: bool) -> bool:
    first = max(0, int((phrase.words[0].start - NEAR_S) / FRAME_S))
    last = int((phrase.words[-1].end + NEAR_S) / FRAME_S) + 1
    nearby = activity[first:last]
    if not nearby.active.any():
        return True
    if is_doubted and float((nearby.speech >= SURE).mean()) < VOICED:
        return True
    mean = sum(word.probability for word in phrase.words) / len(phrase.words)
    return mean < MADE_UP and float(nearby.speech.max(initial=0.0)) < MAYBE


def _without_cut_word(phrases: tuple[TokenPhrase, ...], end: float) -> tuple[tuple[TokenPhrase, ...], float]:
    """Drop the words near a cut; the next window begins at the end of the last remaining word."""
    whole_phrases = [replace(p, words=tuple(w for w in p.words if w.end <= end - CUT_S)) for p in phrases]
    whole_phrases = [phrase for phrase in whole_phrases if phrase.words]
    if not whole_phrases or whole_phrases[-1].words[-1].end < end / 2:
        return phrases, end
    return tuple(whole_phrases), whole_phrases[-1].words[-1].end


def _without_begun_sentence(
    phrases: tuple[TokenPhrase, ...], end: float, activity: SpeechActivity
) -> tuple[tuple[TokenPhrase, ...], float]:
    """Drop the words of an unfinished sentence; the next window begins in the pause before it."""
    words = _words(phrases)
    sentence_start = next((n for n in range(len(words), 0, -1) if ends_sentence(words[n - 1].text)), len(words))
    if sentence_start == len(words) or words[sentence_start].start < end * (1 - BEGUN):
        return phrases, end
    # The network draws words out over a pause, so the pause is found in the sound.
    word_before, word_after = words[sentence_start - 1], words[sentence_start]
    pause = windows.best_pause(
        activity, (word_before.start + word_before.end) / 2, (word_after.start + word_after.end) / 2
    )
    if pause is None:
        return phrases, end
    kept_phrases, words_left = list[TokenPhrase](), sentence_start
    for phrase in phrases:
        kept_phrases.append(replace(phrase, words=phrase.words[:words_left]))
        words_left = max(0, words_left - len(phrase.words))
    return tuple(phrase for phrase in kept_phrases if phrase.words), pause


def ends_sentence(text: str) -> bool:
    """Return whether a text, or its last word, ends a sentence; an ellipsis does not."""
    ending = text.strip().rstrip(QUOTES)
    return ending.endswith(ENDS) and not ending.endswith("..")


def _read_again(
    network: Reads, samples: Samples, activity: SpeechActivity, stretch: tuple[float, float], manner: Manner
) -> tuple[TokenPhrase, ...]:
    """Read a stretch by itself, with more context than its length requires; drop guesses and words outside it."""
    start = max(0.0, stretch[0] - AROUND_S)
    piece = samples[int(start * RATE) : int((stretch[1] + AROUND_S) * RATE)]
    options = ReadingOptions(language=manner.language, context=HALF_CONTEXT, beams=manner.beams)
    decoded = _as_often_as_heard(network.read(piece, options), piece)
    if decoded.repeats and manner.thorough:
        decoded = network.read(piece, replace(options, context=FULL_CONTEXT, beams=5, forbid_repeats=True))
    inside = activity[int(stretch[0] / FRAME_S) : int(stretch[1] / FRAME_S) + 1]
    is_loud_alone = float(inside.speech.max(initial=0.0)) < SPOKEN
    if decoded.repeats or decoded.is_guess or (decoded.is_doubted and is_loud_alone):
        return ()
    phrases = []
    for phrase in decoded.phrases:
        moved_words = [replace(word, start=word.start + start, end=word.end + start) for word in phrase.words]
        fitting_words = tuple(word for word in moved_words if word.end > stretch[0] and word.start < stretch[1])
        if fitting_words:
            phrases.append(TokenPhrase(fitting_words[0].start, fitting_words[-1].end, fitting_words))
    return tuple(phrases)


def _merged(phrases: tuple[TokenPhrase, ...], new_phrases: tuple[TokenPhrase, ...]) -> tuple[TokenPhrase, ...]:
    """Merge the phrases of two readings in order of time. A word in both stays once; of two words at the same time the
    second reading's stays; an interrupted phrase is cut. If the second reading has no more words than the first in its
    time, it found slow speech, not a gap; it heard less and is dropped.
    """
    new_phrases = _fresh(phrases, new_phrases)
    if not new_phrases:
        return phrases
    new_words = _words(new_phrases)
    middles = [(word.start + word.end) / 2 for word in _words(phrases)]
    if sum(new_words[0].start < middle < new_words[-1].end for middle in middles) >= len(new_words):
        return phrases
    start_s, end_s = max(0.0, new_words[0].start - NEAR_S), new_words[-1].end + NEAR_S
    phrases = _led_to(phrases, new_words, start_s)
    new_texts = {folded(word.text) for word in new_words}
    starts = [phrase.words[0].start for phrase in new_phrases]
    merged_phrases: list[TokenPhrase] = []
    for phrase in phrases:
        words = (
            word
            for word in phrase.words
            if word.start <= start_s or not (_is_twice(word, end_s, new_texts) or _is_instead(word, new_words))
        )
        # One word near the seam may begin before the second reading; the words after it follow that reading.
        for _, part in groupby(words, key=lambda word: bisect_right(starts, word.start)):
            merged_phrases.append(replace(phrase, words=tuple(part)))
    return tuple(sorted((*merged_phrases, *new_phrases), key=lambda phrase: phrase.words[0].start))


def _fresh(phrases: tuple[TokenPhrase, ...], new_phrases: tuple[TokenPhrase, ...]) -> tuple[TokenPhrase, ...]:
    """Return the second reading without a first word that both readings heard at the seam."""
    if not new_phrases:
        return ()
    opening = new_phrases[0].words[0]
    earlier_words = [word for word in _words(phrases) if _is_word(word.text) and word.start <= opening.start]
    if (
        earlier_words
        and folded(earlier_words[-1].text) == folded(opening.text)
        and earlier_words[-1].end >= opening.start - NEAR_S
    ):
        remainder = replace(new_phrases[0], words=new_phrases[0].words[1:])
        return (remainder, *new_phrases[1:]) if remainder.words else new_phrases[1:]
    return new_phrases


def _is_twice(word: TimedWord, end_s: float, new_texts: set[str]) -> bool:
    return word.start < end_s and folded(word.text) in new_texts


def _led_to(phrases: tuple[TokenPhrase, ...], new_words: Sequence[TimedWord], moment: float) -> tuple[TokenPhrase, ...]:
    """Return the first reading, with its words before the second reading's two opening words moved before `moment`:
    the last word before a gap is drawn out over it, and may be timed at its end.
    """
    texts = [folded(word.text) for word in _words(phrases)]
    opening = [folded(word.text) for word in new_words[:2]]
    place = next((n for n in range(len(texts) - 1) if texts[n : n + 2] == opening), 0)
    shifted_phrases, words_left = list[TokenPhrase](), place
    for phrase in phrases:
        shifted_words = [
            replace(w, start=min(w.start, moment), end=min(w.end, moment)) for w in phrase.words[:words_left]
        ]
        shifted_phrases.append(replace(phrase, words=(*shifted_words, *phrase.words[words_left:])))
        words_left = max(0, words_left - len(phrase.words))
    return tuple(shifted_phrases)


def _is_instead(word: TimedWord, new_words: Sequence[TimedWord]) -> bool:
    """Return whether one of the new words covers the middle of this word."""
    middle = (word.start + word.end) / 2
    return any(max(new_word.start, new_word.end - WORD_S) <= middle <= new_word.end for new_word in new_words)


def _less(start: float, end: float, intervals: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return what remains of a stretch without the ordered intervals."""
    remainder = []
    for begin, finish in intervals:
        if finish <= start or begin >= end:
            continue
        if begin > start:
            remainder.append((start, begin))
        start = finish
    return [*remainder, (start, end)] if start < end else remainder


def _words_in(start: float, end: float, word_times: Iterable[tuple[float, float]]) -> int:
    return sum(1 for begin, finish in word_times if start <= (begin + finish) / 2 <= end)


def _is_word(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


def _words(phrases: Iterable[TokenPhrase]) -> list[TimedWord]:
    return [word for phrase in phrases for word in phrase.words]
