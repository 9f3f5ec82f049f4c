"""One source's statements on one kind of fact: the latest about each subject, in whatever order they arrive.

Two claims of one moment give the same result in either order: a claim wins over a denial, and a statement about a
subject wins over a snapshot that leaves it out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sederunt.claims.claim import Claim, Extent, Subject
from sederunt.claims.rules import MOST_SUBJECTS, lifetime_of


@dataclass(slots=True)
class Statement:
    """The source's latest statement about one subject."""

    subject: Subject
    holds: bool
    at_ms: int  # when it was last repeated
    since_ms: int  # when it was first made
    explicit: bool  # about the subject itself; otherwise a snapshot left it out
    until_ms: int | None = None

    def stands(self, now_ms: int) -> bool:
        return self.holds and (self.until_ms is None or now_ms < self.until_ms)


class SourceTable:
    """The statements of one source, by subject."""

    def __init__(self) -> None:
        self.words: dict[str, Statement] = {}
        self.heard_ms: int | None = None  # its last claim
        self.first_ms: int | None = None  # its first claim
        self.opened_ms: int | None = None  # its first claim since it was last closed
        self.snapshot_ms: int | None = None
        self.closed_ms: int | None = None

    @property
    def is_open(self) -> bool:
        """Return whether the source has made claims, and still can."""
        return self.opened_ms is not None

    def take(self, claim: Claim, *, whole: bool | None = None) -> None:
        """Note a claim. `whole` overrides its kind: whether it is a snapshot."""
        if claim.kind is Extent.CLOSED:
            if self.heard_ms is not None and claim.at_ms > self.heard_ms:
                self.closed_ms, self.opened_ms = claim.at_ms, None
            return
        self.heard_ms = max(claim.at_ms, self.heard_ms or claim.at_ms)
        self.first_ms = min(claim.at_ms, self.first_ms or claim.at_ms)
        if self.opened_ms is None and claim.at_ms >= (self.closed_ms or claim.at_ms):
            self.opened_ms = claim.at_ms
        for subject in claim.subjects:
            if subject.token:
                self._say(subject, claim)
        if claim.kind is Extent.SNAPSHOT if whole is None else whole:
            self._leave_out({subject.token for subject in claim.subjects}, claim.at_ms)

    def standing(self, now_ms: int) -> Iterator[tuple[str, Statement]]:
        return ((token, word) for token, word in self.words.items() if word.stands(now_ms))

    def _say(self, subject: Subject, claim: Claim) -> None:
        token, previous = subject.token, self.words.get(subject.token)
        if previous is None:
            if len(self.words) < MOST_SUBJECTS or self._forget():
                if self.snapshot_ms is not None and claim.at_ms < self.snapshot_ms:  # a later snapshot left it out
                    self.words[token] = Statement(subject, False, self.snapshot_ms, self.snapshot_ms, False)
                else:
                    self.words[token] = self._word(subject, claim, claim.at_ms)
            return
        if (claim.at_ms, claim.holds, True) < (previous.at_ms, previous.holds, previous.explicit):
            previous.subject = previous.subject.with_known(subject)
            return
        if claim.at_ms == previous.at_ms and previous.explicit and claim.holds == previous.holds:
            subject = max(subject, previous.subject, key=lambda candidate: candidate.order)
        since_ms = previous.since_ms if previous.holds == claim.holds else claim.at_ms
        self.words[token] = self._word(subject.with_known(previous.subject), claim, since_ms)

    def _word(self, subject: Subject, claim: Claim, since_ms: int) -> Statement:
        lifetime = claim.lifetime_ms if claim.lifetime_ms is not None else lifetime_of(claim.fact, claim.source)
        until_ms = None if lifetime is None else claim.at_ms + lifetime
        return Statement(subject, claim.holds, claim.at_ms, since_ms, True, until_ms)

    def _leave_out(self, tokens: set[str], at_ms: int) -> None:
        if self.snapshot_ms is not None and at_ms < self.snapshot_ms:
            return
        self.snapshot_ms = at_ms
        for token, word in self.words.items():
            if word.at_ms >= at_ms or token in tokens:
                continue
            if word.holds:
                word.holds, word.explicit, word.since_ms = False, False, at_ms
            word.at_ms = at_ms

    def _forget(self) -> bool:
        # Statements that deny go first, the oldest of them foremost.
        absent = sorted((word.at_ms, token) for token, word in self.words.items() if not word.holds)
        for _, token in absent[: max(1, len(absent) // 2)]:
            del self.words[token]
        return bool(absent)
