"""Credentials, meeting accounts, webhook secrets, tokens: sealed, the account's own, and renewable."""

import asyncio
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import text

from harness.fake_clock import FakeClock
from sederunt.accounts.credentials import CredentialStore
from sederunt.accounts.installation_secrets import LINKS, installation_secret
from sederunt.accounts.keys import Keys
from sederunt.accounts.lost_key import forget, open_sealer, sealer_at_hand, unopened
from sederunt.accounts.meeting_accounts import MeetingAccounts, SignIn
from sederunt.accounts.rotation import Resealed, reseal
from sederunt.accounts.sealing import KEY_FILE, Sealer
from sederunt.accounts.vendor_access import VendorAccess
from sederunt.accounts.webhook_secrets import WebhookSecrets
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.errors import InvalidConfig, NotFound, ProviderError, ProviderFault, SetupError, Unauthorized
from sederunt.model.bot import Authentication, Bot, BotConfig, Service
from sederunt.model.status import BotStatus
from sederunt.settings import Settings
from sederunt.transcription.models import providers

SIGN_IN = SignIn(service=Service("gmeet"), email="bot@x.test", password="s3cret-pass")
STATE = {"cookies": [{"name": "SID", "value": "s3cret-cookie"}], "origins": []}


async def test_a_credential_is_shown_closed_and_opens_for_its_account_only(database: Database, sealer: Sealer) -> None:
    credentials = CredentialStore(database, sealer)
    account = database.default_account_id
    added = await credentials.add(account, "soniox", "s3cret-0123456789", region="eu", organisation="acme")
    assert await credentials.of(account) == [added] == [await credentials.get(added.id, account)]
    assert (added.hint, "s3cret" in repr(added)) == ("6789", False)
    opened = await credentials.open(added.id, account)
    assert (opened.provider, opened.key, opened.region, opened.organisation) == (
        "soniox",
        "s3cret-0123456789",
        "eu",
        "acme",
    )
    assert "s3cret" not in repr(opened)
    stranger = uuid4()
    assert await credentials.of(stranger) == []
    for act in (credentials.open, credentials.get, credentials.remove):
        with pytest.raises(NotFound):
            await act(added.id, stranger)
    await credentials.remove(added.id, account)
    assert await credentials.of(account) == []


@pytest.mark.parametrize(
    ("provider", "key", "field"),
    [
        ("nobody", "k", "provider"),
        ("whisper", "k", "provider"),
        ("gladia", " ", "key"),
        ("gladia", "s3cr\net", "key"),
        ("gladia", "s3crét", "key"),
    ],
)
async def test_a_credential_that_cannot_serve_is_refused(
    database: Database, sealer: Sealer, provider: str, key: str, field: str
) -> None:
    with pytest.raises(InvalidConfig) as refused:
        await CredentialStore(database, sealer).add(database.default_account_id, provider, key)
    assert list(refused.value.fields) == [field]
    assert "s3cr" not in str(refused.value.fields)


async def test_the_line_behind_a_key_does_not_belong_to_it(database: Database, sealer: Sealer) -> None:
    """As editors and `echo` write it: no header carries it, and the HTTP library's sentence would repeat the key."""
    account, soniox = database.default_account_id, providers()["soniox"]
    credentials = CredentialStore(database, sealer)
    added = await credentials.add(account, "soniox", " s3cret-0123\n")
    settings = Settings(providers={"soniox": {"key": "s3cret-4567\n"}, "gladia": {"key": "s3cr\net"}})
    access = VendorAccess(credentials, settings)
    for credential, key in ((added.id, "s3cret-0123"), (None, "s3cret-4567")):
        opened = await access.of(account, credential, soniox)
        assert opened is not None
        assert opened.key == key
    with pytest.raises(ProviderError) as refused:
        await access.of(account, None, providers()["gladia"])
    assert (refused.value.kind, refused.value.retryable) == (ProviderFault.AUTH, False)
    assert str(refused.value).startswith("The operator's key (SEDERUNT_PROVIDERS__GLADIA__KEY) holds characters")


async def test_a_meeting_account_opens_for_its_tenant_and_keeps_its_state(database: Database, sealer: Sealer) -> None:
    known = MeetingAccounts(database, sealer)
    tenant = database.default_account_id
    added = await known.add(tenant, SIGN_IN)
    assert await known.open(added.id, tenant) == SIGN_IN
    await known.renew_state(added.id, tenant, STATE)
    opened = await known.open(added.id, tenant)
    assert (opened.password, opened.state) == ("s3cret-pass", STATE)
    assert [account.id for account in await known.of(tenant)] == [added.id]
    for act in (known.open, known.get, known.remove):
        with pytest.raises(NotFound):
            await act(added.id, uuid4())
    await known.remove(added.id, tenant)
    with pytest.raises(NotFound):
        await known.get(added.id, tenant)


@pytest.mark.parametrize(
    ("sign_in", "field"),
    [
        (SignIn(service=Service("zoom"), email="a@x.test", password="p"), "service"),
        (SignIn(service=Service("teams"), email="a@x.test"), "password"),
    ],
)
async def test_a_meeting_account_that_cannot_sign_in_is_refused(
    database: Database, sealer: Sealer, sign_in: SignIn, field: str
) -> None:
    with pytest.raises(InvalidConfig) as refused:
        await MeetingAccounts(database, sealer).add(database.default_account_id, sign_in)
    assert list(refused.value.fields) == [field]


async def test_an_account_has_one_webhook_secret_until_it_is_renewed(database: Database, sealer: Sealer) -> None:
    webhook_secrets = WebhookSecrets(database, sealer)
    account = database.default_account_id
    first = set(await asyncio.gather(*(webhook_secrets.get(account) for _ in range(4))))
    assert len(first) == 1
    [old] = first
    assert old.newest.startswith("whsec_")
    renewed = await webhook_secrets.renew(account)
    assert renewed.all != old.all
    assert await webhook_secrets.get(account) == renewed
    with pytest.raises(NotFound):
        await webhook_secrets.get(uuid4())


