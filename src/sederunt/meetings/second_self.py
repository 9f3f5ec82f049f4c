"""The other page of a bot while it moves to another holder: who is it, and how long is it waited for."""

from collections.abc import Iterable

from sederunt.claims.changes import Change, PersonWrote
from sederunt.meetings.session.roster import Roster

LINGER_S = 10.0  # that a holder whose place is taken waits to be asked to leave


class SecondSelf:
    """The other page of a bot that moves to another holder: it sits in the meeting beside this one for a moment."""

    def __init__(self) -> None:
        self.keys: set[str] = set()  # of the roster: such pages, not participants
        self._known_before: frozenset[str] | None = None  # those who were here before it was expected
        self._lost_at: float | None = None  # when this holder learned that another has the bot

    @property
    def is_expected(self) -> bool:
        return self._known_before is not None

    def expect(self, keys: Iterable[str]) -> None:
        """Hear that it comes, and who is here already."""
        self._known_before = frozenset(keys)

    def end(self) -> None:
        """Hear that it has left."""
        self._known_before = None

    def find(self, roster: Roster, bot_name: str) -> None:
        """Keep who has come under the bot's own name since it was expected."""
        if self._known_before is not None:
            own_names = (bot_name, roster.fold.own_name)
            namesakes = {person.key for person in roster.fold.participants if person.name in own_names}
            self.keys |= namesakes - self._known_before

    def is_of(self, change: Change) -> bool:
        """Return whether a change is about the other page, and is not a chat message."""
        return not isinstance(change, PersonWrote) and change.participant.key in self.keys

    def may_linger(self, now: float) -> bool:
        """Return whether this holder, whose place is taken, shall record on, unheard, until it is asked to leave: the
        next one does so within moments, once it records.
        """
        if self._known_before is None:
            return False
        self._lost_at = now if self._lost_at is None else self._lost_at
        return now - self._lost_at < LINGER_S
