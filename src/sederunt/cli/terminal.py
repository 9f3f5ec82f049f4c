"""Print to the terminal: every text of a command goes through `tell`, or through a table's `cell`."""

import json
import sys
from collections.abc import Callable
from typing import Any

from sederunt.terminal import plain, plain_lines

__all__ = ["plain", "tell", "tell_json"]


def tell(text: str = "", *, err: bool = False) -> None:
    """Print a text on standard output or standard error, at once, with everything escaped that controls a terminal.

    Line ends stay: a caller's text goes through `plain` before it is put into a sentence.
    """
    print(plain_lines(text), file=sys.stderr if err else sys.stdout, flush=True)


def tell_json(
    data: object, *, readable: bool = False, indent: int | None = None, default: Callable[[Any], Any] | None = None
) -> None:
    """Print data as JSON, for scripts.

    Args:
        data: what JSON can hold.
        readable: whether non-ASCII letters stay as they are; terminal controls never do.
        indent: spaces per level; None for one line.
        default: converts what JSON cannot hold.
    """
    text = json.dumps(data, ensure_ascii=not readable, indent=indent, default=default)
    print("\n".join(_as_json(line) for line in text.split("\n")), flush=True)


def _as_json(line: str) -> str:
    r"""Escape a line as JSON does: a terminal obeys \x9b, and JSON knows no \x."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(c if plain(c) == c else json.dumps(c)[1:-1] for c in line)
