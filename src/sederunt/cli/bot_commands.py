"""`sederunt bots create`, `stop` and `watch`: the commands that ask a running service."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from sederunt import log
from sederunt.cli.context import OF_DEFAULT, AccountName, Data, Output, OutputFormat
from sederunt.cli.error_messages import plain_errors
from sederunt.cli.running_service import Key, ServicePlace, Url, place_of, service_of
from sederunt.cli.terminal import plain, tell, tell_json
from sederunt.errors import InvalidConfig
from sederunt.mcp.backend import Backend, Refusal, ServiceAway
from sederunt.mcp.content import happened
from sederunt.mcp.explanation import explain
from sederunt.mcp.tools import service_of_link

COULD_NOT_WATCH = 3  # exit code; 1 is for a bot that did not finish
PATIENCE_S = 300.0  # with a service that is away

_WAIT_S = 25
_BUSY, _AWAY = 429, frozenset({502, 503, 504})
_PAUSE_S = (3.0, 7.0)
_MOST = 1_000_000  # characters: practically no limit, for a terminal

BotId = Annotated[str, typer.Argument(help="The bot's id.")]


def create(
    ctx: typer.Context,
    meeting_url: Annotated[str, typer.Argument(help="The meeting's link.")],
    name: Annotated[str, typer.Option(help="Its name in the meeting.")] = "Minutes",
    service: Annotated[str | None, typer.Option(help="where the meeting is held; absent: told from the link.")] = None,
    model: Annotated[str, typer.Option(help="What transcribes; `none` records only.")] = "whisper",
    at: Annotated[datetime | None, typer.Option(help="When to join, in UTC: 2026-03-02T09:00:00. Absent: now.")] = None,
    lang: Annotated[str | None, typer.Option(help="Spoken language, such as en.")] = None,
    webhook: Annotated[str | None, typer.Option(help="Receives every change of status.")] = None,
    greeting: Annotated[str | None, typer.Option(help="Posted to the meeting's chat on joining.")] = None,
    video: Annotated[bool, typer.Option("--video", help="Record video too.")] = False,
    watch_it: Annotated[bool, typer.Option("--watch", help="Stay, and tell what happens until it has ended.")] = False,
    url: Url = None,
    key: Key = None,
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Send a bot into a meeting and print its id, alone, on standard output."""

    async def act(backend: Backend) -> None:
        body = {
            "meeting_url": meeting_url,
            "bot_name": name,
            "service": service or service_of_link(meeting_url),
            "transcription_model": model,
            "scheduled_start_time": None if at is None else int(at.replace(tzinfo=UTC).timestamp()),
            "lang": lang,
            "webhook_url": webhook,
            "initial_chat_message": greeting,
            "video": video,
        }
        bot = await backend.ask("POST", "/bot", body={name: value for name, value in body.items() if value is not None})
        tell(plain(bot["id"]))
        if watch_it:
            await _watch(backend, bot["id"])

    _ask(act, place_of(ctx, url=url, key=key, data=data, account=account))


def stop(
    ctx: typer.Context,
    bot_id: BotId,
    url: Url = None,
    key: Key = None,
    data: Data = None,
    account: AccountName = OF_DEFAULT,
) -> None:
    """Let a bot leave its meeting; what it recorded is kept."""

    async def act(backend: Backend) -> None:
        answer = await backend.ask("POST", f"/bot/{_id(bot_id)}/stop")
        tell(plain(answer["message"]), err=True)

    _ask(act, place_of(ctx, url=url, key=key, data=data, account=account))


def watch(
    ctx: typer.Context,
    bot_id: BotId,
    url: Url = None,
    key: Key = None,
    data: Data = None,
    account: AccountName = OF_DEFAULT,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Tell what happens to a bot until it has ended, and why it did.

    Exit code 1 where it did not finish, 3 where it could not be watched.
    """

    async def act(backend: Backend) -> None:
        await _watch(backend, _id(bot_id), as_json=output is OutputFormat.JSON)

    _ask(act, place_of(ctx, url=url, key=key, data=data, account=account), COULD_NOT_WATCH)


def _ask(act: Callable[[Backend], Awaitable[None]], place: ServicePlace, code: int = 1) -> None:
    log.configure("lines", "warning")

    async def acted() -> None:
        async with service_of(place) as backend:
            await act(backend)

    with plain_errors(code):
        asyncio.run(acted())


async def _watch(backend: Backend, bot_id: str, *, as_json: bool = False) -> None:
    with plain_errors(COULD_NOT_WATCH):
        bot = await _followed(backend, bot_id, tell_json if as_json else _tell)
    if not as_json:
        for line in explained(bot):
            tell(line)
    if bot["status"] != "finished":
        raise typer.Exit(1)


async def _followed(
    backend: Backend, bot_id: str, tell_event: Callable[[Mapping[str, Any]], None]
) -> Mapping[str, Any]:
    """Print what happens to a bot; return the bot once it has ended."""
    since: int | None = None
    while True:
        query = {"since": since, "wait": 0 if since is None else _WAIT_S}
        patience_s = 0.0 if since is None else PATIENCE_S  # a service that never answered is not away
        answer = await _asked(backend, f"/bot/{bot_id}/live", patience_s, query)
        for event in answer["data"]:
            tell_event(event)
        since = answer["next"]
        if answer["ended"]:
            bot: Mapping[str, Any] = await _asked(backend, f"/bot/{bot_id}", PATIENCE_S)
            return bot


async def _asked(backend: Backend, path: str, patience_s: float, query: Mapping[str, Any] | None = None) -> Any:
    """Return an answer once there is one. Raises Refusal, and ServiceAway after `patience_s` without the service."""
    away_since: float | None = None
    while True:
        try:
            return await backend.ask("GET", path, query=query)
        except (ServiceAway, Refusal) as error:
            status = error.status if isinstance(error, Refusal) else None
            if status == _BUSY:
                away_since = None
            elif status is not None and status not in _AWAY:
                raise
            else:
                now = time.monotonic()
                if away_since is None:
                    away_since = now
                    if patience_s:
                        tell(f"{plain(str(error))} Trying again for {patience_s:g} s.", err=True)
                if now - away_since >= patience_s:
                    raise
        await asyncio.sleep(random.uniform(*_PAUSE_S))  # noqa: S311  # keeps no secret


def explained(bot: Mapping[str, Any]) -> list[str]:
    """Return lines that explain a bot's status."""
    explanation = explain(bot)
    facts = (
        ("Why", explanation.summary),
        ("Verdict", bot.get("verdict")),
        ("Cause", explanation.cause),
        ("Decided by", explanation.decided_by),
        ("What helps", explanation.advice),
    )
    return [f"{name}: {plain(value)}" for name, value in facts if value]


def _tell(event: Mapping[str, Any]) -> None:
    lines, _ = happened([event], _MOST)
    for line in lines:
        speaker = line.get("speaker") or line.get("name")
        parts = [
            line.get("at"),
            line["what"],
            f"{speaker}:" if speaker and "text" in line else speaker,
            line.get("text"),
        ]
        tell(plain("  ".join(str(part) for part in parts if part)))


def _id(text: str) -> str:
    if text and all(character.isalnum() or character == "-" for character in text):
        return text
    raise InvalidConfig({"id": [f"'{plain(text)}' is not the id of a bot: ids look like 018f2c3e-…."]})
