"""What went wrong with a bot's page while it sat there, as the `page_trouble` events of a bot tell it."""

from dataclasses import dataclass
from enum import StrEnum


class Recovery(StrEnum):
    """What is done about a trouble, from the least to the most."""

    NONE = "none"  # it is told, and costs nothing but what it says
    BY_BROWSER = "by_browser"  # the browser starts the process anew; the page stays
    BY_SITE = "by_site"  # the site's own page connects anew
    FRESH_PAGE = "fresh_page"  # the bot enters on another page
    FRESH_BROWSER = "fresh_browser"  # … of another browser


@dataclass(frozen=True, kw_only=True, slots=True)
class PageTrouble:
    """One trouble: its cause in one word, what was seen, and what is done about it."""

    cause: str  # "renderer_stopped", "network_service_died", "connection_lost", "page_left" …
    seen: str
    recovery: Recovery
