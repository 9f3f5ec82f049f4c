"""What a bot knows of its meeting: who is here, who speaks, when anything was last heard. Pure state."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sederunt.model.events import (
    ChatReceived,
    MeetingEvent,
    MeetingOver,
    ParticipantLeft,
    ParticipantSeen,
    Removed,
    SourceNamed,
    SpeakingChanged,
    StageTaken,
)
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind

MOST_EARLY = 200  # marks kept of somebody whom no roster tells of

# Words in the names of other recording bots: they do not count as company. Lower case, matched as whole words.
BOT_WORDS = frozenset({"notetaker", "recorder", "bot", "assistant", "transcriber", "notetaking", "recording"})


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonTracked:
    """A participant was seen for the first time, or is back."""

    participant: Participant
    at_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonLeft:
    """Somebody who was announced is not here any more."""

    participant: Participant
    at_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonSpoke:
    participant: Participant
    speaking: bool
    at_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonWrote:
    message: ChatReceived


Change = PersonTracked | PersonLeft | PersonSpoke | PersonWrote
Mark = tuple[str, bool, int]  # participant key, speaking, at_ms


class People:
    """Who was seen in the meeting, who is here now, and which of them is the bot itself."""

    def __init__(self) -> None:
        self.known: dict[str, Participant] = {}
        self.present: set[str] = set()
        self.self_keys: set[str] = set()
        self._changed: set[str] = set()
        self._first_keys: dict[str, str] = {}  # another key of a participant → its key here
        self._recalled: set[str] = set()  # names that are keys, of an earlier page's participants
        self._earlier_names: tuple[str, ...] = ()  # of all whom earlier pages listed

    def recall(self, participants: Iterable[Participant]) -> None:
        """Take those of earlier pages. Whom they knew by no more than a name, this page may know by a key."""
        known = tuple(participants)
        self._recalled = {participant.key for participant in known if participant.key == participant.name}
        self._earlier_names = tuple(participant.name for participant in known)

    @property
    def others(self) -> tuple[Participant, ...]:
        """Return everyone ever seen but the bot itself, in order of first sight."""
        return tuple(person for key, person in self.known.items() if key not in self.self_keys)

    @property
    def company(self) -> frozenset[str]:
        """Return the keys of the people here now: neither the bot itself nor, by their names, other bots."""
        here = self.present - self.self_keys
        return frozenset(key for key in here if not is_bot_name(self.known[key].name))

    def has_listed(self, *, earlier: bool) -> bool:
        """Return whether anybody was listed who is neither a bot nor of the bot's own name, `earlier`: on any page.

        Sites show what an earlier page of the bot left behind as somebody else, for a while.
        """
        own = {self.known[key].name for key in self.self_keys} - {""}
        names = [*(self._earlier_names if earlier else ()), *(person.name for person in self.others)]
        return any(name not in own and not is_bot_name(name) for name in names)

    def by_first_key(self, event: MeetingEvent) -> MeetingEvent:
        """Return the event under the key by which its participant was first told of, whatever it is called now."""
        if isinstance(event, ParticipantSeen):
            known_as = event.known_as or (event.name if event.name in self._recalled and not event.is_self else None)
            self._recalled.discard(event.name)
            if known_as and known_as != event.key and event.key not in self.known:
                self._first_keys[event.key] = self._first_keys.get(known_as, known_as)
        if isinstance(event, ChatReceived | Removed | MeetingOver) or event.key not in self._first_keys:
            return event
        return replace(event, key=self._first_keys[event.key])

    def see(self, event: ParticipantSeen) -> bool:
        """Note that somebody is here; returns whether they were not before."""
        if event.is_self:
            self.self_keys.add(event.key)
        known = self.known.get(event.key)
        if known is None:
            at = datetime.fromtimestamp(event.at_ms / 1000, UTC)
            self.write(Participant(key=event.key, name=event.name, avatar=event.avatar, first_seen_at=at))
        else:
            self.write(replace(known, name=event.name or known.name, avatar=event.avatar or known.avatar))
        is_new = event.key not in self.present
        self.present.add(event.key)
        return is_new

    def write(self, participant: Participant) -> None:
        """Put a participant in place of what was known of it."""
        if self.known.get(participant.key) != participant:
            self.known[participant.key] = participant
            self._changed.add(participant.key)

    def take_changed(self) -> tuple[Participant, ...]:
        """Return the participants that changed since the last call."""
        changed = tuple(self.known[key] for key in sorted(self._changed - self.self_keys))
        self._changed.clear()
        return changed

    def keep_changed(self, participants: Iterable[Participant]) -> None:
        """Have these given out by `take_changed` again."""
        self._changed.update(participant.key for participant in participants)


class SpeechWitnesses:
    """Who speaks, by two witnesses: captured audio per source, and the site's own display.

    Once a participant's own source was heard, the audio alone is believed for that participant. Methods return the
    marks that follow: (participant key, speaking, at_ms).
    """

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}  # audio source → participant key
        self._sounding: set[str] = set()  # sources that are heard right now
        self._pending: dict[str, int] = {}  # source speaks, its owner is not known yet → since when
        self._believed: set[str] = set()  # keys whose own audio was heard
        self._stage: str | None = None  # key of whom the site shows large
        self._stage_speaks: str | None = None  # … while sound of nobody in particular is heard

    def heard(self, source: str, speaking: bool, at_ms: int) -> list[Mark]:
        """Take that captured sound of a source began or stopped."""
        (self._sounding.add if speaking else self._sounding.discard)(source)
        key = self.sources.get(source)
        if key:
            self._believed.add(key)
            return [(key, speaking, at_ms)]
        if speaking:  # its owner is not told yet, or it is told to be nobody's
            self._pending[source] = at_ms
        else:
            self._pending.pop(source, None)
        return self._on_stage(at_ms)

    def shown(self, key: str, speaking: bool, at_ms: int) -> list[Mark]:
        """Take what the site's display says of a participant."""
        return [] if key in self._believed else [(key, speaking, at_ms)]

    def stage_taken(self, key: str | None, at_ms: int) -> list[Mark]:
        """Take whom the site shows large."""
        self._stage = key
        return self._on_stage(at_ms)

    def named(self, event: SourceNamed) -> list[Mark]:
        """Take whose voice a source is from now on."""
        before = self.sources.get(event.source)
        if before == event.key:
            return []
        self.sources[event.source] = event.key
        handed_on = before if event.source in self._sounding else None  # what is heard is another's from now on
        ended: list[Mark] = [(handed_on, False, event.at_ms)] if handed_on else []
        since = event.at_ms if handed_on else self._pending.pop(event.source, None)
        if since is None:
            return []
        if not event.key:  # it is heard on, and nobody knows whose it is
            self._pending[event.source] = since
            return ended
        self._believed.add(event.key)
        return [*ended, (event.key, True, since)]

    def _on_stage(self, at_ms: int) -> list[Mark]:
        """Mark who is shown large as speaking while sound without an owner is heard, and no longer."""
        now = self._stage if self._pending else None
        before, self._stage_speaks = self._stage_speaks, now
        if now == before:
            return []
        return [mark for key in (before, now) if key is not None for mark in self.shown(key, key == now, at_ms)]


