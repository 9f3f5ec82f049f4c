"""Where a bot's tab may go: to public places, to where we sent it, and to where the operator's rules lead.

A page that sent its tab to this machine or its network would read there with our eyes: what stands on a bot's page is
kept as evidence, and shown to whoever made the bot.
"""

from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from sederunt.addresses import leads_into_private

WEB = ("http", "https")


class Places:
    """What one tab may open.

    Args:
        host_rules: Chromium's --host-resolver-rules; a host that they map is never looked up.
    """

    def __init__(self, host_rules: str | None) -> None:
        rules = [rule.split() for rule in (host_rules or "").split(",")]
        self._mapped = [rule[1].lower() for rule in rules if len(rule) == 3 and rule[0].upper() == "MAP"]
        self._sent: set[str] = set()

    def sent(self, url: str) -> None:
        """Note that we send the tab to this address: its host and port may be opened from now on."""
        self._sent.add(urlsplit(url).netloc.lower())

    async def may_open(self, url: str) -> bool:
        """Return whether the tab may open an address; resolves its host where that is not known."""
        parts = urlsplit(url)
        if parts.scheme not in WEB:
            return True  # about:blank and the like; files are kept from pages by the browser itself
        host = (parts.hostname or "").lower()
        if parts.netloc.lower() in self._sent or any(fnmatchcase(host, pattern) for pattern in self._mapped):
            return True
        return not await leads_into_private(url)
