"""Secrets that all processes of an installation share, made at the first use and stored sealed in the database."""

import secrets

from sederunt.accounts.sealing import Sealer
from sederunt.database.accounts import InstallationSecrets
from sederunt.database.engine import Database

PEPPER = "api_key_pepper"
LINKS = "signed_links"  # signs download addresses


async def installation_secret(database: Database, sealer: Sealer, name: str) -> bytes:
    """Return 32 bytes under this name, the same in every process from the first call on."""
    store = InstallationSecrets(database)
    sealed = await store.get(name)
    if sealed is None:
        new_sealed = sealer.seal(secrets.token_hex(32), "house_secrets", "value", name)
        sealed = await store.add(name, new_sealed)
    return bytes.fromhex(sealer.open(sealed, "house_secrets", "value", name))
