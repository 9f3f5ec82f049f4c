"""Read vendors' JSON without trusting it: fields are missing, null, of another type than yesterday."""

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
# An utterance that goes on for so long is cut at the next end of a sentence.
LONG_S = 30.0
# A word so far from where its neighbours are has a wrong time.
FAR_S = 30.0


class Unreadable(Exception):
    """An answer that lacks the place of its transcript: a fault, for silence has that place too."""


def place(answer: Mapping[str, Any], *names: str) -> None:
    """Raise Unreadable where an answer has none of the fields that its transcript may stand in."""
    if not any(name in answer for name in names):
        raise Unreadable(f"its answer has no {' and no '.join(names)}")


def sure(found: T, items: Iterable[Mapping[str, Any]], *names: str) -> T:
    """Return what was found; raises Unreadable where that is nothing, and an item has no field that its word stands in
    under these names.
    """
    if not found and any(not any(name in item for name in names) for item in items):
        raise Unreadable(f"its words have no {' and no '.join(names)}")
    return found


def number(value: Any, default: float = 0.0) -> float:
    """Read a finite number, also one in quotes; else return the default."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return default
    return found if math.isfinite(found) else default


def share(value: Any, default: float = 0.0) -> float:
    """Read a confidence, between 0 and 1."""
    return round(min(1.0, max(0.0, number(value, default))), 4)


def text(value: Any) -> str:
    """Read a text, also from a number that stands for one, such as the word 2024 or an id; else return nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return str(int(value)) if float(value).is_integer() else str(value)


def status_word(value: Any) -> str:
    """Read a word that says how far something is, in small letters."""
    return text(value).strip().lower()


def flag(value: Any) -> bool:
    """Read whether something is so: true, or the word for it."""
    return value is True or status_word(value) in ("true", "1")


def listed(value: Any) -> list[Any]:
    """Read a list; from anything that is none, an empty one."""
    return value if isinstance(value, list) else []


def record(value: Any) -> Mapping[str, Any]:
    """Read an object; from anything that is none, an empty one."""
    return value if isinstance(value, Mapping) else {}


def records(value: Any) -> Sequence[Mapping[str, Any]]:
    """Read the objects of a list; from anything that is none, nothing."""
    if isinstance(value, LongArray):  # of objects alone
        return value
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, Sequence) else []


def language(value: Any) -> str | None:
    """Read a primary tag of two letters where there is one: "en-US" → "en", "deu" → "de"; None from what is no
    language."""
    tag = primary_tag(text(value))
    if not tag or not tag.isalpha() or tag in ("unknown", "und", "none", "null"):
        return None
    return tag


class Voices:
    """A vendor's labels as whole numbers, by first appearance: "S1", "A", 7 → 0, 1, 2. Ask in the order of speech."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._last = 0  # before any label, the number that the first one will have
        self._until = float("inf")  # where the last word ends

    def number(self, label: Any, start: float | None = None, end: float = 0.0) -> int:
        """Return the label's number; of no label the number before it, else of the next, without counting a voice:
        a word that the vendor knows no voice of would cut another's sentence in three.

        Behind a pause (where times are given) such a word begins the turn of somebody else: a voice of its own.
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
        """Return the label of each number; empty where nobody was told apart."""
        return {number: label for label, number in self._numbers.items()}

    def __len__(self) -> int:
        return len(self._numbers)


class OnceOnly:
    """Leaves out what a stream tells a second time: a final item with the times and the text of an earlier one."""

    def __init__(self, most: int = 4000) -> None:
        self._told: dict[Hashable, None] = {}
        self._most = most

    def fresh(self, items: Sequence[Mapping[str, Any]], identity: Callable[[Mapping[str, Any]], Hashable]) -> list[Any]:
        """Return the items of a message that no earlier message had; one that has no identity is like no other."""
        known = [(item, identity(item)) for item in items]
        found = [item for item, name in known if name is None or name not in self._told]
        self._told |= {name: None for _, name in known if name is not None}
        while len(self._told) > self._most:
            del self._told[next(iter(self._told))]
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A word as vendors give it, with how it is written in the text."""

    word: Word
    written: str = ""  # with its punctuation; "" for the word itself
    glued: bool = False  # no space before it
    ends_sentence: bool = False
    channel: Hashable = None


def spread(transcript: str, start: float, end: float, *, speaker: int = 0) -> list[Token]:
    """Spread the words of a text without times evenly over the stretch in which it was said: a guess, but no word is
    lost."""
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
    """Group words into utterances: cut where the voice or the channel changes, at pauses, and in long talk at
    sentences."""
    found: list[Utterance] = []
    run: list[Token] = []
    for token in _with_times_in_order(tokens):
        if run and _is_cut(run, token, pause_s):
            found.append(_utterance(run))
            run = []
        run.append(token)
    if run:
        found.append(_utterance(run))
    return tuple(found)


def _with_times_in_order(tokens: Iterable[Token]) -> list[Token]:
    """Return tokens with wrong times put right, channel by channel: one far away would be cut off, and sorted away.

    Voices that speak at once are told in some disorder, so that only a time far from its neighbours counts as wrong.
    """
    listed = list(tokens)
    by_channel: dict[Hashable, list[int]] = {}
    for place, token in enumerate(listed):
        by_channel.setdefault(token.channel, []).append(place)
    for places in by_channel.values():
        for place, word in zip(places, in_order([listed[place].word for place in places]), strict=True):
            if abs(word.start - listed[place].word.start) > FAR_S:
                listed[place] = replace(listed[place], word=word)
    return listed


def with_times(utterances: Sequence[Utterance], duration_s: float) -> tuple[Utterance, ...]:
    """Return utterances whose words have times: where a vendor told none, their words are spread over the file, so that
    the order in which they were told remains that of the conversation.
    """
    words = [word for each in utterances for word in each.words]
    if len(words) < 2 or any(word.start or word.end for word in words):
        return tuple(utterances)
    step, at = duration_s / len(words), 0
    timed: list[Utterance] = []
    for each in utterances:
        spaced = tuple(
            replace(word, start=round((at + n) * step, 3), end=round((at + n + 1) * step, 3))
            for n, word in enumerate(each.words)
        )
        at += len(spaced)
        timed.append(replace(each, start=spaced[0].start, end=spaced[-1].end, words=spaced) if spaced else each)
    return tuple(timed)


def ordered(utterances: Iterable[Utterance]) -> tuple[Utterance, ...]:
    """Return utterances by time, their voices numbered anew by first appearance, empty ones left out."""
    voices = Voices()
    numbered: list[Utterance] = []
    for each in sorted(utterances, key=lambda utterance: (utterance.start, utterance.end)):
        if not each.transcript.strip():
            continue
        speaker = voices.number(each.speaker)
        numbered.append(each if speaker == each.speaker else each.spoken_by(speaker))
    return tuple(numbered)


def average(values: Iterable[float]) -> float:
    """Return the mean; of nothing 0."""
    listed = list(values)
    return round(sum(listed) / len(listed), 4) if listed else 0.0


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
        written = token.written or token.word.word
        if parts and token.glued:
            parts[-1] += written
        else:
            parts.append(written)
    return join(parts)
