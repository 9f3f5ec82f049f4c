"""Fixtures of the black-box tier: public interfaces only (REST, webhooks, signed addresses, signals to processes).

Tests here wait for webhooks and for the practice sites' own events, never for time.
"""

import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from harness.collector import Collector
from harness.leaks import PLANTED
from harness.receiver import Receiver
from harness.service import COMMAND, Practice, Service
from sederunt.practice.client import PracticeClient

SDK = Path(__file__).with_name("sdk")
# Without its optional part: a native add-on that would have to be compiled.
INSTALL = ("npm", "ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund")


@pytest.fixture(scope="session", autouse=True)
def nothing_leaked() -> Iterator[None]:
    """At the end of all, no log of any service has a secret or a word that was planted. (It is torn down last.)"""
    yield
    assert not (found := PLANTED.leaked()), "\n".join(found)


@pytest.fixture(scope="session")
def practice() -> Iterator[Practice]:
    process = subprocess.Popen(
        [*COMMAND, "practice", "serve", "--port", "0", "--control-port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a share of the processor of its own: as little of ours as a meeting site's is
    )
    assert process.stdout is not None
    said = json.loads(process.stdout.readline())
    yield Practice(control_url=said["control_url"], host_rules=said["host_rules"])
    process.terminate()
    process.wait(60)
    process.stdout.close()


@pytest.fixture
async def meetings(practice: Practice) -> AsyncIterator[PracticeClient]:
    async with PracticeClient(practice.control_url) as client:
        yield client


@pytest.fixture(scope="session")
def collector() -> Iterator[Collector]:
    """What the spans of the shared service go to."""
    collector = Collector()
    yield collector
    collector.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory, practice: Practice, collector: Collector) -> Iterator[Service]:
    """The service that most tests share."""
    traces = {"SEDERUNT_TRACES__ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "500"}
    service = Service(tmp_path_factory.mktemp("service") / "data", practice.host_rules, traces)
    yield service
    service.stop()


@pytest.fixture(scope="module")
def start_service(tmp_path_factory: pytest.TempPathFactory, practice: Practice) -> Iterator[Callable[..., Service]]:
    """Starts a service of one's own; drained at the end of the module, for each that idles costs the others."""
    started: list[Service] = []

    def start(*, drain_s: float | None = None, **settings: str) -> Service:
        folder = tmp_path_factory.mktemp("service") / "data"
        service = Service(folder, practice.host_rules, settings, drain_s=drain_s)
        started.append(service)
        return service

    yield start
    for service in started:
        if service.process.poll() is None:
            service.stop()


@pytest.fixture
async def api(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    async with service.client() as client:
        yield client


@pytest.fixture(scope="session")
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def webhook_secret(service: Service) -> str:
    """The secret with which this account's webhooks are signed."""
    return service.run("accounts", "webhook-secret").strip()


@pytest.fixture(scope="session")
def client_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client as its registry has it, checked against the locked digests, and the scripts that drive it."""
    folder = tmp_path_factory.mktemp("sdk") / "sdk"
    shutil.copytree(SDK, folder)
    try:
        done = subprocess.run(INSTALL, cwd=folder, capture_output=True, text=True, timeout=150, check=False)
        trouble = "" if done.returncode == 0 else done.stderr[-2000:]
    except (OSError, subprocess.TimeoutExpired) as error:
        trouble = str(error)
    if trouble and os.environ.get("CI") != "true":
        pytest.skip(f"NOT TESTED: npm could not install the client: {trouble}")
    assert not trouble
    return folder
