"""The meeting that a calendar's event leads to: the first address in its texts that a platform knows."""

import html
import re
from collections.abc import Iterable

from sederunt.platforms.links import InvalidLink
from sederunt.platforms.registry import parse_link, services

_ADDRESS = re.compile(r"https://[^\s<>\"'\\]+")
_MOST = 60  # addresses of one event: a description may be a newsletter
_LONGEST = 2_000  # characters of one


def meeting_link(texts: Iterable[str]) -> tuple[str, str] | None:
    """Return (service, address) of the first meeting that the texts name; None where there is none."""
    looked_at = 0
    for text in texts:
        for found in _ADDRESS.findall(text):
            looked_at += 1
            if looked_at > _MOST:
                return None
            if len(found) > _LONGEST:
                continue
            address = html.unescape(found).rstrip(").,;]>")
            for service in services():
                try:
                    parse_link(service, address)
                except InvalidLink:
                    continue
                return str(service), address
    return None
