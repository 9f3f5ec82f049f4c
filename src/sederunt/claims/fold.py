"""The one place that knows the meeting: claims are folded into who is here, who speaks, who the bot is, and why."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from sederunt.claims.changes import PersonLeft, PersonSpoke, PersonTracked, RosterChange
from sederunt.claims.claim import Claim, Extent, Fact, Source, Subject
from sederunt.claims.habit import Habit
from sederunt.claims.marks import SpeechMarks
from sederunt.claims.presence import Presence, PresenceVerdict, Reason, picture
from sederunt.claims.rules import MOST_PEOPLE, MOST_STRANGERS, MOST_UNBOUND, ORDER, REACH_MS, TRUST
from sederunt.claims.speech import Speech
from sederunt.claims.table import SourceTable, Statement
from sederunt.model.participant import Participant

LOOK_AGAIN_MS = 5_000  # how often presence is weighed though nothing was claimed

# Words in the names of other recording bots: they do not count as company. Lower case, matched as whole words.
BOT_WORDS = frozenset({"notetaker", "recorder", "bot", "assistant", "transcriber", "notetaking", "recording"})


@dataclass(slots=True)
class Person:
    """Somebody who was ever here, by the key that they were first told of by."""

    key: str
    name: str
    avatar: str | None
    first_ms: int
    named_by: Source
    here: bool = False
    announced: bool = False
    why_here: Reason | None = None
    why_speaks: Reason | None = None


@dataclass(slots=True)
class Own:
    """What is known of the bot itself: keys for good, names by who told them."""

    keys: set[str] = field(default_factory=set)
    names: dict[Source, tuple[int, str]] = field(default_factory=dict)  # … and when
    found: frozenset[str] = frozenset()  # the persons that this comes to, by canonical key

    def call(self, source: Source, name: str, at_ms: int) -> None:
        self.names[source] = max(self.names.get(source, (0, "")), (at_ms, name))


class Fold:
    """Takes claims in the order in which they come. Times are Unix milliseconds."""

    def __init__(self) -> None:
        self._tables: dict[Source, SourceTable] = {row.source: SourceTable() for row in TRUST[Fact.HERE]}
        self._shares: dict[Source, SourceTable] = {row.source: SourceTable() for row in TRUST[Fact.SHARES]}
        self._habits: dict[Source, Habit] = defaultdict(Habit)
        self._speech = Speech()
        self._marks = SpeechMarks()
        self._people: dict[str, Person] = {}
        self._keys: dict[str, str] = {}  # a person's canonical key → the key they were first told of by, if another
        self._canonicals: dict[str, str] = {}  # … and back
        self._known_as: Mapping[str, str] = {}  # a page's token → canonical key
        self._by_name: Mapping[str, str] = {}
        self._own = Own()
        self._recalled: dict[str, str] = {}  # name → key, of those whom earlier pages knew by no more than a name
        self._earlier_names: tuple[str, ...] = ()
        self._count = (0, 0)  # (when, how many) the page said last
        self._only_one_ms: int | None = None
        self._moment_ms: int | None = None  # of the claims that are to be weighed
        self._see_again = False
        self._looked_ms = 0
        self._reigning: Source | None = None  # whose word on speech counted last
        self._changed: set[str] = set()
        self._withdrawn: dict[str, int] = {}
        self.told: dict[Fact, Reason] = {}  # of the meeting as a whole: recorded, removed, over

    # --- claims --------------------------------------------------------------------------------------------------

    def take(self, claim: Claim) -> list[RosterChange]:
        """Note one claim. Claims of one moment are weighed together, when the next begins or `settle` is called;
        returns what listeners should hear of the moments before."""
        changes = self.settle() if claim.at_ms != self._moment_ms else []
        self._moment_ms = claim.at_ms
        match claim.fact:
            case Fact.HERE:
                self._take_people(claim)
            case Fact.SELF:
                self._take_self(claim)
            case Fact.COUNT:
                self._take_count(claim)
            case Fact.SHARES:
                if claim.source in self._shares:
                    self._shares[claim.source].take(claim)
            case Fact.RECORDED | Fact.REMOVED | Fact.OVER:
                self._take_state(claim)
            case _:
                self._speech.take(claim)
        self._see_again = self._see_again or claim.fact in (Fact.HERE, Fact.SELF, Fact.COUNT)
        return changes

    def settle(self) -> list[RosterChange]:
        """Weigh what was claimed of the moment that is over; returns what listeners should hear of."""
        at_ms, self._moment_ms = self._moment_ms, None
        if at_ms is None:
            return []
        changes = self._see(at_ms) if self._see_again else []
        return changes + self._withdraw(at_ms) + self._listen(at_ms)

    def pass_time(self, now_ms: int) -> list[RosterChange]:
        """Claims expire, and contradictions are decided, though nobody says anything."""
        changes = self.settle()
        self._marks.forget(now_ms)
        if now_ms - self._looked_ms >= LOOK_AGAIN_MS and self._is_listed:
            changes += self._see(now_ms)
        return changes + self._withdraw(now_ms) + self._listen(now_ms)

    def hush(self, at_ms: int) -> list[RosterChange]:
        """The stay is over: nobody speaks any more."""
        return self.settle() + [self._stop(key, at_ms) for key in sorted(self._marks.speaking & self._people.keys())]

    def recall(self, participants: Iterable[Participant]) -> None:
        """Those of earlier pages. Whom they knew by no more than a name, this one may know by a key."""
        known = tuple(participants)
        self._recalled = {one.name: one.key for one in known if one.key == one.name}
        self._earlier_names = tuple(one.name for one in known)

    def _take_people(self, claim: Claim) -> None:
        table = self._tables.get(claim.source)
        if table is None:
            return
        whole = claim.kind is Extent.SNAPSHOT
        if claim.kind is Extent.SEVERAL:
            held = frozenset(token for token, word in table.words.items() if word.holds)
            whole = self._habits[claim.source].is_whole(claim, held, self._own.found)
        table.take(claim, whole=whole)
        for subject in claim.subjects:
            if subject.is_self:
                self._own.keys.add(subject.token)
                if subject.name and claim.source is not Source.PROTOCOL:
                    self._own.call(Source.LIST, subject.name, claim.at_ms)

    def _take_self(self, claim: Claim) -> None:
        for subject in claim.subjects:
            if subject.key:
                self._own.keys.add(subject.key)
            if subject.name:
                self._own.call(claim.source, subject.name, claim.at_ms)

    def _take_count(self, claim: Claim) -> None:
        """At one moment the larger number counts: who is alone is so a moment later, too."""
        number = 0 if claim.kind is Extent.CLOSED or claim.number is None else claim.number
        if (claim.at_ms, number) >= self._count:
            since_ms = self._only_one_ms if self._count[1] == 1 else claim.at_ms
            self._count, self._only_one_ms = (claim.at_ms, number), since_ms if number == 1 else None

    def _take_state(self, claim: Claim) -> None:
        if claim.holds:
            why = Reason(rule="said", source=claim.source, since_ms=claim.at_ms)
            self.told.setdefault(claim.fact, why)
        elif claim.fact is Fact.RECORDED and (known := self.told.get(claim.fact)) and known.since_ms < claim.at_ms:
            del self.told[claim.fact]

    # --- what listeners and stop rules read ------------------------------------------------------------------------

    @property
    def participants(self) -> tuple[Participant, ...]:
        """Everyone ever here but the bot itself, in order of first sight."""
        own = self._own_keys
        return tuple(self._participant(key) for key in self._people if key not in own)

    @property
    def sources(self) -> Mapping[str, str]:
        """Media source → key of whose it is; an empty key: nobody in particular."""
        return {media: self._key(owner) if owner else "" for media, owner in self._speech.owners.items()}

    @property
    def company(self) -> frozenset[str]:
        """Keys of the people here now: neither the bot itself nor, by their names, other bots."""
        own = self._own_keys
        return frozenset(
            key for key, one in self._people.items() if one.here and key not in own and not is_bot_name(one.name)
        )

    @property
    def has_company(self) -> bool:
        """Whether anybody is here now: listed, or, while this page listed nobody yet, shown speaking."""
        company = self.company
        if company or self._has_people(one.name for one in self._others):
            return bool(company)
        return not self._marks.speaking <= self._people.keys()

    @property
    def company_seen(self) -> bool:
        """Whether anybody else was here, ever. Whom an earlier page listed, and who was only shown speaking, counts
        once this page's roster was read at all: they may have left before the bot looked at it, while a page without
        any roster cannot tell who is left."""
        if not self._people:
            return False
        if self._has_people([*self._earlier_names, *(one.name for one in self._others)]):
            return True
        return bool(self._strangers)

    @property
    def someone_speaks(self) -> bool:
        return not self._marks.speaking.isdisjoint(self._people)

    @property
    def anyone_spoke(self) -> bool:
        return any(one.key in self._marks for one in self._others)

    @property
    def last_sound_ms(self) -> int | None:
        return self._speech.last_sound_ms

    @property
    def sharing(self) -> frozenset[str]:
        """Keys of those who share their screen, by the strongest source that tells of it."""
        for source in ORDER[Fact.SHARES]:
            if (table := self._shares[source]).heard_ms is not None:
                return frozenset(self._key(token) for token, word in table.words.items() if word.holds)
        return frozenset()

    @property
    def own_keys(self) -> frozenset[str]:
        """The keys by which the bot itself is known."""
        return frozenset(self._own_keys)

    @property
    def own_name(self) -> str:
        """What the bot is called in the meeting; as it entered, while it is not known by anything better."""
        here = [one.name for key in self._own_keys if (one := self._people.get(key)) and one.name]
        told = [self._own.names[source][1] for source in ORDER[Fact.SELF] if source in self._own.names]
        return next(iter([*here, *told]), "")

    def participant(self, token: str) -> Participant | None:
        """Whom a source means, the bot itself among them."""
        key = self.person_of(token)
        return self._participant(key) if key in self._people else None

    def person_of(self, token: str) -> str:
        """The key of whom a source means: by key, by a page's token, or by name; else what it says itself."""
        key = self._key(self._known_as.get(token, token))
        return key if key in self._people else self._by_name.get(token, key)

    def why(self) -> Mapping[str, Mapping[str, Reason]]:
        """Of each participant: why they are (or are not) here, are called so, and spoke last."""
        return {
            one.key: {
                name: reason
                for name, reason in (
                    ("here" if one.here else "left", one.why_here),
                    ("name", Reason(rule="called so", source=one.named_by, since_ms=one.first_ms)),
                    ("spoke", one.why_speaks),
                )
                if reason is not None
            }
            for one in self._others
        }

    def take_changed(self) -> tuple[tuple[Participant, ...], Mapping[str, int]]:
        """What the journal has to write since the last call: participants, and since when the marks of some of them
        are not what was written."""
        changed = tuple(self._participant(key) for key in sorted(self._changed - self._own_keys))
        withdrawn, self._withdrawn = self._withdrawn, {}
        self._changed.clear()
        return changed, withdrawn

    def keep_changed(self, participants: Iterable[Participant], withdrawn: Mapping[str, int]) -> None:
        """The journal could not write these: they are still to be written."""
        self._changed.update(one.key for one in participants)
        for key, since_ms in withdrawn.items():
            self._withdrawn[key] = min(since_ms, self._withdrawn.get(key, since_ms))

    # --- presence ------------------------------------------------------------------------------------------------

    def _see(self, at_ms: int) -> list[RosterChange]:
        """Weigh who is here, and say what changed."""
        self._looked_ms, self._see_again = at_ms, False
        seen = picture(
            self._tables,
            heard={self._canonical(key): moment for key, moment in self._speech.heard_ms.items()},
            only_one_ms=self._only_one_ms,
            own=self._own.found,
            now_ms=at_ms,
        )
        self._known_as = seen.known_as
        self._join_keys(seen)
        told, strangers = self._told(), self._strangers
        changes: list[RosterChange] = []
        for canonical, verdict in seen.verdicts.items():
            changes += self._placed(canonical, verdict, told[canonical], at_ms)
        self._by_name = self._names()
        self._own.found = self._find_own()
        changes = [change for change in changes if change.participant.key not in self._own_keys]
        return changes + self._bind(strangers)

    def _join_keys(self, seen: Presence) -> None:
        """Whom a page told of first keeps the page's key when the protocol tells of them."""
        for token, canonical in seen.known_as.items():
            if token == canonical or token not in self._people or canonical in self._keys:
                continue
            if canonical not in self._people and token not in self._canonicals:
                self._call(canonical, token)
            elif canonical in self._people and not self._people[token].here:
                self._marks.move(token, canonical)

    def _placed(
        self, canonical: str, verdict: PresenceVerdict, told: Mapping[Source, Subject], at_ms: int
    ) -> list[RosterChange]:
        """One person is here, or is not."""
        one = self._people.get(self._key(canonical))
        if one is None:
            if not verdict.here or len(self._people) >= MOST_PEOPLE:
                return []
            one = self._new_person(canonical, told, at_ms)
        self._name(one, told)
        was_here, one.here = one.here, verdict.here
        if was_here != one.here or one.why_here is None:
            one.why_here = verdict.reason
        if one.here and one.name and not (was_here and one.announced):
            one.announced = True
            return [PersonTracked(participant=self._participant(one.key), at_ms=at_ms)]
        if was_here and not one.here:
            silent: list[RosterChange] = [self._stop(one.key, at_ms)] if one.key in self._marks.speaking else []
            return silent + ([PersonLeft(participant=self._participant(one.key), at_ms=at_ms)] if one.announced else [])
        return []

    def _told(self) -> Mapping[str, Mapping[Source, Subject]]:
        """What each source says of each person, the strongest source first."""
        found: dict[str, dict[Source, Statement]] = defaultdict(dict)
        for source, table in self._tables.items():
            for token, word in table.words.items():
                of = found[self._known_as.get(token, token)]
                of[source] = max(of.get(source, word), word, key=_weight)
        return {person: {source: word.subject for source, word in of.items()} for person, of in found.items()}

    def _new_person(self, canonical: str, told: Mapping[Source, Subject], at_ms: int) -> Person:
        name, by = _name_in(told)
        if (key := self._recalled.pop(name, None)) is not None and canonical not in self._own.found:
            self._call(canonical, key)
        one = Person(key=self._key(canonical), name=name, avatar=None, first_ms=at_ms, named_by=by)
        self._people[one.key] = one
        self._changed.add(one.key)
        return one

    def _name(self, one: Person, told: Mapping[Source, Subject]) -> None:
        name, by = _name_in(told)
        avatar = next((subject.avatar for subject in told.values() if subject.avatar), one.avatar)
        if name and (name, avatar) != (one.name, one.avatar):
            one.name, one.named_by, one.avatar = name, by, avatar
            self._changed.add(one.key)

    def _find_own(self) -> frozenset[str]:
        """The bot itself: whom a source marks, else the first who bears its name, by the best source of that."""
        marked = {self._known_as.get(key, key) for key in self._own.keys}
        if any(self._is_here(key) for key in marked):
            return frozenset(marked)
        for source in ORDER[Fact.SELF]:
            _, name = self._own.names.get(source, (0, ""))
            bearers = [key for key, one in self._people.items() if name and one.here and one.name == name]
            if bearers:
                first = min(bearers, key=lambda key: (self._people[key].first_ms, key))
                return frozenset(marked | {self._canonical(first)})
        return frozenset(marked)

    def _is_here(self, canonical: str) -> bool:
        one = self._people.get(self._key(canonical))
        return one is not None and one.here

    # --- speech --------------------------------------------------------------------------------------------------

    def _listen(self, at_ms: int) -> list[RosterChange]:
        """Weigh who speaks, and say what changed."""
        speakers = self._speech.speakers(at_ms, self.person_of)
        own = self._own_keys
        changes: list[RosterChange] = []
        for key in sorted(self._marks.speaking):
            one = self._people.get(key)
            if key not in speakers or key in own or (one is not None and not one.here):
                changes += [self._stop(key, at_ms)] if one else self._hush_stranger(key, at_ms)
        for key in sorted(speakers.keys() - own):
            changes += self._goes_on(key, speakers[key], at_ms)
        return changes

    def _goes_on(self, key: str, why: Reason, at_ms: int) -> list[RosterChange]:
        one = self._people.get(key)
        if one is not None and not one.here:
            return []
        if key in self._marks.speaking:
            self._marks.confirm(key, why.source)
        else:
            if one is None and key not in self._marks and len(self._strangers) >= MOST_STRANGERS:
                return []
            began_ms = why.since_ms if why.source is Source.CAPTURE else at_ms
            started_ms = self._marks.start(key, why.source, began_ms)
            if one is None:
                self._marks.keep_last(key, MOST_UNBOUND)
                return []
            one.why_speaks = replace(why, since_ms=started_ms)
            self._changed.add(key)
            return [PersonSpoke(participant=self._participant(key), speaking=True, at_ms=started_ms)]
        return []

    def _stop(self, key: str, at_ms: int) -> PersonSpoke:
        stopped_ms = self._marks.stop(key, at_ms)
        self._changed.add(key)
        return PersonSpoke(participant=self._participant(key), speaking=False, at_ms=stopped_ms)

    def _hush_stranger(self, token: str, at_ms: int) -> list[RosterChange]:
        self._marks.stop(token, at_ms)
        return []

    def _bind(self, strangers: Iterable[str]) -> list[RosterChange]:
        """SpeechMarks of somebody whom nobody had listed yet are theirs from when they began."""
        changes: list[RosterChange] = []
        for token in strangers:
            key = self.person_of(token)
            if key not in self._people or key in self._own_keys:
                continue
            marks = self._marks.of(token)
            self._marks.move(token, key)
            self._changed.add(key)
            one = self._participant(key)
            for mark in marks:
                changes.append(PersonSpoke(participant=one, speaking=True, at_ms=mark.start_ms))
                if mark.stop_ms is not None:
                    changes.append(PersonSpoke(participant=one, speaking=False, at_ms=mark.stop_ms))
        return changes

    def _withdraw(self, at_ms: int) -> list[RosterChange]:
        """Where a stronger source begins to speak, what weaker ones said of this time goes, but of those whom it names
        itself."""
        before, reigning = self._reigning, self._speech.reigning
        self._reigning = reigning
        order = ORDER[Fact.SPEAKS]
        if before is None or reigning is None or order[reigning] >= order[before]:
            return []
        weaker = [source for source in order if order[source] > order[reigning]]
        spoke = self._marks.speaking
        cut = self._marks.withdraw(weaker, at_ms - REACH_MS, self._speech.speakers(at_ms, self.person_of))
        changes: list[RosterChange] = []
        for key, since_ms in cut.items():
            if key not in self._people:
                continue
            self._changed.add(key)
            self._withdrawn[key] = min(since_ms, self._withdrawn.get(key, since_ms))
            if key in spoke:
                changes.append(PersonSpoke(participant=self._participant(key), speaking=False, at_ms=at_ms))
        return changes

    # --- inside --------------------------------------------------------------------------------------------------

    @property
    def _is_listed(self) -> bool:
        return any(table.words for table in self._tables.values())

    @property
    def _others(self) -> list[Person]:
        own = self._own_keys
        return [one for key, one in self._people.items() if key not in own]

    @property
    def _strangers(self) -> list[str]:
        """Tokens of those who were shown speaking and are listed nowhere."""
        return [token for token in self._marks.people if token not in self._people]

    @property
    def _own_keys(self) -> set[str]:
        return {self._key(key) for key in self._own.found}

    def _has_people(self, names: Iterable[str]) -> bool:
        """Whether one of these is neither a bot nor of the bot's own name: sites show what an earlier page of its own
        left behind as somebody else, for a while."""
        own = {self._people[key].name for key in self._own_keys if key in self._people} - {""}
        return any(name not in own and not is_bot_name(name) for name in names)

    def _key(self, canonical: str) -> str:
        return self._keys.get(canonical, canonical)

    def _canonical(self, key: str) -> str:
        return self._canonicals.get(key, key)

    def _call(self, canonical: str, key: str) -> None:
        """A person goes by the key under which they were told of first."""
        if canonical != key and canonical not in self._keys:
            self._keys[canonical], self._canonicals[key] = key, canonical

    def _names(self) -> dict[str, str]:
        """Name → the person meant by it: who is here first, of several the first by key."""
        order = sorted(self._people.values(), key=lambda one: (one.here, _reversed(one.key)))
        return {one.name: one.key for one in order if one.name}

    def _participant(self, key: str) -> Participant:
        one = self._people[key]
        return Participant(
            key=one.key,
            name=one.name,
            avatar=one.avatar,
            first_seen_at=datetime.fromtimestamp(one.first_ms / 1000, UTC),
            events=self._marks.events(key),
        )


def _name_in(told: Mapping[Source, Subject]) -> tuple[str, Source]:
    """The name by the strongest source that has one."""
    return next(((subject.name, source) for source, subject in told.items() if subject.name), ("", Source.PROTOCOL))


def _weight(word: Statement) -> tuple[bool, int, tuple[str, str, bool, str, str]]:
    """Of several rows of one person one that holds tells of them, else the latest."""
    return (word.holds, word.at_ms, word.subject.order)


def _reversed(key: str) -> tuple[int, ...]:
    return tuple(-ord(letter) for letter in key)


def is_bot_name(name: str) -> bool:
    """Whether a display name says of itself that it belongs to a recording bot."""
    words = "".join(letter if letter.isalnum() else " " for letter in name.casefold()).split()
    return not BOT_WORDS.isdisjoint(words)
