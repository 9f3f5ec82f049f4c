"""Many bots due at once on a host with few seats, and a host that freezes: everybody is told why they wait.

They are booked by the program of docs/fifty-bots.md with the settings of that page, both as printed there but for the
number of seats.
"""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from harness.journeys import look, send_bot, unhurried
from harness.plugin import PYTHON_CLIENT, install, on_path
from harness.receiver import Receiver
from harness.service import Service, until
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo

SEATS = 2
LEAD_S = (
    "20"  # who is booked for a moment that has passed meanwhile is not scheduled: on a busy machine four take seconds
)
DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "fifty-bots.md").read_text(encoding="utf-8")
SETTINGS = DOCS / "settings.md"


async def told(api: httpx2.AsyncClient, bot: dict[str, Any]) -> list[dict[str, Any]]:
    """What a bot was told of its place in the line."""
    return [event["data"] for event in (await look(api, bot))["events"] if event["event"] == "waiting_for_capacity"]


async def told_first(api: httpx2.AsyncClient, bot: dict[str, Any]) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while not (found := await told(api, bot)):  # noqa: ASYNC110  # no webhook tells of it
            await asyncio.sleep(0.2)
    return found[0]


def settings_of_the_page() -> dict[str, str]:
    """What the page puts into its file, with two seats in place of its fifty, and more that may be booked."""
    (printed,) = re.findall(r"`fifty.env`:\n\n```\n(.*?)```", PAGE, re.S)
    pairs = dict(line.split("=") for line in printed.split())
    assert set(pairs) <= set(re.findall(r"`(SEDERUNT_\w+)`", SETTINGS.read_text(encoding="utf-8")))
    return pairs | {name: str(SEATS + 3) for name in pairs if "API__" in name} | {"SEDERUNT_HOST__MAX_BOTS": str(SEATS)}


@asynccontextmanager
async def fleet(service: Service, folder: Path, links: Sequence[str], key: str) -> AsyncIterator[asyncio.StreamReader]:
    """The page's program, which has booked a bot for each link; what it goes on to print."""
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    (folder / "fleet.py").write_text(program, encoding="utf-8")
    (folder / "meetings.txt").write_text("".join(f"gmeet {link}\n" for link in links), encoding="utf-8")
    environment = {**on_path(install(folder, PYTHON_CLIENT)), "SEDERUNT_URL": service.url, "SEDERUNT_KEY": key}
    running = await asyncio.create_subprocess_exec(
        sys.executable, "fleet.py", "meetings.txt", LEAD_S, cwd=folder, env=environment, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert running.stdout is not None
        assert (await running.stdout.readline()).startswith(b"4 bots are booked for ")
        yield running.stdout
    finally:
        if running.returncode is None:
            running.terminate()
        await running.wait()


async def until_status(api: httpx2.AsyncClient, bot: dict[str, Any], status: str) -> None:
    async with asyncio.timeout(120):
        while (await look(api, bot))["status"] != status:  # noqa: ASYNC110  # the page's bots have no webhook
            await asyncio.sleep(0.2)


async def until_printed(printed: asyncio.StreamReader, wanted: str) -> None:
    lines: list[str] = []
    try:
        async with asyncio.timeout(120):
            while not lines or wanted not in lines[-1]:
                lines.append((await printed.readline()).decode())
                assert lines[-1], f"the program ended behind {lines}"
    except TimeoutError:
        raise AssertionError(f"{wanted!r} does not come behind {lines}") from None


async def test_bots_due_at_once_get_the_seats_there_are_and_the_others_their_place(
    start_service: Callable[..., Service], meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    service = start_service(**settings_of_the_page())
    meeting = await meetings.open_meeting(unhurried(demo(turns=1), ends=False))
    key = service.run("keys", "create", "fleet").split()[-1]
    await asyncio.to_thread(until, lambda: not not_ready(service), "every role in order")
    assert json.loads(service.run("status", "--format", "json"))
    links = [meeting.url] * (SEATS + 2)
    async with service.client() as api, fleet(service, tmp_path, links, key) as printed:
        bots = (await api.get("/bot", params={"metadata[fleet]": "meetings.txt"})).json()["data"]
        bots.sort(key=lambda bot: bot["id"])
        first, (third, fourth) = bots[:SEATS], bots[SEATS:]
        for bot in first:
            await until_status(api, bot, "recording")
        await until_printed(printed, "2 recording, 2 scheduled; 2 wait for a seat")
        places = [await told_first(api, bot) for bot in (third, fourth)]
        assert places == [{"place": place, "waiting": 2, "reason": "no_seat"} for place in (1, 2)]
        assert {(await look(api, bot))["status"] for bot in (third, fourth)} == {"scheduled"}
        (await api.post(f"/bot/{first[0]['id']}/stop")).raise_for_status()
        await until_status(api, third, "recording")
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
