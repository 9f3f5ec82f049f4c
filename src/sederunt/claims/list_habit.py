"""Learn from earlier messages whether a list of people names everybody or only some."""

from dataclasses import dataclass, field

from sederunt.claims.claim import Claim
from sederunt.claims.rules import FULL_LISTS, REPEATED_MS


@dataclass(slots=True)
class ListHabit:
    """The habit of one source.

    A message that leaves somebody out is a full list if the messages before it left out nobody, the bot is in it, and
    it is repeated: a change of a single person, even of the bot, looks the same once."""

    full_lists: int = 0
    last_ms: int | None = None  # of the last full list
    left_out: dict[str, int] = field(default_factory=dict)  # person left out by messages that contain the bot → since
    left_out_ms: int = 0  # the last of these messages

    def omitted_ms(self, token: str) -> int | None:
        """Return since when messages that contain the bot leave somebody out, at least twice; None if they do not."""
        since_ms = self.left_out.get(token)
        return since_ms if since_ms is not None and self.left_out_ms - since_ms >= REPEATED_MS else None

    def is_whole(self, claim: Claim, present: frozenset[str], own_keys: frozenset[str]) -> bool:
        """Return whether a message names everybody. `present`: the people whom the source has here; `own_keys`: the
        bot, by the source's keys."""
        tokens = frozenset(subject.token for subject in claim.subjects)
        if not tokens.isdisjoint(self.left_out):
            self.left_out.clear()
        if present <= tokens:
            if len(tokens) > 1 and (self.last_ms is None or claim.at_ms - self.last_ms >= 1000):
                self.full_lists, self.last_ms = self.full_lists + 1, claim.at_ms
            return False
        are_lists_full = self.full_lists >= FULL_LISTS
        if not are_lists_full:
            self.full_lists = 0
        if not own_keys & tokens:
            return False
        self.left_out |= {token: claim.at_ms for token in present - tokens if token not in self.left_out}
        self.left_out_ms = claim.at_ms
        if not are_lists_full or self.left_out_ms - min(self.left_out.values()) < REPEATED_MS:
            return False
        self.left_out.clear()
        return True
