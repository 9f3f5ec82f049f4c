"""The installed command as a subprocess, and the practice sites beside it."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx2
import psutil

from harness.documented import check_answer
from harness.leaks import PLANTED
from sederunt.database import locks

# What these print is to be shown once, and nowhere else.
SHOW_SECRETS = {("accounts", "webhook-secret"), ("keys", "create"), ("keys", "rotate")}
COMMAND = (sys.executable, "-m", "sederunt.cli.main")


@dataclass(frozen=True, kw_only=True)
class Practice:
    """The practice server's process."""

    control_url: str
    host_rules: str


class Service:
    """One `sederunt serve` with a data directory of its own."""

    def __init__(
        self,
        data: Path,
        host_rules: str,
        settings: Mapping[str, str] = MappingProxyType({}),
        *,
        drain_s: float | None = None,
    ) -> None:
        self.data = data
        data.mkdir(parents=True, exist_ok=True)
        self.log = data / "serve.log"
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SEDERUNT_")},
            "SEDERUNT_BROWSER__HOST_RULES": host_rules,
            "SEDERUNT_BROWSER__IGNORE_CERTIFICATE_ERRORS": "true",
            "SEDERUNT_ALLOW_PRIVATE_ADDRESSES": "true",
            "SEDERUNT_WHISPER__MODEL": "tiny.en",
            # A machine that runs tests is busy; bots must not queue for it. The gate has tests of its own.
            "SEDERUNT_HOST__MAX_LOAD": "2",
            **settings,
        }
        self.environment = environment
        PLANTED.logs.add(self.log)
        PLANTED.take_settings(environment)
        drain = () if drain_s is None else ("--drain-timeout", str(drain_s))
        self.process = subprocess.Popen(
            [*COMMAND, "serve", "--data", str(data), "--port", "0", *drain],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=self.log.open("ab"),
            text=True,
        )
        address, self.key, self.console_link = self._wait_for_address()
        self.url = address + "/api/v1"
        PLANTED.add("key", self.key)
        PLANTED.take({"link": self.console_link})

    def _wait_for_address(self) -> tuple[str, str, str]:
        """Where it listens, and the key that a first start shows."""
        assert self.process.stdout is not None
        said: dict[str, str] = {}
        for line in self.process.stdout:
            said |= re.findall(r"^(API key file:|Console:|Listening on) (\S+)", line)
            if "Listening on" in said:
                threading.Thread(target=self.process.stdout.read, daemon=True).start()
                return said["Listening on"], Path(said["API key file:"]).read_text().strip(), said["Console:"]
        raise AssertionError(f"serve ended before it listened:\n{self.log.read_text()[-4000:]}")

    def run(self, *arguments: str, given: str = "", timeout_s: float = 120) -> str:
        """One `sederunt` command on this service's data, with this on its standard input; its standard output."""
        done = subprocess.run(
            [*COMMAND, *arguments, "--data", str(self.data)],
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == 0, done.stderr or done.stdout
        PLANTED.add("password", given)
        if arguments[:2] in SHOW_SECRETS:
            PLANTED.add("secret", done.stdout)
        return done.stdout

    def pid(self, role: str) -> int:
        """Process id of a role: api, host, worker, nats."""
        return int((self.data / "run" / f"{role}.pid").read_text())

    def kill(self, role: str) -> int:
        """SIGKILL one role; returns the pid it had."""
        pid = self.pid(role)
        os.kill(pid, signal.SIGKILL)
        return pid

    def freeze(self, role: str) -> list[psutil.Process]:
        """Stop one role with its children, outside every transaction: one that keeps the database locked is replaced
        soon. Returns the processes, to be resumed.
        """
        found = psutil.Process(self.pid(role))
        found.suspend()
        while found.pid in locks.holders(self.data / "sederunt.db"):
            found.resume()
            time.sleep(0.01)  # it goes on with its transaction
            found.suspend()
        children = found.children(recursive=True)
        for child in children:
            child.suspend()
        return [found, *children]

    def client(self, key: str | None = None) -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        hooks = PLANTED.hooks()
        hooks["response"].append(check_answer)
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=60, event_hooks=hooks)

    def stop(self) -> None:
        """Drain by SIGTERM; nothing of it may be left."""
        family = [self.process, *psutil.Process(self.process.pid).children(recursive=True)]
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(90)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"serve did not drain:\n{self.log.read_text()[-4000:]}") from None
        _, alive = psutil.wait_procs([p for p in family if isinstance(p, psutil.Process)], timeout=60)
        for process in alive:
            process.kill()
        assert not alive, f"left behind: {[p.pid for p in alive]}"


@contextlib.contextmanager
def running_role(
    arguments: Sequence[str], environment: Mapping[str, str], log: Path, *, on: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Run one role's process; provide what it says when it is ready, and its id. It must end by itself on SIGTERM.

    Args:
        on: begins the command, where it is to run on another machine.
    """
    PLANTED.logs.add(log)
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*on, *COMMAND, *arguments], env=environment, stdout=subprocess.PIPE, stderr=sink, text=True
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, log.read_text()[-2000:]
        yield {"pid": process.pid, **json.loads(line)}
    finally:
        process.terminate()
        try:
            process.wait(60)
        finally:
            process.kill()
            process.stdout.close()


def until(question: Callable[[], Any], what: str, timeout_s: float = 60) -> Any:
    """Poll something that has no event of its own, such as a pid file; returns its first true answer."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            if answer := question():
                return answer
        time.sleep(0.05)
    raise AssertionError(f"waited {timeout_s} s for {what}")
