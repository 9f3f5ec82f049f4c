"""One claim: what a source says of one kind of fact at one moment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any


class Fact(StrEnum):
    """What a claim is about, and what its subjects are."""

    HERE = "here"  # people in the meeting
    SPEAKS = "speaks"  # people who speak, or media sources whose owners speak
    STAGE = "stage"  # the person whom the site shows large
    SHARES = "shares"  # people who share their screen
    OWNS = "owns"  # person `key` owns media source `media`; an empty key: no particular person
    SOUND = "sound"  # media sources that carry sound
    SELF = "self"  # the bot's own key or name
    LET_IN = "let_in"  # the bot waited outside and was let in: somebody was here
    COUNT = "count"  # `number` of people in the meeting, the bot included
    RECORDED = "recorded"  # the site says that it records
    REMOVED = "removed"  # the bot was put out
    OVER = "over"  # the meeting ended for everyone


class Source(StrEnum):
    """Where a claim comes from."""

    PROTOCOL = "protocol"  # the site's own channels
    LIST = "list"  # the page's list of people
    TILES = "tiles"  # pictures on the page: not everybody has one
    MARKS = "marks"  # the page's marks of speech
    STAGE = "stage"  # the page's large picture
    BANNER = "banner"  # the page's sentences and badges
    CAPTURE = "capture"  # the captured sound itself
    CHAT = "chat"  # a chat line of the bot that came back
    ENTRY = "entry"  # the name that was typed, or shown before the knock


class Extent(StrEnum):
    SNAPSHOT = "snapshot"  # everything its source knows at that moment
    DELTA = "delta"  # only about its subjects
    SEVERAL = "several"  # a message that may be either: the source's habit decides
    CLOSED = "closed"  # the source sees nothing any more: its statements stand, and age


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A person (by the source's key or by name), or a media source."""

    key: str = ""
    name: str = ""
    avatar: str | None = None
    is_self: bool = False
    media: str = ""
    lasting: bool = False  # the key is an account's: a person keeps it when they come back

    @property
    def token(self) -> str:
        """Return the subject's identifier within its source."""
        return self.media or self.key or self.name

    def with_known(self, other: "Subject") -> "Subject":
        """Return this subject, with missing fields taken from an older statement about it."""
        return replace(
            self,
            name=self.name or other.name,
            avatar=self.avatar or other.avatar,
            is_self=self.is_self or other.is_self,
            lasting=self.lasting or other.lasting,
        )

    @property
    def order(self) -> tuple[str, str, bool, str, str]:
        """Return the key that breaks ties between statements of one moment."""
        return (self.name, self.avatar or "", self.is_self, self.key, self.media)


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """`holds` is false for a delta that denies; `lifetime_ms` overrides the table's."""

    fact: Fact
    source: Source
    at_ms: int  # Unix milliseconds
    kind: Extent = Extent.DELTA
    subjects: tuple[Subject, ...] = ()
    holds: bool = True
    number: int | None = None
    lifetime_ms: int | None = None

    def to_data(self) -> dict[str, Any]:
        """Return JSON data without defaults; `from_data` reads it back."""
        data = _told(self)
        if self.subjects:
            data["subjects"] = [_told(subject) for subject in self.subjects]
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Claim":
        """Read what `to_data` wrote. Raises ValueError, TypeError or KeyError where the data are no claim."""
        subjects = tuple(Subject(**subject) for subject in data.get("subjects", ()))
        return cls(
            **{
                **data,
                "fact": Fact(data["fact"]),
                "source": Source(data["source"]),
                "kind": Extent(data.get("kind", Extent.DELTA)),
                "subjects": subjects,
            }
        )


def _told(record: Claim | Subject) -> dict[str, Any]:
    return {field.name: value for field in fields(record) if (value := getattr(record, field.name)) != field.default}


def here(source: Source, people: Iterable[Subject], at_ms: int, kind: Extent = Extent.DELTA) -> Claim:
    """Claim that these people are in the meeting."""
    return Claim(fact=Fact.HERE, source=source, kind=kind, at_ms=at_ms, subjects=tuple(people))


def gone(key: str, at_ms: int) -> Claim:
    """Claim, by the protocol, that a person is no longer in the meeting."""
    return Claim(fact=Fact.HERE, source=Source.PROTOCOL, at_ms=at_ms, subjects=(Subject(key=key),), holds=False)


def speak(source: Source, keys: Iterable[str], at_ms: int, *, media: Iterable[str] = ()) -> Claim:
    """Claim that exactly these people and the owners of these media sources speak."""
    subjects = (*(Subject(key=key) for key in keys), *(Subject(media=source_id) for source_id in media))
    return Claim(fact=Fact.SPEAKS, source=source, kind=Extent.SNAPSHOT, at_ms=at_ms, subjects=subjects)


def owns(media: str, key: str, at_ms: int) -> Claim:
    """Claim the owner of a media source; an empty key means no particular person."""
    return Claim(fact=Fact.OWNS, source=Source.PROTOCOL, at_ms=at_ms, subjects=(Subject(media=media, key=key),))


def said(fact: Fact, at_ms: int, source: Source = Source.PROTOCOL, *, holds: bool = True) -> Claim:
    """Claim a fact about the meeting as a whole."""
    return Claim(fact=fact, source=source, at_ms=at_ms, holds=holds)
