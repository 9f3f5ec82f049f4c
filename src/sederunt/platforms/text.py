"""Cuts text never inside a visible character, and messages at white space. Lengths are UTF-16 units.

A field's `maxlength` counts UTF-16 units; a text cut by them fits under any of the sites' own counts.
"""

import unicodedata
from collections.abc import Iterator

_JOINER = "\u200d"
_VARIATION = {"\ufe0e", "\ufe0f", "\u20e3"}


def length(text: str) -> int:
    """Return the length in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def graphemes(text: str) -> Iterator[str]:
    """Yield the characters as people see them: marks, joined emoji, flags and skin tones stay whole."""
    cluster = ""
    for letter in text:
        if cluster and not _continues(cluster, letter):
            yield cluster
            cluster = ""
        cluster += letter
    if cluster:
        yield cluster


def cut(text: str, limit: int) -> str:
    """Return the text, white space folded, at most `limit` units long."""
    pieces, size = [], 0
    for grapheme in graphemes(" ".join(text.split())):
        size += length(grapheme)
        if size > limit:
            break
        pieces.append(grapheme)
    return "".join(pieces).rstrip()


def parts(text: str, limit: int) -> list[str]:
    """Return the text in parts of at most `limit` units, split at white space if there is any, else between
    characters."""
    pieces: list[str] = []
    rest = text.strip()
    while length(rest) > limit:
        head = _head(rest, limit)
        pieces.append(head.rstrip())
        rest = rest[len(head) :].lstrip()
    return [*pieces, rest] if rest else pieces


def _head(text: str, limit: int) -> str:
    # Returns the longest beginning within the limit that ends at white space; a single long word is cut.
    head, size, last_space = "", 0, 0
    for grapheme in graphemes(text):
        size += length(grapheme)
        if size > limit and head:
            fits_exactly = grapheme.isspace()
            return head if fits_exactly or not last_space else head[:last_space]
        head += grapheme
        if grapheme.isspace():
            last_space = len(head)
    return head


def _continues(cluster: str, letter: str) -> bool:
    if letter in _VARIATION or letter == _JOINER or cluster[-1] == _JOINER:
        return True
    if unicodedata.category(letter) in ("Mn", "Me", "Mc") or "\U0001f3fb" <= letter <= "\U0001f3ff":
        return True
    if "\U000e0020" <= letter <= "\U000e007f":
        return True
    return _is_flag_half(letter) and len(cluster) == 1 and _is_flag_half(cluster)


def _is_flag_half(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"
