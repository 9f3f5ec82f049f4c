"""Read roster, speaking and chat from the page's DOM, as claims like those of any other source."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sederunt.claims.claim import Claim, Extent, Fact, Source, Subject, here, speak
from sederunt.model.events import ChatReceived
from sederunt.platforms.platform import Told

if TYPE_CHECKING:
    from sederunt.browser.signals import Signal

# Remarks that sites append to names.
_SUFFIX = re.compile(
    r",? ?[(\[](?:you|me|host|co-host|guest|unverified|external|meeting host|organi[sz]er|presenting|presenter|"
    r"host, me|me, host|me, guest|co-host, me)[)\]]\s*$",
    re.IGNORECASE,
)
_SELF_MARK = re.compile(r"[(\[](?:you|me|host, me|me, host|me, guest|co-host, me)[)\]]\s*$", re.IGNORECASE)
_SHARE = re.compile(r"[(\[](?:presenting|presentation|presenter)[)\]]\s*$", re.IGNORECASE)

# A page's own sentences about the meeting, for the watch plan of any site. Stems in lower case.
BANNER: Mapping[str, Any] = {
    "row": '[role="status"],[role="alert"],[aria-live],[role="heading"],h1,h2,h3',
    "never": '[role="log"],[role="list"],[role="listitem"],[role="tree"],[contenteditable],[data-message-id],'
    '[data-tid^="chat-pane"],[class*="chat-" i]',
    "longest": 200,
    "alone": [
        "you're the only one here",
        "you are the only one here",
        "you're the only one in",
        "you are the only one in",
        "no one else is here",
        "nobody else is here",
        "you are the only participant",
        "you're the only participant",
        "waiting for others to join",
    ],
    "recorded": ["is being recorded", "recording in progress", "recording has started", "is recording this"],
}
_OWN_NAMES = frozenset({"you", "me"})


def bare_name(name: str) -> str:
    """Return a display name without the site's remarks."""
    name = " ".join(name.split())
    while (stripped := _SUFFIX.sub("", name)) != name:
        name = stripped
    return name


