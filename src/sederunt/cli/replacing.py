"""Replace the roles of a running `serve`, one after another: each successor is ready before its predecessor ends.

This upgrades without a gap: the host's bots move to the new host, whose pages are in the meetings before the old ones
leave; then follow the worker and the api, which answers on the same socket; `serve` itself is last (`self_exec`).
"""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

from sederunt import log
from sederunt.cli.database_setup import open_database
from sederunt.cli.run_files import REPLACED
from sederunt.cli.supervisor import Supervisor
from sederunt.errors import SetupError
from sederunt.jobs.drain import REPLACED_S
from sederunt.settings import Settings

logger = log.get(component="cli", role="serve")

MARGIN_S = 25.0  # time for a role beyond its own drain before it is killed
OPENED_WITHIN_S = 300.0  # a migration of a large database included
# Hosts first: their meetings must not break. The api last: it answers for all others.
# role → the signal that asks its process to end. A worker hands back what it does not finish in its drain: the new one
# continues it, and no finished part is done twice.
ORDER = {"host": REPLACED, "worker": signal.SIGTERM, "api": REPLACED}


@dataclass(frozen=True, kw_only=True)
class Replacements:
    """The report of `serve` about its replacements, for the command that asked for them."""

    pid: int
    count: int = 0  # requested replacements that have ended
    failed: str | None = None  # why the last one failed; that role and all after it are unchanged


def replacements_file(data: Path) -> Path:
    """Return the file in which a running `serve` reports its replacements."""
    return data / "run" / "replacements.json"


def tell_replacements(data: Path, replacements: Replacements) -> None:
    """Write the report atomically."""
    path = replacements_file(data)
    part = path.with_suffix(".part")
    try:
        part.write_text(json.dumps(asdict(replacements)), encoding="utf-8")
        part.rename(path)
    except OSError:
        logger.exception("what came of replacing the roles cannot be told", action="replacements_untold")


def told_replacements(data: Path) -> Replacements | None:
    """Read the report; None if no `serve` that can replace its roles has run here."""
    try:
        return Replacements(**json.loads(replacements_file(data).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


async def replace_when_asked(
    requested: asyncio.Event,
    supervisor: Supervisor,
    settings: Settings,
    drain_timeout_s: float,
    *,
    count: int = 0,
    go_on: Callable[[int], Awaitable[str | None]],
) -> NoReturn:
    """Replace the roles each time that it is requested, and report the result.

    Args:
        count: how often that has been done.
        go_on: takes the new count and becomes the program that is installed now; returns the reason if it could not.
    """
    replacements = Replacements(pid=os.getpid(), count=count)
    while True:
        tell_replacements(settings.data, replacements)
        await requested.wait()
        requested.clear()
        failure = await _replaced(supervisor, settings, drain_timeout_s) or await go_on(replacements.count + 1)
        replacements = Replacements(pid=replacements.pid, count=replacements.count + 1, failed=failure)


async def _replaced(supervisor: Supervisor, settings: Settings, drain_timeout_s: float) -> str | None:
    """Replace each role; return why that failed, or None."""
    logger.info("replacing the roles", action="replacing")
    try:
        async with supervisor.undisturbed(), asyncio.timeout(OPENED_WITHIN_S):
            await open_database(settings)  # by the program that is on the disk now
    except (SetupError, TimeoutError, OSError) as error:
        return _failed(str(error) or "The database was not opened in time.")
    for role, end_signal in ORDER.items():
        patience_s = max(REPLACED_S, drain_timeout_s) if end_signal is REPLACED else drain_timeout_s
        if not await supervisor.replace(role, by=end_signal, within_s=patience_s + MARGIN_S):
            return _failed(f"The new {role} did not get ready; the log says why. The one before goes on.")
        logger.info("role replaced", action="role_replaced", replaced=role)
    return None


def _failed(reason: str) -> str:
    logger.error("roles not replaced", action="replacing_failed", why=reason)
    return reason
