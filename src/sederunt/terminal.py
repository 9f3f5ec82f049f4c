"""Escape texts of callers and of people in meetings, so that nothing in them controls the terminal."""

import re
import unicodedata

# They reverse the order of the text that follows: "invoice‮fdp.exe" reads as a PDF.
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})  # controls, halves of characters, ends of lines and paragraphs
_COLOUR = re.compile("(\x1b\\[[0-9;]*m)")


def plain(text: str) -> str:
    r"""Return the text with every control and every mark of direction escaped, such as \x1b or \u202e."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_written_out(character) if _steers(character) else character for character in text)


def plain_lines(text: str) -> str:
    """Return a text of several lines with everything that controls a terminal escaped, except line ends."""
    return "\n".join(plain(line) for line in text.split("\n"))


def plain_but_colours(line: str) -> str:
    """Return a terminal line of another process of ours, with only its colours left unescaped."""
    return "".join(part if _COLOUR.fullmatch(part) else plain(part) for part in _COLOUR.split(line))


def _steers(character: str) -> bool:
    return character in _BIDIRECTIONAL or unicodedata.category(character) in _CATEGORIES


def _written_out(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
