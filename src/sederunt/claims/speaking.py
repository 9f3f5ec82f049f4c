"""Who speaks: combines the statements of all sources into speaking marks, and reports them to listeners."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from sederunt.claims.changes import PersonLeft, PersonSpoke, PersonTracked, RosterChange
from sederunt.claims.claim import Claim, Fact, Source
from sederunt.claims.marks import SpeechMarks
from sederunt.claims.pending_writes import PendingWrites
from sederunt.claims.presence import Reason
from sederunt.claims.register import Register
from sederunt.claims.rules import MOST_STRANGERS, MOST_UNBOUND, ORDER, REACH_MS
from sederunt.claims.speech import Speech, source_meant
from sederunt.model.participant import Participant

_PERHAPS = "\x1flarge "  # prefix of the key of a person who is large on a stage that has not changed yet
_STUCK = "\x1fstuck "  # prefix of the key of the person whom a stuck protocol names


class Speaking:
    """Keeps when each person spoke. A speaker who is not listed yet is a stranger, whose marks are kept until then."""

    def __init__(self, register: Register, unwritten: PendingWrites) -> None:
        self._register, self._unwritten = register, unwritten
        self._speech = Speech()
        self._marks = SpeechMarks()
        self._reigning: Source | None = None  # the source that was last believed about speech

    def expect_protocol(self) -> None:
        """Note that the protocol reported people on an earlier page."""
        self._speech.expect_protocol()

    def take(self, claim: Claim) -> None:
        """Note a claim of speech, of who is shown large, of captured sound, or of a media source's owner."""
        self._speech.take(claim)

    def weigh(self, at_ms: int) -> list[RosterChange]:
        """Decide who speaks; return the changes for listeners."""
        was_stuck = self._speech.is_stuck
        self._speech.doubt_protocol(self._register.person_of, len(self._register.company))
        withdrawals = self._set_apart(at_ms) if self._speech.is_stuck and not was_stuck else []
        changes = [*withdrawals, *self._owned(), *self._withdraw(at_ms)]
        speakers = self._speakers(at_ms)
        people, own_keys = self._register.people, self._register.own_keys
        for key in sorted(self._marks.speaking):
            person = people.get(key)
            if key not in speakers or key in own_keys or (person is not None and not person.here):
                if person is not None:
                    changes.append(self.stop(key, at_ms))
                else:
                    self._marks.stop(key, at_ms)
        for key in sorted(speakers.keys() - own_keys):
            changes += self._goes_on(key, speakers[key], at_ms)
        return changes + self._proven()

    def _owned(self) -> list[RosterChange]:
        # People whose media source spoke before its owner was known now get their marks.
        owners = self._speech.owners
        return [
            change
            for token in self.strangers
            if (media := source_meant(token)) is not None and (owner := owners.get(media))
            for change in self._give(token, self._register.person_of(owner))
        ]

    def _speakers(self, at_ms: int) -> dict[str, Reason]:
        # Marks that rest on a stage that has not changed, or on a stuck protocol, are kept as a stranger's.
        prefixes = {} if self._stage_follows else {Source.STAGE: _PERHAPS}
        prefixes |= {Source.PROTOCOL: _STUCK} if self._speech.is_stuck else {}
        own_keys = self._register.own_keys
        return {
            key if key in own_keys else f"{prefixes.get(reason.source, '')}{key}": reason
            for key, reason in self._speech.speakers(at_ms, self._register.person_of).items()
        }

    @property
    def _stage_follows(self) -> bool:
        return self._speech.stage_follows(self._register.person_of, len(self._register.company))

    def _proven(self) -> list[RosterChange]:
        # Doubtful marks go to their speakers once the doubt is gone: the stage has changed, or the protocol has named
        # somebody else.
        prefixes = [*([_PERHAPS] if self._stage_follows else ()), *([] if self._speech.is_stuck else [_STUCK])]
        return [
            change
            for prefix in prefixes
            for token in self.strangers
            if token.startswith(prefix)
            for change in self._give(token, self._meant(token.removeprefix(prefix)))
        ]

    def _meant(self, token: str) -> str:
        owner = self._speech.owners.get(source_meant(token) or "")
        return self._register.person_of(owner or token)

    def _set_apart(self, at_ms: int) -> list[RosterChange]:
        # The protocol is stuck, so the marks that it gave are withdrawn.
        changes: list[RosterChange] = []
        for key in list(self._marks.people):
            was_speaking = key in self._marks.speaking
            since_ms = self._marks.set_apart(Source.PROTOCOL, key, f"{_STUCK}{key}")
            if since_ms is None or key not in self._register.people:
                continue
            self._unwritten.note(key)
            self._unwritten.note_withdrawn(key, since_ms)
            if was_speaking and key not in self._marks.speaking:
                changes.append(PersonSpoke(participant=self.participant(key), speaking=False, at_ms=at_ms))
        return changes

    def _withdraw(self, at_ms: int) -> list[RosterChange]:
        # When a stronger source begins to report speech, weaker sources' marks of this time go, except those of people
        # whom it names itself.
        previous, current = self._reigning, self._speech.reigning
        self._reigning = current
        order = ORDER[Fact.SPEAKS]
        if previous is None or current is None or order[current] >= order[previous]:
            return []
        weaker = [source for source in order if order[source] > order[current]]
        speaking_before = self._marks.speaking
        speakers = self._speakers(at_ms)
        changes: list[RosterChange] = []
        for key, since_ms in self._marks.withdraw(weaker, at_ms - REACH_MS, speakers).items():
            if key not in self._register.people:
                continue
            self._unwritten.note(key)
            self._unwritten.note_withdrawn(key, since_ms)
            if key in speaking_before:
                changes.append(PersonSpoke(participant=self.participant(key), speaking=False, at_ms=at_ms))
        return changes

    def _goes_on(self, key: str, reason: Reason, at_ms: int) -> list[RosterChange]:
        person = self._register.people.get(key)
        if person is not None and not person.here:
            return []
        if key in self._marks.speaking:
            self._marks.confirm(key, reason.source)
            return []
        if person is None and key not in self._marks and len(self.strangers) >= MOST_STRANGERS:
            return []
        started_ms = self._marks.start(
            key, reason.source, reason.since_ms if reason.source is Source.CAPTURE else at_ms
        )
        if person is None:
            self._marks.keep_last(key, MOST_UNBOUND)
            return []
        person.why_speaks = replace(reason, since_ms=started_ms)
        self._unwritten.note(key)
        return [PersonSpoke(participant=self.participant(key), speaking=True, at_ms=started_ms)]

    # --- who comes, goes, or turns out to be somebody else ---------------------------------------------------------

    def stop(self, key: str, at_ms: int) -> PersonSpoke:
        """End the mark of a person who speaks; return the change for listeners."""
        stopped_ms = self._marks.stop(key, at_ms)
        self._unwritten.note(key)
        return PersonSpoke(participant=self.participant(key), speaking=False, at_ms=stopped_ms)

    def hush(self, at_ms: int) -> list[RosterChange]:
        """End all open marks; return the changes for listeners."""
        return [self.stop(key, at_ms) for key in sorted(self._marks.speaking & self._register.people.keys())]

    def move(self, key: str, to: str) -> None:
        """Give the marks of one key to another, because both denote one person."""
        self._marks.move(key, to)

    def take_over(self, key: str, later: str, at_ms: int) -> list[RosterChange]:
        """Merge a later entry into that of the person who came back under it, unless both have spoken since; return the
        changes for listeners, none if they are two people."""
        people = self._register.people
        entry = people[later]
        if not self._marks.is_silent_since(key, entry.first_ms):
            return []
        former, is_speaking = self.participant(later), later in self._marks.speaking
        changes: list[RosterChange] = (
            [PersonSpoke(participant=former, speaking=False, at_ms=at_ms)] if is_speaking else []
        )
        self._marks.move(later, key)
        self._register.replace(key, later)
        self._unwritten.note_deleted(later)
        self._unwritten.note(key)
        person = self.participant(key)
        changes += [PersonLeft(participant=former, at_ms=at_ms), PersonTracked(participant=person, at_ms=at_ms)]
        return [*changes, PersonSpoke(participant=person, speaking=True, at_ms=at_ms)] if is_speaking else changes

    def bind(self, strangers: Iterable[str]) -> list[RosterChange]:
        """Give the marks of strangers who are listed now to these people, from the first mark on; return the changes
        for listeners."""
        return [change for token in strangers for change in self._give(token, self._register.person_of(token))]

    def _give(self, token: str, key: str) -> list[RosterChange]:
        # Nothing happens while nobody listed matches, or if it is the bot.
        if key not in self._register.people or key in self._register.own_keys:
            return []
        marks = self._marks.of(token)
        self._marks.move(token, key)
        self._unwritten.note(key)
        person = self.participant(key)
        changes: list[RosterChange] = []
        for mark in marks:
            changes.append(PersonSpoke(participant=person, speaking=True, at_ms=mark.start_ms))
            if mark.stop_ms is not None:
                changes.append(PersonSpoke(participant=person, speaking=False, at_ms=mark.stop_ms))
        return changes

    def forget(self, before_ms: int) -> None:
        """Drop written marks that ended long ago."""
        self._marks.forget(before_ms)

    # --- what follows --------------------------------------------------------------------------------------------

    @property
    def now(self) -> frozenset[str]:
        """Return the keys of everybody who speaks now, including strangers."""
        return self._marks.speaking

    @property
    def strangers(self) -> list[str]:
        """Return the tokens of speakers who are not listed anywhere."""
        return [token for token in self._marks.people if token not in self._register.people]

    @property
    def sources(self) -> Mapping[str, str]:
        """Return media source → key of its owner; an empty key means no particular person."""
        return {media: self._register.key_of(owner) if owner else "" for media, owner in self._speech.owners.items()}

    @property
    def last_sound_ms(self) -> int | None:
        """Return when sound was last captured, from any source."""
        return self._speech.last_sound_ms

    @property
    def heard_ms(self) -> Mapping[str, int]:
        """Return person's key → when their own sound was last captured."""
        return self._speech.heard_ms

    @property
    def named_ms(self) -> Mapping[str, int]:
        """Return person's key → when the protocol last began to name them as speaking."""
        return self._speech.named_ms

    def spoke(self, key: str) -> bool:
        """Return whether a person has marks."""
        return key in self._marks

    def has_talked(self, since_ms: int) -> bool:
        """Return whether anybody who is here now, bots included, has spoken since a moment."""
        present_keys = (person.key for person in self._register.others if person.here)
        return any(key in self._marks and not self._marks.is_silent_since(key, since_ms) for key in present_keys)

    def participant(self, key: str) -> Participant:
        """Return a person with their marks as events. Raises KeyError for a stranger."""
        person = self._register.people[key]
        return Participant(
            key=person.key,
            name=person.name,
            avatar=person.avatar,
            first_seen_at=datetime.fromtimestamp(person.first_ms / 1000, UTC),
            events=self._marks.events(key),
        )
