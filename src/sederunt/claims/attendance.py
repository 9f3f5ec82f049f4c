"""Who is here: combines the statements of all sources, and reports to listeners who comes and goes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sederunt.claims.changes import PersonLeft, PersonTracked, RosterChange
from sederunt.claims.claim import Claim, Extent, Fact, Source, Subject
from sederunt.claims.list_habit import ListHabit
from sederunt.claims.pending_writes import PendingWrites
from sederunt.claims.presence import PresenceVerdict, picture
from sederunt.claims.register import KnownPerson, Register
from sederunt.claims.rules import DOUBT_MS, TRUST
from sederunt.claims.speaking import Speaking
from sederunt.claims.table import SourceTable, Statement

LOOK_AGAIN_MS = 5_000  # how often presence is weighed without a new claim


class Attendance:
    """Weighs the statements of all sources on who is here, and enters the people they report into the register."""

    def __init__(self, register: Register, speaking: Speaking, unwritten: PendingWrites) -> None:
        self._register, self._speaking, self._unwritten = register, speaking, unwritten
        self._tables: dict[Source, SourceTable] = {row.source: SourceTable() for row in TRUST[Fact.HERE]}
        self._habits: dict[Source, ListHabit] = defaultdict(ListHabit)
        self._count = (0, 0)  # the page's last count: (when, how many)
        self._only_one_ms: int | None = None
        self._looked_ms = 0
        self._confirmed_ms: Mapping[str, int] = {}  # person → the last moment at which any source has them here

    def take_people(self, claim: Claim) -> None:
        table = self._tables.get(claim.source)
        if table is None:
            return
        own_identity = self._register.own
        is_snapshot = claim.kind is Extent.SNAPSHOT
        if claim.kind is Extent.SEVERAL:
            present = frozenset(token for token, word in table.words.items() if word.holds)
            is_snapshot = self._habits[claim.source].is_whole(claim, present, own_identity.found)
        table.take(claim, whole=is_snapshot)
        for subject in claim.subjects:
            if subject.is_self:
                own_identity.keys.add(subject.token)
                if subject.name and claim.source is not Source.PROTOCOL:
                    own_identity.call(Source.LIST, subject.name, claim.at_ms)

    def take_count(self, claim: Claim) -> None:
        """Note how many people the page counts. Of two counts of one moment the larger is taken: somebody who is alone
        is still alone a moment later."""
        number = 0 if claim.kind is Extent.CLOSED or claim.number is None else claim.number
        if (claim.at_ms, number) >= self._count:
            since_ms = self._only_one_ms if self._count[1] == 1 else claim.at_ms
            self._count, self._only_one_ms = (claim.at_ms, number), since_ms if number == 1 else None

    def is_due(self, now_ms: int) -> bool:
        """Return whether enough time has passed to weigh presence again."""
        has_words = any(table.words for table in self._tables.values())
        return has_words and now_ms - self._looked_ms >= LOOK_AGAIN_MS

    @property
    def is_doubtful(self) -> bool:
        """Return whether people count as here although no source has confirmed any of them for long."""
        company = self._register.company
        confirmed_ms = (self._confirmed_ms.get(self._register.canonical_of(key), 0) for key in company)
        return bool(company) and self._looked_ms - max(confirmed_ms) >= DOUBT_MS

    def weigh(self, at_ms: int) -> list[RosterChange]:
        """Decide who is here; return the changes for listeners."""
        self._looked_ms = at_ms
        register, speaking = self._register, self._speaking
        keys_before, own_before = frozenset(register.people), register.own_keys
        visible = frozenset(key for key, person in register.people.items() if person.here and person.announced)
        presence = picture(
            self._tables,
            last_heard_ms={register.canonical_of(key): moment for key, moment in speaking.heard_ms.items()},
            last_named_ms={register.canonical_of(key): moment for key, moment in speaking.named_ms.items()},
            only_one_ms=self._only_one_ms,
            own_keys=register.own.found,
            canonical_keys=register.told_first_as,
            omitted_ms=self._habits[Source.PROTOCOL].omitted_ms,
            now_ms=at_ms,
        )
        register.known_as, self._confirmed_ms = presence.known_as, presence.confirmed_ms
        for key, canonical in register.join_keys():
            speaking.move(key, canonical)
        subjects, strangers = self._told(), speaking.strangers
        changes: list[RosterChange] = []
        for canonical in presence.verdicts:
            if not register.settle_former(canonical, presence.verdicts):
                changes += self._placed(canonical, presence.verdicts, subjects[canonical], at_ms)
        register.find_again()
        changes += self._back_already(changes, at_ms)
        own_keys = register.own_keys
        changes = [change for change in changes if change.participant.key not in own_keys]
        changes += self._turned_out(
            keys_before & (own_keys - own_before), keys_before & (own_before - own_keys), visible, at_ms
        )
        return changes + speaking.bind(strangers)

    def _turned_out(
        self, ours: Iterable[str], others: Iterable[str], visible: frozenset[str], at_ms: int
    ) -> list[RosterChange]:
        changes: list[RosterChange] = []
        for key in sorted(ours):  # the bot was taken for a participant, and may be written as one
            self._unwritten.note_deleted(key)
            if key in visible:
                changes.append(PersonLeft(participant=self._speaking.participant(key), at_ms=at_ms))
        for key in sorted(others):
            self._unwritten.note(key)
            if key in visible and self._register.people[key].here:
                changes.append(PersonTracked(participant=self._speaking.participant(key), at_ms=at_ms))
        return changes

    def _back_already(self, changes: Iterable[RosterChange], at_ms: int) -> list[RosterChange]:
        # A roster that lags shows a person twice: the entry that left just now, and the one under which they are back.
        merges: list[RosterChange] = []
        for change in changes:
            key = change.participant.key
            if isinstance(change, PersonLeft) and (later := self._register.replaced(key, at_ms)) is not None:
                merges += self._speaking.take_over(key, later, at_ms)
        if merges:
            self._register.find_again()
        return merges

    def _told(self) -> Mapping[str, Mapping[Source, Subject]]:
        # Strongest source first.
        statements: dict[str, dict[Source, Statement]] = defaultdict(dict)
        for source, table in self._tables.items():
            for token, word in table.words.items():
                by_source = statements[self._register.known_as.get(token, token)]
                by_source[source] = max(by_source.get(source, word), word, key=_weight)
        return {
            person: {source: word.subject for source, word in by_source.items()}
            for person, by_source in statements.items()
        }

    def _placed(
        self, canonical: str, verdicts: Mapping[str, PresenceVerdict], subjects: Mapping[Source, Subject], at_ms: int
    ) -> list[RosterChange]:
        verdict = verdicts[canonical]
        names = ((subject.name, source) for source, subject in subjects.items() if subject.name)
        name, name_source = next(names, ("", Source.PROTOCOL))
        person = self._register.people.get(self._register.key_of(canonical))
        if person is None:
            lasting = any(subject.lasting for subject in subjects.values())
            enter = self._register.enter
            person = enter(canonical, name, name_source, at_ms, verdicts, lasting=lasting) if verdict.here else None
            if person is None:
                return []
            self._unwritten.note(person.key)
        avatar = next((subject.avatar for subject in subjects.values() if subject.avatar), person.avatar)
        if name and (name, avatar) != (person.name, person.avatar):
            person.name, person.named_by, person.avatar = name, name_source, avatar
            self._unwritten.note(person.key)
        was_here, person.here = person.here, verdict.here
        if was_here != person.here or person.why_here is None:
            person.why_here = verdict.reason
        return self._came_or_went(person, was_here, at_ms)

    def _came_or_went(self, person: KnownPerson, was_here: bool, at_ms: int) -> list[RosterChange]:
        if person.here and person.name and not (was_here and person.announced):
            person.announced = True
            return [PersonTracked(participant=self._speaking.participant(person.key), at_ms=at_ms)]
        if not was_here or person.here:
            return []
        changes: list[RosterChange] = (
            [self._speaking.stop(person.key, at_ms)] if person.key in self._speaking.now else []
        )
        if person.announced:
            changes.append(PersonLeft(participant=self._speaking.participant(person.key), at_ms=at_ms))
        return changes


def _weight(word: Statement) -> tuple[bool, int, tuple[str, str, bool, str, str]]:
    # The greatest is believed: a statement that holds before one that denies, then the latest.
    return (word.holds, word.at_ms, word.subject.order)
