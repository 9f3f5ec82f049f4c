"""A link that is cut without a word: packets vanish both ways, and every socket looks as if all were well."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sederunt.bus.embedded import find_server

# A process that holds jobs for ever. It says, with the machine's monotonic time, when it takes one and when it knows
# that the job may be another's by now.
HOLDER = """
import asyncio, json, sys, time
from sederunt import log
from sederunt.bus.connection import Bus
from sederunt.bus.consume import Consumer
from sederunt.settings import BusSettings

log.configure("json", "error")

def say(what):
    print(json.dumps({"what": what, "at": time.monotonic()}), flush=True)

async def hold(delivery):
    say("took")
    await delivery.cut_off.wait()
    say("let go")
    await asyncio.Event().wait()

async def main():
    bus = await Bus.connect(BusSettings(url=sys.argv[1], token="t"), name=sys.argv[2])
    say("ready")
    await Consumer(bus, "attend", hold).run()

asyncio.run(main())
"""
PUBLISH = """
import asyncio, sys
from sederunt.bus.connection import Bus
from sederunt.settings import BusSettings

async def main():
    bus = await Bus.connect(BusSettings(url=sys.argv[1], token="t"), name="publisher")
    await bus.publish_job("attend", "one", b'{"id": "one"}', "one")
    await bus.close()

asyncio.run(main())
"""


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@dataclass(frozen=True)
class Link:
    """A network of its own for some processes, tied to ours by a pair of interfaces."""

    namespace: str
    outer: str
    here: str  # our address on it

    def cut(self) -> None:
        """Let every packet vanish from now on."""
        ip("link", "set", self.outer, "down")


@pytest.fixture
def link() -> Iterator[Link]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("NOT TESTED: network namespaces need root and iproute2")
    number = os.getpid() % 250
    made = Link(f"sederunt-{os.getpid()}", f"sd{os.getpid()}", f"10.251.{number}.1")
    try:
        ip("netns", "add", made.namespace)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"NOT TESTED: no network namespaces here: {error.stderr.decode().strip()}")
    try:
        ip("link", "add", made.outer, "type", "veth", "peer", "name", "inner", "netns", made.namespace)
        ip("addr", "add", f"{made.here}/24", "dev", made.outer)
        ip("link", "set", made.outer, "up")
        ip("-n", made.namespace, "addr", "add", f"10.251.{number}.2/24", "dev", "inner")
        ip("-n", made.namespace, "link", "set", "inner", "up")
        ip("-n", made.namespace, "link", "set", "lo", "up")
        yield made
    finally:
        ip("netns", "del", made.namespace)  # the pair goes with it


@asynccontextmanager
async def running(*command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process, gone at the end of the block."""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def said(process: asyncio.subprocess.Process, what: str) -> float:
    """When a holder said this."""
    assert process.stdout is not None
    async with asyncio.timeout(120):
        line = json.loads(await process.stdout.readline())
    assert line["what"] == what
    return float(line["at"])


async def test_a_host_whose_link_is_cut_lets_go_before_another_takes_its_bot(
    link: Link, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """With a message server of one's own, as it comes: it believes in the connection for minutes."""
    port = 20_000 + os.getpid() % 10_000
    (tmp_path / "nats.conf").write_text(
        f'listen: "{link.here}:{port}"\nauthorization {{ token: "t" }}\njetstream {{ store_dir: "{tmp_path}/store" }}\n'
    )
    url = f"nats://{link.here}:{port}"
    inside = ("ip", "netns", "exec", link.namespace)
    async with (
        running(str(find_server()), "--config", str(tmp_path / "nats.conf")),
        running(*inside, sys.executable, "-c", HOLDER, url, "cut off") as first,
    ):
        await said(first, "ready")
        async with running(sys.executable, "-c", PUBLISH, url) as publisher:
            assert await publisher.wait() == 0
        await said(first, "took")
        async with running(sys.executable, "-c", HOLDER, url, "elsewhere") as second:
            await said(second, "ready")
            cut_at = asyncio.get_running_loop().time()
            link.cut()
            let_go, took = await said(first, "let go"), await said(second, "took")
    record_property("let_go_s", round(let_go - cut_at, 1))  # with --junit-xml; docs/reliability.md has them
    record_property("taken_s", round(took - cut_at, 1))
    assert let_go < took, "two would have sat in one meeting"
