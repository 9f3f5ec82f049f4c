"""The other page of a bot while it moves to another holder: how it is recognised, and how long to wait for it."""

from collections.abc import Iterable

from sederunt.claims.changes import Change, PersonWrote
from sederunt.meetings.session.roster import Roster

LINGER_S = 10.0  # how long a replaced holder waits to be asked to leave


class SecondSelf:
    """The other page of a bot that moves to another holder: both are in the meeting for a moment."""

    def __init__(self) -> None:
        self.keys: set[str] = set()  # roster keys of such pages, which are not participants
        self._known_before: frozenset[str] | None = None  # people who were here before it was expected
        self._lost_at: float | None = None  # when this holder learned that another has the bot

    @property
    def is_expected(self) -> bool:
        return self._known_before is not None

    def expect(self, keys: Iterable[str]) -> None:
        """Expect the other page, given the keys of the people who are here already."""
        self._known_before = frozenset(keys)

    def end(self) -> None:
        """Note that the other page has left."""
        self._known_before = None

    def find(self, roster: Roster, bot_name: str) -> None:
        """Find people who joined under the bot's own name since the other page was expected, and keep their keys."""
        if self._known_before is not None:
            own_names = (bot_name, roster.fold.own_name)
            namesakes = {person.key for person in roster.fold.participants if person.name in own_names}
            self.keys |= namesakes - self._known_before

    def is_of(self, change: Change) -> bool:
        """Return whether a change is about the other page and not a chat message."""
        return not isinstance(change, PersonWrote) and change.participant.key in self.keys

    def may_linger(self, now: float) -> bool:
        """Return whether this replaced holder should keep recording, without writing, until it is asked to leave: the
        next holder asks within moments, once it records.
        """
        if self._known_before is None:
            return False
        self._lost_at = now if self._lost_at is None else self._lost_at
        return now - self._lost_at < LINGER_S
