"""Explain a bot's state in sentences, from its status, reason, verdict and the evidence that decided. Pure.

Reads a bot as the API returns it, so it also works over the network.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sederunt.model.explanations import VERDICTS, why
from sederunt.model.history import deciding_row


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why a bot is in its present state."""

    summary: str
    advice: str | None
    cause: str | None
    decided_by: str | None  # the row of the site's evidence table
    steps: tuple[str, ...]


def explain(bot: Mapping[str, Any]) -> Explanation:
    changes = [event for event in bot.get("events", ()) if event["event"] == "status_update"]
    last_change: Mapping[str, Any] = changes[-1]["data"] if changes else {}
    reason, advice = why(
        bot["status"], bot.get("stop_reason"), cause=last_change.get("cause"), message=last_change.get("message")
    )
    sentences = [reason]
    if bot.get("verdict"):
        sentences.append(VERDICTS.get(bot["verdict"], f"Verdict: {bot['verdict']}."))
    for gap in bot.get("recording_gaps", ()):
        sentences.append(
            f"It was away from {gap['start']:.0f} s to {gap['end']:.0f} s of the recording ({gap['cause']})."
        )
    return Explanation(
        summary=" ".join(sentences),
        advice=advice,
        cause=next((str(event["data"]["cause"]) for event in reversed(changes) if event["data"].get("cause")), None),
        decided_by=deciding_row(last_change.get("evidence")),
        steps=tuple(_step(event) for event in bot.get("events", ())),
    )


def _step(event: Mapping[str, Any]) -> str:
    data = event["data"]
    if event["event"] != "status_update":
        return f"{event['created_at']} {event['event']}"
    facts = [str(data[name]) for name in ("stop_reason", "cause", "message") if data.get(name)]
    row = deciding_row(data.get("evidence"))
    details = "; ".join([*facts, *([f"decided by {row}"] if row else [])])
    return (
        f"{event['created_at']} {data.get('old_status')} → {data.get('new_status')}{f' ({details})' if details else ''}"
    )
