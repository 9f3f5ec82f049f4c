"""What a bot knows of the meeting it sits in: who is here, who speaks, when anything was last heard. Pure state."""

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


class Roster:
    """Folds meeting events into the picture that stop rules and the journal read.

    Two witnesses tell who speaks: captured audio per source (`heard`) and the site's own display. Once a
    participant's own source was heard, the audio alone is believed for that participant.
    """

    def __init__(self) -> None:
        self._participants: dict[str, Participant] = {}
        self._present: set[str] = set()
        self._self_keys: set[str] = set()
        self._sources: dict[str, str] = {}
        self._first_keys: dict[str, str] = {}  # another key of a participant → its key here
        self._recalled: set[str] = set()  # names that are keys, of an earlier page's participants
        self._earlier_names: tuple[str, ...] = ()  # of all whom earlier pages listed
        self._speaking: set[str] = set()
        self._sounding: set[str] = set()  # sources that are heard right now
        self._pending_speech: dict[str, int] = {}  # source speaks, its owner is not known yet → since when
        self._early: dict[str, list[tuple[int, bool]]] = {}  # shown (at, speaking) before the roster knew them
        self._believed: set[str] = set()  # keys whose own audio was heard
        self._stage: str | None = None  # key of whom the site shows large
        self._stage_speaks: str | None = None  # … while sound of nobody in particular is heard
        self._changed: set[str] = set()
        self.removed = False
        self.over = False
        self.last_sound_ms: int | None = None

    def recall(self, participants: Iterable[Participant]) -> None:
        """Those of earlier pages. Whom they knew by no more than a name, this one may know by a key."""
        known = tuple(participants)
        self._recalled = {participant.key for participant in known if participant.key == participant.name}
        self._earlier_names = tuple(participant.name for participant in known)

    @property
    def participants(self) -> tuple[Participant, ...]:
        """Everyone ever seen but the bot itself, in order of first sight."""
        return tuple(p for key, p in self._participants.items() if key not in self._self_keys)

    @property
    def sources(self) -> Mapping[str, str]:
        """Audio source → participant key."""
        return self._sources

    @property
    def company(self) -> frozenset[str]:
        """Keys of the people here now: neither the bot itself nor, by their names, other bots."""
        return frozenset(
            key for key in self._present if key not in self._self_keys and not is_bot_name(self._participants[key].name)
        )

    @property
    def has_company(self) -> bool:
        """Whether anybody is here now: listed, or, while this page listed nobody yet, shown speaking."""
        if self.company or self._has_people(participant.name for participant in self.participants):
            return bool(self.company)
        return any(marks[-1][1] for marks in self._early.values())

    @property
    def company_seen(self) -> bool:
        """Whether anybody else was here, ever. Whom an earlier page listed, and who was only shown speaking, counts
        once this page's roster was read at all: they may have left before the bot looked at it, while a page without
        any roster cannot tell who is left."""
        if not self._participants:
            return False
        if self._has_people([*self._earlier_names, *(participant.name for participant in self.participants)]):
            return True
        return any(speaking for marks in self._early.values() for _, speaking in marks)

    def _has_people(self, names: Iterable[str]) -> bool:
        """Whether one of these is neither a bot nor of the bot's own name: sites show what an earlier page of its own
        left behind as somebody else, for a while."""
        own = {self._participants[key].name for key in self._self_keys} - {""}
        return any(name not in own and not is_bot_name(name) for name in names)

    @property
    def someone_shown_speaking(self) -> bool:
        return bool(self._speaking)

    def take_changed(self) -> tuple[Participant, ...]:
        """Participants that changed since the last call: what the journal has to write."""
        changed = tuple(self._participants[key] for key in sorted(self._changed - self._self_keys))
        self._changed.clear()
        return changed

    def keep_changed(self, participants: Iterable[Participant]) -> None:
        """The journal could not write these: they are still to be written."""
        self._changed.update(participant.key for participant in participants)

    def apply(self, event: MeetingEvent) -> list[Change]:
        """Fold in one event from the page; returns what listeners should hear of."""
        match event := self._by_first_key(event):
            case ParticipantSeen():
                return self._seen(event)
            case ParticipantLeft():
                return self._left(event)
            case SourceNamed():
                return self._named(event)
            case SpeakingChanged():
                return self._shown(event.key, event.speaking, event.at_ms)
            case StageTaken():
                self._stage = event.key
                return self._on_stage(event.at_ms)
            case ChatReceived():
                return [PersonWrote(message=event)]
            case Removed():
                self.removed = True
            case MeetingOver():
                self.over = True
        return []

    def _by_first_key(self, event: MeetingEvent) -> MeetingEvent:
        """A participant keeps the key it was first told of by, whatever another witness calls it."""
        if isinstance(event, ParticipantSeen):
            known_as = event.known_as or (event.name if event.name in self._recalled and not event.is_self else None)
            self._recalled.discard(event.name)
            if known_as and known_as != event.key and event.key not in self._participants:
                self._first_keys[event.key] = self._first_keys.get(known_as, known_as)
        if isinstance(event, ChatReceived | Removed | MeetingOver) or event.key not in self._first_keys:
            return event
        return replace(event, key=self._first_keys[event.key])

    def heard(self, source: str, speaking: bool, at_ms: int) -> list[Change]:
        """Captured audio says that a source began or stopped to carry sound."""
        (self._sounding.add if speaking else self._sounding.discard)(source)
        if speaking:
            self.last_sound_ms = at_ms
        key = self._sources.get(source)
        if not key:  # not told yet, or told to be nobody's
            if speaking:
                self._pending_speech[source] = at_ms
            else:
                self._pending_speech.pop(source, None)
            return self._on_stage(at_ms)
        self._believed.add(key)
        return self._spoke(key, speaking, at_ms)

    def _on_stage(self, at_ms: int) -> list[Change]:
        """Who stands there speaks while sound without an owner is heard, and no longer."""
        now = self._stage if self._pending_speech else None
        before, self._stage_speaks = self._stage_speaks, now
        if now == before:
            return []
        marks = [(key, key == now) for key in (before, now) if key is not None]
        return [change for key, speaking in marks for change in self._shown(key, speaking, at_ms)]

    def _shown(self, key: str, speaking: bool, at_ms: int) -> list[Change]:
        """The site's display says it: told at once, or, of somebody whom no roster told of yet, once one does."""
        if key in self._believed:
            return []
        if key in self._participants:
            return self._spoke(key, speaking, at_ms)
        marks = self._early.setdefault(key, [])
        marks.append((at_ms, speaking))
        del marks[:-MOST_EARLY]
        return []

    def sound(self, at_ms: int) -> None:
        """Something audible was captured, whoever made it."""
        self.last_sound_ms = at_ms

    def hush(self, at_ms: int) -> list[Change]:
        """The stay is over: nobody speaks any more."""
        return [change for key in sorted(self._speaking) for change in self._spoke(key, False, at_ms)]

    def _seen(self, event: ParticipantSeen) -> list[Change]:
        if event.is_self:
            self._self_keys.add(event.key)
        known = self._participants.get(event.key)
        participant = (
            replace(known, name=event.name or known.name, avatar=event.avatar or known.avatar)
            if known
            else Participant(
                key=event.key,
                name=event.name,
                avatar=event.avatar,
                first_seen_at=datetime.fromtimestamp(event.at_ms / 1000, UTC),
            )
        )
        if participant != known:
            self._participants[event.key] = participant
            self._changed.add(event.key)
        back = event.key not in self._present
        self._present.add(event.key)
        early = self._early.pop(event.key, [])
        if event.key in self._self_keys:
            return []
        tracked: list[Change] = (
            [PersonTracked(participant=participant, at_ms=event.at_ms)] if back and participant.name else []
        )
        return tracked + [change for at_ms, speaking in early for change in self._spoke(event.key, speaking, at_ms)]

    def _left(self, event: ParticipantLeft) -> list[Change]:
        changes = self._spoke(event.key, False, event.at_ms)
        if event.key in self._present:
            self._present.discard(event.key)
            participant = self._participants[event.key]
            if participant.name and event.key not in self._self_keys:
                changes.append(PersonLeft(participant=participant, at_ms=event.at_ms))
        return changes

    def _named(self, event: SourceNamed) -> list[Change]:
        before = self._sources.get(event.source)
        if before == event.key:
            return []
        self._sources[event.source] = event.key
        handed_on = before if event.source in self._sounding else None  # what is heard is another's from now on
        ended = self._spoke(handed_on, False, event.at_ms) if handed_on else []
        since = event.at_ms if handed_on else self._pending_speech.pop(event.source, None)
        if since is None:
            return []
        if not event.key:  # it is heard on, and nobody knows whose it is
            self._pending_speech[event.source] = since
            return ended
        self._believed.add(event.key)
        return ended + self._spoke(event.key, True, since)

    def _spoke(self, key: str, speaking: bool, at_ms: int) -> list[Change]:
        known = self._participants.get(key)
        if known is None or (key in self._speaking) == speaking or key in self._self_keys:
            return []
        (self._speaking.add if speaking else self._speaking.discard)(key)
        kind = SpeakingKind.STARTED if speaking else SpeakingKind.STOPPED
        participant = replace(known, events=(*known.events, SpeakingEvent(type=kind, timestamp=at_ms)))
        self._participants[key] = participant
        self._changed.add(key)
        return [PersonSpoke(participant=participant, speaking=speaking, at_ms=at_ms)]


def silenced(participants: Iterable[Participant], at_ms: int) -> list[PersonSpoke]:
    """What ends the speech of those whose last mark says that they speak: nobody saw them go on after this moment."""
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
    """Whether a display name says of itself that it belongs to a recording bot."""
    words = "".join(letter if letter.isalnum() else " " for letter in name.casefold()).split()
    return not BOT_WORDS.isdisjoint(words)
