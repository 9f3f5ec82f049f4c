"""Decides who speaks now when sources disagree. Knows people only by their sources' tokens.

A person's own captured sound is believed for that person. For everybody else only the strongest source that reports
speech is believed, until it does not explain the sound that is heard, or weaker sources contradict it for long.
"""

from collections.abc import Callable, Mapping

from sederunt.claims.claim import Claim, Extent, Fact, Source
from sederunt.claims.media_owners import MediaOwners
from sederunt.claims.presence import Reason
from sederunt.claims.rules import (
    MOST_SUBJECTS,
    ORDER,
    OUTSPOKEN_MS,
    OUTSPOKEN_TIMES,
    SPEECH,
    STUCK_PAUSES,
    UNEXPLAINED_MS,
)
from sederunt.claims.silences import Silences
from sederunt.claims.table import SourceTable, Statement
from sederunt.model.events import is_sound

_RANK = ORDER[Fact.SPEAKS]
_OWNER = "\x1fowner of "  # prefix of a media source that speaks and whose owner is not known yet


def source_meant(token: str) -> str | None:
    """Return the media source whose unknown owner a token denotes; None for any other token."""
    return token.removeprefix(_OWNER) if token.startswith(_OWNER) else None


class Speech:
    """The statements of all sources about speech."""

    def __init__(self) -> None:
        self._tables: dict[Source, SourceTable] = {source: SourceTable() for source in SPEECH}
        self._sound = SourceTable()
        self._owners = MediaOwners()
        self._news: set[Source] = set()  # the sources that made claims in this moment
        self._spoken: dict[Source, int] = {}  # source → moments with claims since the last of a stronger source
        self._dethroned: set[Source] = set()
        self._unexplained_ms: int | None = None
        self._silences = Silences()
        self._large: set[str] = set()  # everybody who was ever shown large
        self.heard_ms: dict[str, int] = {}  # person → when their own sound was last heard
        self.named_ms: dict[str, int] = {}  # person → when the protocol last began to name them
        self.is_stuck = False  # the protocol names one person, whoever speaks
        self._follows = False  # the protocol has changed with the sound, or another source confirmed it
        self._named_since: int | None = None  # the number of pauses when the protocol first named somebody
        self._protocol_is_due = False  # the protocol reported people on an earlier page, so it will report speech

    @property
    def owners(self) -> Mapping[str, str]:
        """Return media source → key of its owner."""
        return self._owners.key_of

    @property
    def last_sound_ms(self) -> int | None:
        return self._silences.last_sound_ms

    @property
    def reigning(self) -> Source | None:
        """Return the source that is believed about speech."""
        return next(iter(self._believable()), None)

    def stage_follows(self, person_of: Callable[[str], str], others: int) -> bool:
        """Return whether the stage shows who speaks. With several others here, a person who is always large may be
        pinned."""
        return others < 2 or len({person_of(token) for token in self._large}) > 1

    def expect_protocol(self) -> None:
        """Note that the protocol reported people on an earlier page. It names a speaker only when that changes, and
        until then anybody may be shown large: the stage counts once the protocol does not explain lasting sound."""
        self._protocol_is_due = True

    def doubt_protocol(self, person_of: Callable[[str], str], others: int) -> None:
        """Decide whether the protocol's report of who speaks is stuck. A person who speaks alone for long looks the
        same, unless the page's marks name them too, or the protocol ever named somebody else or nobody."""
        words = self._tables[Source.PROTOCOL].words.values()
        if self._follows or not words:
            return
        if self._named_since is None:
            self._named_since = self._silences.pauses
        protocol_people = {person_of(self._meant(word)) for word in words}
        marked_people = {person_of(token) for token in self._tables[Source.MARKS].words}
        has_changed = len(protocol_people) > 1 or not any(word.holds for word in words)
        self._follows = has_changed or marked_people == protocol_people
        is_constant = others > 1 and self._silences.pauses - self._named_since >= STUCK_PAUSES
        self.is_stuck = not self._follows and (self.is_stuck or is_constant)

    # --- claims --------------------------------------------------------------------------------------------------

    def take(self, claim: Claim) -> None:
        """Note a claim of speech, of who is shown large, of captured sound, or of a media source's owner."""
        match claim.fact:
            case Fact.OWNS:
                self._owners.take(claim)
            case Fact.SOUND:
                self._sound.take(claim)
                if claim.holds:
                    self._silences.note_sound(claim.at_ms)
            case _:
                self._told(claim)

    def _told(self, claim: Claim) -> None:
        table = self._tables.get(claim.source)
        # A source's report that nobody speaks means nothing before it has reported anybody.
        if table is None or (table.heard_ms is None and not (claim.subjects and claim.holds)):
            return
        table.take(claim, whole=claim.kind is not Extent.DELTA or claim.fact is Fact.STAGE)
        if claim.fact is Fact.STAGE and len(self._large) < MOST_SUBJECTS:
            self._large |= {subject.token for subject in claim.subjects if subject.token}
        self._dethroned.discard(claim.source)
        self._news.add(claim.source)

    # --- what follows --------------------------------------------------------------------------------------------

    def speakers(self, now_ms: int, person_of: Callable[[str], str]) -> dict[str, Reason]:
        """Decide who speaks, and why. `person_of`: a key or a page's token → the person."""
        own_sound: dict[str, Reason] = {}
        unowned_ms: int | None = None
        is_sounding = False
        for media, word in self._sound.standing(now_ms):
            is_sounding = True
            if owner := self._owners.key_of.get(media):
                person = person_of(owner)
                since_ms = max(word.since_ms, self._owners.free_ms.get(media, word.since_ms))
                own_sound[person] = Reason(rule="own sound", source=Source.CAPTURE, since_ms=since_ms)
                self.heard_ms[person] = now_ms
            else:
                unowned_ms = word.since_ms if unowned_ms is None else min(unowned_ms, word.since_ms)
        for _, word in self._tables[Source.PROTOCOL].standing(now_ms):
            self.named_ms[person_of(self._meant(word))] = word.since_ms
        self._silences.weigh(is_sounding, now_ms)
        self._note_news()
        reasons_by_source = {source: self._shown(source, unowned_ms, now_ms, person_of) for source in self._spoke()}
        trusted_source = self._weigh(reasons_by_source, unowned_ms, now_ms)
        other_reasons = reasons_by_source[trusted_source] if trusted_source else {}
        silent_people = self._silent(other_reasons, person_of) if unowned_ms is None else frozenset()
        return {
            person: reason
            for person, reason in other_reasons.items()
            if person not in self.heard_ms and person not in silent_people
        } | own_sound

    def _silent(self, reasons: Mapping[str, Reason], person_of: Callable[[str], str]) -> frozenset[str]:
        # People whose own media source is known but silent do not speak, if others' own sound is captured.
        if not self.heard_ms or not reasons:
            return frozenset()
        owners = {person_of(owner) for media, owner in self._owners.key_of.items() if owner and is_sound(media)}
        return frozenset(reasons.keys() & owners)

    def _note_news(self) -> None:
        # A claim of a stronger source resets the counts of the weaker ones.
        strongest = min((_RANK[source] for source in self._news), default=len(_RANK))
        for source, rank in _RANK.items():
            if rank > strongest:
                self._spoken[source] = 0
            elif source in self._news:
                self._spoken[source] = self._spoken.get(source, 0) + 1
        self._news.clear()

    def _shown(
        self, source: Source, unowned_ms: int | None, now_ms: int, person_of: Callable[[str], str]
    ) -> dict[str, Reason]:
        trust, table = SPEECH[source], self._tables[source]
        earliest_ms: int | None = None
        if source is Source.STAGE:  # the person shown large speaks while sound without an owner is heard
            if unowned_ms is None:
                return {}
            earliest_ms = unowned_ms
        after_ms = self._silences.doubted_until(trust, table)
        return {
            person_of(self._meant(word)): Reason(
                rule="said to speak" if earliest_ms is None else "shown large while there is sound",
                source=source,
                since_ms=max(word.since_ms, earliest_ms or word.since_ms),
            )
            for _, word in table.standing(now_ms)
            if word.since_ms > after_ms
        }

    def _meant(self, word: Statement) -> str:
        # A statement about a media source denotes its owner, known or not.
        media = word.subject.media
        return (self._owners.key_of.get(media) or f"{_OWNER}{media}") if media else word.subject.token

    def _weigh(
        self, reasons: Mapping[Source, Mapping[str, Reason]], unowned_ms: int | None, now_ms: int
    ) -> Source | None:
        candidates = self._believable()
        if len(candidates) < 2:
            return candidates[0] if candidates else None
        strongest, weaker = candidates[:2]
        named_people = {person for person in reasons[strongest] if source_meant(person) is None}
        weaker_people = reasons[weaker].keys()
        if unowned_ms is None or named_people or not weaker_people:
            self._unexplained_ms = None
        elif self._unexplained_ms is None:
            self._unexplained_ms = now_ms
        is_unexplained = self._unexplained_ms is not None and now_ms - self._unexplained_ms >= UNEXPLAINED_MS
        silent_ms = now_ms - (self._tables[strongest].heard_ms or now_ms)
        is_outspoken = silent_ms >= OUTSPOKEN_MS and self._spoken.get(weaker, 0) >= OUTSPOKEN_TIMES
        if is_unexplained or (is_outspoken and weaker_people and not named_people & weaker_people):
            self._dethroned.add(strongest)
            self._unexplained_ms = None
            return weaker
        return strongest

    def _believable(self) -> list[Source]:
        # Strongest first; a stuck protocol yields to any other source.
        sources = [source for source in self._spoke() if source not in self._dethroned]
        return sources[1:] if self.is_stuck and len(sources) > 1 and sources[0] is Source.PROTOCOL else sources

    def _spoke(self) -> list[Source]:
        # All sources that ever reported speech, the strongest first.
        sources = sorted(
            (source for source, table in self._tables.items() if table.heard_ms is not None), key=_RANK.__getitem__
        )
        return [Source.PROTOCOL, *sources] if self._protocol_is_due and sources == [Source.STAGE] else sources
