"""Change the sealing key: put the new one first in the list, seal everything again, then remove the old one."""

from dataclasses import dataclass

from sederunt.accounts.sealing import Sealer
from sederunt.database.engine import Database
from sederunt.database.vault import SEALED_COLUMNS, replace_sealed, sealed_values


@dataclass(frozen=True, slots=True)
class Resealed:
    """The result of sealing everything again."""

    changed: int
    unopened: int  # unchanged, because their key is not here


async def reseal(database: Database, sealer: Sealer) -> Resealed:
    """Seal every stored secret that opens with the newest key. Safe while the service runs."""
    changed_count = unopened_count = 0
    for place in SEALED_COLUMNS:
        for row, sealed in await sealed_values(database, place):
            if not sealer.opens(sealed, place.table, place.column, row):
                unopened_count += 1
                continue
            new_sealed = sealer.reseal(sealed, place.table, place.column, row)
            if new_sealed != sealed:
                changed_count += await replace_sealed(database, place, row, sealed, new_sealed)
    return Resealed(changed_count, unopened_count)
