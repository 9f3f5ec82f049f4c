"""Machines of a network of its own: network namespaces on a bridge, whose links can be cut without a word."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@dataclass
class Network:
    """A bridge in our own namespace, and the machines on it."""

    number: int
    machines: list[str] = field(default_factory=list)

    @property
    def bridge(self) -> str:
        return f"sdbr{self.number}"

    @property
    def here(self) -> str:
        """Our own address on it."""
        return f"10.252.{self.number}.1"

    def address_of(self, machine: str) -> str:
        return f"10.252.{self.number}.{self.machines.index(machine) + 2}"

    def add(self, machine: str) -> None:
        """Add a machine, tied to the bridge by a pair of interfaces."""
        self.machines.append(machine)
        space, outer = self._space(machine), self._outer(machine)
        ip("netns", "add", space)
        ip("link", "add", outer, "type", "veth", "peer", "name", "inner", "netns", space)
        ip("link", "set", outer, "master", self.bridge, "up")
        ip("-n", space, "addr", "add", f"{self.address_of(machine)}/24", "dev", "inner")
        ip("-n", space, "link", "set", "inner", "up")
        ip("-n", space, "link", "set", "lo", "up")
        ip("-n", space, "route", "add", "default", "via", self.here)

    def on(self, machine: str) -> tuple[str, ...]:
        """What begins a command that is to run there."""
        return ("ip", "netns", "exec", self._space(machine))

    def cut(self, machine: str) -> None:
        """Let every packet from and to a machine vanish from now on."""
        ip("link", "set", self._outer(machine), "nomaster")

    def mend(self, machine: str) -> None:
        ip("link", "set", self._outer(machine), "master", self.bridge)

    def _space(self, machine: str) -> str:
        return f"sederunt-{self.number}-{machine}"

    def _outer(self, machine: str) -> str:
        return f"sd{self.number}-{self.machines.index(machine)}"


@contextmanager
def network() -> Iterator[Network]:
    """Make a network that is gone at the end of the block. Skips where there can be none."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("NOT TESTED: network namespaces need root and iproute2")
    made = Network(os.getpid() % 250)
    try:
        ip("link", "add", made.bridge, "type", "bridge")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"NOT TESTED: no bridges here: {error.stderr.decode().strip()}")
    try:
        ip("addr", "add", f"{made.here}/24", "dev", made.bridge)
        ip("link", "set", made.bridge, "up")
        yield made
    finally:
        for machine in made.machines:
            ip("netns", "del", made._space(machine))
        ip("link", "del", made.bridge)
