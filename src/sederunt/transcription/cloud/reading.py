"""Read vendors' JSON without trusting it: fields may be missing, null or of an unexpected type."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.cloud.long_json import LongArray
from sederunt.transcription.languages import primary_tag
from sederunt.transcription.text import in_order, join

T = TypeVar("T")

# A longer pause within one voice begins another utterance.
PAUSE_S = 0.8
# A longer utterance is cut at the next end of a sentence.
LONG_S = 30.0
# A word so far from its neighbours has a wrong time.
FAR_S = 30.0


class Unreadable(Exception):
    """An answer without a field for its transcript: a fault, since silence has that field too."""


def place(answer: Mapping[str, Any], *names: str) -> None:
    """Raise Unreadable if an answer has none of the fields that may contain its transcript."""
    if not any(name in answer for name in names):
        raise Unreadable(f"its answer has no {' and no '.join(names)}")


def sure(result: T, items: Iterable[Mapping[str, Any]], *names: str) -> T:
    """Return the result. Raises Unreadable if it is empty and an item has no field of these names, for its word."""
    if not result and any(not any(name in item for name in names) for item in items):
        raise Unreadable(f"its words have no {' and no '.join(names)}")
    return result


def number(value: Any, default: float = 0.0) -> float:
    """Read a finite number, also from a string; else return the default."""
    try:
        parsed_number = float(value)
    except (TypeError, ValueError):
        return default
    return parsed_number if math.isfinite(parsed_number) else default


def share(value: Any, default: float = 0.0) -> float:
    """Read a confidence, between 0 and 1."""
    return round(min(1.0, max(0.0, number(value, default))), 4)


def text(value: Any) -> str:
    """Read a text, also from a number such as the word 2024 or an id; else return an empty one."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return str(int(value)) if float(value).is_integer() else str(value)


def status_word(value: Any) -> str:
    """Read the name of a state, in lower case."""
    return text(value).strip().lower()


def flag(value: Any) -> bool:
    """Read a boolean, also from "true", "1" or 1."""
    return value is True or status_word(value) in ("true", "1")


def listed(value: Any) -> list[Any]:
    """Read a list; from anything else, an empty one."""
    return value if isinstance(value, list) else []


def record(value: Any) -> Mapping[str, Any]:
    """Read an object; from anything else, an empty one."""
    return value if isinstance(value, Mapping) else {}


def records(value: Any) -> Sequence[Mapping[str, Any]]:
    """Read the objects of a list; from anything else, none."""
    if isinstance(value, LongArray):  # of objects alone
        return value
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, Sequence) else []


def language(value: Any) -> str | None:
    """Read a primary tag, of two letters if there is one: "en-US" → "en", "deu" → "de"; None from anything else."""
    tag = primary_tag(text(value))
    if not tag or not tag.isalpha() or tag in ("unknown", "und", "none", "null"):
        return None
    return tag


class Voices:
    """Numbers a vendor's labels by first appearance: "S1", "A", 7 → 0, 1, 2. Ask in the order of speech."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._last = 0  # at first, the number that the first label will have
        self._until = float("inf")  # the end of the last word

    def number(self, label: Any, start: float | None = None, end: float = 0.0) -> int:
        """Return the label's number. Without a label, return that of the label before, or else of the next one, and
        count no voice: a word of unknown voice would otherwise cut another's sentence in three.

        After a pause (if times are given) such a word begins somebody else's turn, and gets a voice of its own.
        """
        if label is not None and label != "" and isinstance(label, Hashable):
            self._last = self._numbers.setdefault(label, len(self._numbers))
        elif self._numbers and start is not None and start - self._until > PAUSE_S:
            self._last = self._numbers.setdefault(f"unknown at {start:g}", len(self._numbers))
        if start is not None:
            self._until = max(start, end)
        return self._last

    @property
    def labels(self) -> dict[int, Any]:
        """Return the label of each number; empty if voices were not told apart."""
        return {number: label for label, number in self._numbers.items()}

    def __len__(self) -> int:
        return len(self._numbers)


class OnceOnly:
    """Leaves out what a stream repeats: a final item with the times and text of an earlier one."""

    def __init__(self, most: int = 4000) -> None:
        self._told: dict[Hashable, None] = {}
        self._most = most

    def fresh(self, items: Sequence[Mapping[str, Any]], identity: Callable[[Mapping[str, Any]], Hashable]) -> list[Any]:
        """Return the items of a message that no earlier message had; those without an identity are always new."""
        keyed_items = [(item, identity(item)) for item in items]
        fresh_items = [item for item, key in keyed_items if key is None or key not in self._told]
        self._told |= {key: None for _, key in keyed_items if key is not None}
        while len(self._told) > self._most:
            del self._told[next(iter(self._told))]
        return fresh_items


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A word from a vendor, and how it is written in the text."""

    word: Word
    written: str = ""  # with its punctuation; "" for the word itself
    glued: bool = False  # no space before it
    ends_sentence: bool = False
    channel: Hashable = None


