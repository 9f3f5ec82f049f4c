"""`sederunt serve`: nats-server, api, host and worker on this machine, as children of this process."""

import asyncio
import contextlib
import fcntl
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO

import typer

from sederunt import log
from sederunt.bus import embedded, torn_files
from sederunt.bus.tasks import end
from sederunt.cli import service_manager
from sederunt.cli.database_setup import OpenedDatabase, open_database
from sederunt.cli.hardening import keep_private
from sederunt.cli.listener import listen
from sederunt.cli.replacing import MARGIN_S, replace_when_asked, replacements_file
from sederunt.cli.rest import rest_while_idle
from sederunt.cli.role_process import RunningRole
from sederunt.cli.run_files import REPLACED, forget_address, lock_file, note_address, write_private
from sederunt.cli.self_exec import CAN_GO_ON, Inheritance, as_told, from_told, go_on, inherited, renewed, signals_wait
from sederunt.cli.supervisor import Child, Role, Supervisor
from sederunt.cli.terminal import tell
from sederunt.cli.watch import end_frozen
from sederunt.errors import SetupError
from sederunt.python_child import python_command
from sederunt.settings import BusSettings, Settings, load

logger = log.get(component="cli", role="serve")

ROLES = ("api", "host", "worker")
NATS_END_S = 10.0  # nats-server writes its state before it ends
PATIENCE_S = 30.0  # how long to wait for roles that are not ready before a first key is shown
SIGNALLED_S = 0.05  # to handle signals that came before they were blocked
FIRST_KEY = "first-key"  # a file in the data directory
UNSHOWN_KEY = "run/first-key"  # the same, before it has been printed
RUNS_AS_ROOT = (
    "This runs as root. Browsers get another user, everything else stays root: a weakness in it owns this machine. "
    "Run it as a user of its own, as the units and the image in deploy/ do."
)


def serve(
    data: Path | None = typer.Option(None, help="Data directory; made when missing. Default: ./data"),
    port: int | None = typer.Option(None, help="Port of the API; 0 picks a free one. Default: 8080"),
    host: str | None = typer.Option(None, help="Address the API listens on. Default: 127.0.0.1"),
    drain_timeout: float = typer.Option(
        15.0, help="Seconds that work may take to end on SIGTERM. What does not end comes back at the next start."
    ),
) -> None:
    """Run everything on this machine: NATS, api, host, worker. One command, one data directory."""
    overrides: dict[str, object] = {} if data is None else {"data": data}
    api = {name: value for name, value in (("port", port), ("host", host)) if value is not None}
    if api:
        overrides["api"] = api
    if sys.stderr.isatty():
        os.environ.setdefault("SEDERUNT_LOG__STYLE", "lines")
    settings = load(**overrides)
    log.configure(settings.log.style, settings.log.level)
    if (inheritance := inherited()) is not None:
        with os.fdopen(inheritance.lock, "a+") as lock, socket.socket(fileno=inheritance.listener) as listener:
            asyncio.run(_run(settings, Held(lock=lock, listener=listener), drain_timeout, inheritance))
        return
    try:
        if notice := keep_private(settings.data):
            logger.warning(notice, action="data_closed")
        # This process keeps the socket, so that callers wait while an api restarts and are not refused.
        with _only_one(settings.data) as lock, listen(settings.api) as listener:
            if os.geteuid() == 0:
                logger.warning(RUNS_AS_ROOT, action="runs_as_root")
            asyncio.run(_run(settings, Held(lock=lock, listener=listener), drain_timeout))
    except SetupError as error:
        tell(f"sederunt: {error}", err=True)
        raise typer.Exit(1) from None


@dataclass(frozen=True, kw_only=True)
class Held:
    """What `serve` holds for the life of its process, whatever its program is."""

    lock: IO[str]  # on the data directory
    listener: socket.socket


