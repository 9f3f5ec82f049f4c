"""`sederunt keys`: create, list and revoke API keys."""

from typing import Annotated

import typer

from sederunt.accounts.keys import Keys
from sederunt.cli.context import OF_DEFAULT, AccountName, CommandContext, Data, Output, OutputFormat, run, show, uuid_of

app = typer.Typer(no_args_is_help=True)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for; shown in lists.")],
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Make a key and print it, alone, on standard output. It cannot be shown again."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        keys = await Keys.open(context.database, context.sealer)
        text, _ = await keys.create(owner.id, name)
        typer.echo(text)

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
                "created_at": key.created_at,
                "last_used_at": key.last_used_at,
                "revoked_at": key.revoked_at,
            }
            for key in await keys.of(owner.id)
        ]
        show(rows, output=output, nothing="No keys yet: sederunt keys create NAME")

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
        typer.echo("Revoked.", err=True)

    run(act, data)