async def test_the_secret_before_signs_beside_the_new_one_for_as_long_as_was_asked(
    database: Database, sealer: Sealer, clock: FakeClock
) -> None:
    webhook_secrets = WebhookSecrets(database, sealer)
    account = database.default_account_id
    old = await webhook_secrets.get(account)
    renewed = await webhook_secrets.renew(account, timedelta(hours=2))
    assert renewed.all == (renewed.newest, old.newest)
    assert renewed.before_until == clock.now() + timedelta(hours=2)
    clock.advance(7199)
    assert await webhook_secrets.signing(account) == renewed.all
    clock.advance(1)
    assert await webhook_secrets.signing(account) == (renewed.newest,)


async def test_nothing_secret_lies_open_in_the_database_and_everything_can_be_sealed_anew(
    database: Database, sealer: Sealer
) -> None:
    account = database.default_account_id
    credential = await CredentialStore(database, sealer).add(account, "gladia", "s3cret-gladia")
    meeting_account = await MeetingAccounts(database, sealer).add(account, SIGN_IN)
    await WebhookSecrets(database, sealer).get(account)
    webhook_secrets = await WebhookSecrets(database, sealer).renew(account, timedelta(hours=1))
    links = await installation_secret(database, sealer, LINKS)
    bot = await Bots(database, seals=sealer).create(_zoom_bot(database))
    stored = await _everything(database)
    for secret in ("s3cret", *webhook_secrets.all, links.hex()):
        assert secret not in stored

    both, new = Sealer(["n" * 40, "k" * 40]), Sealer(["n" * 40])
    assert await reseal(database, both) == Resealed(6, 0)
    assert await reseal(database, both) == Resealed(0, 0)
    assert (await CredentialStore(database, new).open(credential.id, account)).key == "s3cret-gladia"
    assert await MeetingAccounts(database, new).open(meeting_account.id, account) == SIGN_IN
    assert await WebhookSecrets(database, new).get(account) == webhook_secrets
    assert await installation_secret(database, new, LINKS) == links
    assert await Bots(database, seals=new).get(bot.id) == bot


async def test_what_does_not_open_is_passed_by_and_can_be_forgotten(database: Database, sealer: Sealer) -> None:
    account, new = database.default_account_id, Sealer(["n" * 40])
    await CredentialStore(database, sealer).add(account, "gladia", "s3cret-gladia")
    await MeetingAccounts(database, sealer).add(account, SIGN_IN)
    await WebhookSecrets(database, sealer).get(account)
    await WebhookSecrets(database, sealer).renew(account, timedelta(hours=1))
    await installation_secret(database, sealer, LINKS)
    key, _ = await (await Keys.open(database, sealer)).create(account, "old")
    bot = await Bots(database, seals=sealer).create(_zoom_bot(database))
    kept = await CredentialStore(database, new).add(account, "soniox", "s3cret-soniox")

    assert await reseal(database, new) == Resealed(0, 7)
    lost = await unopened(database, new)
    assert sum(len(values) for values in lost.values()) == 7
    assert await forget(database, lost) == 1
    assert await unopened(database, new) == {}

    assert [row.id for row in await CredentialStore(database, new).of(account)] == [kept.id]
    assert await MeetingAccounts(database, new).of(account) == []
    assert len((await WebhookSecrets(database, new).get(account)).all) == 1
    found = await Bots(database, seals=new).get(bot.id)
    assert found.config.authentication == Authentication(always_authenticate=True)
    keys = await Keys.open(database, new)
    with pytest.raises(Unauthorized):
        await keys.caller(key)
    assert [row.revoked_at is None for row in await keys.of(account)] == [False]
    fresh, _ = await keys.create(account, "new")
    assert (await keys.caller(fresh)).name == "new"
    await keys.close()


async def test_no_other_key_is_made_where_the_database_holds_secrets(
    database: Database, sealer: Sealer, tmp_path: Path
) -> None:
    settings = Settings(data=tmp_path / "keys")
    made = await open_sealer(database, settings)  # nothing is sealed yet
    await installation_secret(database, made, LINKS)
    await installation_secret(database, await open_sealer(database, settings), LINKS)
    (settings.data / KEY_FILE).unlink()
    with pytest.raises(SetupError, match="forget-sealed"):
        await open_sealer(database, settings)
    assert list(settings.data.iterdir()) == []
    sealer_at_hand(settings)
    assert list(settings.data.iterdir()) == []


async def test_a_view_never_opens_the_token(database: Database, sealer: Sealer) -> None:
    bot = await Bots(database, seals=sealer).create(_zoom_bot(database))
    view = await Bots(database).view(bot.id, bot.account_id)
    assert view.bot.config.authentication == Authentication(always_authenticate=True)


def _zoom_bot(database: Database) -> Bot:
    now = database.clock.now()
    return Bot(
        id=new_id(now),
        account_id=database.default_account_id,
        status=BotStatus.BOOTING,
        created_at=now,
        config=BotConfig(
            service=Service("zoom"),
            meeting_url="https://zoom.us/j/1",
            bot_name="Notes",
            transcription_model="none",
            authentication=Authentication(entry_token="s3cret-zak", always_authenticate=True),
        ),
    )


async def _everything(database: Database) -> str:
    tables = ("accounts", "credentials", "meeting_accounts", "bots", "house_secrets")
    async with database.begin() as connection:
        rows = [(await connection.execute(text(f"SELECT * FROM {table}"))).all() for table in tables]
    return repr(rows)
