"""Which call a Teams message is about: an account's page also receives the account's other calls (B2, 2026-09).

The page's own link, objects and requests name this call. Short links name none: then this call is the one whose roster
contains the bot. An account may be in several rosters; then it is the one with this page's endpoint, or the one whose
people the page shows.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

MOST_HELD = 40  # messages whose call is not known yet
MOST_TEXT = 20_000  # characters of a request that are searched for ids
ACCOUNTS = ("8:orgid:", "8:live:")  # guests have a key for each visit
_THREAD = re.compile(r"19:[^@\"'\\/\s]+@thread\.\w+", re.IGNORECASE)
_BREAKS = re.compile(r"[^\w:@.~-]+")
_ID = re.compile(r"(?=.*\d).{6,}")  # a part that may be an id, and is no word of an address
_CHAIN = "x-microsoft-skype-chain-id"  # the header with the id of the call (A; 2026-08)
# Requests about the page's own call: to join, and for its roster (B2; 2026-07).
_OWN_REQUESTS = ("flightproxy", "/conv/")


@dataclass(frozen=True, kw_only=True, eq=False)
class CallMessage:
    """A message's facts about its call and the people in it."""

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
    """Read a message's facts about its call. `text` is its body. `headers` are those of a socket frame; None for an
    answer to a request."""
    parts = urlsplit(url).path.lower().split("/")
    places = [place for place, part in enumerate(parts) if _ID.fullmatch(part)]
    on_socket = headers is not None
    ids = (parts[place] for place in (places[-1:] if on_socket else places))
    return CallMessage(
        people=people,
        entries=entries,
        is_answer=not on_socket,
        line="/".join(parts[: places[-1] + 1]) if on_socket and places else "",
        # On the socket, the part before the last id is the page's own, whichever the call.
        ids=frozenset(ids if on_socket else [*ids, "/".join(parts)]),
        chain=next((str(value).lower() for name, value in (headers or {}).items() if name.lower() == _CHAIN), ""),
        threads=frozenset(_THREAD.findall(f"{_plain(url)} {_plain(text)}")),
        endpoints=frozenset(
            str(endpoint).lower()
            for _, entry in entries
            if isinstance(entry_endpoints := entry.get("endpoints"), Mapping)
            for endpoint in entry_endpoints
        ),
    )


class OwnCall:
    """Returns messages about the bot's own call, and holds back the rest until it is known which call that is."""

    def __init__(self, own_name: str) -> None:
        self._own_key, self._own_names = "", {own_name} - {""}
        self._shown: frozenset[str] = frozenset()  # whom the page shows, by name
        self._ids: set[str] = set()  # of this call
        self._endpoints: set[str] = set()  # of this page
        self._lines: set[str] = set()  # … and chains: from messages that proved to be about this call
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

    def shows(self, names: frozenset[str], own_names: frozenset[str]) -> None:
        """Note whom the page shows, and under which names the bot."""
        self._shown = names
        self._own_names |= own_names

    # --- what follows ----------------------------------------------------------------------------------------------

    def take(self, message: CallMessage) -> list[CallMessage]:
        """Take a roster; return the messages that are known by now to be about this call."""
        if message.entries:
            self._held.append(message)
        return self.known()

    def known(self) -> list[CallMessage]:
        """Return the held messages that are known by now to be about this call, in the order in which they came."""
        waiting, own_ids = list(self._held), set[int]()
        while new_ids := {id(message) for message in waiting if id(message) not in own_ids and self.is_own(message)}:
            own_ids |= new_ids
            for message in waiting:  # by one message others may be known
                if id(message) in new_ids:
                    self._lines |= {message.line} - {""}
                    self._chains |= {message.chain} - {""}
                    self._ids |= message.threads
        if own_ids:
            self._held = deque((message for message in waiting if id(message) not in own_ids), maxlen=MOST_HELD)
        return [message for message in waiting if id(message) in own_ids]

    def is_own(self, message: CallMessage) -> bool | None:
        """Return whether a message is about this call; None if that is not known."""
        threads = {thread for thread in self._ids if _THREAD.fullmatch(thread)}
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
        """Return whether a call that ended is this one: messages about other calls named people who are not here."""
        verdict = self.is_own(message)
        if verdict is not None:
            return verdict
        if any(message.line == other.line and message.chain == other.chain for other in self._held):
            return False
        return not self._lines or message.chain in self._chains

    def has_bot(self, message: CallMessage) -> bool:
        """Return whether a roster contains the bot. An account may also be in another call's roster: so most of the
        others in it must be on the page, or most of those on the page must be in it."""
        bot_keys = {
            key
            for key, name in message.people.items()
            if (key == self._own_key if self._own_key else name in self._own_names)
        }
        if any(not key.startswith(ACCOUNTS) for key in bot_keys):
            return True
        names = {message.people[key] for key in bot_keys} | self._own_names
        other_names, shown_names = set(message.people.values()) - names - {""}, self._shown - names
        return bool(bot_keys) and 2 * len(other_names & shown_names) > min(len(other_names), len(shown_names))


def _ids_in(text: str) -> Iterator[str]:
    return (part for part in _BREAKS.split(_plain(text)) if _ID.fullmatch(part))


def _plain(text: str) -> str:
    # Links may be encoded inside links, hence twice.
    return unquote(unquote(text)).lower()
