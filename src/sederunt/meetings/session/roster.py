"""Holds what a bot knows about its meeting: the fold of all claims, the chat, and the record of the claims."""

from collections.abc import Iterable
from dataclasses import replace

from sederunt.claims.changes import Change, PersonSpoke, PersonWrote
from sederunt.claims.chat import ChatLedger, signed
from sederunt.claims.claim import Claim, Fact, Source, Subject, said
from sederunt.claims.fold import Fold
from sederunt.claims.journal import ClaimJournal
from sederunt.model.events import ChatReceived
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind

_ENDS = (Fact.REMOVED, Fact.OVER)


class Roster:
    """Takes claims of decoders and captured sound; stop rules, journal and live lines read it.

    `take`, `heard` and `pass_time` take input and return changes for the listeners. `fold` has what is known so far,
    and what of it is to be written. The package `claims` decides which source is believed, and why.
    """

    def __init__(self) -> None:
        self.fold, self._chat, self.claims = Fold(), ChatLedger(), ClaimJournal()
        self._heard_ms: dict[str, int] = {}  # media source → the time of its last claim

    def recall(self, participants: Iterable[Participant]) -> None:
        """Take the participants of earlier pages, before any claim of this page."""
        people = tuple(participants)
        self.claims.note("recalled", [(person.key, person.name) for person in people])
        self.fold.recall(people)

    def take(self, items: Iterable[Claim | ChatReceived]) -> list[Change]:
        """Fold in the content of one signal of the page; return the changes for listeners."""
        changes: list[Change] = []
        messages: list[ChatReceived] = []
        for item in items:
            if isinstance(item, Claim):
                changes += self._claimed(item)
            else:
                messages.append(item)
        changes += self.fold.settle()
        for message in messages:
            changes += self._written(message)
        return changes

    def heard(self, source: str, speaking: bool, at_ms: int) -> list[Change]:
        """Fold in that a source's captured sound began or stopped; return the changes for listeners."""
        at_ms = self._heard_ms[source] = max(at_ms, self._heard_ms.get(source, 0) + 1)
        subjects = (Subject(media=source),)
        claim = Claim(fact=Fact.SOUND, source=Source.CAPTURE, at_ms=at_ms, subjects=subjects, holds=speaking)
        return [*self._claimed(claim), *self.fold.settle()]

    def pass_time(self, now_ms: int) -> list[Change]:
        """Let claims expire and decide contradictions; return the changes for listeners."""
        self.claims.note("now_ms", now_ms)
        return [*self.fold.pass_time(now_ms)]

    def hush(self, at_ms: int) -> list[Change]:
        """End the stay, and with it everybody's speech; return the changes for listeners."""
        self.claims.note("over_ms", at_ms)
        return [*self.fold.hush(at_ms)]

    def entered(self, at_ms: int, *, waited: bool) -> None:
        """Note that the bot is inside, and whether it waited outside. An end that was reported before was not that of a
        stay: a first connection may fail on the way in, and its end may be reported late."""
        self.take([*([said(Fact.LET_IN, at_ms, Source.ENTRY)] if waited else ()), *_no_end(at_ms, Source.ENTRY)])

    def goes_on(self, at_ms: int) -> None:
        """Note that the call goes on, because it is heard, although signals reported its end."""
        self.take(_no_end(at_ms, Source.CAPTURE))

    def wrote(self, text: str, at_ms: int) -> None:
        """Note a chat message that the bot writes: the author whom the page shows for it is the bot."""
        self._chat.wrote(text, at_ms)

    def _claimed(self, claim: Claim) -> list[Change]:
        self.claims.add(claim)
        return [*self.fold.take(claim)]

    def _written(self, message: ChatReceived) -> list[Change]:
        message = signed(message, self.fold)
        own_claim = self._chat.tells_who_we_are(message)
        changes = [*self._claimed(own_claim), *self.fold.settle()] if own_claim else []
        new_message = self._chat.first_word(message)
        return [*changes, PersonWrote(message=new_message)] if new_message else changes

    @property
    def knows_itself(self) -> bool:
        """Return whether a listed person is known to be the bot itself."""
        return bool(self.fold.own_keys)

    @property
    def speaking(self) -> frozenset[str]:
        """Return the keys of all participants whose last mark is open."""
        return frozenset(
            person.key
            for person in self.fold.participants
            if person.events and person.events[-1].type is SpeakingKind.STARTED
        )

    def turns(self) -> int:
        """Return how often participants were seen to begin to speak."""
        return sum(event.type is SpeakingKind.STARTED for person in self.fold.participants for event in person.events)

    def told_end(self) -> tuple[Fact, int] | None:
        """Return the end of the stay that a signal of the site reports, and since when; None while there is none.
        REMOVED comes before OVER."""
        return next(((fact, self.fold.told[fact].since_ms) for fact in _ENDS if fact in self.fold.told), None)


def _no_end(at_ms: int, source: Source) -> list[Claim]:
    return [said(fact, at_ms, source, holds=False) for fact in _ENDS]


def silenced(participants: Iterable[Participant], at_ms: int) -> list[PersonSpoke]:
    """Return the changes that end, at `at_ms`, the speech of all participants whose last mark is open."""
    changes: list[PersonSpoke] = []
    for participant in participants:
        last_event = max(participant.events, key=lambda event: event.timestamp, default=None)
        if last_event is None or last_event.type is SpeakingKind.STOPPED:
            continue
        stop = SpeakingEvent(type=SpeakingKind.STOPPED, timestamp=max(at_ms, last_event.timestamp + 1))
        silent = replace(participant, events=(*participant.events, stop))
        changes.append(PersonSpoke(participant=silent, speaking=False, at_ms=stop.timestamp))
    return changes
