"""`sederunt credentials`: keys of transcription vendors, kept sealed."""

import sys
from typing import Annotated

import typer

from sederunt.accounts.credentials import CredentialStore
from sederunt.cli.context import OF_DEFAULT, AccountName, AsJson, CommandContext, Data, run, show, uuid_of

app = typer.Typer(no_args_is_help=True)


@app.command()
def add(
    provider: Annotated[str, typer.Argument(help="deepgram, assemblyai, speechmatics, revai, elevenlabs, …")],
    key: Annotated[
        str | None, typer.Option("--key", help="The vendor's key; without it, read from standard input.")
    ] = None,
    region: Annotated[str | None, typer.Option(help="Where the vendor asks for one: us, eu, …")] = None,
    organisation: Annotated[str | None, typer.Option(help="Salad's organisation name.")] = None,
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Keep a vendor's key and print its id: the value of `transcription_credentials`."""
    text = key if key is not None else _asked()

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        credentials = CredentialStore(context.database, context.sealer)
        added = await credentials.add(owner.id, provider, text, region=region, organisation=organisation)
        typer.echo(str(added.id))

    run(act, data)


@app.command("list")
def list_(data: Data = None, account: AccountName = OF_DEFAULT, as_json: AsJson = False) -> None:
    """Show an account's credentials: never the keys."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        rows = [
            {
                "id": credential.id,
                "provider": credential.provider,
                "key": f"…{credential.hint}",
                "region": credential.region,
                "organisation": credential.organisation,
                "created_at": credential.created_at,
            }
            for credential in await CredentialStore(context.database, context.sealer).of(owner.id)
        ]
        show(rows, as_json=as_json, nothing="No credentials yet: sederunt credentials add PROVIDER")

    run(act, data)


@app.command()
def remove(
    credential_id: Annotated[str, typer.Argument(help="Its id, from `credentials list`.")],
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Forget a credential."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        await CredentialStore(context.database, context.sealer).remove(uuid_of(credential_id, "a credential"), owner.id)
        typer.echo("Removed.", err=True)

    run(act, data)


def _asked() -> str:
    """Ask for the key without it appearing in the shell's history or the process list."""
    if sys.stdin.isatty():
        return str(typer.prompt("Key", hide_input=True))
    return sys.stdin.readline().strip()
