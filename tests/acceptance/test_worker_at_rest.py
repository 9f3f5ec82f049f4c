"""A worker that has had nothing to do ends, and nobody who uses the service can tell."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from harness.journeys import look, reach, send_bot
from harness.receiver import Receiver
from harness.service import Service, until
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo

SPEECH = Path(__file__).parents[2] / "src/sederunt/practice/speech"


@pytest.fixture(scope="module")
def idle(start_service: Callable[..., Service]) -> Service:
    """A service whose worker rests after three seconds."""
    return start_service(SEDERUNT_WORKER__IDLE_MINUTES="0.05")


async def rested(service: Service) -> None:
    """Wait until its worker rests."""
    await asyncio.to_thread(until, lambda: not (service.data / "run" / "worker.pid").exists(), "the worker to rest")


def workers(service: Service) -> list[int]:
    family = psutil.Process(service.process.pid).children(recursive=True)
    return [process.pid for process in family if "worker" in process.cmdline()]


def states(service: Service) -> dict[str, str]:
    told = json.loads(service.run("status", "--format", "json"))
    return {row["role"]: row["state"] for row in told["processes"]}


async def test_at_rest_the_service_is_ready_and_says_so(idle: Service) -> None:
    await rested(idle)
    assert workers(idle) == []
    async with httpx2.AsyncClient(base_url=idle.url.removesuffix("/api/v1")) as anyone:
        ready = await anyone.get("/ready")
        assert (ready.status_code, ready.json()["worker"]) == (200, "ok")
    assert (await asyncio.to_thread(states, idle))["worker"] == "resting"


async def test_a_bot_that_becomes_due_wakes_it_and_all_webhooks_come(
    idle: Service, meetings: PracticeClient, receiver: Receiver
) -> None:
    await rested(idle)
    meeting = await meetings.open_meeting(demo(turns=1))
    async with idle.client() as api:
        due = int(time.time()) + 4
        bot = await send_bot(api, meeting.url, receiver, transcription_model="whisper", scheduled_start_time=due)
        assert bot["status"] == "scheduled"
        await reach(receiver, bot, "finished", timeout_s=180)
        found = await look(api, bot)
    assert found["transcript"]
    assert receiver.statuses(bot["id"])[:2] == ["booting", "joining"], "in order, and none is missing"
    await rested(idle)


async def test_an_upload_wakes_it(idle: Service, receiver: Receiver) -> None:
    await rested(idle)
    async with idle.client() as api:
        recording = await upload(api, receiver)
        await reach(receiver, recording, "finished")
        found = (await api.get(f"/recording/{recording['id']}")).json()
    assert "country" in json.dumps(found["transcript"])


async def test_what_is_deleted_goes_while_it_rests(idle: Service, receiver: Receiver) -> None:
    async with idle.client() as api:
        recording = await upload(api, receiver)
        await reach(receiver, recording, "finished")
        folder = idle.data / "objects" / "recordings" / recording["id"]
        assert folder.exists()
        await rested(idle)
        assert (await api.delete(f"/recording/{recording['id']}")).status_code == 200
        await asyncio.to_thread(until, lambda: not folder.exists() or not any(folder.rglob("*.*")), "its files to go")
    assert workers(idle) == []


async def test_a_reload_while_it_rests_starts_a_new_one_which_rests_too(idle: Service) -> None:
    await rested(idle)
    await asyncio.to_thread(idle.run, "reload", timeout_s=240)
    await rested(idle)
    assert (await asyncio.to_thread(states, idle))["worker"] == "resting"


async def test_work_goes_on_after_the_message_server_was_killed_while_it_rested(
    idle: Service, receiver: Receiver
) -> None:
    await rested(idle)
    idle.kill("nats")
    async with idle.client() as api:
        recording = await upload(api, receiver)
        await reach(receiver, recording, "finished", timeout_s=180)
    await rested(idle)


async def upload(api: httpx2.AsyncClient, receiver: Receiver) -> dict[str, Any]:
    form = {"transcription_model": "whisper", "lang": "en", "webhook_url": receiver.url}
    files = {"recording_file": ("speech.wav", (SPEECH / "jfk.wav").read_bytes())}
    answer = await api.post("/recording", data=form, files=files)
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made
