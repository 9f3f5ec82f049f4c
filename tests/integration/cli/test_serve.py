"""`sederunt serve` itself: one per data directory, its NATS at the same place after a kill, nothing left behind."""

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import psutil
import pytest

from harness.service import COMMAND, until


@pytest.fixture
def served(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A serve whose roles may or may not be up yet: its NATS is."""
    with start(tmp_path) as process:
        until(lambda: (tmp_path / "run" / "nats.pid").read_text(), "nats-server", 180)
        yield process


@contextmanager
def start(data: Path, stdout: int = subprocess.PIPE, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """A serve, gone with everything it started at the end of the block."""
    with (data / "serve.log").open("w") as log:
        process = subprocess.Popen(
            [*COMMAND, "serve", "--data", str(data), "--port", "0", "--drain-timeout", "5"],
            stdout=stdout,
            stderr=log,
            text=True,
            env={**os.environ, "SEDERUNT_BROWSER__WARM": "0", **settings},
        )
    try:
        yield process
    finally:
        family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        process.kill()
        process.wait()
        psutil.wait_procs(family, timeout=10)
        if process.stdout is not None:
            process.stdout.close()


def address(data: Path) -> tuple[int, str]:
    found = json.loads((data / "run" / "nats.json").read_text())
    return found["port"], found["token"]


def answers(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
        return connection.recv(4) == b"INFO"


def test_a_second_serve_on_the_same_directory_refuses_with_a_sentence(
    served: subprocess.Popen[str], tmp_path: Path
) -> None:
    second = subprocess.run(
        [*COMMAND, "serve", "--data", str(tmp_path), "--port", "0"], capture_output=True, text=True, timeout=60
    )
    assert second.returncode == 1
    assert f"process {served.pid}" in second.stderr
    assert "Traceback" not in second.stderr


def test_a_port_that_is_taken_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*COMMAND, "serve", "--data", str(tmp_path), "--port", port], capture_output=True, text=True, timeout=60
        )
    assert done.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{port}: address already in use; choose another --port." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "settings", "sentence"),
    [
        (("serve", "--host", "192.0.2.1", "--port", "0"), {}, "no address of this machine; choose another --host."),
        (("serve",), {"SEDERUNT_BROWSR__WARM": "1"}, "did you mean SEDERUNT_BROWSER__WARM?"),
        (("host",), {"SEDERUNT_LOG__LEVEL": "loud"}, "SEDERUNT_LOG__LEVEL is not usable"),
        (("doctor",), {"SEDERUNT_API__PORT": "eighty"}, "SEDERUNT_API__PORT is not usable"),
        (("keys", "list"), {"SEDERUNT_BUS__TOKEN_FILE": "/not/there"}, "SEDERUNT_BUS__TOKEN_FILE names /not/there"),
        (("keys", "list"), {"SEDERUNT_DATABASE__URL": "nonsense"}, "SEDERUNT_DATABASE__URL is no address"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    arguments: tuple[str, ...], settings: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [*COMMAND, *arguments, "--data", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **settings},
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


def test_a_file_in_place_of_the_data_directory_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = subprocess.run(
        [*COMMAND, "serve", "--data", str(tmp_path / "file")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr == f"sederunt: {tmp_path / 'file'} cannot be used as data directory: Not a directory.\n"


def test_a_killed_nats_server_comes_back_at_the_same_address(served: subprocess.Popen[str], tmp_path: Path) -> None:
    before = address(tmp_path)
    old = int((tmp_path / "run" / "nats.pid").read_text())
    os.kill(old, signal.SIGKILL)
    until(lambda: int((tmp_path / "run" / "nats.pid").read_text()) != old, "another nats-server")
    until(lambda: answers(before[0]), "its greeting")
    assert address(tmp_path) == before
    assert served.poll() is None


def test_serve_ends_on_sigterm_and_leaves_no_process(served: subprocess.Popen[str], tmp_path: Path) -> None:
    family = psutil.Process(served.pid).children(recursive=True)
    assert family
    served.send_signal(signal.SIGTERM)
    assert served.wait(90) == 0, (tmp_path / "serve.log").read_text()[-2000:]
    _, alive = psutil.wait_procs(family, timeout=60)
    assert alive == []
    assert list((tmp_path / "run").glob("*.pid")) == []


def greeting(process: subprocess.Popen[str]) -> tuple[str, str | None]:
    """(address, API key or None) that serve prints."""
    assert process.stdout is not None
    key = None
    for line in process.stdout:
        if line.startswith("API key file: "):
            file = Path(line.removeprefix("API key file: ").strip())
            assert file.stat().st_mode & 0o777 == 0o600
            key = file.read_text().strip()
        if line.startswith("Listening on "):
            return line.split()[2], key
    raise AssertionError("serve ended before it listened")


def test_the_first_start_shows_a_key_that_works_and_no_caller_is_refused_while_an_api_restarts(
    served: subprocess.Popen[str], tmp_path: Path
) -> None:
    url, key = greeting(served)
    headers = {"Authorization": f"Bearer {key}"}
    assert httpx2.get(f"{url}/api/v1/bot/scheduled", headers=headers, timeout=60).json() == []
    os.kill(int((tmp_path / "run" / "api.pid").read_text()), signal.SIGKILL)
    assert httpx2.get(f"{url}/api/v1/bot/scheduled", headers=headers, timeout=60).json() == []
    served.send_signal(signal.SIGTERM)
    served.wait(90)
    with start(tmp_path) as second:
        assert greeting(second)[1] is None
        second.send_signal(signal.SIGTERM)
        second.wait(90)


def states(data: Path) -> dict[str, str]:
    """Role → state, as `sederunt status` says it."""
    done = subprocess.run(
        [*COMMAND, "status", "--data", str(data), "--json"], capture_output=True, text=True, timeout=60, check=False
    )
    return {row["role"]: row["state"] for row in json.loads(done.stdout)["processes"]} if done.stdout else {}


def test_a_person_is_shown_the_first_key_once_last_and_alone(tmp_path: Path) -> None:
    terminal, inside = os.openpty()
    with start(tmp_path, stdout=inside) as process:
        said = ""
        while not (found := re.search(r"^(sk_\S+)\r?\n\r?\n\Z", said, re.MULTILINE)):
            said += os.read(terminal, 4096).decode()
        assert said.count("sk_") == 1
        assert said.index("Listening on ") < said.index("sk_")
        assert not (tmp_path / "first-key").exists()
        url = re.findall(r"Listening on (\S+)", said)[0]
        headers = {"Authorization": f"Bearer {found[1]}"}
        assert httpx2.get(f"{url}/api/v1/bot", headers=headers, timeout=60).status_code == 200
        assert (tmp_path / "run" / "address").read_text().strip() == url
        process.send_signal(signal.SIGTERM)
        process.wait(90)
        assert not (tmp_path / "run" / "address").exists()
    os.close(inside)
    os.close(terminal)


def test_callers_are_answered_for_as_long_as_a_drain_lasts(served: subprocess.Popen[str], tmp_path: Path) -> None:
    url, key = greeting(served)
    until(lambda: states(tmp_path).get("host") == "ok", "a host that is well")
    host = psutil.Process(int((tmp_path / "run" / "host.pid").read_text()))
    worker = psutil.Process(int((tmp_path / "run" / "worker.pid").read_text()))
    host.suspend()  # it takes its time
    ready = until(lambda: (seen := httpx2.get(f"{url}/ready", timeout=60)).status_code == 503 and seen, "not ready")
    assert ready.json()["host"] == "silent"
    served.send_signal(signal.SIGTERM)
    worker.wait(60)
    headers = {"Authorization": f"Bearer {key}"}
    assert httpx2.get(f"{url}/api/v1/bot/scheduled", headers=headers, timeout=60).json() == []
    host.resume()
    assert served.wait(90) == 0


def test_a_role_that_is_stopped_is_replaced_and_callers_wait(served: subprocess.Popen[str], tmp_path: Path) -> None:
    url, key = greeting(served)
    headers = {"Authorization": f"Bearer {key}"}
    until(lambda: states(tmp_path).get("worker") == "ok", "a worker that is well")
    for role in ("worker", "nats", "api"):
        file = tmp_path / "run" / f"{role}.pid"
        frozen = psutil.Process(int(file.read_text()))
        frozen.suspend()
        assert httpx2.get(f"{url}/api/v1/bot/scheduled", headers=headers, timeout=120).json() == []
        until(lambda file=file, old=frozen.pid: int(file.read_text()) != old, f"another {role}", timeout_s=120)  # type: ignore[misc]
        assert not frozen.is_running()
    said = [json.loads(line) for line in (tmp_path / "serve.log").read_text().splitlines() if "role_frozen" in line]
    assert [line["frozen"] for line in said] == ["worker", "nats", "api"]


def test_a_start_that_did_not_get_far_enough_to_show_the_first_key_leaves_it_to_the_next(tmp_path: Path) -> None:
    nobody = "nats://127.0.0.1:1"
    with start(tmp_path, SEDERUNT_BUS__URL=nobody):
        until(lambda: (tmp_path / "run" / "api.pid").read_text(), "the api, which will never be ready")
    with start(tmp_path) as second:
        url, key = greeting(second)
        headers = {"Authorization": f"Bearer {key}"}
        assert httpx2.get(f"{url}/api/v1/bot/scheduled", headers=headers, timeout=60).json() == []
