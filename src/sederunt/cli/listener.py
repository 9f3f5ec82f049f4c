"""Open the API's listening socket, or say in a sentence why that fails."""

import errno
import os
import socket

from sederunt.errors import SetupError
from sederunt.settings import ApiSettings

WAITING = 2048  # callers that the system queues while an api restarts


def listen(api: ApiSettings) -> socket.socket:
    """Open a socket on the configured address. Raises SetupError."""
    family = socket.AF_INET6 if ":" in api.host else socket.AF_INET
    try:
        is_dual_stack = api.host == "::" and socket.has_dualstack_ipv6()  # "everything" means IPv4, too
        return socket.create_server((api.host, api.port), family=family, backlog=WAITING, dualstack_ipv6=is_dual_stack)
    except OSError as error:
        raise SetupError(f"Cannot listen on {api.host}:{api.port}: {_why(error)}.") from None


def _why(error: OSError) -> str:
    """Return the system's message, and what to choose instead. (Python's own message repeats the address.)"""
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return "no address of this machine; choose another --host"
    return f"{os.strerror(error.errno or 0).lower()}; choose another --port"
