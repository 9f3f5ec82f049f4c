"""What a page's own display tells: roster, speaking and chat as seen in the DOM, where the network says nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sederunt.model.events import ChatReceived, MeetingEvent, SpeakingChanged, StageTaken
from sederunt.platforms.roster_reader import ChatLedger, Person, RosterReader

if TYPE_CHECKING:
    from sederunt.browser.signals import Signal

# What sites append to names; none of it is part of the name.
_SUFFIX = re.compile(
    r"\s*[(\[](?:you|me|host|co-host|guest|unverified|external|meeting host|organi[sz]er|presenting|presenter|"
    r"host, me|me, host|me, guest|co-host, me)[)\]]\s*$",
    re.IGNORECASE,
)
_SELF_MARK = re.compile(r"[(\[](?:you|me|host, me|me, host|me, guest|co-host, me)[)\]]\s*$", re.IGNORECASE)
_SHARE = re.compile(r"[(\[](?:presenting|presentation|presenter)[)\]]\s*$", re.IGNORECASE)
_OWN_NAMES = frozenset({"you", "me"})


def bare_name(name: str) -> str:
    """A display name without the site's remarks."""
    name = " ".join(name.split())
    while (stripped := _SUFFIX.sub("", name)) != name:
        name = stripped
    return name


class DomSignals:
    """Decodes signals of kind roster, speaking, stage and chat."""

    def __init__(
        self,
        roster: RosterReader,
        chat: ChatLedger,
        *,
        read_person: Callable[[Mapping[str, Any]], Person | None] | None = None,
        read_message: Callable[[Mapping[str, Any]], tuple[str, str]] | None = None,
    ) -> None:
        """`read_person` and `read_message` (→ sender, text) read rows of sites that keep more than one fact in one."""
        self._roster, self._chat = roster, chat
        self._read_person = read_person or as_person
        self._read_message = read_message or _message
        self._speaking: set[str] = set()
        self._marked = False
        self.speaking_told = False  # the network told who speaks: the page is not asked any more

    def decode(self, signal: Signal) -> Sequence[MeetingEvent]:
        match signal.kind:
            case "roster":
                return self._people(
                    signal.data.get("people"), signal.at_ms, whole=signal.data.get("whole") is not False
                )
            case "speaking":
                return self._speech(signal.data.get("keys"), signal.at_ms)
            case "stage":
                return self._taken(str(signal.data.get("key") or ""), signal.at_ms)
            case "chat":
                return self._message(signal.data, signal.at_ms)
            case _:
                return []

    def _people(self, people: object, at_ms: int, *, whole: bool) -> list[MeetingEvent]:
        if not isinstance(people, list):
            return []
        entries = [entry for entry in people if isinstance(entry, Mapping)]
        shown = [person for entry in entries if (person := self._read_person(entry))]
        return self._roster.shown(shown, at_ms, whole=whole)

    def _speech(self, keys: object, at_ms: int) -> list[MeetingEvent]:
        """The page tells all who are shown speaking; what changed since the last time is an event."""
        if self.speaking_told or not isinstance(keys, list):
            return []
        now = {known for key in keys if (known := self._known_key(str(key)))}
        self._marked = self._marked or bool(now)
        changes = [(key, False) for key in sorted(self._speaking - now)]
        changes += [(key, True) for key in sorted(now - self._speaking)]
        self._speaking = now
        return [SpeakingChanged(key=key, speaking=speaking, at_ms=at_ms) for key, speaking in changes]

    def _taken(self, shown: str, at_ms: int) -> list[MeetingEvent]:
        """A site that marks who speaks needs no stage, and one that marked anybody once does mark."""
        if self.speaking_told or self._marked or not shown:
            return []
        return [StageTaken(key=self._known_key(shown), at_ms=at_ms)]

    def _known_key(self, shown: str) -> str:
        """The roster's key of somebody shown by key or by name; what was shown where the roster knows neither."""
        if self._roster.person(shown):
            return shown
        return self._roster.key_of(bare_name(shown)) or shown

    def _message(self, data: Mapping[str, Any], at_ms: int) -> list[MeetingEvent]:
        sender, text = self._read_message(data)
        sender, text = bare_name(sender), text.strip()
        if not text:
            return []
        if sender.lower() in _OWN_NAMES:
            sender = self._roster.self_name() or sender
        message_id = str(data.get("id") or "") or None
        told = ChatReceived(username=sender, content=text, at_ms=at_ms, message_id=message_id)
        return self._chat.first_word(told, "page")


def as_person(entry: Mapping[str, Any]) -> Person | None:
    """A row of a list, or a tile; None where it is nobody: a shared screen, or one without a name."""
    shown = str(entry.get("name") or "")
    name = bare_name(shown)
    if not name or _SHARE.search(shown):
        return None
    key = str(entry.get("key") or "")
    return Person(
        key=name if key in ("", shown) else key,  # a row without an id is known by its name
        name=name,
        avatar=str(entry.get("avatar") or "") or None,
        is_self=bool(entry.get("is_self")) or bool(_SELF_MARK.search(shown)),
    )


def _message(entry: Mapping[str, Any]) -> tuple[str, str]:
    return str(entry.get("sender") or ""), str(entry.get("text") or "")
