"""Memory of one stay that every decoder needs: the roster, who owns which sound, and which chat was told already.

Two witnesses may tell of the same thing, the network and the page. The network is believed where it speaks at all;
the page's word counts only until then.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from sederunt.model.events import ChatReceived, MeetingEvent, ParticipantLeft, ParticipantSeen, SourceNamed

SAME_CHAT_MS = 30_000  # the same words by the same person from the other witness within this are the same message


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Somebody in the roster, as one witness tells it. None leaves a fact as it was."""

    key: str
    name: str
    avatar: str | None = None
    is_self: bool = False


class RosterReader:
    """Who is here. Tells only what changed."""

    def __init__(self, own_name: str = "") -> None:
        self._own_name = own_name  # for rosters that do not mark one's own entry
        self._own_key: str | None = None
        self._here: dict[str, Person] = {}
        self._known: dict[str, Person] = {}  # everyone ever, for chat and late sounds
        self._sources: dict[str, str] = {}
        self._page_only: set[str] = set()  # keys that the page showed and the network has not confirmed
        self._whole_seen = False
        self.network_heard = False

    def seen(self, people: Sequence[Person], at_ms: int) -> list[MeetingEvent]:
        """The network tells of people in the call: one, or all of them."""
        if not people:
            return []
        self.network_heard = True
        is_whole = len(people) >= len(self._page_only)  # else a change, which says nothing of the others
        self._page_only -= {person.key for person in people}
        twins = self._twins(people)
        for key, shown in twins.items():
            self._take_over(key, shown)
        names = {person.name for person in people}
        doubtful = {key for key in self._page_only if is_whole or self._here[key].name in names}
        if self._own_key in doubtful:
            self._own_key = None  # the network knows the bot by another
        events = [event for key in sorted(doubtful) for event in self._remove(key, at_ms)]
        self._note_own(people)
        return events + [event for person in people for event in self._add(person, at_ms, twins.get(person.key))]

    def _twins(self, people: Sequence[Person]) -> dict[str, str]:
        """New people of the network who were known as somebody of the page: their key → its key. A name that two
        people bear proves nothing."""
        shown = {key: self._here[key].name for key in self._page_only}
        told = {person.key: person.name for person in people if person.key not in self._known}
        bearers = Counter(told.values()) + Counter(shown.values())
        by_name = {name: key for key, name in shown.items() if bearers[name] == 2}  # one with each witness
        return {key: by_name[name] for key, name in told.items() if name in by_name}

    def _take_over(self, key: str, shown: str) -> None:
        """Somebody whom the page told of by one key goes by the network's from now on."""
        self._page_only.discard(shown)
        del self._here[shown]
        if self._own_key == shown:
            self._own_key = key

    def left(self, key: str, at_ms: int) -> list[MeetingEvent]:
        """The network tells that somebody is gone. Was it the bot itself, it was another one of its name: what an
        earlier page of its own left behind, which sites show for a while."""
        self.network_heard = True
        events = self._remove(key, at_ms)
        if key != self._own_key:
            return events
        self._own_key = None
        self._note_own(self._here.values())
        own = self._here.get(self._own_key or "")
        return events + (self._add(own, at_ms) if own else [])

    def shown(self, people: Iterable[Person], at_ms: int, *, whole: bool = True) -> list[MeetingEvent]:
        """The page shows this list. Ignored once the network spoke; an empty list is a closed panel.

        Not `whole`: tiles, say, of which there is not one for everybody. Once a whole list was seen, who is missing
        from such a one need not be gone.
        """
        listed = {person.key: person for person in people if person.key and person.name}
        if self.network_heard or not listed:
            return []
        self._whole_seen = self._whole_seen or whole
        gone = [key for key in self._here if key not in listed] if whole or not self._whole_seen else []
        self._page_only |= listed.keys()
        self._note_own(listed.values())
        events = [event for key in gone for event in self._remove(key, at_ms)]
        return events + [event for person in listed.values() for event in self._add(person, at_ms)]

    def owns(self, source: str, key: str, at_ms: int) -> list[MeetingEvent]:
        """A sound belongs to somebody."""
        if not source or not key or self._sources.get(source) == key:
            return []
        self._sources[source] = key
        return [SourceNamed(source=source, key=key, at_ms=at_ms)]

    def owner(self, source: str) -> str | None:
        return self._sources.get(source)

    def person(self, key: str) -> Person | None:
        return self._known.get(key)

    @property
    def everyone(self) -> Collection[str]:
        """The keys of all who were ever here."""
        return self._known.keys()

    def self_name(self) -> str | None:
        return next((person.name for person in self._known.values() if person.is_self), None)

    def key_of(self, name: str) -> str | None:
        """The key of the one person here of this name; None where there is none, or more than one."""
        keys = [person.key for person in self._here.values() if person.name == name]
        return keys[0] if len(keys) == 1 else None

    def is_here(self, key: str) -> bool:
        return key in self._here

    def _add(self, person: Person, at_ms: int, known_as: str | None = None) -> list[MeetingEvent]:
        known = self._known.get(person.key)
        if known is not None:
            person = Person(
                key=person.key,
                name=person.name or known.name,
                avatar=person.avatar or known.avatar,
                is_self=person.is_self or known.is_self,
            )
        person = self._recognised(person)
        if self._here.get(person.key) == person:
            return []
        self._here[person.key] = self._known[person.key] = person
        return [
            ParticipantSeen(
                key=person.key,
                name=person.name,
                avatar=person.avatar,
                is_self=person.is_self,
                at_ms=at_ms,
                known_as=known_as,
            )
        ]

    def _note_own(self, people: Iterable[Person]) -> None:
        """Whoever is marked as oneself; where nobody is, the first who bears the own name."""
        marked = [person.key for person in people if person.is_self]
        if marked:
            self._own_key = marked[-1]
        elif self._own_key is None and self._own_name:
            self._own_key = next((person.key for person in people if person.name == self._own_name), None)

    def _recognised(self, person: Person) -> Person:
        return replace(person, is_self=True) if person.key == self._own_key else person

    def _remove(self, key: str, at_ms: int) -> list[MeetingEvent]:
        self._page_only.discard(key)
        if self._here.pop(key, None) is None:
            return []
        return [ParticipantLeft(key=key, at_ms=at_ms)]


class ChatLedger:
    """Lets each chat message through once, whichever witness brings it, in whatever order."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._unmatched: list[tuple[str, ChatReceived]] = []

    def first_word(self, message: ChatReceived, witness: str) -> list[MeetingEvent]:
        """The message, unless it was told before. `witness` is "network" or "page"."""
        if message.message_id is not None:
            if message.message_id in self._ids:
                return []
            self._ids.add(message.message_id)
        fresh = [(w, m) for w, m in self._unmatched if abs(message.at_ms - m.at_ms) <= SAME_CHAT_MS]
        twin = next((entry for entry in fresh if entry[0] != witness and _same(entry[1], message)), None)
        if twin is not None:
            fresh.remove(twin)
            self._unmatched = fresh
            return []
        self._unmatched = [*fresh, (witness, message)]
        return [message]


def _same(one: ChatReceived, other: ChatReceived) -> bool:
    return one.username == other.username and " ".join(one.content.split()) == " ".join(other.content.split())
