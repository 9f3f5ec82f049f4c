"""The commands that look into a data directory, as a script would call them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pydantic import SecretStr

from harness.commands import Commands
from harness.vendors.catalogue import VENDORS
from sederunt.accounts.credentials import CredentialStore
from sederunt.accounts.keys import Keys
from sederunt.accounts.meeting_accounts import MeetingAccounts, SignIn
from sederunt.accounts.sealing import load_sealer
from sederunt.database.bots import Bots
from sederunt.database.engine import Database, database_url
from sederunt.database.ids import new_id
from sederunt.errors import Unauthorized
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.status import BotStatus, Trigger
from sederunt.settings import Settings


class Command:
    """`sederunt` on one data directory."""

    def __init__(self, commands: Commands, data: Path) -> None:
        self._commands, self.settings = commands, Settings(data=data)
        self.environment: dict[str, str] = {}

    def __call__(self, *arguments: str, given: str = "", code: int = 0, keys: Sequence[str] = ()) -> str:
        """Its standard output, or what it complains of where another code than 0 is expected."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SEDERUNT_")}
        clean |= self.environment
        done = self._commands.run(
            [*arguments, "--data", str(self.settings.data)],
            environment={**clean, **({"SEDERUNT_SECRET_KEYS": json.dumps(keys)} if keys else {})},
            given=given,
        )
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def commands() -> Iterator[Commands]:
    with Commands() as commands:
        yield commands


@pytest.fixture
def command(commands: Commands, tmp_path: Path) -> Command:
    return Command(commands, tmp_path / "not" / "there" / "yet")


def test_a_new_data_directory_is_announced_lest_it_be_the_wrong_one(tmp_path: Path) -> None:
    create = [sys.executable, "-m", "sederunt.cli.main", "keys", "create", "ci", "--data", str(tmp_path / "typo")]
    first, second = (subprocess.run(create, capture_output=True, text=True, timeout=60, check=True) for _ in range(2))
    assert first.stderr == f"There was no data directory at {tmp_path / 'typo'}: one was made.\n"
    assert second.stderr == ""
    assert first.stdout.startswith("sk_")


def test_a_list_in_a_pipe_cuts_nothing_short(command: Command) -> None:
    command("keys", "create", "a name that is long enough to fill most of a line of a narrow terminal")
    (key,) = json.loads(command("keys", "list", "--json"))
    (_, row) = command("keys", "list").splitlines()
    for shown in (key["id"], key["name"], key["key"], key["created_at"][:19].replace("T", " ")):
        assert shown in row


async def test_a_key_made_before_the_first_start_works_and_can_be_revoked(command: Command) -> None:
    said = command("keys", "create", "ci")
    assert said.count("\n") == 1
    key = said.strip()
    async with Database(database_url(command.settings)) as database:  # as a running service would have it open
        keys = await Keys.open(database, load_sealer(command.settings))
        caller = await keys.caller(key)
        await keys.close()
        assert caller.account_id == database.default_account_id
        [listed] = json.loads(command("keys", "list", "--json"))
        assert (listed["name"], listed["id"], key.startswith(listed["key"][:-1])) == ("ci", str(caller.key_id), True)
        command("keys", "revoke", listed["id"])
        elsewhere = await Keys.open(database, load_sealer(command.settings))
        with pytest.raises(Unauthorized):
            await elsewhere.caller(key)
    assert "ci" in command("keys", "list")


def test_accounts_and_credentials_are_kept_apart(command: Command) -> None:
    account = command("accounts", "create", "other").strip()
    assert [row["name"] for row in json.loads(command("accounts", "list", "--json"))] == ["default", "other"]
    assert account in command("accounts", "list")
    made = command("credentials", "add", "deepgram", "--account", "other", given="s3cret-0123456789\n").strip()
    assert json.loads(command("credentials", "list", "--json")) == []
    [listed] = json.loads(command("credentials", "list", "--json", "--account", "other"))
    assert (listed["id"], listed["provider"], listed["key"]) == (made, "deepgram", "…6789")
    assert "Error: There is no credential" in command("credentials", "remove", made, code=1)
    command("credentials", "remove", made, "--account", "other")