class DomSignals:
    """Decodes signals of kind roster, speaking, stage, self, banner and chat."""

    def __init__(
        self,
        own_name: str = "",
        *,
        read_person: Callable[[Mapping[str, Any]], Subject | None] | None = None,
        read_message: Callable[[Mapping[str, Any]], tuple[str, str]] | None = None,
        read_name: Callable[[str], str] = bare_name,
    ) -> None:
        """`own_name` is the bot's name: not every site marks the user's own entry. `read_person` and `read_message`
        (→ sender, text) read rows of sites that put more than one fact into one field; `read_name` removes what the
        site appends to the name of a speaker or an author."""
        self._own_name = own_name
        self._read_person = read_person or as_person
        self._read_message = read_message or _message
        self._read_name = read_name
        self._rows_told = False
        self._staged = False  # only the stage has shown people so far

    def introduce(self, at_ms: int) -> list[Told]:
        """Claim once under which name the bot enters."""
        own_name, self._own_name = self._own_name, ""
        return (
            [Claim(fact=Fact.SELF, source=Source.ENTRY, at_ms=at_ms, subjects=(Subject(name=own_name),))]
            if own_name
            else []
        )

    def decode(self, signal: Signal) -> Sequence[Told]:
        """Return the claims of one signal, the bot's own name first; of another kind nothing but that name."""
        return [*self.introduce(signal.at_ms), *self._decode(signal)]

    def _decode(self, signal: Signal) -> Sequence[Told]:
        data, at_ms = signal.data, signal.at_ms
        match signal.kind:
            case "roster":
                return self._people(data.get("people"), at_ms, whole=data.get("whole") is not False)
            case "speaking" if isinstance(keys := data.get("keys"), list):
                return [speak(Source.MARKS, [self._read_name(str(key)) for key in keys if key], at_ms)]
            case "stage":
                return self._stage(str(data.get("key") or ""), at_ms)
            case "self" if key := str(data.get("key") or ""):
                return [Claim(fact=Fact.SELF, source=Source.PROTOCOL, at_ms=at_ms, subjects=(Subject(key=key),))]
            case "banner":
                return _banner(data, at_ms)
            case "chat":
                return self._message(data, at_ms)
            case _:
                return []

    def _stage(self, label: str, at_ms: int) -> list[Told]:
        # On a page that has shown no list and no tile yet, the person on the stage counts as present. The stage never
        # shows that somebody left.
        name = bare_name(label)
        subjects = (Subject(key=name),) if name else ()
        stage_claim = Claim(fact=Fact.STAGE, source=Source.STAGE, kind=Extent.SNAPSHOT, at_ms=at_ms, subjects=subjects)
        person = self._read_person({"name": label, "key": label}) if name and not self._rows_told else None
        if person is None:
            return [stage_claim]
        self._staged = True
        return [stage_claim, here(Source.TILES, [person], at_ms)]

    def _people(self, people: object, at_ms: int, *, whole: bool) -> list[Told]:
        # While the list is shown, its rows together with the tiles are everybody; without it the tiles are only some.
        # An empty list is a closed one.
        if not isinstance(people, list):
            return []
        entries = [entry for entry in people if isinstance(entry, Mapping)]
        persons = [person for entry in entries if (person := self._read_person(entry))]
        closed_source, open_source = (Source.TILES, Source.LIST) if whole else (Source.LIST, Source.TILES)
        claims = [Claim(fact=Fact.HERE, source=closed_source, kind=Extent.CLOSED, at_ms=at_ms)]
        if not persons:
            return [*claims, Claim(fact=Fact.HERE, source=open_source, kind=Extent.CLOSED, at_ms=at_ms)]
        self._rows_told = True
        if self._staged:  # from now on rows show who is here; the closed claim must be older than its closing
            claims.insert(0, here(Source.TILES, (), at_ms - 1, Extent.SNAPSHOT))
            self._staged = False
        return [*claims, here(open_source, persons, at_ms, Extent.SNAPSHOT)]

    def _message(self, data: Mapping[str, Any], at_ms: int) -> list[Told]:
        sender, text = self._read_message(data)
        sender, text = self._read_name(sender), text.strip()
        if not text:
            return []
        message_id = str(data.get("id") or "") or None
        is_own = sender.lower() in _OWN_NAMES
        return [
            ChatReceived(username=sender, content=text, at_ms=at_ms, message_id=message_id, is_own=is_own, by_page=True)
        ]


def _banner(data: Mapping[str, Any], at_ms: int) -> list[Told]:
    is_alone, is_recorded, count = bool(data.get("alone")), bool(data.get("recorded")), data.get("count")
    number = 1 if is_alone else count if type(count) is int and count > 0 else None
    return [
        Claim(fact=Fact.COUNT, source=Source.BANNER, at_ms=at_ms, number=number)
        if number
        else Claim(fact=Fact.COUNT, source=Source.BANNER, at_ms=at_ms, kind=Extent.CLOSED),
        Claim(fact=Fact.RECORDED, source=Source.BANNER, at_ms=at_ms, holds=is_recorded),
    ]


def as_person(entry: Mapping[str, Any], read_name: Callable[[str], str] = bare_name) -> Subject | None:
    """Read a row of a list, or a tile; None if it is no person: a shared screen, or a row without a name."""
    displayed_name = str(entry.get("name") or "")
    name = read_name(displayed_name)
    if not name or _SHARE.search(displayed_name):
        return None
    key = str(entry.get("key") or "")
    return Subject(
        key=name if key in ("", displayed_name) else key,  # a row without an id is identified by its name
        name=name,
        avatar=str(entry.get("avatar") or "") or None,
        is_self=bool(entry.get("is_self")) or bool(_SELF_MARK.search(displayed_name)),
    )


def _message(entry: Mapping[str, Any]) -> tuple[str, str]:
    return str(entry.get("sender") or ""), str(entry.get("text") or "")
