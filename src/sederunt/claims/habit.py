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

    def is_whole(self, claim: Claim, held: frozenset[str], own: frozenset[str]) -> bool:
        """Return whether a message names everybody. `held`: whom the source has here; `own`: the bot, by the source's
        keys."""
        told = frozenset(subject.token for subject in claim.subjects)
        if self.left_out & told:
            self.left_out = frozenset()
        if held <= told:
            if len(told) > 1 and (self.last_ms is None or claim.at_ms - self.last_ms >= 1000):
                self.full_lists, self.last_ms = self.full_lists + 1, claim.at_ms
            return False
        if self.full_lists < FULL_LISTS:
            self.full_lists = 0
            return False
        if not own & told:
            return False
        left_out = held - told
        if self.left_out and claim.at_ms - self.left_out_ms >= REPEATED_MS:
            self.left_out = frozenset()
            return True
        if not self.left_out:
            self.left_out, self.left_out_ms = left_out, claim.at_ms
        return False
