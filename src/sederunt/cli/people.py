"""`sederunt people`: let people into the console, see who they are."""

from typing import Annotated

import typer

from sederunt.accounts.sign_in import MemberRole, SignIns
from sederunt.cli.context import OF_DEFAULT, AccountName, CommandContext, Data, Output, OutputFormat, run, show
from sederunt.cli.run_files import noted_address
from sederunt.cli.terminal import tell
from sederunt.settings import load

app = typer.Typer(no_args_is_help=True)


@app.command()
def invite(
    name: Annotated[str, typer.Argument(help="Who they are; a name that is there already gets another link.")],
    role: Annotated[MemberRole, typer.Option(help="What they may do.")] = MemberRole.OWNER,
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Print a link that lets somebody into the console, once, within a week."""
    settings = load(**({} if data is None else {"data": data}))

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        sign_ins = SignIns(context.database)
        people_by_name = {person.name: person for person in await sign_ins.people.of_account(owner.id)}
        person_id = people_by_name[name].id if name in people_by_name else None
        token = await sign_ins.invite(owner.id, role, name=name, person_id=person_id)
        api = settings.api
        base = api.public_url or noted_address(settings.data) or f"http://{api.host}:{api.port}"
        tell(f"{base.rstrip('/')}/welcome?token={token}")

    run(act, data, makes=True)


@app.command("list")
def list_(data: Data = None, account: AccountName = OF_DEFAULT, output: Output = OutputFormat.TABLE) -> None:
    """Show who may use the console for an account."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        people = await SignIns(context.database).people.of_account(owner.id)
        rows = [
            {"id": p.id, "name": p.name, "email": p.email, "role": p.role, "created_at": p.created_at} for p in people
        ]
        show(rows, output=output, nothing="Nobody yet: sederunt people invite NAME")

    run(act, data)
