"""The state of the meeting: folds claims into who is here, who speaks, who the bot is, and why."""

from collections.abc import Iterable, Mapping

from sederunt.claims.attendance import Attendance
from sederunt.claims.changes import RosterChange
from sederunt.claims.claim import Claim, Fact, Source
from sederunt.claims.pending_writes import PendingWrites
from sederunt.claims.presence import Reason
from sederunt.claims.register import Register
from sederunt.claims.rules import ORDER, TALKS_MS, TRUST
from sederunt.claims.speaking import Speaking
from sederunt.claims.table import SourceTable
from sederunt.model.participant import Participant


class Fold:
    """Takes claims in the order in which they arrive. Times are Unix milliseconds.

    `Register` knows who is who, `Attendance` decides who is here, `Speaking` who speaks.
    """

    def __init__(self) -> None:
        self._register, self._unwritten = Register(), PendingWrites()
        self._speaking = Speaking(self._register, self._unwritten)
        self._attendance = Attendance(self._register, self._speaking, self._unwritten)
        self._shares: dict[Source, SourceTable] = {row.source: SourceTable() for row in TRUST[Fact.SHARES]}
        self._moment_ms: int | None = None  # of the claims that are not weighed yet
        self._now_ms = 0
        self._see_again = False
        self.told: dict[Fact, Reason] = {}  # facts about the meeting as a whole: recorded, removed, over

    # --- claims --------------------------------------------------------------------------------------------------

    def take(self, claim: Claim) -> list[RosterChange]:
        """Note one claim; return the changes that earlier moments brought for listeners.

        Claims of one moment are weighed together, when the next moment begins or `settle` is called."""
        changes = self.settle() if claim.at_ms != self._moment_ms else []
        self._moment_ms = claim.at_ms
        self._now_ms = max(self._now_ms, claim.at_ms)
        match claim.fact:
            case Fact.HERE:
                self._attendance.take_people(claim)
                if claim.source is Source.PROTOCOL and claim.holds and claim.subjects:
                    self._take_back(Fact.OVER, claim.at_ms)  # a meeting that is over has no roster
            case Fact.SELF:
                self._register.own.take(claim)
            case Fact.COUNT:
                self._attendance.take_count(claim)
            case Fact.SHARES:
                if claim.source in self._shares:
                    self._shares[claim.source].take(claim)
            case Fact.RECORDED | Fact.REMOVED | Fact.OVER | Fact.LET_IN:
                self._take_state(claim)
            case _:
                self._speaking.take(claim)
        self._see_again = self._see_again or claim.fact in (Fact.HERE, Fact.SELF, Fact.COUNT)
        return changes

    def settle(self) -> list[RosterChange]:
        """Weigh the claims of the last moment; return the changes for listeners."""
        at_ms, self._moment_ms = self._moment_ms, None
        if at_ms is None:
            return []
        is_presence_due, self._see_again = self._see_again, False
        changes = self._attendance.weigh(at_ms) if is_presence_due else []
        return changes + self._speaking.weigh(at_ms)

    def pass_time(self, now_ms: int) -> list[RosterChange]:
        """Let claims expire and decide contradictions without a new claim; return the changes for listeners."""
        changes = self.settle()
        self._now_ms = max(self._now_ms, now_ms)
        self._speaking.forget(now_ms)
        if self._attendance.is_due(now_ms):
            changes += self._attendance.weigh(now_ms)
        return changes + self._speaking.weigh(now_ms)

    def hush(self, at_ms: int) -> list[RosterChange]:
        """End the stay, and with it everybody's speech; return the changes for listeners."""
        return self.settle() + self._speaking.hush(at_ms)

    def recall(self, participants: Iterable[Participant]) -> None:
        """Note the participants of earlier pages, before any claim of this page."""
        people = tuple(participants)
        self._register.recall(people)
        if any(person.key != person.name for person in people):  # otherwise the page is their source
            self._speaking.expect_protocol()

    def _take_state(self, claim: Claim) -> None:
        if claim.holds:
            reason = Reason(rule="said", source=claim.source, since_ms=claim.at_ms)
            self.told.setdefault(claim.fact, reason)
        else:
            self._take_back(claim.fact, claim.at_ms)

    def _take_back(self, fact: Fact, at_ms: int) -> None:
        if (reason := self.told.get(fact)) is not None and reason.since_ms < at_ms:
            del self.told[fact]

    # --- what listeners and stop rules read ------------------------------------------------------------------------

    @property
    def participants(self) -> tuple[Participant, ...]:
        """Return everyone who was ever here except the bot, in order of first appearance."""
        return tuple(self._speaking.participant(person.key) for person in self._register.others)

    @property
    def sources(self) -> Mapping[str, str]:
        """Return media source → key of its owner; an empty key means no particular person."""
        return self._speaking.sources

    @property
    def company(self) -> frozenset[str]:
        """Return the keys of the people who are here now, without the bot and other bots (recognised by name)."""
        return self._register.company

    @property
    def has_company(self) -> bool:
        """Return whether anybody is here now: listed, or shown speaking while this page has listed nobody yet."""
        if self._register.company or self._speaking.has_talked(self._now_ms - TALKS_MS):
            return True
        if self._register.lists_people():
            return False
        return not self._speaking.now <= self._register.people.keys()

    @property
    def company_seen(self) -> bool:
        """Return whether anybody else was ever here.

        People count who were listed by an earlier page, were only shown speaking, or let the bot in, but only once this
        page's roster was read: they may have left before that, and a page without a roster cannot tell who remains."""
        if not self._register.people:
            return False
        has_people = self._register.lists_people(earlier=True) or bool(self._speaking.strangers)
        return has_people or Fact.LET_IN in self.told

    @property
    def doubts_company(self) -> bool:
        """Return whether the page's own list should be read: either people count as here although no source has
        confirmed them for long, so that their leaving may have been missed; or everybody counts as gone, and a join may
        have been missed."""
        if self.someone_speaks or not self.company_seen:
            return False
        return not self.has_company or self._attendance.is_doubtful

    @property
    def someone_speaks(self) -> bool:
        return not self._speaking.now.isdisjoint(self._register.people)

    @property
    def anyone_spoke(self) -> bool:
        """Return whether any listed person except the bot ever spoke."""
        return any(self._speaking.spoke(person.key) for person in self._register.others)

    @property
    def last_sound_ms(self) -> int | None:
        """Return when sound was last captured, from any source."""
        return self._speaking.last_sound_ms

    @property
    def sharing(self) -> frozenset[str]:
        """Return the keys of the people who share their screen, by the strongest source that reports sharing."""
        for source in ORDER[Fact.SHARES]:
            if (table := self._shares[source]).heard_ms is not None:
                return frozenset(self._register.key_of(token) for token, word in table.words.items() if word.holds)
        return frozenset()

    @property
    def own_keys(self) -> frozenset[str]:
        return self._register.own_keys

    @property
    def own_name(self) -> str:
        """Return the bot's name in the meeting; the name it entered under while no better one is known."""
        return self._register.own_name

    def participant(self, token: str) -> Participant | None:
        """Return the person (possibly the bot) whom a source's token denotes."""
        key = self._register.person_of(token)
        return self._speaking.participant(key) if key in self._register.people else None

    def person_of(self, token: str) -> str:
        """Return the key of the person whom a token denotes (a key, a page's token, or a name); else the token."""
        return self._register.person_of(token)

    def why(self) -> Mapping[str, Mapping[str, Reason]]:
        """Return for each participant the reasons for their presence or absence, their name, and their last speech."""
        return {
            person.key: {
                name: reason
                for name, reason in (
                    ("here" if person.here else "left", person.why_here),
                    ("name", Reason(rule="called so", source=person.named_by, since_ms=person.first_ms)),
                    ("spoke", person.why_speaks),
                )
                if reason is not None
            }
            for person in self._register.others
        }

    # --- what the journal writes -----------------------------------------------------------------------------------

    def take_changed(self) -> tuple[tuple[Participant, ...], Mapping[str, int]]:
        """Return what the journal has to write since the last call: participants, and key → the moment since which
        written marks are withdrawn, 0 for an entry that belongs to nobody any more."""
        keys, withdrawals = self._unwritten.take()
        people = sorted((keys & self._register.people.keys()) - self._register.own_keys)
        return tuple(self._speaking.participant(key) for key in people), withdrawals

    def keep_changed(self, participants: Iterable[Participant], withdrawals: Mapping[str, int]) -> None:
        """Let `take_changed` return these again, because the journal could not write them."""
        self._unwritten.put_back((person.key for person in participants), withdrawals)
