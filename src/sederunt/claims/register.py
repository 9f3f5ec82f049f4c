"""Everybody who was ever here, the keys and names that denote them, and which of them is the bot."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from sederunt.claims.claim import Claim, Fact, Source
from sederunt.claims.presence import PresenceVerdict, Reason
from sederunt.claims.rules import MOST_PEOPLE, ORDER, REPLACED_MS
from sederunt.model.participant import Participant

# Words in the names of other recording bots, which do not count as company. Lower case, matched as whole words.
BOT_WORDS = frozenset({"notetaker", "recorder", "bot", "assistant", "transcriber", "notetaking", "recording"})


@dataclass(slots=True)
class KnownPerson:
    """A person who was ever here, under the first key that a source used for them."""

    key: str
    name: str
    avatar: str | None
    first_ms: int
    named_by: Source
    lasting: bool = False  # the key is an account's: a person keeps it when they come back
    here: bool = False
    announced: bool = False
    why_here: Reason | None = None
    why_speaks: Reason | None = None


@dataclass(slots=True)
class OwnIdentity:
    """What is known about the bot itself: its keys, which are never removed, and its names by source."""

    keys: set[str] = field(default_factory=set)
    names: dict[Source, tuple[int, str]] = field(default_factory=dict)  # source → (when, name)
    found: frozenset[str] = frozenset()  # canonical keys of the people that turn out to be the bot

    def take(self, claim: Claim) -> None:
        """Note a claim about who the bot is."""
        for subject in claim.subjects:
            if subject.key:
                self.keys.add(subject.key)
            if subject.name:
                self.call(claim.source, subject.name, claim.at_ms)

    def call(self, source: Source, name: str, at_ms: int) -> None:
        """Note a source's name for the bot; the latest name of each source counts."""
        self.names[source] = max(self.names.get(source, (0, "")), (at_ms, name))