@contextlib.contextmanager
def _only_one(data: Path) -> Iterator[IO[str]]:
    """Lock the data directory. The lock ends with the process, however it ends."""
    path = lock_file(data)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = path.open("a+")
    except OSError as error:
        reason = error.strerror or str(error)
        raise SetupError(f"{data.resolve()} cannot be used as data directory: {reason}.") from error
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise SetupError(
                f"Another `sederunt serve` (process {file.read().strip() or 'unknown'}) uses {data.resolve()}. "
                "Stop it first, or give this one a directory of its own with --data."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield file


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """What a program of `serve` starts from: nothing, or what the program before it left in this process."""

    opened: OpenedDatabase | None  # None if the program before it opened the database
    server: embedded.EmbeddedServer | None  # the message server, if it is ours
    database: Path | None  # file of SQLite
    roles: Mapping[str, RunningRole] = field(default_factory=dict)  # that run already
    replaced: int = 0  # how often roles have been replaced


async def _first(settings: Settings) -> Beginning:
    opened_database = _kept(await open_database(settings), settings.data)
    server = embedded.prepare(settings.data) if settings.bus.url is None else None
    return Beginning(opened=opened_database, server=server, database=opened_database.file)


def _next(settings: Settings, inheritance: Inheritance) -> Beginning:
    server = from_told(inheritance.server) if settings.bus.url is None else None
    return Beginning(
        opened=None, server=server, database=inheritance.file, roles=inheritance.roles, replaced=inheritance.replaced
    )


async def _run(
    settings: Settings, resources: Held, drain_timeout_s: float, inheritance: Inheritance | None = None
) -> None:
    async with service_manager.watched(settings.data, "serve"):
        await _serve(settings, resources, drain_timeout_s, inheritance)


async def _serve(settings: Settings, resources: Held, drain_timeout_s: float, inheritance: Inheritance | None) -> None:
    stop, hurry, replace_roles = _signals()
    beginning = await _first(settings) if inheritance is None else _next(settings, inheritance)
    server = beginning.server
    supervisor = Supervisor(settings.data / "run", json_lines=settings.log.style == "json", running=beginning.roles)
    environment = {"SEDERUNT_DATA": str(settings.data.resolve())}
    if server is not None:
        nats = supervisor.start(_nats(server, settings.bus))
        if not await _ready_or_stopped(nats, stop):
            await supervisor.stop(["nats"], NATS_END_S)
            return
        environment["SEDERUNT_BUS__URL"] = server.url
        environment["SEDERUNT_BUS__TOKEN"] = server.token.get_secret_value()
    port = resources.listener.getsockname()[1]
    address = f"http://{_shown_host(settings.api.host)}:{port}"
    environment["SEDERUNT_API__HOST"] = settings.api.host
    environment["SEDERUNT_API__PORT"] = str(port)
    children = [supervisor.start(role) for role in _roles(environment, resources.listener.fileno(), drain_timeout_s)]
    service_manager.say(service_manager.READY)
    if beginning.opened is None:
        logger.info("serve goes on as the program that is installed now", action="serve_went_on")
        server = _renewed(supervisor, settings, server)
    elif await _ready_or_stopped(children[0], stop):
        await _welcome(settings, address, beginning.opened, children, stop)
    bus = settings.bus if settings.bus.url is not None else embedded.address_of(settings.data, settings.bus)
    watch_task = asyncio.create_task(end_frozen(supervisor, bus, beginning.database), name="watch")
    replacement = replace_when_asked(
        replace_roles,
        supervisor,
        settings,
        drain_timeout_s,
        count=beginning.replaced,
        go_on=partial(_go_on, stop, supervisor, resources, server, beginning.database),
    )
    collect_task = asyncio.create_task(supervisor.keep_collecting(), name="collecting")
    tasks = [watch_task, collect_task, asyncio.create_task(replacement, name="replacing")]
    if (idle_s := settings.worker.idle_minutes * 60) > 0:
        rest = rest_while_idle(supervisor, bus, idle_s, drain_timeout_s + MARGIN_S)
        tasks.append(asyncio.create_task(rest, name="resting"))
    await stop.wait()
    with contextlib.suppress(OSError):  # a read-only disk must not prevent the drain
        forget_address(settings.data)
    await end(*tasks)
    with contextlib.suppress(OSError):
        replacements_file(settings.data).unlink(missing_ok=True)
    await _drain(supervisor, hurry, drain_timeout_s)


def _renewed(
    supervisor: Supervisor, settings: Settings, server: embedded.EmbeddedServer | None
) -> embedded.EmbeddedServer | None:
    """Replace our message server if this program would start it differently."""
    if server is None:
        return None
    server, is_different = renewed(settings.data, server, supervisor.pids()["nats"])
    if is_different:
        logger.info("the message server is replaced", action="message_server_replaced")
        supervisor.start_anew("nats", _nats(server, settings.bus))
    return server


async def _go_on(
    stop: asyncio.Event,
    supervisor: Supervisor,
    resources: Held,
    server: embedded.EmbeddedServer | None,
    database: Path | None,
    count: int,
) -> str | None:
    """Become the program that is installed now. Return only if that fails, with the reason."""
    if not CAN_GO_ON:
        return None
    signals_wait(True)
    try:
        await asyncio.sleep(SIGNALLED_S)
        async with supervisor.undisturbed():
            if stop.is_set():
                return "The service was asked to end meanwhile."
            return go_on(
                Inheritance(
                    lock=resources.lock.fileno(),
                    listener=resources.listener.fileno(),
                    database=str(database) if database is not None else None,
                    replaced=count,
                    roles=supervisor.running(),
                    server=as_told(server) if server is not None else {},
                )
            )
    finally:
        signals_wait(False)


async def _welcome(
    settings: Settings, address: str, opened_database: OpenedDatabase, children: Sequence[Child], stop: asyncio.Event
) -> None:
    """Print where the service is and, the first time, how to get in."""
    note_address(settings.data, address)
    key, is_terminal = opened_database.key, sys.stdout.isatty()
    if key is not None and not is_terminal:
        # Output that is no terminal is stored and read by others: the key goes to a file that only this user reads.
        path = settings.data / FIRST_KEY
        write_private(path, key)
        tell(f"API key file: {path.resolve()}")
        tell("Take the key out of it and delete it. More of them: sederunt keys create NAME")
    public = (settings.api.public_url or address).rstrip("/")
    if opened_database.link is not None:
        tell(f"Console: {public}/welcome?token={opened_database.link}")
        tell("This link signs you in once. More of them: sederunt people invite NAME")
    else:
        tell(f"Console: {public}/")
    tell(f"Listening on {address}")
    if key is not None and is_terminal:
        with contextlib.suppress(TimeoutError):  # the output of the roles and the message server comes first
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(*(_ready_or_stopped(child, stop) for child in children))
        tell(f"\nYour API key, shown this once (more of them: sederunt keys create NAME):\n\n{key}\n")
    (settings.data / UNSHOWN_KEY).unlink(missing_ok=True)


def _signals() -> tuple[asyncio.Event, asyncio.Event, asyncio.Event]:
    """Return three events: set by the first SIGTERM or SIGINT, by the second, and by each request for new roles."""
    stop, hurry, replace_roles = asyncio.Event(), asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        (hurry if stop.is_set() else stop).set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    # By custom SIGHUP reloads a service without a terminal. One on a terminal ends with it.
    for number in (REPLACED,) if sys.stdin is not None and sys.stdin.isatty() else (REPLACED, signal.SIGHUP):
        loop.add_signal_handler(number, replace_roles.set)
    signals_wait(False)  # they may have come while one program of this process became another
    return stop, hurry, replace_roles


def _nats(server: embedded.EmbeddedServer, bus: BusSettings) -> Role:
    async def is_ready() -> None:
        while True:
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(1):
                    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
                    greeting = await reader.readline()
                    writer.close()
                if greeting.startswith(b"INFO"):
                    await torn_files.mend(server, bus)
                    return
            await asyncio.sleep(0.05)

    return Role(name="nats", command=server.command, is_ready=is_ready)


def _roles(environment: dict[str, str], listener: int, drain_timeout_s: float) -> list[Role]:
    command = python_command("-m", "sederunt.cli.main")
    drain = ("--drain-timeout", str(drain_timeout_s))
    arguments = {"api": ("--fd", str(listener)), "host": drain, "worker": drain}
    return [
        Role(
            name=name,
            command=(*command, name, *arguments[name]),
            environment=environment,
            open_files=(listener,) if name == "api" else (),
        )
        for name in ROLES
    ]


async def _ready_or_stopped(child: Child, stop: asyncio.Event) -> bool:
    """Wait until the child is ready or `stop` is set; return whether the child is ready."""
    waiters = [asyncio.create_task(child.ready.wait()), asyncio.create_task(stop.wait())]
    await asyncio.wait(waiters, return_when=asyncio.FIRST_COMPLETED)
    for waiter in waiters:
        waiter.cancel()
    return child.ready.is_set()


def _kept(opened_database: OpenedDatabase, data: Path) -> OpenedDatabase:
    """Keep the first API key until it has been printed, even if this start fails: it cannot be recovered later."""
    path = data / UNSHOWN_KEY
    if opened_database.key is not None:
        write_private(path, opened_database.key)
    elif path.exists():
        return replace(opened_database, key=path.read_text(encoding="ascii").strip())
    return opened_database


async def _drain(supervisor: Supervisor, hurry: asyncio.Event, drain_timeout_s: float) -> None:
    with contextlib.suppress(OSError):  # nobody may read it any more
        logger.info("draining", action="drain_began", within_s=drain_timeout_s)
    impatience = asyncio.create_task(_hurry_on(hurry, supervisor))
    killed = await supervisor.stop([name for name in ROLES if name != "api"], drain_timeout_s + MARGIN_S)
    killed += await supervisor.stop(["api"], MARGIN_S)  # callers are answered while bots leave
    killed += await supervisor.stop(["nats"], NATS_END_S)
    impatience.cancel()
    await supervisor.clear_strays()
    with contextlib.suppress(OSError):
        logger.info("stopped", action="stopped", killed=killed)


async def _hurry_on(hurry: asyncio.Event, supervisor: Supervisor) -> None:
    await hurry.wait()
    supervisor.hurry()


def _shown_host(host: str) -> str:
    if host in ("0.0.0.0", "::"):  # noqa: S104  # shown, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
