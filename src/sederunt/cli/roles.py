"""`sederunt api`, `host` and `worker`: one role each, for machines where systemd or Kubernetes keeps them running."""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import typer
import uvloop

from sederunt import log, tracing
from sederunt.bus import embedded
from sederunt.cli.hardening import keep_private
from sederunt.cli.terminal import tell, tell_json
from sederunt.errors import SetupError
from sederunt.settings import Settings, load

Run = Callable[[Settings, asyncio.Event, asyncio.Event], Awaitable[None]]

_DATA = typer.Option(None, help="Data directory. Default: ./data")
_DRAIN = typer.Option(30.0, help="Seconds that work may take to end on SIGTERM; the rest is handed back.")


def api(
    data: Path | None = _DATA,
    port: int | None = typer.Option(None, help="Port; 0 picks a free one."),
    host: str | None = typer.Option(None, help="Address to listen on."),
    fd: int | None = typer.Option(None, help="An open listening socket to use instead.", hidden=True),
) -> None:
    """Run the api role alone."""
    section = {name: value for name, value in (("port", port), ("host", host)) if value is not None}
    from sederunt.cli.served_api import serve_api

    settings = _settings("api", data, **({"api": section} if section else {}))
    with _explained():
        serve_api(settings, fd, ready=_say_ready)


def host(data: Path | None = _DATA, drain_timeout: float = _DRAIN) -> None:
    """Run the host role alone: browsers and capture. Bots that still sit when the drain ends go to another host."""
    from sederunt.jobs.roles import run_host

    settings = _settings("host", data)
    with _explained():
        _until_signalled(lambda stop: run_host(settings, stop, drain_timeout_s=drain_timeout, ready=_say_ready))


def worker(data: Path | None = _DATA, drain_timeout: float = _DRAIN) -> None:
    """Run the worker role alone: assemble, transcribe, deliver, clean."""
    from sederunt.jobs.roles import run_worker

    settings = _settings("worker", data)
    with _explained():
        _until_signalled(lambda stop: run_worker(settings, stop, drain_timeout_s=drain_timeout, ready=_say_ready))


def _settings(role: str, data: Path | None, **overrides: object) -> Settings:
    """Return settings with the embedded server's address where this data directory has one; logs that name
    their role.
    """
    settings = load(**({"data": data} if data is not None else {}), **overrides)
    log.configure(settings.log.style, settings.log.level)
    log.bind(role=role)
    with _explained():
        tracing.configure(settings.traces, role)
        if mended := keep_private(settings.data):
            log.get(component="cli").warning(mended, action="data_closed")
    return settings.model_copy(update={"bus": embedded.address_of(settings.data, settings.bus)})


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Tell a set-up fault as a sentence, not a traceback."""
    try:
        yield
    except SetupError as error:
        tell(f"sederunt: {error}", err=True)
        raise typer.Exit(1) from None


def _say_ready(role: str, facts: dict[str, object]) -> None:
    """Write one line to standard output: what a supervisor waits for."""
    tell_json({"ready": role, **facts})


def _until_signalled(run: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Run until SIGTERM or SIGINT sets the event and the work has ended; the second signal cancels it."""

    async def main() -> None:
        stop = asyncio.Event()
        work = asyncio.ensure_future(run(stop))

        def on_signal() -> None:
            if stop.is_set():
                work.cancel()
            stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, on_signal)
        with contextlib.suppress(asyncio.CancelledError):
            await work

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
