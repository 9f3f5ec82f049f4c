"""An account's usage: minutes and amounts by month, key and model, as JSON or CSV."""

import csv
import io
from datetime import UTC, date, datetime, timedelta
from typing import Any

from starlette.responses import Response

from sederunt.api.call import Call
from sederunt.api.failures import json_response
from sederunt.database.usage import Used
from sederunt.errors import InvalidConfig
from sederunt.settings import PricingSettings
from sederunt.transcription.models import find, has_added_sockets

_EPOCH = date(1970, 1, 1)
_DAYS = 366  # of one query at most
_GROUPS = ("month", "day")
COLUMNS = ("period", "resource", "key_id", "key_name", "transcription_model", "count", "minutes", "amount", "currency")


async def get_usage(call: Call) -> Response:
    """Answer GET /usage"""
    values = await usage_values(call)
    format_name = call.request.query_params.get("format", "json")
    if format_name == "json":
        return json_response(values)
    if format_name != "csv":
        raise InvalidConfig({"format": ["format must be one of: json, csv."]})
    headers = {"Content-Disposition": f'attachment; filename="usage-{values["from"]}-{values["to"]}.csv"'}
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS)
    writer.writeheader()
    for row in values["data"]:
        # A leading apostrophe keeps a spreadsheet from taking a name for a formula.
        writer.writerow(
            {
                name: f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
                for name, value in row.items()
            }
        )
    return Response(file.getvalue(), headers=headers, media_type="text/csv; charset=utf-8")


async def usage_values(call: Call) -> dict[str, Any]:
    """Return the account's usage from `from` to `to`, both inclusive, by `group`. Raises InvalidConfig."""
    since, until = _span(call)
    group = call.request.query_params.get("group", "month")
    if group not in _GROUPS:
        raise InvalidConfig({"group": [f"group must be one of: {', '.join(_GROUPS)}."]})
    days = _midnight(since), _midnight(until + timedelta(days=1))
    rows = await call.context.stores.usage.between(call.account_id, *days)
    names = await call.context.stores.usage.key_names(call.account_id, *days)
    rates = call.context.settings.pricing
    sums: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        day = _EPOCH + timedelta(days=row.day)
        period = f"{day:%Y-%m}" if group == "month" else f"{day:%Y-%m-%d}"
        total = sums.setdefault((period, row.resource, row.key_id, row.model), [0, 0, 0.0])
        total[0] += row.count
        total[1] += row.minutes
        total[2] += amount_of(row, rates)
    data = [
        {
            "period": period,
            "resource": resource,
            "key_id": str(key_id) if key_id else None,
            "key_name": names.get(key_id),
            "transcription_model": model,
            "count": int(count),
            "minutes": int(minutes),
            "amount": round(amount, 4),
            "currency": rates.currency,
        }
        for (period, resource, key_id, model), (count, minutes, amount) in sums.items()
    ]
    return {"from": since.isoformat(), "to": until.isoformat(), "group": group, "data": data}


def amount_of(usage: Used, rates: PricingSettings) -> float:
    """Return the cost of usage by the operator's current rates. A recording costs its model and its storage."""
    row = find(usage.model)
    rate = 0.0 if usage.own_key else rates.models_per_hour.get(row.identifier if row else "", 0.0)
    rate += rates.storage_1_year_per_hour if usage.for_1_year else 0.0
    if usage.resource == "bot":
        rate += rates.base_per_hour
        rate += rates.video_per_hour if usage.video else 0.0
        sockets = has_added_sockets(usage.model, realtime_audio=usage.realtime_audio)
        rate += rates.realtime_audio_per_hour if sockets else 0.0
    return usage.minutes / 60 * rate + usage.waiting_minutes / 60 * rates.base_per_hour


def _span(call: Call) -> tuple[date, date]:
    """Return the requested days; by default the last six months."""
    today = call.context.clock.now().astimezone(UTC).date()
    until = _day(call, "to") or today
    since = _day(call, "from") or (until.replace(day=1) - timedelta(days=150)).replace(day=1)
    if not timedelta() <= until - since < timedelta(days=_DAYS):
        raise InvalidConfig({"from": [f"from must be a day before to, by at most {_DAYS - 1} days."]})
    return since, until


def _day(call: Call, name: str) -> date | None:
    text = call.request.query_params.get(name)
    if text is None:
        return None
    try:
        day = datetime.strptime(text, "%Y-%m-%d").date()  # a day, not a moment
    except ValueError:
        day = date.min
    if day < _EPOCH or day.year > 9000:
        raise InvalidConfig({name: [f"{name} must be a day such as 2026-03-31."]})
    return day


def _midnight(day: date) -> datetime:
    return datetime.combine(day, datetime.min.time(), UTC)
