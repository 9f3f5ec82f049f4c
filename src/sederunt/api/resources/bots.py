"""The handlers of bots: create, validate, read, change, stop, post to the chat, delete."""

import asyncio
import json
import secrets
from dataclasses import asdict, replace
from functools import partial
from typing import Any
from uuid import UUID

from starlette.datastructures import QueryParams
from starlette.responses import Response

from sederunt import log
from sederunt.api.call import Call
from sederunt.api.failures import message_response, text_response
from sederunt.api.idempotency import REPEATED, KeyedRequest, answer_once
from sederunt.api.resources.bot_commands import change_avatar, order_stop, post_chat
from sederunt.api.resources.lists import LOOK_BYTES, list_response, looking
from sederunt.api.resources.removal import remove_files
from sederunt.api.schemas.faults import Read, in_order, read
from sederunt.api.schemas.requests import (
    AvatarFields,
    BotFields,
    ChatFields,
    Start,
    changed_config,
    new_config,
    start_of,
)
from sederunt.api.schemas.values import METADATA_KEYS
from sederunt.api.schemas.views import (
    bot_json,
    bot_summary,
    bot_values,
    list_json,
    page_json,
    plain_bot_json,
    with_own_sockets,
)
from sederunt.api.transport.etags import etag_of, is_asked
from sederunt.api.transport.tagged import known_response, tagged_response
from sederunt.database.holdings import Holding
from sederunt.database.ids import new_id
from sederunt.database.seats import BookingLimits, TwinBot
from sederunt.errors import Conflict, InvalidConfig
from sederunt.model.bot import Bot, BotConfig
from sederunt.model.status import ENDINGS, BotStatus, Trigger
from sederunt.settings import ApiSettings

logger = log.get(component="api")

_FILTERS = ("metadata[", "custom_metadata[")  # a request may use either name


async def create_bot(call: Call) -> Response:
    """Answer POST /bot"""
    body = await call.body()
    answer = await answer_once(call, body, lambda keyed_request: _create_bot(call, body, keyed_request))
    if REPEATED not in answer.headers:
        return answer
    first = json.loads(bytes(answer.body))
    bot = await call.context.bots.get(UUID(first["id"]), call.account_id)
    return text_response(with_own_sockets(first, bot, call.addresses), headers={REPEATED: "true"})


async def _create_bot(call: Call, body: object, keyed_request: KeyedRequest | None) -> Response:
    request, config = await _checked(call, body)
    now = call.context.clock.now()
    start = start_of(request.fields, now)
    if start.is_now:
        await call.context.checks.live_room(config, call.context.bots)
    bot = Bot(
        id=new_id(now),
        account_id=call.account_id,
        config=config,
        status=BotStatus.BOOTING if start.is_now else BotStatus.SCHEDULED,
        created_at=now,
        scheduled_for=start.at,
        secret=secrets.token_urlsafe(24),
        key_id=call.caller.key_id,
    )
    if request.fields.bot_avatar_file:
        await call.context.deletions.expect_row("bot", bot.id, bot.account_id)
    settings = call.context.settings.api
    try:
        bot = await _with_avatar(call, bot, request.fields)
        stored_addresses = replace(call.addresses, to_be_kept=True)
        await call.context.bots.create(
            bot,
            most=settings.concurrent_bots if start.is_now else settings.scheduled_bots,
            booking=booking_limits(settings),
            limits=call.context.account_limits,
            holding=_picture_held(bot, request.fields) if request.fields.bot_avatar_file else None,
            answer=keyed_request.answered(bot.id, plain_bot_json(bot, stored_addresses)) if keyed_request else None,
            twin_s=settings.twin_bots_s,
        )
    except BaseException as error:
        if request.fields.bot_avatar_file:
            await _without_avatar(call, bot)
            await call.context.deletions.expect_none(bot.id)
        if isinstance(error, TwinBot) and settings.twin_bots_answer == "first":
            return text_response(plain_bot_json(error.bot, call.addresses))
        raise
    announce_created(bot)
    return text_response(plain_bot_json(bot, call.addresses))


def booking_limits(settings: ApiSettings) -> BookingLimits:
    """Return the limits on bots that are scheduled for the same time."""
    return BookingLimits(
        per_account=settings.concurrent_bots, seats=settings.seats, refuses=settings.overbooking == "refuse"
    )


def announce_created(bot: Bot) -> None:
    """Log a new bot, by whichever way it was created."""
    logger.info("bot created", action="bot_created", bot_id=str(bot.id), status=bot.status.value)


