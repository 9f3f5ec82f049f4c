"""Everybody who was ever here, the keys and names that mean them, and which of them the bot itself is."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from sederunt.claims.claim import Claim, Fact, Source
from sederunt.claims.presence import PresenceVerdict, Reason
from sederunt.claims.rules import MOST_PEOPLE, ORDER, REPLACED_MS
from sederunt.model.participant import Participant

# Words in the names of other recording bots: they do not count as company. Lower case, matched as whole words.
BOT_WORDS = frozenset({"notetaker", "recorder", "bot", "assistant", "transcriber", "notetaking", "recording"})


@dataclass(slots=True)
class KnownPerson:
    """Somebody who was ever here, under the first key that a source used for them."""

    key: str
    name: str
    avatar: str | None
    first_ms: int
    named_by: Source
    lasting: bool = False  # the key is an account's: nobody comes back under another
    here: bool = False
    announced: bool = False
    why_here: Reason | None = None
    why_speaks: Reason | None = None


@dataclass(slots=True)
class OwnIdentity:
    """What is known of the bot itself: its keys, for good, and its names by source."""

    keys: set[str] = field(default_factory=set)
    names: dict[Source, tuple[int, str]] = field(default_factory=dict)  # … and when
    found: frozenset[str] = frozenset()  # the persons that this comes to, by canonical key

    def take(self, claim: Claim) -> None:
        """Note a claim of who the bot is."""
        for subject in claim.subjects:
            if subject.key:
                self.keys.add(subject.key)
            if subject.name:
                self.call(claim.source, subject.name, claim.at_ms)

    def call(self, source: Source, name: str, at_ms: int) -> None:
        """Note what a source calls the bot; the latest name of each source counts."""
        self.names[source] = max(self.names.get(source, (0, "")), (at_ms, name))


class Register:
    """Finds the person whom a source means.

    A person's canonical key is the protocol's, or the page's where the protocol does not know them. They go by the key
    under which they were told of first, which may be another.
    """

    def __init__(self) -> None:
        self.people: dict[str, KnownPerson] = {}
        self.known_as: Mapping[str, str] = {}  # a page's token → canonical key
        self.own = OwnIdentity()
        self._keys: dict[str, str] = {}  # canonical key → the key they were told of first by, if another
        self._canonicals: dict[str, str] = {}  # … and back
        self._by_name: Mapping[str, str] = {}
        self._recalled: dict[str, list[str]] = {}  # name → keys, of those whom earlier pages knew
        self._earlier_names: tuple[str, ...] = ()

    def recall(self, participants: Iterable[Participant]) -> None:
        """Note those of earlier pages. Whom they knew by a key this one may know by a name, or the other way round; and
        who went and came meanwhile may have another key."""
        people = tuple(participants)
        self._recalled = defaultdict(list)
        for person in people:
            self._recalled[person.name].append(person.key)
        self._earlier_names = tuple(person.name for person in people)

    # --- keys ----------------------------------------------------------------------------------------------------

    def key_of(self, canonical: str) -> str:
        """Return the key that a person goes by."""
        return self._keys.get(canonical, canonical)

    def canonical_of(self, key: str) -> str:
        """Return the canonical key of who goes by this key."""
        return self._canonicals.get(key, key)

    def person_of(self, token: str) -> str:
        """Return the key of whom a source means: by key, by a page's token, or by name; else what it says itself."""
        key = self.key_of(self.known_as.get(token, token))
        return key if key in self.people else self._by_name.get(token, key)

    def call(self, canonical: str, key: str) -> None:
        """Let a person go by this key, unless they go by another already."""
        if canonical != key and canonical not in self._keys:
            self._keys[canonical], self._canonicals[key] = key, canonical

    def join_keys(self) -> list[tuple[str, str]]:
        """Keep the page's key of whom a page told first when the protocol tells of them too. Returns (key, canonical
        key) of those who turn out to be two people so far, the first of whom is gone."""
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
        """Return whether somebody does not go by this canonical key any more, because they came back under another.

        Where both are here, they are two people: their keys are parted, and whoever came later is to be entered anew.
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
        """Return somebody who is here by an unknown key, noted: the same as who left under this name, or somebody new.
        None where there are too many already."""
        if canonical not in self.own.found and (key := self._same(canonical, name, verdicts, lasting)) is not None:
            if named_by is Source.PROTOCOL or key == name:
                self.call(canonical, key)
            else:  # a page knows by name whom the protocol will tell by key
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
        """Return the key of who was here under this name and is not any more; None for somebody new. Of two accounts
        neither is the other."""
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
        """Return the key of the entry under which who left now is back, since before they were seen to leave; None
        where nobody or more than one may be meant."""
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
        """Let somebody who is back go by their first key again: the entry under the later one is nobody's any more."""
        del self.people[later]
        self._keys[later], self._canonicals[key] = key, later
        self.people[key].here = True

    def find_again(self) -> None:
        """Decide again whom a name means, and who the bot is, after people or names have changed."""
        # Of several with one name the first by key is meant, of those who are here.
        people_by_rank = sorted(
            self.people.values(), key=lambda person: (person.here, tuple(-ord(letter) for letter in person.key))
        )
        self._by_name = {person.name: person.key for person in people_by_rank if person.name}
        self.own.found = self._found_own()

    def _found_own(self) -> frozenset[str]:
        """Return the bot itself: whom a source marks, else the first who bears its name, by the best source of that."""
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
        """Return first key → canonical key of everybody for whom the two differ."""
        return self._canonicals

    # --- what follows --------------------------------------------------------------------------------------------

    @property
    def own_keys(self) -> frozenset[str]:
        """Return the keys by which the bot itself is known."""
        return frozenset(self.key_of(key) for key in self.own.found)

    @property
    def own_name(self) -> str:
        """Return what the bot is called in the meeting; as it entered, while nothing better is known."""
        listed_names = [person.name for key in self.own_keys if (person := self.people.get(key)) and person.name]
        source_names = [self.own.names[source][1] for source in ORDER[Fact.SELF] if source in self.own.names]
        return next(iter([*listed_names, *source_names]), "")

    @property
    def others(self) -> list[KnownPerson]:
        """Return everyone ever here but the bot itself, in order of first sight."""
        own_keys = self.own_keys
        return [person for key, person in self.people.items() if key not in own_keys]

    @property
    def company(self) -> frozenset[str]:
        """Return the keys of the people here now: neither the bot itself nor, by their names, other bots."""
        return frozenset(person.key for person in self.others if person.here and not is_bot_name(person.name))

    def lists_people(self, *, earlier: bool = False) -> bool:
        """Return whether anybody was listed, on earlier pages too if asked for, who is neither a bot nor of the bot's
        own name: sites show what an earlier page of its own left behind as somebody else, for a while."""
        own_names = {self.people[key].name for key in self.own_keys if key in self.people} - {""}
        names = [*(self._earlier_names if earlier else ()), *(person.name for person in self.others)]
        return any(name not in own_names and not is_bot_name(name) for name in names)


def is_bot_name(name: str) -> bool:
    """Return whether a display name says of itself that it belongs to a recording bot."""
    words = "".join(letter if letter.isalnum() else " " for letter in name.casefold()).split()
    return not BOT_WORDS.isdisjoint(words)
