"""From the model's words to ours: punctuation joined to its word, times made plausible, phrases made utterances."""

from collections.abc import Sequence
from dataclasses import replace

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.whisper.decoding import TimedWord, TokenPhrase
from sederunt.transcription.whisper.speech import FRAME_S, SpeechActivity

# Marks that belong to the word behind them.
_OPENING = frozenset("\"'“‘¿¡([{«「『（【-")
# Nobody takes longer for a word of so many letters; the model's attention sometimes does, around pauses.
_LONGEST_S, _PER_LETTER_S = 0.5, 0.12


def utterances(phrases: Sequence[TokenPhrase], activity: SpeechActivity, offset_s: float) -> list[Utterance]:
    """Return our utterances, in seconds from the start of the source. `activity` is that of the window."""
    found = []
    latest = 0.0
    for phrase in phrases:
        words = [_tightened(word, activity) for word in joined(phrase.words)]
        if not words:
            continue
        ours = []
        for word in words:
            start = max(word.start, latest)
            latest = max(start, word.end)
            ours.append(
                Word(
                    word=word.text.strip(),
                    start=round(offset_s + start, 3),
                    end=round(offset_s + latest, 3),
                    confidence=round(min(1.0, max(0.0, word.probability)), 4),
                )
            )
        found.append(
            Utterance(
                start=ours[0].start,
                end=ours[-1].end,
                speaker=0,
                confidence=round(sum(word.confidence for word in ours) / len(ours), 4),
                transcript="".join(word.text for word in words).strip(),
                words=tuple(ours),
            )
        )
    return found


def joined(words: Sequence[TimedWord]) -> list[TimedWord]:
    """Return words with their punctuation: a mark alone joins the word before it, an opening one the word behind it."""
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


def _tightened(word: TimedWord, activity: SpeechActivity) -> TimedWord:
    """Return the word without the silence that its times take in."""
    longest = _LONGEST_S + _PER_LETTER_S * len(word.text.strip())
    if word.end - word.start <= longest:
        return word
    first, last = int(word.start / FRAME_S), int(word.end / FRAME_S) + 1
    sounding = activity[first:last].active().nonzero()[0]
    start, end = word.start, word.end
    if len(sounding):
        start = max(start, (first + int(sounding[0])) * FRAME_S)
        end = min(end, (first + int(sounding[-1]) + 1) * FRAME_S)
    if end - start > longest:
        end = start + longest
    return replace(word, start=start, end=max(start, end))
