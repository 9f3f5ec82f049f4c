"""How the pages of a practice meeting learn who is in it: by the page's own list, and by the site's channels.

Both are late, lossy or incomplete as the meeting's quirks are.
"""

import random
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sederunt.practice.people import Occupant, Visitor

if TYPE_CHECKING:
    from sederunt.practice.meeting import Meeting


class RosterAnnouncer:
    """Tells the bots of one meeting about its people."""

    def __init__(self, meeting: "Meeting") -> None:
        self._meeting = meeting
        self._quirks = meeting.variant.quirks
        self._chance = random.Random(self._quirks.seed)

    @property
    def maps_sources(self) -> bool:
        """Return whether the site tells by now whose a source is."""
        late_s = self._quirks.mapping_s
        return late_s == 0 or (late_s > 0 and self._meeting.media.now_s >= late_s)

    def begin(self) -> None:
        """Tell what is told because the meeting began, or every so often from then on."""
        if self._quirks.mapping_s > 0:
            self._meeting.deferred.call(self._quirks.mapping_s, self._tell_all)
        if self._quirks.full_lists_s:
            self._tell_full_lists()

    def tell(self, changed: Iterable[Occupant]) -> None:
        """Tell of people who changed: the page shows who is here, the site's channels what changed."""
        changed = list(changed)
        has_begun = self._meeting.media.has_begun
        self._meeting.deferred.call(self._quirks.list_lag_s if has_begun else 0, self._show)
        if self._quirks.full_lists_s and not all(person.bot for person in changed):
            changed = [person for person in changed if person.present]
        if has_begun and self._chance.random() < self._quirks.lost:
            return
        self._tell_channels(changed)

    def _show(self) -> None:
        for visitor in self._meeting.in_call():
            visitor.tell({"roster": [self._row(person, visitor) for person in self._meeting.cast.present()]})

    def _tell_channels(self, changed: Sequence[Occupant]) -> None:
        if changed:
            for visitor in self._meeting.in_call():
                self._meeting.site.roster_changed(self._meeting, visitor, changed)

    def _tell_all(self) -> None:
        self._tell_channels(self._meeting.cast.present())

    def _tell_full_lists(self) -> None:
        self._tell_all()
        if not self._meeting.is_over:
            self._meeting.deferred.call(self._quirks.full_lists_s, self._tell_full_lists)

    def _row(self, person: Occupant, visitor: Visitor) -> dict[str, Any]:
        return {
            "key": person.key,
            "name": person.name,
            "csrc": person.csrc,
            "host": person.host,
            "muted": person.muted,
            "sharing": person.sharing,
            "video": person.video,
            "avatar": person.avatar,
            "self": person is visitor.person,
            "hand": person.name == self._quirks.hand,
            "hidden": person.name == self._quirks.hidden,
        }
