"""Decides who is here when sources disagree, by the first rule of an ordered list that applies. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sederunt.claims.claim import Source
from sederunt.claims.people import matched
from sederunt.claims.rules import (
    CONTRADICTED_MS,
    HEARD_LATE_MS,
    HEARD_MS,
    NEWCOMER_MS,
    ONLY_ONE_MS,
    SHORT_LIST,
)
from sederunt.claims.table import SourceTable, Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Why a fact is believed: the rule that decided, its source, and since when."""

    rule: str
    source: Source
    since_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PresenceVerdict:
    here: bool
    reason: Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Testimony:
    """Everything the sources say about one person's presence."""

    protocol: Statement | None
    listed: Statement | None  # by the page's list
    shown: Statement | None  # on a tile
    unlisted_ms: int | None  # since when the open list leaves them out
    left_out: tuple[int, int] | None  # (from, until): the list left them out whenever it was read in this time
    omitted_ms: int | None  # since when messages of the protocol repeatedly leave them out
    has_list: bool  # the page's list was ever read
    rows: int  # of the open list
    protocol_holds: int  # how many people the protocol has here; below zero if it never reported anybody
    heard_ms: int | None  # when their own sound was last captured
    named_ms: int | None  # when the protocol last began to name them as speaking
    only_one_ms: int | None  # since when the page says that nobody else is here
    is_self: bool
    now_ms: int


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    here: bool
    source: Source
    since: Callable[[Testimony], int | None]  # since when the rule applies; None if it does not


def _heard(t: Testimony) -> int | None:
    # A voice that is heard belongs to somebody who is here.
    if t.heard_ms is None or t.now_ms - t.heard_ms > HEARD_MS:
        return None
    denied_ms = max(
        (word.since_ms for word in (t.protocol, t.listed, t.shown) if word and not word.holds), default=None
    )
    return t.heard_ms if denied_ms is None or t.heard_ms > denied_ms + HEARD_LATE_MS else None


def _named(t: Testimony) -> int | None:
    # The protocol says that they left, then that they speak, and the page still shows them: the report that they left
    # was late, or came twice.
    word = t.protocol
    if word is None or word.holds or t.named_ms is None or t.named_ms <= word.at_ms + HEARD_LATE_MS:
        return None
    return t.named_ms if any(other and other.holds for other in (t.listed, t.shown)) else None


def _left(t: Testimony) -> int | None:
    # The protocol says so of this very person. Two other sources that keep showing them for long outvote it.
    word = t.protocol
    if word is None or word.holds or not word.explicit:
        return None
    others = [other for other in (t.listed, t.shown) if other and other.holds and other.at_ms > word.at_ms]
    is_outvoted = len(others) > 1 and t.now_ms - word.since_ms >= CONTRADICTED_MS
    return None if is_outvoted else word.since_ms


def _only_one(t: Testimony) -> int | None:
    # The page says that the bot is alone. Protocol and list together outvote it; so does the protocol alone if it names
    # somebody as speaking afterwards.
    if t.only_one_ms is None or t.is_self or t.now_ms - t.only_one_ms < ONLY_ONE_MS:
        return None
    if t.named_ms is not None and t.named_ms > t.only_one_ms + HEARD_LATE_MS:
        return None
    if t.protocol and t.protocol.holds and t.listed and t.listed.holds:
        return None
    last_ms = max((word.at_ms for word in (t.protocol, t.listed, t.shown) if word and word.holds), default=0)
    return None if last_ms > t.only_one_ms else t.only_one_ms


def _unlisted(t: Testimony) -> int | None:
    # A short list leaves out for long a person whom the protocol has here, if only at two readings with the list closed
    # in between. One reading is enough if messages of the protocol leave them out, too.
    if t.left_out is None or t.protocol is None or not t.protocol.holds or t.is_self:
        return None
    since_ms = max(t.left_out[0], t.protocol.at_ms)
    is_confirmed = t.omitted_ms is not None and t.left_out[1] >= t.omitted_ms
    return since_ms if is_confirmed or t.left_out[1] - since_ms >= CONTRADICTED_MS else None


def _left_out_for_long(t: Testimony) -> int | None:
    # Messages leave them out for long, no tile shows them, and there is no list to read.
    if t.omitted_ms is None or t.has_list or (t.shown and t.shown.holds) or t.is_self:
        return None
    return t.omitted_ms if t.now_ms - t.omitted_ms >= CONTRADICTED_MS else None


def _told(t: Testimony) -> int | None:
    return t.protocol.since_ms if t.protocol and t.protocol.holds else None


def _listed(t: Testimony) -> int | None:
    # A listed person whom the protocol does not know, although it knows enough people, is believed later.
    if t.listed is None or not t.listed.holds:
        return None
    is_hasty = t.protocol is None and t.protocol_holds >= t.rows and t.now_ms - t.listed.since_ms < NEWCOMER_MS
    return None if is_hasty else t.listed.since_ms


def _shown(t: Testimony) -> int | None:
    # Tiles do not only show people, so a tile that the protocol does not know proves nothing.
    is_person = t.protocol is not None or t.protocol_holds < 0
    return t.shown.since_ms if t.shown and t.shown.holds and is_person else None


def _omitted(t: Testimony) -> int | None:
    return t.protocol.since_ms if t.protocol else None


def _off_list(t: Testimony) -> int | None:
    return t.unlisted_ms if t.unlisted_ms is not None else t.listed.since_ms if t.listed else None


def _no_tile(t: Testimony) -> int | None:
    return t.shown.since_ms if t.shown else None


