"""Converts the model's words to ours: joins punctuation to words, corrects times, turns phrases into utterances."""

from collections.abc import Sequence
from dataclasses import replace

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.whisper.decoding import TimedWord, TokenPhrase
from sederunt.transcription.whisper.speech import FRAME_S, SpeechActivity

# Marks that belong to the word after them.
_OPENING = frozenset("\"'“‘¿¡([{«「『（【-")
# The longest time for a word, plus that per letter; the model's attention sometimes exceeds it around pauses.
_LONGEST_S, _PER_LETTER_S = 0.5, 0.12
# The most silence that a word includes at either end, and the farthest that a word in silence is moved.
_SILENT_S, _FOLLOWS_S = 0.2, 1.5


def utterances(
    phrases: Sequence[TokenPhrase], activity: SpeechActivity, offset_s: float, lang: str | None = None
) -> list[Utterance]:
    """Return our utterances, in seconds from the start of the source. `activity` belongs to the window."""
    results = []
    latest = 0.0
    for phrase in phrases:
        words = [tightened(word, activity) for word in joined(phrase.words)]
        if not words:
            continue
        our_words = []
        for word in words:
            start = max(word.start, latest)
            latest = max(start, word.end)
            our_words.append(
                Word(
                    word=word.text.strip(),
                    start=round(offset_s + start, 3),
                    end=round(offset_s + latest, 3),
                    confidence=round(min(1.0, max(0.0, word.probability)), 4),
                )
            )
        results.append(
            Utterance(
                start=our_words[0].start,
                end=our_words[-1].end,
                speaker=0,
                confidence=round(sum(word.confidence for word in our_words) / len(our_words), 4),
                transcript="".join(word.text for word in words).strip(),
                words=tuple(our_words),
                lang=lang,
            )
        )
    return results


def joined(words: Sequence[TimedWord]) -> list[TimedWord]:
    """Return words with their punctuation: a separate mark joins the word before it, an opening one the word after."""
    result: list[TimedWord] = []
    opening = ""
    for word in words:
        mark = word.text.strip()
        if not mark:
            continue
        if any(letter.isalnum() for letter in mark):
            result.append(replace(word, text=opening + word.text.lstrip()) if opening else word)
            opening = ""
        elif mark[0] in _OPENING and word.text[0] == " ":
            opening = word.text
        elif result:
            result[-1] = replace(result[-1], text=result[-1].text + word.text)
    return result


def tightened(word: TimedWord, activity: SpeechActivity) -> TimedWord:
    """Return the word without the silence that its times include.

    The network draws a word out over what it skips before it, so the end of a word that is too long is trusted; a word
    entirely in silence belongs to the following sound.
    """
    longest = _LONGEST_S + _PER_LETTER_S * len(word.text.strip())
    active = activity.active
    first, last = int(word.start / FRAME_S), int(word.end / FRAME_S) + 1
    sounding = first + active[first:last].nonzero()[0]
    start, end = word.start, word.end
    if not len(sounding):
        following = last + active[last : last + round(_FOLLOWS_S / FRAME_S)].nonzero()[0]
        shift = float(following[0]) * FRAME_S - start if len(following) else 0.0
        start, end = start + shift, end + shift
    elif end - start > longest:
        end = min(end, (int(sounding[-1]) + 1) * FRAME_S)
        start = max(start, end - longest)
        start = max(start, float(sounding[sounding >= int(start / FRAME_S)][0]) * FRAME_S)
    else:
        sound_start, sound_end = float(sounding[0]) * FRAME_S, float(sounding[-1] + 1) * FRAME_S
        start = sound_start if sound_start - start > _SILENT_S else start
        end = sound_end if end - sound_end > _SILENT_S else end
    return replace(word, start=start, end=max(start, min(end, start + longest)))
