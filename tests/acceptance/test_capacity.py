"""Many bots due at once on a host with few seats, and a host that freezes: everybody is told why they wait."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import httpx2

from harness.journeys import look, reach, send_bot, unhurried
from harness.receiver import Receiver
from harness.service import Service, until
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo

SEATS = 2


async def told(api: httpx2.AsyncClient, bot: dict[str, Any]) -> list[dict[str, Any]]:
    """What a bot was told of its place in the line."""
    return [event["data"] for event in (await look(api, bot))["events"] if event["event"] == "waiting_for_capacity"]


async def told_first(api: httpx2.AsyncClient, bot: dict[str, Any]) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while not (found := await told(api, bot)):  # noqa: ASYNC110  # no webhook tells of it
            await asyncio.sleep(0.2)
    return found[0]


async def test_bots_due_at_once_get_the_seats_there_are_and_the_others_their_place(
    start_service: Callable[..., Service], meetings: PracticeClient, receiver: Receiver
) -> None:
    service = start_service(SEDERUNT_HOST__MAX_BOTS=str(SEATS))
    meeting = await meetings.open_meeting(unhurried(demo(turns=1), ends=False))
    async with service.client() as api:
        due = int(time.time()) + 8
        bots = [await send_bot(api, meeting.url, receiver, scheduled_start_time=due) for _ in range(SEATS + 2)]
        bots.sort(key=lambda bot: bot["id"])
        first, (third, fourth) = bots[:SEATS], bots[SEATS:]
        for bot in first:
            await reach(receiver, bot, "recording")
        places = [await told_first(api, bot) for bot in (third, fourth)]
        assert places == [{"place": place, "waiting": 2, "reason": "no_seat"} for place in (1, 2)]
        assert {(await look(api, bot))["status"] for bot in (third, fourth)} == {"scheduled"}
        (await api.post(f"/bot/{first[0]['id']}/stop")).raise_for_status()
        await reach(receiver, third, "recording")
        assert (await told(api, fourth))[-1]["place"] == 1
        metrics = (await api.get(service.url.removesuffix("/api/v1") + "/metrics")).text
        assert f'sederunt_seats{{state="wanted"}} {SEATS + 1}.0' in metrics

        # The host freezes: that is seen, and said to whoever comes.
        family = service.freeze("host")
        ready = await asyncio.to_thread(until, lambda: not_ready(service), "a host that is missed")
        assert ready["host"] == "silent"
        late = await send_bot(api, meeting.url, receiver)
        assert (await told_first(api, late))["reason"] == "no_seat"
        for process in family:
            process.resume()
        for bot in (*first[1:], third):
            assert (await look(api, bot))["status"] == "recording"
        await meeting.end()


def not_ready(service: Service) -> dict[str, Any] | None:
    answer = httpx2.get(service.url.removesuffix("/api/v1") + "/ready", timeout=30)
    found: dict[str, Any] = answer.json()
    return found if answer.status_code == 503 else None