def spread(transcript: str, start: float, end: float, *, speaker: int = 0) -> list[Token]:
    """Spread the words of a text without times evenly over its stretch: a guess, but no word is lost."""
    words = transcript.split()
    step = max(0.0, end - start) / max(1, len(words))
    return [
        Token(
            word=Word(
                word=word,
                start=round(start + n * step, 3),
                end=round(start + (n + 1) * step, 3),
                confidence=0.0,
                speaker=speaker,
            ),
            ends_sentence=word.endswith((".", "?", "!")),
        )
        for n, word in enumerate(words)
    ]


def utterances_of(tokens: Iterable[Token], *, pause_s: float = PAUSE_S) -> tuple[Utterance, ...]:
    """Group words into utterances: cut where the voice or channel changes, at pauses and, if long, at sentences."""
    utterances: list[Utterance] = []
    run: list[Token] = []
    for token in _with_times_in_order(tokens):
        if run and _is_cut(run, token, pause_s):
            utterances.append(_utterance(run))
            run = []
        run.append(token)
    if run:
        utterances.append(_utterance(run))
    return tuple(utterances)


def _with_times_in_order(tokens: Iterable[Token]) -> list[Token]:
    """Return tokens with wrong times corrected, by channel: a word far away would be cut off and sorted elsewhere.

    Simultaneous voices come slightly out of order, so only a time far from its neighbours counts as wrong.
    """
    token_list = list(tokens)
    by_channel: dict[Hashable, list[int]] = {}
    for place, token in enumerate(token_list):
        by_channel.setdefault(token.channel, []).append(place)
    for places in by_channel.values():
        for place, word in zip(places, in_order([token_list[place].word for place in places]), strict=True):
            if abs(word.start - token_list[place].word.start) > FAR_S:
                token_list[place] = replace(token_list[place], word=word)
    return token_list


def with_times(utterances: Sequence[Utterance], duration_s: float) -> tuple[Utterance, ...]:
    """Return utterances whose words have times. If a vendor gave none, words are spread over the file, so that they
    stay in the order in which the vendor sent them.
    """
    words = [word for utterance in utterances for word in utterance.words]
    if len(words) < 2 or any(word.start or word.end for word in words):
        return tuple(utterances)
    step, position = duration_s / len(words), 0
    result: list[Utterance] = []
    for utterance in utterances:
        spread_words = tuple(
            replace(word, start=round((position + n) * step, 3), end=round((position + n + 1) * step, 3))
            for n, word in enumerate(utterance.words)
        )
        position += len(spread_words)
        result.append(
            replace(utterance, start=spread_words[0].start, end=spread_words[-1].end, words=spread_words)
            if spread_words
            else utterance
        )
    return tuple(result)


def ordered(utterances: Iterable[Utterance]) -> tuple[Utterance, ...]:
    """Return utterances by time, with voices renumbered by first appearance, and without empty ones."""
    voices = Voices()
    result: list[Utterance] = []
    for each in sorted(utterances, key=lambda utterance: (utterance.start, utterance.end)):
        if not each.transcript.strip():
            continue
        speaker = voices.number(each.speaker)
        result.append(each if speaker == each.speaker else each.spoken_by(speaker))
    return tuple(result)


def average(values: Iterable[float]) -> float:
    """Return the mean; 0 without values."""
    numbers = list(values)
    return round(sum(numbers) / len(numbers), 4) if numbers else 0.0


def _is_cut(run: Sequence[Token], token: Token, pause_s: float) -> bool:
    last = run[-1]
    if (last.word.speaker, last.channel) != (token.word.speaker, token.channel):
        return True
    if token.glued:
        return False
    if token.word.start - last.word.end > pause_s:
        return True
    return last.ends_sentence and last.word.end - run[0].word.start >= LONG_S


def _utterance(run: Sequence[Token]) -> Utterance:
    words = tuple(token.word for token in run)
    return Utterance(
        start=words[0].start,
        end=max(word.end for word in words),
        speaker=words[0].speaker,
        confidence=average(word.confidence for word in words),
        transcript=_text_of(run),
        words=words,
    )


def _text_of(run: Sequence[Token]) -> str:
    parts: list[str] = []
    for token in run:
        token_text = token.written or token.word.word
        if parts and token.glued:
            parts[-1] += token_text
        else:
            parts.append(token_text)
    return join(parts)
