"""Steps that many acceptance tests take: send a bot, wait for its end, look at what it left."""

import asyncio
import json
import subprocess
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2

from harness.receiver import Receiver
from sederunt.practice.client import MeetingHandle
from sederunt.practice.script import Script

ENDINGS = ("finished", "not_admitted", "bot_detected", "auth_required", "invalid_credentials", "failed")


async def send_bot(api: httpx2.AsyncClient, meeting_url: str, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    """POST /bot with sensible defaults; the created bot."""
    body = {
        "service": "gmeet",
        "meeting_url": meeting_url,
        "bot_name": "Minutes",
        "transcription_model": "none",
        "webhook_url": receiver.url,
        **fields,
    }
    answer = await api.post("/bot", json=body)
    assert answer.status_code == 200, answer.text
    bot: dict[str, Any] = answer.json()
    return bot


async def reach(receiver: Receiver, bot: dict[str, Any], *statuses: str, timeout_s: float = 120) -> str:
    """Wait for the webhook that reports one of these statuses; an ending that is none of them fails at once."""
    reached = await asyncio.to_thread(receiver.wait, bot["id"], *statuses, *ENDINGS, timeout_s=timeout_s)
    assert reached in statuses, f"{bot['id']} went {receiver.statuses(bot['id'])}"
    return reached


def unhurried(script: Script, *, begins: bool = True, ends: bool = True) -> Script:
    """The script, but its people wait for the test: with the first word, with the end, or with both.

    They would not wait for a bot that a busy machine keeps, at its arrival or on its way back.
    """
    acts = script.acts if ends else tuple(act for act in script.acts if act.do != "end")
    return replace(script, acts=acts, starts=script.starts if begins else "told")


async def begin(meeting: MeetingHandle, receiver: Receiver, bot: dict[str, Any]) -> None:
    """Let people speak once the bot says that it records: it is a while in the call before it knows."""
    await reach(receiver, bot, "recording")
    await meeting.do("start")


async def back(api: httpx2.AsyncClient, bot: dict[str, Any]) -> None:
    """Wait until the bot sits in its meeting again, which is when its gap is closed."""
    await told_of(api, bot, "recording_gaps")


async def told_of(api: httpx2.AsyncClient, bot: dict[str, Any], field: str) -> None:
    """Wait until the service tells anything in a field of the bot."""
    async with asyncio.timeout(150):
        while not (await look(api, bot)).get(field):  # noqa: ASYNC110 there is no event to wait for
            await asyncio.sleep(0.5)


async def look(api: httpx2.AsyncClient, bot: dict[str, Any]) -> dict[str, Any]:
    """GET /bot/{id} with speaker events."""
    answer = await api.get(f"/bot/{bot['id']}", params={"with-speaker-events": "true"})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def download(url: str, target: Path) -> Path:
    """A signed address, fetched without a key."""
    async with httpx2.AsyncClient(timeout=30) as anyone:
        answer = await anyone.get(url)
    assert answer.status_code == 200, answer.text
    target.write_bytes(answer.content)
    return target


def stay_bounds_s(found: dict[str, Any]) -> tuple[float, float]:
    """The least and the most that a stay can have lasted, by the order of what happened, however slow the machine was.

    The recording begins after the knock and before the first word, and ends after the last word and before the files
    are assembled. In seconds; of a bot that was looked at with its participants' events.
    """
    spoke_ms = [event["timestamp"] for person in found["participants"] for event in person["events"]]
    at = {event["data"].get("new_status"): datetime.fromisoformat(event["created_at"]) for event in found["events"]}
    return (max(spoke_ms) - min(spoke_ms)) / 1000, (at["processing"] - at["joining"]).total_seconds()


def ffprobe(path: Path) -> dict[str, Any]:
    """Streams, format and packets of a media file as ffprobe sees them."""
    done = subprocess.run(
        ["ffprobe", "-v", "error", "-show_streams", "-show_format", "-show_packets", "-of", "json", str(path)],
        capture_output=True,
        check=True,
        timeout=60,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def largest_hole_s(probe: dict[str, Any]) -> float:
    """The largest distance between the end of one packet and the start of the next, in seconds."""
    packets = sorted((float(p["pts_time"]), float(p["duration_time"])) for p in probe["packets"])
    holes = [later - (start + length) for (start, length), (later, _) in pairwise(packets)]
    return max(holes, default=0.0)
