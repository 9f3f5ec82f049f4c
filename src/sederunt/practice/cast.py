"""Everybody who is or was in a practice meeting: the script's cast, and a person for each bot that was let in."""

import itertools
from collections.abc import Sequence

from sederunt.errors import NotFound
from sederunt.practice.people import Occupant
from sederunt.practice.script import CastMember
from sederunt.practice.site import SiteShape


class MeetingCast:
    """The people of one meeting, in the order in which they came; nobody is taken out again."""

    def __init__(self, code: str, site: SiteShape, members: Sequence[CastMember]) -> None:
        self._code, self._site = code, site
        self._numbers = itertools.count(1)
        self.people: list[Occupant] = []
        for member in members:
            self.add(member).present = member.joins_at_s <= 0  # they sit there before the first bot comes

    def add(self, member: CastMember, *, bot: str | None = None) -> Occupant:
        """Add a person, who is not present yet. `bot`: the id of the visitor, for bots."""
        number = next(self._numbers)
        person = Occupant(
            number=number,
            name=member.name,
            key=self._site.key(self._code, number, is_bot=bot is not None),
            csrc=self._site.source(number),
            host=member.host,
            muted=member.muted,
            video=member.video,
            avatar=member.avatar,
            bot=bot,
        )
        self.people.append(person)
        return person

    def present(self) -> list[Occupant]:
        """Return who is here."""
        return [person for person in self.people if person.present]

    def find(self, name: str) -> Occupant:
        """Return who is here under this name. Raises NotFound."""
        for person in self.people:
            if person.name == name and person.present:
                return person
        here = ", ".join(person.name for person in self.present())
        raise NotFound(f"{name or 'Nobody'} is not in {self._code}; here are: {here}.")

    def of_csrc(self, csrc: int) -> Occupant:
        """Return whose audio source this is."""
        return next(person for person in self.people if person.csrc == csrc)

    def of_name(self, name: str) -> Occupant:
        """Return who has this name, here or not; a new person, who is not present yet, where nobody has."""
        person = next((person for person in self.people if person.name == name and not person.bot), None)
        return person or self.add(CastMember(name=name))
