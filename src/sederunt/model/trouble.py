"""Faults of a bot's page during a meeting, as in the bot's `page_trouble` events."""

from dataclasses import dataclass
from enum import StrEnum


class Recovery(StrEnum):
    """The reaction to a trouble, from the least to the most."""

    NONE = "none"  # it is only reported; only what the report names is lost
    BY_BROWSER = "by_browser"  # the browser restarts the process; the page stays
    BY_SITE = "by_site"  # the site's own page reconnects
    FRESH_PAGE = "fresh_page"  # the bot enters on another page
    FRESH_BROWSER = "fresh_browser"  # … of another browser


@dataclass(frozen=True, kw_only=True, slots=True)
class PageTrouble:
    """One trouble: its cause in one word, what was seen, and the reaction."""

    cause: str  # "renderer_stopped", "network_service_died", "connection_lost", "page_left" …
    seen: str
    recovery: Recovery
