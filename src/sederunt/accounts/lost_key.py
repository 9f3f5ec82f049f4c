"""Handle a lost sealing key: never use another one unnoticed, and remove what no key opens any more."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from sederunt.accounts.installation_secrets import PEPPER
from sederunt.accounts.sealing import KEY_FILE, Sealer, has_key, load_sealer
from sederunt.database.accounts import Accounts
from sederunt.database.engine import Database
from sederunt.database.vault import SEALED_COLUMNS, SealedColumn, holds_sealed, remove_sealed, sealed_values
from sederunt.errors import SetupError
from sederunt.settings import Settings

Lost = Mapping[SealedColumn, Sequence[tuple[Any, bytes]]]  # place → (row, sealed value)


async def open_sealer(database: Database, settings: Settings) -> Sealer:
    """Load the sealer of an installation; only the first use makes its key.

    Raises SetupError if the database holds secrets and there is no key: with a new one the installation would seem to
    have its key, and yet open nothing.
    """
    # The last look is for another process, which may have made the key meanwhile and sealed with it.
    if not has_key(settings) and await holds_sealed(database) and not has_key(settings):
        raise SetupError(
            f"The database holds sealed secrets, and their key is not here: bring back {settings.data / KEY_FILE}, or "
            "set SEDERUNT_SECRET_KEYS as it was. Where it is lost for good: sederunt accounts forget-sealed."
        )
    return load_sealer(settings)


def sealer_at_hand(settings: Settings) -> Sealer:
    """Load the sealer with the existing keys. Without any it opens nothing, and no key is written."""
    return load_sealer(settings) if has_key(settings) else Sealer([secrets.token_urlsafe(32)])


async def unopened(database: Database, sealer: Sealer) -> Lost:
    """Return every stored secret that does not open, without places that have none."""
    values_by_place = {
        place: [
            (row, sealed)
            for row, sealed in await sealed_values(database, place)
            if not sealer.opens(sealed, place.table, place.column, row)
        ]
        for place in SEALED_COLUMNS
    }
    return {place: values for place, values in values_by_place.items() if values}


async def forget(database: Database, unreadable: Lost) -> int:
    """Remove secrets that do not open; return how many API keys were revoked with them."""
    revoked_count = 0
    for place, values in unreadable.items():
        for row, sealed in values:
            if place.table == "house_secrets" and row == PEPPER:  # without it no API key is found again
                revoked_count = await Accounts(database).revoke_all_keys()
            await remove_sealed(database, place, row, sealed)
    return revoked_count
