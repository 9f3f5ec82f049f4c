"""Which call a message of Teams is about: the page of an account hears of the account's other calls, too (B2, 2026-09).

What the page's own link, objects and requests name is this call. Short links name none: then the one in whose roster
the bot stands is this one. An account may stand in several; of those it is the one with this page's endpoint, or the
one whose people the page shows.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

MOST_HELD = 40  # messages of calls of which it is not known yet whether they are this one
MOST_TEXT = 20_000  # characters of a request in which ids are looked for
ACCOUNTS = ("8:orgid:", "8:live:")  # guests have a key for each visit
_THREAD = re.compile(r"19:[^@\"'\\/\s]+@thread\.\w+", re.IGNORECASE)
_BREAKS = re.compile(r"[^\w:@.~-]+")
_ID = re.compile(r"(?=.*\d).{6,}")  # what may be an id, and is no word of an address
_CHAIN = "x-microsoft-skype-chain-id"  # the header with the id of the call (A; 2026-08)
# Requests about the call that the page itself is in: to join, and for its roster (B2; 2026-07).
_OWN_REQUESTS = ("flightproxy", "/conv/")


@dataclass(frozen=True, kw_only=True, eq=False)
class CallMessage:
    """What a message says of its call, and of the people in it."""

    people: Mapping[str, str]  # key → name
    entries: Sequence[tuple[str, Mapping[str, Any]]] = ()
    is_answer: bool = False  # to a request; else it came on the socket
    line: str = ""  # address of the call on the socket, as far as the last id in it
    ids: frozenset[str] = frozenset()
    chain: str = ""
    threads: frozenset[str] = frozenset()
    endpoints: frozenset[str] = frozenset()


def call_message(
    url: str,
    text: str,
    entries: Sequence[tuple[str, Mapping[str, Any]]],
    people: Mapping[str, str],
    headers: Mapping[str, Any] | None = None,
) -> CallMessage:
    """Read what a message says of its call. `text`: its body. `headers`: of a frame of the socket; None for an answer
    to a request."""
    parts = urlsplit(url).path.lower().split("/")
    places = [place for place, part in enumerate(parts) if _ID.fullmatch(part)]
    on_socket = headers is not None
    ids = (parts[place] for place in (places[-1:] if on_socket else places))
    return CallMessage(
        people=people,
        entries=entries,
        is_answer=not on_socket,
        line="/".join(parts[: places[-1] + 1]) if on_socket and places else "",
        # On the socket what stands before the last id is the page's, whichever the call.
        ids=frozenset(ids if on_socket else [*ids, "/".join(parts)]),
        chain=next((str(value).lower() for name, value in (headers or {}).items() if name.lower() == _CHAIN), ""),
        threads=frozenset(_THREAD.findall(f"{_plain(url)} {_plain(text)}")),
        endpoints=frozenset(
            str(endpoint).lower()
            for _, entry in entries
            if isinstance(found := entry.get("endpoints"), Mapping)
            for endpoint in found
        ),
    )


class OwnCall:
    """Gives out what is about the bot's own call, and holds back the rest until it is known which call that is."""

    def __init__(self, own_name: str) -> None:
        self._own_key, self._own_names = "", {own_name} - {""}
        self._shown: frozenset[str] = frozenset()  # whom the page shows, by name
        self._ids: set[str] = set()  # of this call
        self._endpoints: set[str] = set()  # of this page
        self._lines: set[str] = set()  # … and chains: of messages that turned out to be of this call
        self._chains: set[str] = set()
        self._held: deque[CallMessage] = deque(maxlen=MOST_HELD)

    # --- what the page tells of itself -----------------------------------------------------------------------------

    def named(self, text: str) -> None:
        """Note an id of the call, or an address that holds one."""
        self._ids |= set(_ids_in(text))

    def requested(self, url: str, request: str) -> None:
        """Note a request that the page made."""
        if any(part in url.lower() for part in _OWN_REQUESTS):
            self.named(f"{url} {request[:MOST_TEXT]}")
            self._ids.add(urlsplit(url).path.lower())

    def connected(self, url: str) -> None:
        """Note the address of the page's own socket."""
        self._endpoints |= set(_ids_in(urlsplit(url).query))

    def bot_is(self, key: str) -> None:
        """Note the key of the bot in rosters."""
        self._own_key = key

    def shows(self, names: frozenset[str], own: frozenset[str]) -> None:
        """Note whom the page shows, and under which names the bot."""
        self._shown = names
        self._own_names |= own

    # --- what follows ----------------------------------------------------------------------------------------------

    def take(self, message: CallMessage) -> list[CallMessage]:
        """Take a roster; returns what is known by now to be of this call."""
        if message.entries:
            self._held.append(message)
        return self.known()

    def known(self) -> list[CallMessage]:
        """Return those held back that are known by now to be of this call, in the order in which they came."""
        waiting, own = list(self._held), set[int]()
        while found := {id(each) for each in waiting if id(each) not in own and self.is_own(each)}:
            own |= found
            for each in waiting:  # by one message others may be known
                if id(each) in found:
                    self._lines |= {each.line} - {""}
                    self._chains |= {each.chain} - {""}
                    self._ids |= each.threads
        if own:
            self._held = deque((each for each in waiting if id(each) not in own), maxlen=MOST_HELD)
        return [each for each in waiting if id(each) in own]

    def is_own(self, message: CallMessage) -> bool | None:
        """Return whether a message is of this call; None where that is not known."""
        threads = {each for each in self._ids if _THREAD.fullmatch(each)}
        if len(message.threads) > 1:
            return False
        if threads and message.threads:
            return not message.threads.isdisjoint(threads)
        if not message.endpoints.isdisjoint(self._ids | self._endpoints) or self.has_bot(message):
            return True
        has_chain = message.chain in self._chains or message.chain in self._ids
        if self._chains and message.chain and not has_chain:
            return None
        if message.line in self._lines or not message.ids.isdisjoint(self._ids):
            return True
        return True if has_chain and not (message.line and self._lines) else None

    def is_own_end(self, message: CallMessage) -> bool:
        """Return whether the end of a call is this one's: of others people were told, who are not here."""
        known = self.is_own(message)
        if known is not None:
            return known
        if any(message.line == each.line and message.chain == each.chain for each in self._held):
            return False
        return not self._lines or message.chain in self._chains

    def has_bot(self, message: CallMessage) -> bool:
        """Return whether the bot stands in a roster. An account may stand in another call's, too: then most of the
        others in it have to be on the page, or most of those on the page in it."""
        mine = {
            key
            for key, name in message.people.items()
            if (key == self._own_key if self._own_key else name in self._own_names)
        }
        if any(not key.startswith(ACCOUNTS) for key in mine):
            return True
        names = {message.people[key] for key in mine} | self._own_names
        others, shown = set(message.people.values()) - names - {""}, self._shown - names
        return bool(mine) and 2 * len(others & shown) > min(len(others), len(shown))


def _ids_in(text: str) -> Iterator[str]:
    return (part for part in _BREAKS.split(_plain(text)) if _ID.fullmatch(part))


def _plain(text: str) -> str:
    """Links are encoded in links."""
    return unquote(unquote(text)).lower()
