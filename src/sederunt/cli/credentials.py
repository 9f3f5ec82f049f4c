"""`sederunt credentials`: keys of transcription vendors, kept sealed."""

import asyncio
from typing import Annotated

import typer

from sederunt.accounts.credentials import CredentialStore
from sederunt.accounts.vendor_access import VendorAccess
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
from sederunt.settings import load
from sederunt.transcription.models import providers
from sederunt.transcription.plugins import provider

app = typer.Typer(no_args_is_help=True)


@app.command()
def add(
    provider_name: Annotated[str, typer.Argument(metavar="PROVIDER", help="deepgram, assemblyai, revai, …")],
    key: Annotated[
        str | None, typer.Option("--key", help="The vendor's key; without it, read from standard input.")
    ] = None,
    region: Annotated[str | None, typer.Option(help="Where the vendor asks for one: us, eu, …")] = None,
    organisation: Annotated[str | None, typer.Option(help="Salad's organisation name.")] = None,
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Keep a vendor's key and print its id: the value of `transcription_credentials`."""
    text = key if key is not None else asked_secret("Key").strip()

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        credentials = CredentialStore(context.database, context.sealer)
        credential = await credentials.add(owner.id, provider_name, text, region=region, organisation=organisation)
        tell(str(credential.id))

    run(act, data, makes=True)


@app.command("list")
def list_(data: Data = None, account: AccountName = OF_DEFAULT, output: Output = OutputFormat.TABLE) -> None:
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
        show(rows, output=output, nothing="No credentials yet: sederunt credentials add PROVIDER")

    run(act, data)


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="A credential's id, or a vendor's name: the operator's key in settings.")],
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Ask the vendor whether it accepts a key, by its cheapest call that needs one."""
    settings = load(**({} if data is None else {"data": data}))

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        store = CredentialStore(context.database, context.sealer)
        credential = None if name in providers() else await store.get(uuid_of(name, "a credential"), owner.id)
        vendor = providers()[credential.provider if credential else name]
        access = await VendorAccess(store, settings).of(owner.id, credential.id if credential else None, vendor)
        vendor_account = provider(vendor.name).account
        if access is None or vendor_account is None:
            tell(f"{vendor.title} needs no key.")
            return
        await asyncio.to_thread(vendor_account.check, settings, access)
        tell(f"{vendor.title} accepts {access.label}.")

    run(act, data, makes=name in providers())  # the operator's key may be tried before there is a service


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
        tell("Removed.", err=True)

    run(act, data)
