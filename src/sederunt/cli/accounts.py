"""`sederunt accounts`: tenants, their webhook secret, and the meeting accounts their bots sign in with."""

import json
import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from sederunt.accounts.lost_key import forget, unopened
from sederunt.accounts.meeting_accounts import MeetingAccounts, SignIn, no_accounts
from sederunt.accounts.rotation import reseal as reseal_all
from sederunt.accounts.webhook_secrets import WebhookSecrets
from sederunt.browser.window import sign_in_by_hand
from sederunt.cli.context import (
    OF_DEFAULT,
    AccountName,
    CommandContext,
    Data,
    Output,
    OutputFormat,
    asked_secret,
    run,
    show,
    uuid_of,
)
from sederunt.cli.terminal import tell
from sederunt.database.accounts import Accounts
from sederunt.errors import InvalidConfig
from sederunt.model.bot import Service
from sederunt.platforms.registry import platform_of, services_taking
from sederunt.platforms.sign_in_pages import AccountKind
from sederunt.settings import load

app = typer.Typer(no_args_is_help=True)

_ServiceName = Annotated[str, typer.Argument(help=f"One of: {', '.join(services_taking(AccountKind.SESSION))}.")]


@app.command()
def create(name: Annotated[str, typer.Argument(help="The new account's name.")], data: Data = None) -> None:
    """Make an account and print its id. Accounts see nothing of each other."""

    async def act(context: CommandContext) -> None:
        tell(str((await Accounts(context.database).create(name)).id))

    run(act, data, makes=True)


@app.command("list")
def list_(data: Data = None, output: Output = OutputFormat.TABLE) -> None:
    """Show all accounts."""

    async def act(context: CommandContext) -> None:
        weights = context.settings.account_weights
        rows = [
            {
                "id": account.id,
                "name": account.name,
                "reserved": account.reserved,
                "weight": weights.get(account.id, 1.0),
                "created_at": account.created_at,
            }
            for account in await Accounts(context.database).all()
        ]
        show(rows, output=output, nothing="No accounts.")

    run(act, data)


@app.command("webhook-secret")
def webhook_secret(
    renew: Annotated[bool, typer.Option("--renew", help="Make a new one; the old one stops working.")] = False,
    overlap_hours: Annotated[
        int, typer.Option(help="With --renew: webhooks are signed with the old one, too, for so many hours.", min=0)
    ] = 0,
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Print the secret an account's webhooks are signed with (Standard Webhooks)."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        webhook_secrets = WebhookSecrets(context.database, context.sealer)
        overlap = timedelta(hours=overlap_hours)
        secrets = await (webhook_secrets.renew(owner.id, overlap) if renew else webhook_secrets.get(owner.id))
        tell(secrets.newest)

    run(act, data, makes=True)


@app.command("add-meeting")
def add_meeting(
    service: _ServiceName,
    email: Annotated[str, typer.Argument(help="The address it signs in with.")],
    state: Annotated[
        Path | None,
        typer.Option(help="A browser's storage state (JSON) that is signed in; without it, a password is asked for."),
    ] = None,
    with_password: Annotated[
        bool,
        typer.Option("--with-password", help="Ask for a password beside the state, for the day the state is void."),
    ] = False,
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Keep an account that bots can sign in with and print its id: `authentication.account_id` of a bot."""
    password = asked_secret("Password") if with_password or state is None else None
    sign_in = SignIn(service=Service(service), email=email, state=_state(state), password=password)

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        tell(str((await MeetingAccounts(context.database, context.sealer).add(owner.id, sign_in)).id))

    run(act, data, makes=True)


@app.command()
def login(
    service: _ServiceName,
    email: Annotated[str, typer.Argument(help="The address you will sign in with; it names the account in lists.")],
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Sign in by hand in a browser window, and keep that for bots: close the window when you are in.

    Prints the account's id: `authentication.account_id` of a bot. Doing it again for the same address renews it.
    """
    display = os.environ.get("DISPLAY")
    meeting_service = Service(service)
    if meeting_service not in services_taking(AccountKind.SESSION):
        raise typer.BadParameter(no_accounts(meeting_service))
    sign_in_url = platform_of(meeting_service).accounts.sign_in_url
    if not display:
        raise typer.BadParameter(
            "There is no display to open a window on (DISPLAY is not set). Run this on a desktop, or sign in with a "
            "browser elsewhere and keep its storage state with `accounts add-meeting --state`."
        )
    window_display = display

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        tell("Sign in, then close the window.", err=True)
        state = await sign_in_by_hand(load().browser, sign_in_url, display=window_display)
        if not state["cookies"]:
            raise InvalidConfig({"email": ["Nothing was signed in: the browser was left without a cookie."]})
        sign_in = SignIn(service=meeting_service, email=email, state=state)
        tell(str((await MeetingAccounts(context.database, context.sealer).keep_state(owner.id, sign_in)).id))

    run(act, data, makes=True)


@app.command("list-meeting")
def list_meeting(data: Data = None, account: AccountName = OF_DEFAULT, output: Output = OutputFormat.TABLE) -> None:
    """Show the meeting accounts."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        rows = [
            {
                "id": meeting_account.id,
                "service": meeting_account.service,
                "email": meeting_account.email,
                "created_at": meeting_account.created_at,
                "updated_at": meeting_account.updated_at,
            }
            for meeting_account in await MeetingAccounts(context.database, context.sealer).of(owner.id)
        ]
        show(rows, output=output, nothing="No meeting accounts yet: sederunt accounts add-meeting SERVICE EMAIL")

    run(act, data)


@app.command("remove-meeting")
def remove_meeting(
    meeting_account_id: Annotated[str, typer.Argument(help="Its id, from `accounts list-meeting`.")],
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Forget a meeting account."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        meeting_accounts = MeetingAccounts(context.database, context.sealer)
        await meeting_accounts.remove(uuid_of(meeting_account_id, "a meeting account"), owner.id)
        tell("Removed.", err=True)

    run(act, data)


@app.command()
def reseal(data: Data = None) -> None:
    """Seal every stored secret with the first of SEDERUNT_SECRET_KEYS; afterwards the older ones can go."""

    async def act(context: CommandContext) -> None:
        result = await reseal_all(context.database, context.sealer)
        tell(f"{result.changed} secrets were sealed anew.", err=True)
        if result.unopened:
            advice = "Where theirs is lost for good: sederunt accounts forget-sealed."
            tell(f"{result.unopened} do not open with any key here and stay as they are. {advice}", err=True)

    run(act, data)


@app.command("forget-sealed")
def forget_sealed(
    data: Data = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove them. They do not come back, even if the key does.")
    ] = False,
) -> None:
    """Remove the stored secrets that do not open, where the sealing key is lost; without --yes, show what would go."""

    async def act(context: CommandContext) -> None:
        unreadable = await unopened(context.database, context.sealer)
        for place, values in unreadable.items():
            tell(f"{len(values)} {place.told}")
        if not unreadable:
            tell("Every stored secret opens: there is nothing to forget.", err=True)
        elif not yes:
            tell("Nothing was removed. With --yes they are; they do not come back, even if the key does.", err=True)
        else:
            revoked = await forget(context.database, unreadable)
            tell(f"Removed, and {revoked} API keys revoked. `sederunt keys create NAME` makes a new one.", err=True)

    run(act, data, key_lost=True)


def _state(path: Path | None) -> Mapping[str, Any] | None:
    if path is None:
        return None
    try:
        state: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"'{path}' is not a readable JSON file: {error}") from None
    return state
