"""Changing the sealing key: put the new one first in the list, seal everything again, then take the old one away."""

from sederunt.accounts.sealing import Sealer
from sederunt.database.engine import Database
from sederunt.database.vault import SEALED_COLUMNS, replace_sealed, sealed_values


async def reseal(database: Database, sealer: Sealer) -> int:
    """Seal every stored secret with the newest key; how many were changed. Safe while the service runs."""
    changed = 0
    for place in SEALED_COLUMNS:
        for row, sealed in await sealed_values(database, place):
            renewed = sealer.reseal(sealed, place.table, place.column, row)
            if renewed != sealed:
                changed += await replace_sealed(database, place, row, sealed, renewed)
    return changed
