"""Whether a message that names people names all of them: learnt from the messages before it."""

from dataclasses import dataclass, field

from sederunt.claims.claim import Claim
from sederunt.claims.rules import FULL_LISTS, REPEATED_MS


@dataclass(slots=True)
class Habit:
    """Of one source. A message that leaves somebody out is a full list where those before it left out nobody, the bot
    itself is in it, and it is said again: a change of one person, be it the bot, looks alike once."""

    full_lists: int = 0
    last_ms: int | None = None
    left_out_ms: int = 0
    left_out: frozenset[str] = field(default_factory=frozenset)
    is_repeated: bool = False  # … again, after a while

    def omitted_ms(self, token: str) -> int | None:
        """Return since when messages with the bot in them leave somebody out, more than once; None where none does."""
        return self.left_out_ms if self.is_repeated and token in self.left_out else None

    def is_whole(self, claim: Claim, held: frozenset[str], own: frozenset[str]) -> bool:
        """Return whether a message names everybody. `held`: whom the source has here; `own`: the bot, by the source's
        keys."""
        told = frozenset(subject.token for subject in claim.subjects)
        if self.left_out & told:
            self._forget()
        if held <= told:
            if len(told) > 1 and (self.last_ms is None or claim.at_ms - self.last_ms >= 1000):
                self.full_lists, self.last_ms = self.full_lists + 1, claim.at_ms
            return False
        are_full = self.full_lists >= FULL_LISTS
        if not are_full:
            self.full_lists = 0
        if not own & told:
            return False
        if not self.left_out:
            self.left_out, self.left_out_ms = held - told, claim.at_ms
        self.is_repeated = self.is_repeated or claim.at_ms - self.left_out_ms >= REPEATED_MS
        if are_full and self.is_repeated:
            self._forget()
            return True
        return False

    def _forget(self) -> None:
        self.left_out, self.is_repeated = frozenset(), False
