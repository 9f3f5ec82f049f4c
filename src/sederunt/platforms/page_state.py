"""Name the states of a bot on a site, and hold what one look at its page means."""

from dataclasses import dataclass
from enum import StrEnum

from sederunt.model.status import StopReason


class PageState(StrEnum):
    """The bot's state on the site, as far as its page shows it."""

    LOADING = "loading"  # nothing known yet
    DIALOG = "dialog"  # a question must be answered first
    PREJOIN = "prejoin"
    LOBBY = "lobby"  # asked to be let in, or waiting for the host
    IN_CALL = "in_call"
    RECONNECTING = "reconnecting"
    REFUSED = "refused"
    BLOCKED = "blocked"  # refused, and the site does not say why
    SIGN_IN_NEEDED = "sign_in_needed"
    SIGN_IN_REJECTED = "sign_in_rejected"
    SIGNED_IN = "signed_in"  # the site's sign-in pages let the account through
    CHALLENGED = "challenged"  # the site takes the bot for an unwanted robot
    REMOVED = "removed"
    OVER = "over"
    TROUBLE = "trouble"  # the site's own fault: worth another try on a fresh page


# Each of these ends an attempt to join. After TROUBLE or CHALLENGED, a fresh context may be tried.
ENDINGS: frozenset[PageState] = frozenset(
    {
        PageState.REFUSED,
        PageState.BLOCKED,
        PageState.SIGN_IN_NEEDED,
        PageState.SIGN_IN_REJECTED,
        PageState.CHALLENGED,
        PageState.REMOVED,
        PageState.OVER,
        PageState.TROUBLE,
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What one look at the page means."""

    state: PageState
    reason: StopReason | None = None
    cause: str = ""  # one word that makes the reason more precise
    row: str = ""  # id of the evidence row that decided
    url: str = ""
    seen: str = ""  # the text, selector, address or signal that matched
    settle_s: float = 0.0  # how long this must be seen before it is believed
