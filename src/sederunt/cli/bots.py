"""`sederunt bots`: list and look at bots, straight from the database; send, stop and watch them; play a stay again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from sederunt.claims import journal
from sederunt.claims.changes import RosterChange
from sederunt.cli import bot_commands
from sederunt.cli.context import (
    OF_DEFAULT,
    AccountName,
    CommandContext,
    Data,
    Output,
    OutputFormat,
    json_text,
    run,
    show,
    uuid_of,
)
from sederunt.cli.error_messages import sentence_of
from sederunt.cli.terminal import plain, tell, tell_json
from sederunt.database.bot_reading import BotReading
from sederunt.database.bot_view import BotView
from sederunt.model.status import BotStatus
from sederunt.storage.objects import open_objects

app = typer.Typer(no_args_is_help=True)
for act in (bot_commands.create, bot_commands.stop, bot_commands.watch):
    app.command()(act)


@app.command("list")
def list_(
    status: Annotated[BotStatus | None, typer.Option(help="Only bots in this status.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, from the newest.")] = 20,
    data: Data = None,
    account: AccountName = OF_DEFAULT,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show the newest bots."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        page = await BotReading(context.database).find(owner.id, status=status, limit=limit)
        rows = [
            {
                "id": bot.id,
                "status": bot.status.value,
                "stop_reason": bot.stop_reason and bot.stop_reason.value,
                "service": bot.config.service,
                "bot_name": bot.config.bot_name,
                "created_at": bot.created_at,
                "finished_at": bot.finished_at,
            }
            for bot in page.bots
        ]
        show(rows, output=output, nothing="No bots.")

    run(act, data)


@app.command("show")
def show_(
    bot_id: Annotated[str, typer.Argument(help="The bot's id.")],
    data: Data = None,
    account: AccountName = OF_DEFAULT,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show one bot: what was asked, what happened, what was said."""

    async def act(context: CommandContext) -> None:
        owner = await context.account(account)
        view = await BotReading(context.database).view(uuid_of(bot_id, "a bot"), owner.id)
        if output is OutputFormat.JSON:
            bot = asdict(view.bot)
            del bot["secret"]  # it gives access to its sockets
            events = [asdict(event) for event in view.events]
            participants = [asdict(participant) for participant in view.participants]
            segments = json.loads(view.segments_json)
            tell_json(
                {**bot, "events": events, "participants": participants, "transcript": segments}, default=json_text
            )
        else:
            _tell(view, await _why(context, view))

    run(act, data)


@app.command("replay")
def replay_(
    claims: Annotated[Path, typer.Argument(help="A claims-*.jsonl.gz of a stay: the bot's evidence links to it.")],
    expect: Annotated[Path | None, typer.Option(help="The why-*.json that must come of it; else exit code 1.")] = None,
    changes: Annotated[bool, typer.Option("--changes", help="Print what listeners hear, as it comes.")] = False,
) -> None:
    """Play what was claimed of a stay again: who was there, who spoke, and why it is believed."""
    try:
        fold = journal.replay(journal.read(claims.read_bytes()), _print_changes if changes else None)
        expected = json.loads(expect.read_text(encoding="utf-8")) if expect else None
    except (OSError, ValueError) as error:
        tell(f"Error: {sentence_of(error) or error}", err=True)
        raise typer.Exit(1) from None
    report = journal.report(fold)
    tell_json(report, indent=1)
    if expected is not None and report != expected:
        tell(f"Error: this is not what {expect} says.", err=True)
        raise typer.Exit(1)


def _print_changes(changes: Sequence[RosterChange]) -> None:
    for change in changes:
        when = datetime.fromtimestamp(change.at_ms / 1000, UTC).isoformat(timespec="milliseconds")
        tell(f"{when}  {plain(journal.words_of(change))}", err=True)


async def _why(context: CommandContext, view: BotView) -> Mapping[str, Any]:
    """Return who was believed to be in the meeting, and on whose word; empty if that is not stored."""
    key = view.bot.evidence.get("why")
    if key is None:
        return {}
    try:
        explanation: Mapping[str, Any] = json.loads(await open_objects(context.settings).get(key))
    except (FileNotFoundError, ValueError):
        return {}
    return explanation


def _as_told(view: BotView) -> dict[str, Any]:
    """Return the fields of a bot that an explanation needs, as the API returns them."""
    return {
        "status": view.bot.status.value,
        "stop_reason": view.bot.stop_reason and view.bot.stop_reason.value,
        "verdict": view.bot.verdict and view.bot.verdict.value,
        "events": [{"event": e.event, "data": e.data, "created_at": f"{e.created_at:%H:%M:%S}"} for e in view.events],
        "recording_gaps": [asdict(gap) for gap in view.bot.gaps],
    }


def _tell(view: BotView, why: Mapping[str, Any]) -> None:
    bot = view.bot
    reason = f" ({bot.stop_reason})" if bot.stop_reason else ""
    tell(f"{plain(bot.config.bot_name)}  {bot.status}{reason}\n{plain(bot.config.meeting_url)}")
    for line in bot_commands.explained(_as_told(view)):
        tell(line)
    for kind, key in bot.evidence.items():
        tell(f"Evidence: {kind} ({plain(key)})")
    for event in view.events:
        transition = (
            f"{event.data.get('old_status')} → {event.data.get('new_status')}" if "new_status" in event.data else ""
        )
        tell(f"  {event.created_at:%H:%M:%S}  {event.event}  {plain(transition)}")
    if view.participants:
        tell("Participants: " + ", ".join(plain(participant.name) for participant in view.participants))
    for person in why.get("participants", ()):
        reasons = "; ".join(f"{claim}: {grounds}" for claim, grounds in person.get("why", {}).items())
        tell(plain(f"  {person.get('name')}: {reasons}"))
    for segment in view.transcript.segments:
        speaker = segment.speaker_name or f"Speaker {segment.speaker}"
        tell(f"  [{segment.start:7.1f}] {plain(speaker)}: {plain(segment.transcript)}")
