"""The owner of each media source of a meeting, according to claims."""

from sederunt.claims.claim import Claim
from sederunt.claims.rules import MOST_SUBJECTS


class MediaOwners:
    """The owners reported so far. The latest report counts; of two of one moment, the greater key."""

    def __init__(self) -> None:
        self._told_ms: dict[str, int] = {}  # media source → when its owner was reported
        self.key_of: dict[str, str] = {}  # media source → key of its owner; empty: nobody's
        self.free_ms: dict[str, int] = {}  # media source → when its last owner lost it

    def take(self, claim: Claim) -> None:
        """Note a claim about owners of media sources."""
        for subject in claim.subjects:
            media, previous_ms = subject.media, self._told_ms.get(subject.media)
            if previous_ms is None:
                if len(self.key_of) >= MOST_SUBJECTS:
                    continue
            elif (claim.at_ms, subject.key) < (previous_ms, self.key_of[media]):
                continue
            elif previous_ms < claim.at_ms and self.key_of[media] not in ("", subject.key):
                self.free_ms[media] = claim.at_ms
            self._told_ms[media], self.key_of[media] = claim.at_ms, subject.key