async def validate_bot(call: Call) -> Response:
    """Answer POST /bot/validate"""
    await _checked(call, await call.body())
    return message_response("The configuration is valid.")


async def get_bot(call: Call) -> Response:
    """Answer GET /bot/{id}"""
    bot_id, with_events, segments = call.id("bot"), call.flag("with-speaker-events"), call.segments()
    addresses, query = call.addresses, (with_events, segments and asdict(segments))
    bodies = call.context.bodies
    if is_asked(call.request) or bodies.has(bot_id):
        outline = await call.context.bots.outline(bot_id, call.account_id)
        if outline.bot.status in ENDINGS:
            etag = etag_of(bot_values(outline.bot, addresses), outline.events, outline.participants, *query)
            if (response := await known_response(call.request, bodies, bot_id, etag)) is not None:
                return response
    view = await call.context.bots.view(bot_id, call.account_id, with_speaker_events=with_events, segments=segments)
    write = partial(bot_json, view, addresses, with_speaker_events=with_events)
    text = await asyncio.to_thread(write) if with_events else write()
    if view.bot.status not in ENDINGS:
        return text_response(text)
    etag = etag_of(bot_values(view.bot, addresses), len(view.events), len(view.participants), *query)
    return await tagged_response(call.request, bodies, bot_id, etag, text.encode())


async def update_bot(call: Call) -> Response:
    """Answer PATCH /bot/{id}"""
    bot = await call.context.bots.get(call.id("bot"), call.account_id)
    if bot.status is not BotStatus.SCHEDULED:
        raise Conflict(f"Only a scheduled bot can be changed; this one is {bot.status}.")
    request = read(BotFields, await call.body(), partial=True)
    while not await _change(call, bot, request):  # after a simultaneous change, this one is applied to its result
        bot = await call.context.bots.get(bot.id, call.account_id)
    view = await call.context.bots.view(bot.id, call.account_id)
    return text_response(bot_json(view, call.addresses))


async def _change(call: Call, bot: Bot, request: Read[BotFields]) -> bool:
    """Change the fields that were sent. Return False if the bot has changed since it was read."""
    fields = request.fields
    config = changed_config(bot.config, fields)
    await _check(call, request, config)
    now = call.context.clock.now()
    start = start_of(fields, now) if "scheduled_start_time" in fields.model_fields_set else Start(bot.scheduled_for)
    if start.is_now:
        await call.context.checks.live_room(config, call.context.bots)
    new_bot = await _with_avatar(call, replace(bot, config=config), fields)
    most = call.context.settings.api.concurrent_bots if start.is_now else None
    is_changed = False
    try:
        booking = booking_limits(call.context.settings.api) if start.at not in (None, bot.scheduled_for) else None
        is_changed = await call.context.bots.update_config(
            bot,
            new_bot.config,
            start.at or now,
            most=most,
            booking=booking,
            holding=_picture_held(new_bot, fields) if _shows_another(new_bot, bot) else None,
            limits=call.context.account_limits,
        )
    finally:
        await (_without_avatar(call, bot, other=new_bot) if is_changed else _without_avatar(call, new_bot, other=bot))
    if is_changed and start.is_now:
        # `due_at`: a simultaneous change may have moved the bot to a later time.
        await call.context.bots.record_transition(bot.id, Trigger.DUE, due_at=now)
    return is_changed


async def delete_bot(call: Call) -> Response:
    """Answer DELETE /bot/{id}"""
    bot = await call.context.bots.request_deletion(call.id("bot"), call.account_id)
    call.context.bodies.forget(bot.id)
    logger.info("bot deleted", action="bot_deleted", bot_id=str(bot.id), status=bot.status.value)
    if bot.status is BotStatus.LEAVING:
        return message_response("The bot is leaving its meeting; then it is deleted with all its data.")
    await remove_files(call.context.objects, f"bots/{bot.id}/")
    return message_response("The bot and its data were deleted.")


async def stop_bot(call: Call) -> Response:
    """Answer POST /bot/{id}/stop"""
    await order_stop(call.context, call.id("bot"), call.account_id)
    return message_response("The bot is stopping.")


async def chat(call: Call) -> Response:
    """Answer POST /bot/{id}/chat-message"""
    bot = await call.context.bots.get(call.id("bot"), call.account_id)
    fields = await call.fields(ChatFields)
    await post_chat(call.context, bot, fields.message)
    return message_response("The message was posted.")


