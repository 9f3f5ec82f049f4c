"""`sederunt adopt`: turn a database of a program from before 0.1.0 into one of the first release."""

import asyncio

from sederunt.cli.context import Data
from sederunt.cli.terminal import tell
from sederunt.database.engine import Database, database_url, sqlite_file
from sederunt.errors import SetupError
from sederunt.settings import Settings, load


def adopt(data: Data = None) -> None:
    """Take over the database of a program from before version 0.1.0, once. A service on it may run meanwhile."""
    settings = load(**({} if data is None else {"data": data}))
    file = sqlite_file(settings)
    if file is not None and not file.is_file():
        raise SetupError(f"There is no database at {file}. Name the service's data directory with --data.")
    if asyncio.run(_adopt(settings)):
        tell("The database is adopted: start the service, or replace it with `sederunt reload`.")
    else:
        tell("There is nothing to do: the database is of version 0.1.0 or later.")


async def _adopt(settings: Settings) -> bool:
    database = Database(database_url(settings))
    try:
        return await database.adopt()
    finally:
        await database.close()