class Roster:
    """Folds meeting events into the picture that stop rules, journal and live lines read.

    In go `apply`, `heard` and `sound`; out come changes for the listeners, what is to be written (`take_changed`,
    `sources`), and the properties below.
    """

    def __init__(self) -> None:
        self._people, self._speech = People(), SpeechWitnesses()
        self._speaking: set[str] = set()
        self._early: dict[str, list[tuple[int, bool]]] = {}  # shown (at, speaking) before the roster knew them
        self.removed = False
        self.over = False
        self.last_sound_ms: int | None = None

    def recall(self, participants: Iterable[Participant]) -> None:
        """Take those of earlier pages, before anything of this one."""
        self._people.recall(participants)

    @property
    def participants(self) -> tuple[Participant, ...]:
        """Return everyone ever seen but the bot itself, in order of first sight."""
        return self._people.others

    @property
    def sources(self) -> Mapping[str, str]:
        """Return audio source → participant key."""
        return self._speech.sources

    @property
    def company(self) -> frozenset[str]:
        """Return the keys of the people here now: neither the bot itself nor, by their names, other bots."""
        return self._people.company

    @property
    def has_company(self) -> bool:
        """Return whether anybody is here now: listed, or, while this page listed nobody yet, shown speaking."""
        if self.company or self._people.has_listed(earlier=False):
            return bool(self.company)
        return any(marks[-1][1] for marks in self._early.values())

    @property
    def company_seen(self) -> bool:
        """Return whether anybody else was here, ever.

        Whom an earlier page listed, and who was only shown speaking, counts once this page's roster was read at all:
        they may have left before the bot looked at it, while a page without any roster cannot tell who is left.
        """
        if not self._people.known:
            return False
        if self._people.has_listed(earlier=True):
            return True
        return any(speaking for marks in self._early.values() for _, speaking in marks)

    @property
    def someone_shown_speaking(self) -> bool:
        """Return whether anybody is marked as speaking right now."""
        return bool(self._speaking)

    def take_changed(self) -> tuple[Participant, ...]:
        """Return the participants that changed since the last call: what the journal has to write."""
        return self._people.take_changed()

    def keep_changed(self, participants: Iterable[Participant]) -> None:
        """Have these given out by `take_changed` again: the journal could not write them."""
        self._people.keep_changed(participants)

    def apply(self, event: MeetingEvent) -> list[Change]:
        """Fold in one event from the page; returns what listeners should hear of."""
        match event := self._people.by_first_key(event):
            case ParticipantSeen():
                return self._seen(event)
            case ParticipantLeft():
                return self._left(event)
            case SourceNamed():
                return self._mark(self._speech.named(event))
            case SpeakingChanged():
                return self._show(self._speech.shown(event.key, event.speaking, event.at_ms))
            case StageTaken():
                return self._show(self._speech.stage_taken(event.key, event.at_ms))
            case ChatReceived():
                return [PersonWrote(message=event)]
            case Removed():
                self.removed = True
            case MeetingOver():
                self.over = True
        return []

    def heard(self, source: str, speaking: bool, at_ms: int) -> list[Change]:
        """Fold in that captured sound of a source began or stopped; returns what listeners should hear of."""
        if speaking:
            self.last_sound_ms = at_ms
        has_owner = bool(self._speech.sources.get(source))
        marks = self._speech.heard(source, speaking, at_ms)
        return self._mark(marks) if has_owner else self._show(marks)

    def sound(self, at_ms: int) -> None:
        """Note that something audible was captured, whoever made it."""
        self.last_sound_ms = at_ms

    def hush(self, at_ms: int) -> list[Change]:
        """Note that the stay is over, so that nobody speaks any more; returns what listeners should hear of."""
        return self._mark([(key, False, at_ms) for key in sorted(self._speaking)])

    def _seen(self, event: ParticipantSeen) -> list[Change]:
        is_new = self._people.see(event)
        early = self._early.pop(event.key, [])
        if event.key in self._people.self_keys:
            return []
        participant = self._people.known[event.key]
        tracked: list[Change] = (
            [PersonTracked(participant=participant, at_ms=event.at_ms)] if is_new and participant.name else []
        )
        return tracked + self._mark([(event.key, speaking, at_ms) for at_ms, speaking in early])

    def _left(self, event: ParticipantLeft) -> list[Change]:
        changes = self._mark([(event.key, False, event.at_ms)])
        if event.key in self._people.present:
            self._people.present.discard(event.key)
            participant = self._people.known[event.key]
            if participant.name and event.key not in self._people.self_keys:
                changes.append(PersonLeft(participant=participant, at_ms=event.at_ms))
        return changes

    def _show(self, marks: Iterable[Mark]) -> list[Change]:
        """Mark at once who is known, and of somebody whom no roster told of yet, once one does."""
        changes: list[Change] = []
        for key, speaking, at_ms in marks:
            if key in self._people.known:
                changes += self._mark([(key, speaking, at_ms)])
            else:
                early = self._early.setdefault(key, [])
                early.append((at_ms, speaking))
                del early[:-MOST_EARLY]
        return changes

    def _mark(self, marks: Iterable[Mark]) -> list[Change]:
        """Add to participants' events what is new in these marks."""
        changes: list[Change] = []
        for key, speaking, at_ms in marks:
            known = self._people.known.get(key)
            if known is None or (key in self._speaking) == speaking or key in self._people.self_keys:
                continue
            (self._speaking.add if speaking else self._speaking.discard)(key)
            kind = SpeakingKind.STARTED if speaking else SpeakingKind.STOPPED
            participant = replace(known, events=(*known.events, SpeakingEvent(type=kind, timestamp=at_ms)))
            self._people.write(participant)
            changes.append(PersonSpoke(participant=participant, speaking=speaking, at_ms=at_ms))
        return changes


def silenced(participants: Iterable[Participant], at_ms: int) -> list[PersonSpoke]:
    """Return what ends the speech of those who still speak by their last mark: nobody saw them go on after `at_ms`."""
    changes: list[PersonSpoke] = []
    for participant in participants:
        last = max(participant.events, key=lambda event: event.timestamp, default=None)
        if last is None or last.type is SpeakingKind.STOPPED:
            continue
        stop = SpeakingEvent(type=SpeakingKind.STOPPED, timestamp=max(at_ms, last.timestamp + 1))
        quiet = replace(participant, events=(*participant.events, stop))
        changes.append(PersonSpoke(participant=quiet, speaking=False, at_ms=stop.timestamp))
    return changes


def is_bot_name(name: str) -> bool:
    """Return whether a display name says of itself that it belongs to a recording bot."""
    words = "".join(letter if letter.isalnum() else " " for letter in name.casefold()).split()
    return not BOT_WORDS.isdisjoint(words)
