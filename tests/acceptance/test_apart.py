"""The roles apart, as on several machines: two APIs, a host and a worker, with PostgreSQL, NATS and one storage."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.api_room import nats_process
from harness.journeys import download, ffprobe, look, reach, send_bot
from harness.postgres import PostgresServer
from harness.receiver import Receiver
from harness.service import COMMAND, Practice, running_role
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import Variant, demo

MOST = 2


@pytest.fixture
def apart(practice: Practice, postgres: PostgresServer, tmp_path: Path) -> Iterator[list[httpx2.AsyncClient]]:
    """Clients of two API processes. Each process has a data directory of its own, as on a machine of its own."""
    shared = tmp_path / "bucket"
    shared.mkdir()
    (tmp_path / "nats").mkdir()
    with nats_process(tmp_path / "nats") as bus, ExitStack() as roles:
        assert bus.token is not None
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SEDERUNT_")},
            "SEDERUNT_BUS__URL": str(bus.url),
            "SEDERUNT_BUS__TOKEN": bus.token.get_secret_value(),
            "SEDERUNT_DATABASE__URL": postgres.fresh_database(),
            "SEDERUNT_STORAGE__URL": shared.as_uri(),
            "SEDERUNT_SECRET_KEYS": json.dumps(["a sealing key that all processes share"]),
            "SEDERUNT_BROWSER__HOST_RULES": practice.host_rules,
            "SEDERUNT_BROWSER__IGNORE_CERTIFICATE_ERRORS": "true",
            "SEDERUNT_ALLOW_PRIVATE_ADDRESSES": "true",
            "SEDERUNT_WHISPER__MODEL": "tiny.en",
            "SEDERUNT_HOST__MAX_LOAD": "2",
            "SEDERUNT_API__CONCURRENT_BOTS": str(MOST),
        }
        made = subprocess.run(
            [*COMMAND, "keys", "create", "tests", "--data", str(tmp_path / "cli")],
            env=environment, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
        ports = [
            roles.enter_context(_role(tmp_path / name, environment, "api", "--port", "0"))["port"]
            for name in ("one", "two")
        ]
        for name in ("host", "worker"):
            roles.enter_context(_role(tmp_path / name, environment, name, "--drain-timeout", "5"))
        yield [
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}/api/v1", headers=headers, timeout=30)
            for port in ports
        ]


def _role(data: Path, environment: Mapping[str, str], *arguments: str) -> AbstractContextManager[dict[str, Any]]:
    """Run one role with a data directory of its own."""
    data.mkdir()
    return running_role([*arguments, "--data", str(data)], environment, data / "log")


async def test_a_bot_comes_back_with_its_transcript_whichever_process_is_asked(
    apart: list[httpx2.AsyncClient], meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    one, two = apart
    script = demo(turns=1)
    meeting = await meetings.open_meeting(script)
    bot = await send_bot(one, meeting.url, receiver, transcription_model="whisper", custom_metadata={"room": "7"})
    await reach(receiver, bot, "finished", timeout_s=180)
    found = await look(two, bot)
    assert (found["verdict"], found["custom_metadata"]) == ("healthy", {"room": "7"})
    assert {s["speaker_name"] for s in found["transcript"]} == {who for who, _ in script.reference()}
    recording = ffprobe(await download(found["recording_url"], tmp_path / "recording.webm"))
    assert [s["codec_name"] for s in recording["streams"]] == ["opus"]
    anew = (await two.post("/recording", json={"meeting_bot_id": bot["id"], "webhook_url": receiver.url})).json()
    await reach(receiver, anew, "finished", timeout_s=120)
    again = (await one.get(f"/recording/{anew['id']}")).json()["transcript"]
    assert {s["speaker_name"] for s in again} == {who for who, _ in script.reference()}
    assert [b["id"] for b in (await one.get("/bot", params={"metadata[room]": "7"})).json()["data"]] == [bot["id"]]

    assert (await two.delete(f"/bot/{bot['id']}")).status_code == 200
    assert (await one.get(f"/bot/{bot['id']}")).status_code == 404
    waiting = await meetings.open_meeting(demo(Variant(entry="knock"), turns=0))
    body = {
        "service": "gmeet",
        "meeting_url": waiting.url,
        "bot_name": "Minutes",
        "transcription_model": "none",
        "webhook_url": receiver.url,
    }
    answers = await asyncio.gather(*((one, two)[n % 2].post("/bot", json=body) for n in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * MOST + [403] * (8 - MOST)
    for seated in (answer.json() for answer in answers if answer.status_code == 200):
        await two.post(f"/bot/{seated['id']}/stop")
        await reach(receiver, seated, "finished", "not_admitted")
    for client in apart:
        await client.aclose()
