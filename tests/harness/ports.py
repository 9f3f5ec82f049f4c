"""Ports for servers that bind them later, and are told which beforehand."""

import random
import socket
from itertools import islice

# Below those that outgoing connections are given, so nobody is given one of these meanwhile: SeaweedFS binds its last
# ports seconds after its first. No nats-server takes one either (`bus.embedded`).
FREE = range(10_000, 20_000)


def free_ports(count: int) -> list[int]:
    """Return so many ports that nobody listens on, drawn at random."""
    return list(islice((port for port in random.sample(FREE, len(FREE)) if _is_free(port)), count))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
