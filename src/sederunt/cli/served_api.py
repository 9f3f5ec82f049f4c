"""Run the api role under uvicorn: apart from the other roles, which load neither."""

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

import uvicorn
import uvloop

from sederunt.accounting import Ledger, limits_of
from sederunt.api.transport.protocols import connection_limits, protocols
from sederunt.cli.listener import listen
from sederunt.cli.run_files import REPLACED
from sederunt.cli.service_manager import watched
from sederunt.console.app import create_application
from sederunt.jobs.drain import REPLACED_S
from sederunt.settings import Settings

Ready = Callable[[str, dict[str, object]], None]


def serve_api(settings: Settings, fd: int | None, *, ready: Ready) -> None:
    """Answer callers until SIGTERM.

    Args:
        fd: an open listening socket; None to open one at the configured address.
    """
    listener = socket.socket(fileno=fd) if fd is not None else listen(settings.api)
    port = listener.getsockname()[1]
    bound_settings = settings.model_copy(update={"api": settings.api.model_copy(update={"port": port})})
    ledger = Ledger(limits_of(bound_settings), bound_settings.account_weights)
    config = uvicorn.Config(
        create_application(bound_settings, ledger=ledger),
        loop="uvloop",
        **protocols(connection_limits(bound_settings.api.connections), ledger),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
        proxy_headers=True,
        forwarded_allow_ips=["127.0.0.1", "::1", *settings.api.trusted_proxies],
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(_AnnouncedServer(config, partial(ready, "api", {"port": port})), listener, settings.data))


async def _serve(server: uvicorn.Server, listener: socket.socket, data: Path) -> None:
    async with watched(data, "api"):
        await server.serve(sockets=[listener])


class _AnnouncedServer(uvicorn.Server):
    """A uvicorn server that reports when it answers."""

    def __init__(self, config: uvicorn.Config, say_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._say_ready = say_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().add_signal_handler(REPLACED, self._give_way)
        await super().startup(sockets)
        if self.started:
            self._say_ready()

    def _give_way(self) -> None:
        """Finish running requests such as uploads, however long they take: the successor answers new ones."""
        self.config.timeout_graceful_shutdown = int(REPLACED_S)
        self.should_exit = True
