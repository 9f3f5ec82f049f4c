"""The release before this one runs beside it while hosts and workers are replaced: rows and messages of the one are
understood by the other.
"""

import io
import json
import os
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from harness.journeys import look, reach, send_bot, unhurried
from harness.receiver import TOLD_RECORDED, Receiver
from harness.service import Practice, Service, running_role
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo

ROOT = Path(__file__).parents[3]
# The last commit of the state that others may run; moved on with each release.
PREVIOUS = "9e847c8b8c4fa3e291644b2e7fbb9e907f5c3048"


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of the release before this one."""
    folder = tmp_path_factory.mktemp("previous")
    done = subprocess.run(["git", "archive", PREVIOUS, "src"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, f"this clone lacks {PREVIOUS}: fetch its history. {done.stderr.decode()}"
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


@pytest.fixture
def old_service(previous: Path, practice: Practice, tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path / "data", practice.host_rules, {"PYTHONPATH": str(previous)}, drain_s=1)
    yield service
    service.stop()


@contextmanager
def new_role(service: Service, role: str, folder: Path) -> Iterator[None]:
    """Run one role of this release in the installation of the one before."""
    folder.mkdir()
    nats = json.loads((service.data / "run/nats.json").read_text())
    environment = {name: value for name, value in service.environment.items() if name != "PYTHONPATH"} | {
        "SEDERUNT_DATA": str(folder),
        "SEDERUNT_HOST__NAME": "new",
        "SEDERUNT_BUS__URL": f"nats://127.0.0.1:{nats['port']}",
        "SEDERUNT_BUS__TOKEN": nats["token"],
        "SEDERUNT_DATABASE__URL": f"sqlite+aiosqlite:///{service.data}/sederunt.db",
        "SEDERUNT_STORAGE__URL": f"file://{service.data}/objects",
        "SEDERUNT_SECRET_KEYS": json.dumps([(service.data / "sealing.key").read_text().strip()]),
    }
    with running_role([role, "--drain-timeout", "1"], environment, folder / f"{role}.log"):
        yield


async def test_a_bot_goes_from_the_old_release_to_the_new_one_and_both_see_to_its_end(
    old_service: Service, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    meeting = await meetings.open_meeting(unhurried(demo(turns=18), ends=False))
    async with old_service.client() as api:
        bot = await send_bot(api, meeting.url, receiver, transcription_model="none")
        await reach(receiver, bot, "recording")
        since = (await meeting.wait_for("fell_silent"))["number"]
        with ExitStack() as new:
            new.enter_context(new_role(old_service, "worker", tmp_path / "worker"))
            new.enter_context(new_role(old_service, "host", tmp_path / "host"))
            os.kill(old_service.pid("host"), signal.SIGTERM)
            since = (await meeting.wait_for("media_connected", after=since, timeout_s=120))["number"]
            await meeting.wait_for("fell_silent", after=since)
            await meeting.end()
            await reach(receiver, bot, "finished", timeout_s=240)
        found = await look(api, bot)
    assert [gap["cause"] for gap in found["recording_gaps"]] == ["planned_move"]
    assert receiver.statuses(bot["id"]) == [*TOLD_RECORDED]
    assert len({person["name"] for person in found["participants"]}) > 1
    assert found["recording_url"]
