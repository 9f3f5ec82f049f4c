"""`sederunt keys`: create, list, rotate and revoke API keys."""

from datetime import timedelta
from typing import Annotated

import typer

from sederunt.accounts.keys import EVERYTHING, Keys, Scope
from sederunt.cli.context import OF_DEFAULT, AccountName, CommandContext, Data, Output, OutputFormat, run, show, uuid_of
from sederunt.cli.terminal import tell

app = typer.Typer(no_args_is_help=True)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for; shown in lists.")],
    data: Data = None,
    account: AccountName = OF_DEFAULT,
    scope: Annotated[
        list[Scope] | None, typer.Option(help="What it may do; may be given several times. Default: everything.")
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="Days until it ends. Default: it does not.")] = None,
) -> None:
    """Make a key and print it, alone, on standard output. It cannot be shown again."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        keys = await Keys.open(context.database, context.sealer)
        expires_at = None if days is None else context.database.clock.now() + timedelta(days=days)
        text, _ = await keys.create(owner.id, name, scopes=scope or EVERYTHING, expires_at=expires_at)
        tell(text)

    run(act, data, makes=True)


@app.command("list")
def list_(data: Data = None, account: AccountName = OF_DEFAULT, output: Output = OutputFormat.TABLE) -> None:
    """Show an account's keys: never the keys themselves."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        keys = await Keys.open(context.database, context.sealer)
        rows = [
            {
                "id": key.id,
                "name": key.name,
                "key": f"{key.prefix}…",
                "scopes": key.scopes,
                "created_at": key.created_at,
                "expires_at": key.expires_at,
                "last_used_at": key.last_used_at,
                "revoked_at": key.revoked_at,
            }
            for key in await keys.of(owner.id)
        ]
        show(rows, output=output, nothing="No keys yet: sederunt keys create NAME")

    run(act, data)


@app.command()
def rotate(
    key_id: Annotated[str, typer.Argument(help="The key's id, from `keys list`.")],
    data: Data = None,
    account: AccountName = OF_DEFAULT,
    overlap_hours: Annotated[int, typer.Option(min=0, max=168, help="Hours for which the old key works on.")] = 24,
) -> None:
    """Make a key that may do what another one may, and print it; the old one ends after the overlap."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        keys = await Keys.open(context.database, context.sealer)
        text, _ = await keys.rotate(owner.id, uuid_of(key_id, "a key"), timedelta(hours=overlap_hours))
        tell(text)

    run(act, data)


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="The key's id, from `keys list`.")],
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Withdraw a key; a running service stops answering to it within 5 seconds."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        keys = await Keys.open(context.database, context.sealer)
        await keys.revoke(owner.id, uuid_of(key_id, "a key"))
        tell("Revoked.", err=True)

    run(act, data)
