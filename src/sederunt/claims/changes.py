"""Changes that listeners are told about: changes of the roster, and chat."""

from dataclasses import dataclass

from sederunt.model.events import ChatReceived
from sederunt.model.participant import Participant


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonTracked:
    """A participant appeared for the first time, or came back."""

    participant: Participant
    at_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonLeft:
    """A participant who had been announced is no longer here."""

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


RosterChange = PersonTracked | PersonLeft | PersonSpoke
Change = RosterChange | PersonWrote
