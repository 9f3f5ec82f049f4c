"""API keys, and the accounts they open."""

import asyncio
from uuid import uuid4

import pytest
from sqlalchemy import text

from harness.fake_clock import FakeClock
from sederunt.accounts.installation_secrets import LINKS, installation_secret
from sederunt.accounts.keys import Keys
from sederunt.accounts.sealing import Sealer
from sederunt.database.accounts import Accounts
from sederunt.database.engine import Database
from sederunt.errors import InvalidConfig, NotFound, SetupError, Unauthorized


@pytest.fixture
async def keys(database: Database, sealer: Sealer) -> Keys:
    return await Keys.open(database, sealer)


async def test_a_key_opens_its_account_in_every_process(database: Database, sealer: Sealer, keys: Keys) -> None:
    created, kept = await keys.create(database.default_account_id, "ci")
    assert created.startswith("sk_")
    assert len(created) == 46
    elsewhere = await Keys.open(database, sealer)
    caller = await elsewhere.caller(created)
    assert (caller.account_id, caller.key_id) == (database.default_account_id, kept.id)
    await elsewhere.close()


@pytest.mark.parametrize("wrong", ["", "sk_", "sk_" + "a" * 43, "Bearer", "sk_\x00", "sk_\ud83d", "é" * 46])
async def test_a_wrong_key_opens_nothing(database: Database, keys: Keys, wrong: str) -> None:
    await keys.create(database.default_account_id, "ci")
    with pytest.raises(Unauthorized):
        await keys.caller(wrong)


async def test_the_database_does_not_hold_the_key(database: Database, keys: Keys) -> None:
    created, kept = await keys.create(database.default_account_id, "ci")
    async with database.begin() as connection:
        stored = (await connection.execute(text("SELECT * FROM api_keys"))).all()
    assert created[11:] not in repr(stored)
    assert created.encode() not in stored[0]
    assert created.startswith(kept.prefix)


async def test_a_revoked_key_stops_working_within_five_seconds_everywhere(
    database: Database, sealer: Sealer, keys: Keys, clock: FakeClock
) -> None:
    created, kept = await keys.create(database.default_account_id, "ci")
    elsewhere = await Keys.open(database, sealer)
    await elsewhere.caller(created)
    await keys.revoke(database.default_account_id, kept.id)
    with pytest.raises(Unauthorized):
        await keys.caller(created)
    clock.advance(5)
    with pytest.raises(Unauthorized):
        await elsewhere.caller(created)
    [listed] = await keys.of(database.default_account_id)
    assert listed.revoked_at is not None
    await keys.revoke(database.default_account_id, kept.id)
    await elsewhere.close()


async def test_only_its_account_revokes_a_key(database: Database, keys: Keys) -> None:
    created, kept = await keys.create(database.default_account_id, "ci")
    with pytest.raises(NotFound):
        await keys.revoke(uuid4(), kept.id)
    await keys.caller(created)
    await keys.close()


async def test_the_last_use_is_noted_beside_the_request(database: Database, keys: Keys, clock: FakeClock) -> None:
    created, _ = await keys.create(database.default_account_id, "ci")
    clock.advance(7)
    await keys.caller(created)
    await keys.close()
    [listed] = await keys.of(database.default_account_id)
    assert listed.last_used_at == clock.now()


async def test_accounts_have_names_of_their_own(database: Database, clock: FakeClock) -> None:
    accounts = Accounts(database)
    clock.advance(1)
    made = await accounts.create("Zoë & Co")
    with pytest.raises(InvalidConfig):
        await accounts.create("Zoë & Co")
    assert [account.name for account in await accounts.all()] == ["default", "Zoë & Co"]
    assert await accounts.named("Zoë & Co") == await accounts.get(made.id) == made
    with pytest.raises(NotFound):
        await accounts.named("nobody")


async def test_capacity_is_reserved_per_account(database: Database) -> None:
    accounts = Accounts(database)
    other = await accounts.create("other")
    assert (await accounts.reserve(other.id, 5)).reserved == 5
    assert (await accounts.get(database.default_account_id)).reserved == 0
    with pytest.raises(NotFound):
        await accounts.reserve(uuid4(), 1)


async def test_processes_that_ask_at_once_share_one_secret(database: Database, sealer: Sealer) -> None:
    found = await asyncio.gather(*(installation_secret(database, sealer, LINKS) for _ in range(5)))
    assert len(set(found)) == 1
    assert len(found[0]) == 32


async def test_another_sealing_key_is_told_apart_at_once(database: Database, keys: Keys) -> None:
    with pytest.raises(SetupError, match="SEDERUNT_SECRET_KEYS"):
        await Keys.open(database, Sealer(["x" * 40]))
