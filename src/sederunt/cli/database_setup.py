"""Open and migrate the database before the roles do, and make the first account and key.

It runs in a process of its own, so that the supervising process loads no database and no cryptography, which saves
40 MB for as long as the service runs.
"""

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from sederunt import die_with_parent, log
from sederunt.cli.terminal import tell_json
from sederunt.errors import SetupError
from sederunt.python_child import python_command
from sederunt.settings import Settings, load


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedDatabase:
    """A database that is ready, and how to get in; key and link are None if there is already one in use."""

    file: Path | None  # of SQLite; None: another engine
    key: str | None  # an API key, to be shown at once: it cannot be shown later
    link: str | None  # the token of a link into the console


async def open_database(settings: Settings) -> OpenedDatabase:
    """Migrate the database and make its secrets, in a process of its own, before four roles would do so at once.

    Raises SetupError if it cannot be opened.
    """
    process = await asyncio.create_subprocess_exec(
        *die_with_parent.tied(python_command("-m", "sederunt.cli.database_setup")),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "SEDERUNT_DATA": str(settings.data.resolve())},
        start_new_session=True,  # this process handles Ctrl-C
    )
    output, _ = await process.communicate()
    try:
        answer: Mapping[str, str | None] = json.loads(output)
    except ValueError:
        raise SetupError(f"The database was not opened: the process for it ended with {process.returncode}.") from None
    if (reason := answer.get("error")) is not None:
        raise SetupError(reason)
    file = answer["file"]
    return OpenedDatabase(file=Path(file) if file else None, key=answer["key"], link=answer["link"])


async def _opened(settings: Settings) -> OpenedDatabase:
    from sederunt.accounts.keys import Keys
    from sederunt.accounts.lost_key import open_sealer
    from sederunt.accounts.sign_in import MemberRole, SignIns
    from sederunt.bus.embedded import find_server
    from sederunt.database.engine import Database, database_url, sqlite_file
    from sederunt.transcription.models import check_fallback

    check_fallback(settings.transcription.fallback)  # here too: a worker's error would be one line among many
    if settings.bus.url is None:
        find_server()  # before a running `serve` becomes this program
    async with Database(database_url(settings)) as database:
        account_id = database.default_account_id
        keys, sign_ins = await Keys.open(database, await open_sealer(database, settings)), SignIns(database)
        key = None if await keys.of(account_id) else (await keys.create(account_id, "first"))[0]
        link = None if await sign_ins.people.any() else await sign_ins.invite(account_id, MemberRole.OWNER)
        return OpenedDatabase(file=sqlite_file(settings), key=key, link=link)


def main() -> None:
    """Write the result, or why the database was not opened, to standard output as one JSON object."""
    from sederunt.cli.error_messages import sentence_of
    from sederunt.cli.hardening import harden

    harden()
    settings = load()
    log.configure(settings.log.style, settings.log.level)
    try:
        answer: Mapping[str, object] = asdict(asyncio.run(_opened(settings)))
    except Exception as error:
        if (reason := sentence_of(error)) is None:
            raise
        answer = {"error": reason}
    tell_json(answer, default=str)


if __name__ == "__main__":
    main()
