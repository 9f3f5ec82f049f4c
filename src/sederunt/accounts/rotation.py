"""Changing the sealing key: put the new one first in the list, seal everything again, then take the old one away."""

from dataclasses import dataclass

from sederunt.accounts.sealing import Sealer
from sederunt.database.engine import Database
from sederunt.database.vault import SEALED_COLUMNS, replace_sealed, sealed_values


@dataclass(frozen=True, slots=True)
class Resealed:
    """What came of sealing everything again."""

    changed: int
    unopened: int  # stay as they are: their key is not here


async def reseal(database: Database, sealer: Sealer) -> Resealed:
    """Seal every stored secret that opens with the newest key. Safe while the service runs."""
    changed = unopened = 0
    for place in SEALED_COLUMNS:
        for row, sealed in await sealed_values(database, place):
            if not sealer.opens(sealed, place.table, place.column, row):
                unopened += 1
                continue
            renewed = sealer.reseal(sealed, place.table, place.column, row)
            if renewed != sealed:
                changed += await replace_sealed(database, place, row, sealed, renewed)
    return Resealed(changed, unopened)
