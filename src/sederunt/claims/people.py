"""Matches people of two sources, by key or by name."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sederunt.claims.claim import Subject
from sederunt.claims.table import SourceTable


def matched(protocol: SourceTable, rows: Iterable[Subject]) -> dict[str, str]:
    """Match rows of a page with people of the protocol: row → key. A row that the protocol does not know keeps its own
    token.

    If several people have one name, as many are matched as there are rows of that name, beginning with those who are
    here. A row whose name the protocol spells differently is matched if only one candidate remains.
    """
    matches: dict[str, str] = {}
    by_name: dict[str, list[Subject]] = defaultdict(list)
    for row in rows:
        if row.key in protocol.words:
            matches[row.token] = row.key
        else:
            by_name[row.name].append(row)
    used_keys = set(matches.values())
    bearers = _bearers(protocol, used_keys)
    strangers: list[Subject] = []
    for name in sorted(by_name):
        namesakes = sorted(by_name[name], key=lambda row: row.token)
        keys = bearers.get(name, [])
        matches |= {row.token: key for row, key in zip(namesakes, keys, strict=False)}
        strangers += namesakes[len(keys) :]
    return matches | _spelt_otherwise(strangers, protocol, used_keys | set(matches.values()))


def _bearers(protocol: SourceTable, used_keys: set[str]) -> Mapping[str, list[str]]:
    # Name → keys: first people who are here, then those who left, the latest first.
    bearers: dict[str, list[tuple[bool, int, str]]] = defaultdict(list)
    for key, word in protocol.words.items():
        if word.subject.name and key not in used_keys:
            bearers[word.subject.name].append((not word.holds, 0 if word.holds else -word.since_ms, key))
    return {name: [key for _, _, key in sorted(entries)] for name, entries in bearers.items()}


def _spelt_otherwise(strangers: list[Subject], protocol: SourceTable, used_keys: set[str]) -> dict[str, str]:
    free_keys: dict[str, list[str]] = defaultdict(list)
    for key, word in protocol.words.items():
        if word.holds and key not in used_keys and word.subject.name:
            free_keys[_first_word(word.subject.name)].append(key)
    rows: dict[str, list[str]] = defaultdict(list)
    for row in strangers:
        rows[_first_word(row.name)].append(row.token)
    return {
        token: free_keys[first][0] if len(tokens) == len(free_keys.get(first, ())) == 1 else token
        for first, tokens in rows.items()
        for token in tokens
    }


def _first_word(name: str) -> str:
    return (name.split() or [""])[0].casefold()