def test_a_meeting_account_can_be_given_as_a_browsers_state(command: Command, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"cookies": [], "origins": []}')
    made = command("accounts", "add-meeting", "gmeet", "bot@x.test", "--state", str(state)).strip()
    [listed] = json.loads(command("accounts", "list-meeting", "--json"))
    assert (listed["id"], listed["email"]) == (made, "bot@x.test")
    command("accounts", "remove-meeting", made)
    assert command("accounts", "webhook-secret") == command("accounts", "webhook-secret")


@pytest.mark.parametrize(("service", "sentence"), [("zoom", "bots take a token"), ("gmeet", "DISPLAY is not set")])
def test_signing_in_by_hand_needs_a_service_with_accounts_and_a_display(
    command: Command, monkeypatch: pytest.MonkeyPatch, service: str, sentence: str
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    said = "".join(
        letter for letter in command("accounts", "login", service, "bot@x.test", code=2) if letter not in "│"
    )
    assert sentence in " ".join(said.split())


async def test_signing_in_again_renews_the_account_of_that_address(command: Command) -> None:
    async with Database(database_url(command.settings)) as database:
        known = MeetingAccounts(database, load_sealer(command.settings))
        owner = database.default_account_id
        made = []
        for value, email in (("1", "bot@x.test"), ("2", "bot@x.test"), ("3", "other@x.test")):
            sign_in = SignIn(service=Service("gmeet"), email=email, state={"cookies": [value], "origins": []})
            made.append((await known.keep_state(owner, sign_in)).id)
        assert made[0] == made[1] != made[2]
        assert (await known.open(made[0], owner)).state == {"cookies": ["2"], "origins": []}


async def test_bots_can_be_listed_and_looked_at(command: Command) -> None:
    async with Database(database_url(command.settings)) as database:
        bots = Bots(database)
        now = database.clock.now()
        bot = await bots.create(
            Bot(
                id=new_id(now),
                account_id=database.default_account_id,
                status=BotStatus.JOINING,
                created_at=now,
                secret="opens-sockets",
                config=BotConfig(
                    service=Service("gmeet"),
                    meeting_url="https://meet.google.com/abc-defg-hij",
                    bot_name="Notes",
                    transcription_model="none",
                ),
            )
        )
        await bots.record_transition(bot.id, Trigger.ADMITTED)
    [listed] = json.loads(command("bots", "list", "--format", "json", "--status", "recording"))
    assert (listed["id"], listed["status"]) == (str(bot.id), "recording")
    assert "joining → recording" in command("bots", "show", str(bot.id))
    shown = command("bots", "show", str(bot.id), "--json")
    assert json.loads(shown)["events"][0]["data"]["new_status"] == "recording"
    assert "opens-sockets" not in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ("bots", "list"),
        ("bots", "show", "018f2c3e-0000-7000-8000-000000000000"),
        ("bots", "stop", "018f2c3e-0000-7000-8000-000000000000"),
        ("keys", "list"),
        ("keys", "revoke", "018f2c3e-0000-7000-8000-000000000000"),
        ("credentials", "list"),
        ("accounts", "list"),
        ("accounts", "list-meeting"),
        ("people", "list"),
    ],
)
def test_what_only_looks_makes_nothing(command: Command, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    told = " ".join(command(*arguments, code=1).split())
    assert told.startswith("Error: ")
    assert "--data" in told
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "not" / "there" / "yet").mkdir(parents=True)
    command(*arguments, code=1)
    assert list((tmp_path / "not" / "there" / "yet").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("keys", "revoke", "x"), 2, "is not the id of a key"),
        (
            ("keys", "create", "x", "--account", "nobody"),
            1,
            "Error: There is no account 'nobody': `sederunt accounts list`",
        ),
        (("credentials", "add", "nobody", "--key", "k"), 1, "is not one of: deepgram"),
    ],
)
def test_a_mistake_gets_a_sentence_and_a_code(
    command: Command, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    command("accounts", "create", "other")  # makes the directory
    assert sentence in " ".join(command(*arguments, code=code).split())


async def test_a_sealing_key_is_changed_without_losing_a_secret_and_the_old_one_can_go(command: Command) -> None:
    key = command("keys", "create", "ci").strip()  # everything so far is sealed with the key in the directory
    added = command("credentials", "add", "deepgram", given="key-of-deepgram-1234567890\n").split()
    webhook_secret = command("accounts", "webhook-secret")
    file = command.settings.data / "sealing.key"
    old, new = file.read_text().strip(), "n" * 40

    assert command("accounts", "webhook-secret", keys=[new, old]) == webhook_secret
    command("accounts", "reseal", keys=[new, old])
    file.unlink()
    assert command("accounts", "webhook-secret", keys=[new]) == webhook_secret
    settings = Settings(data=command.settings.data, secret_keys=(SecretStr(new),))
    async with Database(database_url(settings)) as database:
        sealer = load_sealer(settings)
        [credential] = await CredentialStore(database, sealer).of(database.default_account_id)
        assert str(credential.id) in added
        opened = await CredentialStore(database, sealer).open(credential.id, database.default_account_id)
        assert opened.key == "key-of-deepgram-1234567890"
        keys = await Keys.open(database, sealer)
        assert (await keys.caller(key)).account_id == database.default_account_id
        await keys.close()
    said = command("accounts", "webhook-secret", code=1, keys=[old])
    assert "SEDERUNT_SECRET_KEYS" in said


def test_an_installation_without_its_sealing_key_says_so_and_can_be_made_to_work_again(command: Command) -> None:
    command("keys", "create", "old")
    command("credentials", "add", "deepgram", given="key-of-deepgram-1234567890\n")
    file = command.settings.data / "sealing.key"
    file.unlink()
    for arguments in (("keys", "create", "new"), ("accounts", "reseal")):
        assert "forget-sealed" in command(*arguments, code=1)
    shown = command("accounts", "forget-sealed")
    assert "1 vendor credentials" in shown
    assert "1 secrets behind all API keys" in shown
    assert not file.exists()
    assert command("accounts", "forget-sealed", "--yes") == shown
    assert command("accounts", "forget-sealed") == ""
    assert command("keys", "create", "new").startswith("sk_")
    assert file.exists()
    assert json.loads(command("credentials", "list", "--json")) == []
    assert [key["revoked_at"] is None for key in json.loads(command("keys", "list", "--json"))] == [False, True]


@pytest.mark.parametrize("name", sorted(VENDORS))
def test_a_vendor_is_asked_whether_it_accepts_a_key(command: Command, name: str) -> None:
    with VENDORS[name]() as vendor:
        command.environment = vendor.settings
        assert "accepts the operator's key" in command("credentials", "check", name)
        command.environment = {
            variable: value for variable, value in vendor.settings.items() if "__KEY" not in variable
        }
        organisation = ["--organisation", vendor.organisation] if vendor.organisation else []
        good, wrong = (
            command("credentials", "add", name, *organisation, given=f"{key}\n").split()[-1]
            for key in (vendor.key, "wrong-key-1234567890")
        )
        assert f"accepts the credential {good}" in command("credentials", "check", good)
        refused = command("credentials", "check", wrong, code=1)
        assert f"did not accept the credential {wrong}" in refused
        assert "wrong-key" not in refused
        assert "is not set" in command("credentials", "check", name, code=1)
        assert len(vendor.ledger.requests) == 3
        assert vendor.ledger.billed == []
