"""Text of callers and of people in meetings, on its way to a terminal: nothing in it may steer what prints it."""

import re
import unicodedata

# They turn the order of what follows: "invoice‮fdp.exe" reads as a PDF.
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})  # controls, halves of characters, ends of lines and paragraphs
_COLOUR = re.compile("(\x1b\\[[0-9;]*m)")


def plain(text: str) -> str:
    r"""Return the text with every control and every mark of direction written out, such as \x1b or \u202e."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_written_out(character) if _steers(character) else character for character in text)


def plain_lines(text: str) -> str:
    """Return a text of several lines with everything that steers a terminal written out, but for the ends of lines."""
    return "\n".join(plain(line) for line in text.split("\n"))


def plain_but_colours(line: str) -> str:
    """Return a line that another process of ours made for a terminal, with its colours and nothing else that steers."""
    return "".join(part if _COLOUR.fullmatch(part) else plain(part) for part in _COLOUR.split(line))


def _steers(character: str) -> bool:
    return character in _BIDIRECTIONAL or unicodedata.category(character) in _CATEGORIES


def _written_out(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