async def show_avatar(call: Call) -> Response:
    """Answer POST /bot/{id}/avatar"""
    bot = await call.context.bots.get(call.id("bot"), call.account_id)
    fields = await call.fields(AvatarFields)
    await change_avatar(call.context, bot, fields.avatar_url)
    return message_response("The bot shows the picture.")


async def scheduled_bots(call: Call) -> Response:
    """Answer GET /bot/scheduled: a bare array, soonest first."""
    await call.context.bulk.begin(call.account_id, LOOK_BYTES)
    addresses = call.addresses
    parts = call.context.bots.schedule.parts(call.account_id)
    texts = ([plain_bot_json(bot, addresses) for bot in part] async for part in parts)
    return await list_response(call, list_json(texts))


async def list_bots(call: Call) -> Response:
    """Answer GET /bot: newest first, without transcript, participants and events."""
    addresses = call.addresses
    async with looking(call):
        page = await call.context.bots.listed(call.account_id, **bots_asked_for(call))
    parts = call.context.bots.parts(page)
    texts = ([json.dumps(bot_summary(bot, addresses)) for bot in part] async for part in parts)
    return await list_response(call, page_json(texts, page.cursor))


def bots_asked_for(call: Call) -> dict[str, Any]:
    """Return the page of bots that the query asks for, as arguments of `listed`. Raises InvalidConfig."""
    query = call.request.query_params
    return {
        "status": call.word("status", BotStatus),
        "metadata": _metadata_filter(query),
        "search": call.text("search"),
        "cursor": query.get("cursor") or None,
        "limit": call.integer("limit", default=50, least=1, most=200),
    }


def _metadata_filter(query: QueryParams) -> dict[str, str]:
    """Return the pairs of `metadata[name]=value` in the query. Raises InvalidConfig if one is malformed."""
    pairs: dict[str, str] = {}
    for name, value in query.items():
        if f"{name}[".startswith(_FILTERS):
            field, _, suffix = name.partition("[")
            key = suffix.removesuffix("]")
            if key == suffix or "[" in key or "]" in key:
                raise InvalidConfig({field: [f"{field} must be given as {field}[name]=value."]})
            pairs[key] = value
    if len(pairs) > METADATA_KEYS:
        raise InvalidConfig({"metadata": [f"metadata must not ask for more than {METADATA_KEYS} pairs."]})
    return pairs


async def _checked(call: Call, body: object) -> tuple[Read[BotFields], BotConfig]:
    """Return the body of POST /bot or /bot/validate, and its config. Raises InvalidConfig."""
    request = read(BotFields, body)
    config = new_config(request.fields)
    await _check(call, request, config)
    return request, config


async def _check(call: Call, request: Read[BotFields], config: BotConfig) -> None:
    await call.context.checks.bot(call.account_id, config, request.fields.model_fields_set, request.faults)
    faults = in_order(BotFields, request.faults)
    if faults:
        raise InvalidConfig(faults)


async def _with_avatar(call: Call, bot: Bot, fields: BotFields) -> Bot:
    """Store an uploaded picture and return the bot with it; it takes precedence over an address."""
    if "bot_avatar_file" not in fields.model_fields_set:
        return bot
    if not fields.bot_avatar_file:
        return replace(bot, config=replace(bot.config, bot_avatar_object=None))
    key = f"bots/{bot.id}/avatar-{secrets.token_hex(4)}"  # a new one: the old picture stays if the request is refused
    await call.context.objects.put(key, fields.bot_avatar_file)
    return replace(bot, config=replace(bot.config, bot_avatar_object=key))


def _picture_held(bot: Bot, fields: BotFields) -> Holding:
    """Return the storage that a bot uses before its start: its uploaded picture, or nothing."""
    picture = fields.bot_avatar_file if bot.config.bot_avatar_object else None
    return Holding(resource="bot", resource_id=bot.id, account_id=bot.account_id, stored_bytes=len(picture or b""))


def _shows_another(bot: Bot, old_bot: Bot) -> bool:
    return bot.config.bot_avatar_object != old_bot.config.bot_avatar_object


async def _without_avatar(call: Call, bot: Bot, *, other: Bot | None = None) -> None:
    """Remove the bot's uploaded picture unless the other bot has the same one."""
    key = bot.config.bot_avatar_object
    if key and (other is None or _shows_another(bot, other)):
        await call.context.objects.delete(key)
