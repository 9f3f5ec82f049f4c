"""`sederunt api`, `host` and `worker`: one role each, for machines where systemd or Kubernetes keeps them running."""

import asyncio
import contextlib
import faulthandler
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import typer
import uvloop

from sederunt import log, tracing
from sederunt.bus import embedded
from sederunt.cli import service_manager
from sederunt.cli.hardening import keep_private
from sederunt.cli.run_files import REPLACED
from sederunt.cli.terminal import tell, tell_json
from sederunt.errors import SetupError
from sederunt.jobs.drain import Drain
from sederunt.settings import Settings, load

ENDS_S = 23.0  # after its drain; `serve` kills a role after 25 s, and then nobody knows what it waited for

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
        _until_signalled(settings, "host", lambda drain: run_host(settings, drain, ready=_say_ready), drain_timeout)


def worker(data: Path | None = _DATA, drain_timeout: float = _DRAIN) -> None:
    """Run the worker role alone: assemble, transcribe, deliver, clean."""
    from sederunt.cli.speech_trial import SpeechTrial
    from sederunt.jobs.roles import run_worker

    settings = _settings("worker", data)

    async def run(drain: Drain) -> None:
        async with SpeechTrial(settings).tested() as trial:
            await run_worker(settings, drain, ready=_say_ready, own={"speech": trial.state})

    with _explained():
        _until_signalled(settings, "worker", run, drain_timeout)


def _settings(role: str, data: Path | None, **overrides: object) -> Settings:
    """Return settings with the embedded server's address if this data directory has one; make logs name the role."""
    settings = load(**({"data": data} if data is not None else {}), **overrides)
    log.configure(settings.log.style, settings.log.level)
    log.bind(role=role)
    with _explained():
        tracing.configure(settings.traces, role)
        if notice := keep_private(settings.data):
            log.get(component="cli").warning(notice, action="data_closed")
    return settings.model_copy(update={"bus": embedded.address_of(settings.data, settings.bus)})


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Print a set-up fault as a sentence instead of a traceback."""
    try:
        yield
    except SetupError as error:
        tell(f"sederunt: {log.redact(str(error))}", err=True)
        raise typer.Exit(1) from None


def _say_ready(role: str, facts: dict[str, object]) -> None:
    """Tell supervisors that the role is ready: by one line on standard output, and through the service manager."""
    tell_json({"ready": role, **facts})
    service_manager.say(service_manager.READY)


def _until_signalled(
    settings: Settings, role: str, run: Callable[[Drain], Awaitable[None]], drain_timeout_s: float
) -> None:
    """Run until a signal asks for the drain and the work has ended; SIGTERM or SIGINT a second time cancels it."""

    async def main() -> None:
        drain = Drain(drain_timeout_s)
        work = asyncio.ensure_future(run(drain))

        def on_signal() -> None:
            if not drain.asked.is_set():
                # A thread that never returns would keep this process for ever; a traceback shows where it hangs.
                faulthandler.dump_traceback_later(drain.within_s + ENDS_S, exit=True)
            if not drain.ask():
                work.cancel()

        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, on_signal)
        # SIGHUP asks for a restart, or means a closed terminal: the role's supervisor starts the next process.
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, drain.asked.set)
        asyncio.get_running_loop().add_signal_handler(REPLACED, drain.replace)
        async with service_manager.watched(settings.data, role):
            with contextlib.suppress(asyncio.CancelledError):
                await work

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
    faulthandler.cancel_dump_traceback_later()