class Register:
    """Finds the person whom a source's token denotes.

    A person's canonical key is the protocol's, or the page's if the protocol does not know them. Outside, a person is
    identified by the key under which they were first reported, which may be a different one.
    """

    def __init__(self) -> None:
        self.people: dict[str, KnownPerson] = {}
        self.known_as: Mapping[str, str] = {}  # a page's token → canonical key
        self.own = OwnIdentity()
        self._keys: dict[str, str] = {}  # canonical key → the first reported key, if different
        self._canonicals: dict[str, str] = {}  # … and back
        self._by_name: Mapping[str, str] = {}
        self._recalled: dict[str, list[str]] = {}  # name → keys, of people known to earlier pages
        self._earlier_names: tuple[str, ...] = ()

    def recall(self, participants: Iterable[Participant]) -> None:
        """Note the participants of earlier pages. This page may know by name a person whom those knew by key, or the
        other way round; and a person who left and came back meanwhile may have another key."""
        people = tuple(participants)
        self._recalled = defaultdict(list)
        for person in people:
            self._recalled[person.name].append(person.key)
        self._earlier_names = tuple(person.name for person in people)

    # --- keys ----------------------------------------------------------------------------------------------------

    def key_of(self, canonical: str) -> str:
        """Return the key that identifies a person outside."""
        return self._keys.get(canonical, canonical)

    def canonical_of(self, key: str) -> str:
        """Return the canonical key of the person whom this key identifies outside."""
        return self._canonicals.get(key, key)

    def person_of(self, token: str) -> str:
        """Return the key of the person whom a token denotes (a key, a page's token, or a name); else the token."""
        key = self.key_of(self.known_as.get(token, token))
        return key if key in self.people else self._by_name.get(token, key)

    def call(self, canonical: str, key: str) -> None:
        """Identify a person by this key, unless they have one already."""
        if canonical != key and canonical not in self._keys:
            self._keys[canonical], self._canonicals[key] = key, canonical

    def join_keys(self) -> list[tuple[str, str]]:
        """Keep the page's key of a person whom a page reported first, when the protocol reports them too. Returns (key,
        canonical key) of people who were entered twice, where the first entry is no longer here."""
        pairs: list[tuple[str, str]] = []
        for token, canonical in self.known_as.items():
            key = self.key_of(token)
            if canonical in (token, key) or key not in self.people or canonical in self._keys:
                continue
            if canonical not in self.people and key not in self._canonicals:
                self.call(canonical, key)
            elif canonical in self.people and not self.people[key].here:
                pairs.append((key, canonical))
        return pairs

    # --- people --------------------------------------------------------------------------------------------------

    def settle_former(self, canonical: str, verdicts: Mapping[str, PresenceVerdict]) -> bool:
        """Return whether a person no longer has this canonical key, because they came back under another.

        If both are here, they are two people: their keys are separated, and the later one is to be entered anew.
        """
        key = self.key_of(canonical)
        current = self.canonical_of(key)
        if current == canonical or current not in verdicts:
            return False
        if not verdicts[canonical].here:
            return True
        if verdicts[current].here:
            self._keys.pop(current, None)
        self._canonicals.pop(key, None)
        if canonical != key:
            self._canonicals[key] = canonical
        return False

    def enter(
        self,
        canonical: str,
        name: str,
        named_by: Source,
        at_ms: int,
        verdicts: Mapping[str, PresenceVerdict],
        *,
        lasting: bool = False,
    ) -> KnownPerson | None:
        """Return the entry for a person with an unknown key: the person who left under this name, or a new one; None if
        there are too many already."""
        if canonical not in self.own.found and (key := self._same(canonical, name, verdicts, lasting)) is not None:
            if named_by is Source.PROTOCOL or key == name:
                self.call(canonical, key)
            else:  # a page knows by name a person whom the protocol will report by key
                self._keys[canonical] = key
            if key in self.people:
                return self.people[key]
        if len(self.people) >= MOST_PEOPLE:
            return None
        person = KnownPerson(
            key=self.key_of(canonical), name=name, avatar=None, first_ms=at_ms, named_by=named_by, lasting=lasting
        )
        self.people[person.key] = person
        return person

    def _same(self, canonical: str, name: str, verdicts: Mapping[str, PresenceVerdict], lasting: bool) -> str | None:
        # Two accounts are always two people.
        if not name:
            return None
        keys = self._recalled.get(name, [])
        if canonical in keys:
            keys.remove(canonical)
            return None
        absent_keys = (
            key
            for key, person in self.people.items()
            if person.name == name and not person.here and not (person.lasting and lasting)
        )
        earlier_keys = (key for key in keys if key not in self.people and key not in verdicts)
        former_key = next(chain(absent_keys, earlier_keys), None)
        if former_key in keys:
            keys.remove(former_key)
        return former_key

    def replaced(self, key: str, at_ms: int) -> str | None:
        """Return the key of the entry under which a person who just left had already come back; None if there is no
        candidate or more than one."""
        person, own_keys = self.people[key], self.own_keys
        candidates = [
            other.key
            for other in self.people.values()
            if other.name == person.name and other.here and person.first_ms < other.first_ms >= at_ms - REPLACED_MS
            if not (person.lasting and other.lasting) and self.canonical_of(other.key) == other.key
        ]
        return (
            candidates[0] if person.name and len(candidates) == 1 and own_keys.isdisjoint((key, *candidates)) else None
        )

    def replace(self, key: str, later: str) -> None:
        """Identify a person who is back by their first key again, and remove the entry under the later one."""
        del self.people[later]
        self._keys[later], self._canonicals[key] = key, later
        self.people[key].here = True

    def find_again(self) -> None:
        """Decide again whom each name denotes, and who the bot is, after people or names have changed."""
        # A name of several people denotes the first by key, preferably one who is here.
        people_by_rank = sorted(
            self.people.values(), key=lambda person: (person.here, tuple(-ord(letter) for letter in person.key))
        )
        self._by_name = {person.name: person.key for person in people_by_rank if person.name}
        self.own.found = self._found_own()

    def _found_own(self) -> frozenset[str]:
        # The bot is whom a source marks as such, else the first person with its name by the best source of names.
        marked_keys = {self.known_as.get(key, key) for key in self.own.keys}
        if any((person := self.people.get(self.key_of(key))) is not None and person.here for key in marked_keys):
            return frozenset(marked_keys)
        for source in ORDER[Fact.SELF]:
            _, name = self.own.names.get(source, (0, ""))
            bearers = [key for key, person in self.people.items() if name and person.here and person.name == name]
            if bearers:
                first = min(bearers, key=lambda key: (self.people[key].first_ms, key))
                return frozenset(marked_keys | {self.canonical_of(first)})
        return frozenset(marked_keys)

    @property
    def told_first_as(self) -> Mapping[str, str]:
        """Return first key → canonical key of all people for whom the two differ."""
        return self._canonicals

    # --- what follows --------------------------------------------------------------------------------------------

    @property
    def own_keys(self) -> frozenset[str]:
        return frozenset(self.key_of(key) for key in self.own.found)

    @property
    def own_name(self) -> str:
        """Return the bot's name in the meeting; the name it entered under while no better one is known."""
        listed_names = [person.name for key in self.own_keys if (person := self.people.get(key)) and person.name]
        source_names = [self.own.names[source][1] for source in ORDER[Fact.SELF] if source in self.own.names]
        return next(iter([*listed_names, *source_names]), "")

    @property
    def others(self) -> list[KnownPerson]:
        """Return everyone who was ever here except the bot, in order of first appearance."""
        own_keys = self.own_keys
        return [person for key, person in self.people.items() if key not in own_keys]

    @property
    def company(self) -> frozenset[str]:
        """Return the keys of the people who are here now, without the bot and other bots (recognised by name)."""
        return frozenset(person.key for person in self.others if person.here and not is_bot_name(person.name))

    def lists_people(self, *, earlier: bool = False) -> bool:
        """Return whether anybody was listed (with `earlier`, on earlier pages too) who is not a bot and does not have
        this bot's name: for a while, sites show the remains of its earlier page as another person."""
        own_names = {self.people[key].name for key in self.own_keys if key in self.people} - {""}
        names = [*(self._earlier_names if earlier else ()), *(person.name for person in self.others)]
        return any(name not in own_names and not is_bot_name(name) for name in names)


def is_bot_name(name: str) -> bool:
    """Return whether a display name is that of a recording bot."""
    words = "".join(letter if letter.isalnum() else " " for letter in name.casefold()).split()
    return not BOT_WORDS.isdisjoint(words)
