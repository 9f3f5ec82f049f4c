"""Decide where documents of a browser may come from: public addresses, our own navigations, host rules.

A page that opened something on this machine or its network, in its tab, a frame or a window, would act there in our
name and read with our access: a bot's page is kept as evidence, and shown to the bot's creator.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import SplitResult, urlsplit

from playwright.async_api import CDPSession
from playwright.async_api import Error as DriverError

from sederunt.addresses import leads_to_public
from sederunt.name_lookup import LookupShare

WEB_PORTS = {"http": 80, "https": 443}
MOST_LOOKUPS = 16  # of names at once: frames whose names never resolve are refused and delay no other browser


class Places:
    """The addresses that the tabs of one browser, and their frames and windows, may open.

    Args:
        host_rules: Chromium's --host-resolver-rules; a host that they map is never looked up.
    """

    def __init__(self, host_rules: str | None) -> None:
        rules = [rule.lower().split() for rule in (host_rules or "").split(",")]
        mappings = [rule[1:] for rule in rules if len(rule) == 3 and rule[0] == "map"]
        self._excluded = [rule[1] for rule in rules if len(rule) == 2 and rule[0] == "exclude"]
        # A rule that names a port leads only to that port; one without a port means the web's own.
        self._anywhere = [pattern for pattern, target in mappings if _has_port(target) or _has_port(pattern)]
        self._on_web_ports = [pattern for pattern, target in mappings if not (_has_port(target) or _has_port(pattern))]
        self._sent: set[str] = set()
        self._judging: set[asyncio.Task[None]] = set()
        self._lookups = LookupShare(MOST_LOOKUPS)

    def sent(self, url: str) -> None:
        """Note that we send a tab to this address: its host and port may be opened from now on."""
        self._sent.add(urlsplit(url).netloc.lower())

    async def may_open(self, url: str) -> bool:
        """Return whether a document may come from an address; resolve its host if it is not known."""
        parts = urlsplit(url)
        if parts.scheme not in WEB_PORTS:
            return True  # about:blank and the like; the browser itself keeps pages from files
        if parts.netloc.lower() in self._sent or self._is_mapped(parts):
            return True
        return await leads_to_public(url, share=self._lookups)

    def _is_mapped(self, parts: SplitResult) -> bool:
        # Compares as Chromium does: exclusions with the host, patterns with the host or with host and port. The port
        # always counts, even if the address leaves it out.
        host, port = parts.hostname or "", parts.port or WEB_PORTS[parts.scheme]
        if any(fnmatchcase(host, pattern) for pattern in self._excluded):
            return False
        patterns = self._anywhere + (self._on_web_ports if port in WEB_PORTS.values() else [])
        return any(fnmatchcase(host, pattern) or fnmatchcase(f"{host}:{port}", pattern) for pattern in patterns)

    async def guard(self, session: CDPSession) -> None:
        """Have the browser of this session ask here before it requests a document, even for windows that a page opens
        and that we do not control yet. Raises the driver's errors.
        """

        async def judge(event: Mapping[str, Any]) -> None:
            is_refused = not await self.may_open(str(event["request"]["url"]))
            parameters = {"errorReason": "Aborted"} if is_refused else {}
            with contextlib.suppress(DriverError):  # the page is gone, or moved on
                method = "Fetch.failRequest" if is_refused else "Fetch.continueRequest"
                await session.send(method, {"requestId": event["requestId"], **parameters})

        def paused(event: Mapping[str, Any]) -> None:
            task = asyncio.create_task(judge(event))
            self._judging.add(task)
            task.add_done_callback(self._judging.discard)

        session.on("Fetch.requestPaused", paused)
        await session.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})


def _has_port(host: str) -> bool:
    return host.rpartition(":")[2].isdigit() and not host.endswith("]")
