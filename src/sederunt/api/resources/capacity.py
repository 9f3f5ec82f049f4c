"""The cost of bots, and the bots reserved by an account. The operator sets the rates; without any, all is free."""

from starlette.responses import Response

from sederunt.api.call import Call
from sederunt.api.failures import json_response
from sederunt.api.schemas.faults import add, read
from sederunt.api.schemas.requests import CapacityFields
from sederunt.errors import InvalidConfig
from sederunt.model.bot import Bot
from sederunt.model.minutes import minutes_of, waiting_minutes_of
from sederunt.model.status import ENDINGS
from sederunt.settings import PricingSettings
from sederunt.transcription.models import ModelRow, find, has_added_sockets, models


async def bot_pricing(call: Call) -> Response:
    """Answer GET /bot/{id}/pricing"""
    bot = await call.context.bots.get(call.id("bot"), call.account_id)
    return json_response(pricing_of(bot, call.context.settings.pricing))


async def get_capacity(call: Call) -> Response:
    """Answer GET /reserved-capacity"""
    account = await call.context.accounts.get(call.account_id)
    return await _capacity(call, account.reserved)


async def set_capacity(call: Call) -> Response:
    """Answer PUT /reserved-capacity"""
    request = read(CapacityFields, await call.body())
    most = call.context.settings.api.concurrent_bots
    if not request.faults and request.fields.count > most:
        add(request.faults, "count", f"count must not be more than {most}, the most bots an account may have at work.")
    if request.faults:
        raise InvalidConfig(request.faults)
    account = await call.context.accounts.reserve(call.account_id, request.fields.count)
    return await _capacity(call, account.reserved)


async def _capacity(call: Call, reserved_count: int) -> Response:
    """Return the answer; `available` is the number of reserved bots that are not at work."""
    active = await call.context.bots.active_count(call.account_id)
    return json_response({"reserved": reserved_count, "available": max(0, reserved_count - active)})


async def list_prices(call: Call) -> Response:
    """Answer GET /pricing: every model, with the operator's rate and what its vendor is known to charge."""
    rates = call.context.settings.pricing
    data = [model_price(row, rates) for row in models()]
    return json_response({"currency": rates.currency, "base_per_hour": rates.base_per_hour, "data": data})


def model_price(row: ModelRow, rates: PricingSettings) -> dict[str, object]:
    vendor = row.price
    return {
        "model": row.identifier,
        "aliases": list(row.names[1:]),
        "provider": row.provider,
        "realtime": row.realtime,
        "vendor_model": row.vendor_model or None,
        "vendor_model_end_of_life": row.end_of_life,
        "rate_per_hour": rates.models_per_hour.get(row.identifier, 0.0),
        "vendor_usd_per_hour": vendor.per_hour if vendor else None,
        "vendor_price_as_of": vendor.as_of if vendor else None,
        "vendor_price_note": vendor.note if vendor else None,
    }


def pricing_of(bot: Bot, rates: PricingSettings) -> dict[str, object]:
    """Return a bot's rates per hour, and the amount once it has ended."""
    config = bot.config
    row = find(config.transcription_model)
    sockets = has_added_sockets(config.transcription_model, realtime_audio=config.realtime_audio)
    own_key = config.transcription_credentials is not None
    model_rate = rates.models_per_hour.get(row.identifier if row else "", 0.0) if not own_key else 0.0
    addons = [
        {"name": name, "rate_per_hour": rate}
        for name, rate, is_used in (
            ("video", rates.video_per_hour, config.video),
            ("realtime_audio", rates.realtime_audio_per_hour, sockets),
            ("store_recording_for_1_year", rates.storage_1_year_per_hour, config.store_recording_for_1_year),
        )
        if is_used
    ]
    total = rates.base_per_hour + model_rate + sum(float(str(addon["rate_per_hour"])) for addon in addons)
    return {
        "id": str(bot.id),
        "currency": rates.currency,
        "base": {"rate_per_hour": rates.base_per_hour},
        "transcription": {"model": config.transcription_model, "rate_per_hour": model_rate, "byok": own_key},
        "addons": addons,
        "total": {"rate_per_hour": round(total, 6), "amount": _amount(bot, total, rates.base_per_hour)},
    }


def _amount(bot: Bot, rate: float, base: float) -> float | None:
    """Return the bot's cost, by started minutes in the meeting; None until it has ended."""
    if bot.status not in ENDINGS:
        return None
    return round(minutes_of(bot) / 60 * rate + waiting_minutes_of(bot) / 60 * base, 4)
