"""Find the service that a command speaks to: at an address with a key, or the one that runs on a data directory.

Anybody who may write to the data directory owns the service, so no key has to be given there: the command line keeps
its own keys beside it, one per account, listed and revoked like every other.
"""

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sederunt.accounts.keys import Keys
from sederunt.cli.context import open_context
from sederunt.cli.run_files import noted_address, nothing_runs, write_private
from sederunt.errors import SetupError, Unauthorized
from sederunt.mcp.backend import Backend, service_at
from sederunt.settings import load

KEY_NAME = "command line"

Url = Annotated[
    str | None, typer.Option("--url", envvar="SEDERUNT_URL", help="Where the service is; absent: the data directory's.")
]
Key = Annotated[str | None, typer.Option("--key", envvar="SEDERUNT_KEY", help="An API key, with --url.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class ServicePlace:
    """The options that say where the service is."""

    url: str | None
    key: str | None
    data: Path | None
    account: str


def place_of(ctx: typer.Context, *, url: str | None, key: str | None, data: Path | None, account: str) -> ServicePlace:
    """Return where the service is: typed options win over environment variables.

    Raises BadParameter if a typed option would be ignored.
    """
    typed_names = [name for name in ("url", "key", "data", "account") if _is_typed(ctx, name)]
    address_options = [f"--{name}" for name in typed_names if name in ("url", "key")]
    data_options = [f"--{name}" for name in typed_names if name in ("data", "account")]
    if address_options and data_options:
        sentence = (
            "It is for a service at an address, whose account is the key's: it does not stand beside "
            f"{data_options[0]}."
        )
        raise typer.BadParameter(sentence, param_hint=address_options[0])
    if address_options and url is None:
        raise typer.BadParameter("Give --url too: the data directory has a key of its own.", param_hint="--key")
    if data_options:
        url = key = None
    return ServicePlace(url=url, key=key, data=data, account=account)


def _is_typed(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


@asynccontextmanager
async def service_of(place: ServicePlace) -> AsyncIterator[Backend]:
    """Provide the service. Raises SetupError if its address or key is not known."""
    if place.url is not None:
        if not place.key:
            raise SetupError("Give an API key: SEDERUNT_KEY, or --key. `sederunt keys create NAME` makes one.")
        async with service_at(place.url, place.key) as backend:
            yield backend
        return
    settings = load(**({} if place.data is None else {"data": place.data}))
    url = noted_address(settings.data)
    if url is None:
        raise nothing_runs(settings.data, "give --url and --key")
    async with service_at(url, await _own_key(place)) as backend:
        yield backend


async def _own_key(place: ServicePlace) -> str:
    """Return the command line's own key of an account; make one if none works."""
    async with open_context(place.data) as context:
        account = await context.account(place.account)
        path = context.settings.data / "run" / f"command-line-{account.id}.key"
        keys = await Keys.open(context.database, context.sealer)
        with contextlib.suppress(OSError, Unauthorized):
            text = path.read_text(encoding="ascii").strip()
            await keys.caller(text)
            await keys.close()
            return text
        text, _ = await keys.create(account.id, KEY_NAME)
        write_private(path, text)
        return text
