"""Tells whether the page still receives its meeting's media, from what in-page scripts report of its connections.

Silence is not a fault: nobody may speak, everybody may be muted, and some sites send no packets then. A fault
contradicts the page: its connections have lost the other side, or somebody is shown speaking and no packet comes. Time
counts only while this process runs: a machine that stood still for twenty seconds proves nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sederunt.model.trouble import PageTrouble, Recovery

MOST_STEP_S = 2.0  # the most that one tick counts
TOLD_S = 1.0  # a connection that is back within a second is not reported
# How long a site may take to reconnect: browsers recover within some 15 s, or only with the site's help.
LINK_S = 15.0
RECONNECTS_S = 60.0  # … if it says that it is reconnecting
MUTE_S = 8.0  # somebody is shown speaking for this long, and no packet comes
QUIET_LOOKS = 3  # in a row, one every two seconds, in a meeting that used to send reports in silence
USED_TO_REPORT = 3  # looks
SOCKETS_S = 5.0  # how long a site may be without its sockets


@dataclass(slots=True)
class _Realm:
    """The last report of one document of the page."""

    up: int = 0
    lost: int = 0  # connections that lost the other side, or that the page closed after they had brought sound
    quiet: int = 0  # looks in a row without a packet
    reported: int = 0  # looks with reports and no packets
    sockets: int | None = None  # open sockets; None before the first


class MediaLink:
    """Judges the connections of one page.

    Args:
        replaces_mute: whether a page on which packets stopped is replaced; only once for a bot, because a site may show
            somebody speaking for ever.
    """

    def __init__(self, *, replaces_mute: bool) -> None:
        self._replaces_mute = replaces_mute
        self._realms: dict[int, _Realm] = {}
        self._last_at: float | None = None
        self.dead_s = self._mute_s = self._cut_s = 0.0
        self._told: set[PageTrouble] = set()

    def take(self, data: Mapping[str, Any]) -> None:
        """Take the data of a `capture` signal; only those of liveness.js matter here."""
        event, number = data.get("event"), data.get("track")
        if event not in ("peers", "flow", "sockets") or not isinstance(number, int):
            return
        realm = self._realms.setdefault(number, _Realm())
        match event:
            case "peers":
                realm.up, realm.lost = _count(data, "up"), _count(data, "down") + _count(data, "closed")
            case "flow":
                realm.quiet, realm.reported = _count(data, "quiet"), _count(data, "reported")
            case "sockets":
                realm.sockets = _count(data, "open")

    def forget(self) -> None:
        """Start over: the documents that reported are gone."""
        self._realms.clear()

    def judge(
        self, now: float, *, is_fed: bool, shown_speaking: bool, has_company: bool, site_reconnects: bool = False
    ) -> list[PageTrouble]:
        """Return the troubles that are new since the last call; one with FRESH_PAGE means giving this page up.

        Args:
            now: monotonic seconds.
            is_fed: whether sound came recently.
            shown_speaking: whether the page shows somebody as speaking.
            has_company: whether anybody else is here; if nobody is, a site may well close its connections.
            site_reconnects: whether the site says that it is reconnecting.
        """
        step_s = min(now - self._last_at, MOST_STEP_S) if self._last_at is not None else 0.0
        self._last_at = now
        realms = self._realms.values()
        is_up = any(realm.up for realm in realms)
        is_quiet = is_up and any(realm.quiet >= QUIET_LOOKS for realm in realms)
        is_dead = has_company and not is_up and not is_fed and any(realm.lost for realm in realms)
        self.dead_s = self.dead_s + step_s if is_dead else 0.0
        self._mute_s = self._mute_s + step_s if is_quiet and shown_speaking and not is_fed else 0.0
        socket_counts = [realm.sockets for realm in realms if realm.sockets is not None]
        self._cut_s = self._cut_s + step_s if socket_counts and not any(socket_counts) else 0.0
        used_to_report = any(realm.reported >= USED_TO_REPORT for realm in realms)
        conditions = {
            _LOST: self.dead_s >= TOLD_S,
            _GIVEN_UP: self.dead_s >= (RECONNECTS_S if site_reconnects else LINK_S),
            _STOPPED: is_quiet and not is_fed and used_to_report,
            _MUTE: self._mute_s >= MUTE_S and self._replaces_mute,
            _CUT: self._cut_s >= SOCKETS_S,
        }
        new_troubles = [trouble for trouble, applies in conditions.items() if applies and trouble not in self._told]
        self._told = {trouble for trouble, applies in conditions.items() if applies}
        return new_troubles


def _count(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) and value > 0 else 0


_LOST = PageTrouble(
    cause="connection_lost",
    seen="None of the page's peer connections reaches the other side any more.",
    recovery=Recovery.BY_SITE,
)
_GIVEN_UP = PageTrouble(
    cause="connection_lost",
    seen="None of the page's peer connections came back in time.",
    recovery=Recovery.FRESH_PAGE,
)
_STOPPED = PageTrouble(
    cause="packets_stopped",
    seen="Neither packets nor reports come over a connection that says it is up.",
    recovery=Recovery.NONE,
)
_MUTE = PageTrouble(
    cause="packets_stopped",
    seen=f"Somebody is shown speaking for {MUTE_S:g} s, and not a packet comes over a connection that says it is up.",
    recovery=Recovery.FRESH_PAGE,
)
_CUT = PageTrouble(
    cause="sockets_closed",
    seen="The page has none of its sockets any more, and opens no other.",
    recovery=Recovery.BY_SITE,
)