RULES = (
    Rule("heard", True, Source.CAPTURE, _heard),
    Rule("named as speaking", True, Source.PROTOCOL, _named),
    Rule("left", False, Source.PROTOCOL, _left),
    Rule("only one here", False, Source.BANNER, _only_one),
    Rule("not listed for long", False, Source.LIST, _unlisted),
    Rule("left out for long", False, Source.PROTOCOL, _left_out_for_long),
    Rule("told", True, Source.PROTOCOL, _told),
    Rule("listed", True, Source.LIST, _listed),
    Rule("shown", True, Source.TILES, _shown),
    Rule("left out of a full list", False, Source.PROTOCOL, _omitted),
    Rule("not listed", False, Source.LIST, _off_list),
    Rule("not shown", False, Source.TILES, _no_tile),
)


def verdict(testimony: Testimony) -> PresenceVerdict | None:
    """Return the verdict of the first rule that applies; None if there is no testimony."""
    for rule in RULES:
        since_ms = rule.since(testimony)
        if since_ms is not None:
            return PresenceVerdict(here=rule.here, reason=Reason(rule=rule.name, source=rule.source, since_ms=since_ms))
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Presence:
    """The combined view of all sources: each person once, by the protocol's key or else by the page's."""

    verdicts: Mapping[str, PresenceVerdict]
    known_as: Mapping[str, str]  # a page's token → the person's
    confirmed_ms: Mapping[str, int]  # person → the last moment at which any source has them here


def picture(
    tables: Mapping[Source, SourceTable],
    *,
    last_heard_ms: Mapping[str, int],
    last_named_ms: Mapping[str, int],
    only_one_ms: int | None,
    own_keys: frozenset[str],
    canonical_keys: Mapping[str, str],
    omitted_ms: Callable[[str], int | None],
    now_ms: int,
) -> Presence:
    """Weigh all statements.

    Args:
        last_heard_ms: person → when their own sound was last captured.
        last_named_ms: person → when the protocol last began to name them as speaking.
        own_keys: the bot itself.
        canonical_keys: a page's token under which a person of the protocol was first reported → that person.
        omitted_ms: person → since when the protocol's messages leave them out.
    """
    protocol, listing, tiles = tables[Source.PROTOCOL], tables[Source.LIST], tables[Source.TILES]
    list_matches = matched(protocol, (word.subject for word in listing.words.values()))
    strangers = [word.subject for token, word in tiles.words.items() if token not in list_matches]
    # A former name still denotes the person who has a different name now.
    person_by_token = {
        token: canonical_keys.get(person, person)
        for token, person in (list_matches | matched(protocol, strangers)).items()
    }
    list_words = _by_person(listing, person_by_token)
    tile_words = _by_person(tiles, person_by_token)
    list_size = sum(word.holds for word in list_words.values())
    open_list_size = list_size if listing.is_open else 0
    protocol_size = sum(word.holds for word in protocol.words.values()) if protocol.words else -1
    verdicts: dict[str, PresenceVerdict] = {}
    confirmed_ms: dict[str, int] = {}
    for person in dict.fromkeys((*protocol.words, *list_words, *tile_words)):
        by_protocol, on_list = protocol.words.get(person), list_words.get(person)
        testimony = Testimony(
            protocol=by_protocol,
            listed=_seen_still(listing, on_list, by_protocol),
            # An open list names everybody. Tiles that are not read any more would still show people who have left.
            shown=_seen_still(tiles, tile_words.get(person), by_protocol)
            if tiles.is_open or not listing.is_open
            else None,
            unlisted_ms=_unlisted_since(listing, on_list) if open_list_size else None,
            left_out=_left_out(listing, on_list, now_ms) if 0 < list_size < SHORT_LIST else None,
            omitted_ms=omitted_ms(person),
            has_list=listing.first_ms is not None,
            rows=open_list_size,
            protocol_holds=protocol_size,
            heard_ms=last_heard_ms.get(person),
            named_ms=last_named_ms.get(person),
            only_one_ms=only_one_ms,
            is_self=person in own_keys,
            now_ms=now_ms,
        )
        if decision := verdict(testimony):
            verdicts[person] = decision
        confirmed_ms[person] = max(
            testimony.heard_ms or 0,
            _holds_until(protocol, by_protocol, None) if testimony.omitted_ms is None else 0,
            _holds_until(listing, on_list, now_ms),
            _holds_until(tiles, tile_words.get(person), now_ms),
        )
    return Presence(verdicts=verdicts, known_as=person_by_token, confirmed_ms=confirmed_ms)


def _holds_until(table: SourceTable, word: Statement | None, now_ms: int | None) -> int:
    # What a page shows is true now; a message was true when it arrived.
    if word is None or not word.holds:
        return 0
    return now_ms if now_ms is not None and table.is_open else word.at_ms


def _seen_still(table: SourceTable, word: Statement | None, by_protocol: Statement | None) -> Statement | None:
    # What a page showed before its list was closed counts only if the protocol says nothing.
    return word if table.is_open or by_protocol is None else None


def _by_person(table: SourceTable, person_by_token: Mapping[str, str]) -> dict[str, Statement]:
    # Of several rows of one person the one that holds counts, else the latest.
    statements: dict[str, Statement] = {}
    for token, word in table.words.items():
        person = person_by_token.get(token, token)
        other = statements.get(person)
        if other is None or (word.holds, word.at_ms, token) > (other.holds, other.at_ms, other.subject.token):
            statements[person] = word
    return statements


def _unlisted_since(listing: SourceTable, word: Statement | None) -> int | None:
    if word is not None:
        return None if word.holds else word.since_ms
    return listing.opened_ms


def _left_out(listing: SourceTable, word: Statement | None, now_ms: int) -> tuple[int, int] | None:
    since_ms = listing.first_ms if word is None else None if word.holds else word.since_ms
    until_ms = now_ms if listing.is_open else listing.snapshot_ms
    return None if since_ms is None or until_ms is None else (since_ms, until_ms)
