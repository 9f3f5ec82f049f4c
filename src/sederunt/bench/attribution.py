"""How right a transcript with speakers is: concatenated minimum-permutation word errors, and names. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sederunt.bench.words import as_counted


@dataclass(frozen=True, kw_only=True, slots=True)
class Scores:
    """One meeting's transcript against what was said. Words are counted as `words` counts them."""

    words: int  # said
    errors: int  # under the assignment of speakers to people that has fewest
    named: int  # words that carry a name
    right: int  # of these, words that this person said there

    @property
    def cp_word_errors(self) -> float:
        """Return cpWER: 0 is perfect; words under a wrong speaker count twice, missing there and added here."""
        return self.errors / self.words if self.words else 0.0

    @property
    def named_right(self) -> float:
        return self.right / self.named if self.named else 0.0

    def __add__(self, other: "Scores") -> "Scores":
        return Scores(
            words=self.words + other.words,
            errors=self.errors + other.errors,
            named=self.named + other.named,
            right=self.right + other.right,
        )


def score(reference: Iterable[tuple[str, str]], segments: Iterable[Mapping[str, Any]]) -> Scores:
    """Compare (person, text) in order of time with segments as GET /bot/{id} gives them."""
    said = _joined((who, text) for who, text in reference)
    told = sorted(segments, key=lambda segment: segment["start"])
    heard = _joined((segment["speaker"], segment["transcript"]) for segment in told)
    names = _joined((segment["speaker_name"], segment["transcript"]) for segment in told if segment["speaker_name"])
    return Scores(
        words=sum(len(text.split()) for text in said.values()),
        errors=_fewest_errors(list(said.values()), list(heard.values())),
        named=sum(len(text.split()) for text in names.values()),
        right=sum(_compared(said.get(name, ""), text)[1] for name, text in names.items()),
    )


def _joined(parts: Iterable[tuple[Any, str]]) -> dict[Any, str]:
    """Return everything one speaker said, normalised."""
    texts: dict[Any, list[str]] = {}
    for who, text in parts:
        texts.setdefault(who, []).append(text)
    return {who: as_counted(" ".join(lines)) for who, lines in texts.items()}


def _fewest_errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """Return the errors of the best one-to-one assignment; who is left over counts as missing, or as added, in full."""
    missing = [len(text.split()) for text in said]
    # best[people assigned so far, as bits] = fewest errors of the speakers dealt with
    best = {0: 0}
    for text in heard:
        added = len(text.split())
        costs = [_compared(reference, text)[0] for reference in said]
        fewer: dict[int, int] = {}
        for taken, errors in best.items():
            choices = [(taken, errors + added)]
            choices += [(taken | 1 << i, errors + cost) for i, cost in enumerate(costs) if not taken >> i & 1]
            for state, total in choices:
                fewer[state] = min(total, fewer.get(state, total))
        best = fewer
    return min(errors + sum(n for i, n in enumerate(missing) if not taken >> i & 1) for taken, errors in best.items())


def _compared(reference: str, heard: str) -> tuple[int, int]:
    """Return (errors, heard words that stand at the place of a word of the reference)."""
    import jiwer

    if not reference or not heard:
        return len(reference.split()) + len(heard.split()), 0
    found = jiwer.process_words(reference, heard)
    return found.substitutions + found.deletions + found.insertions, found.hits + found.substitutions
