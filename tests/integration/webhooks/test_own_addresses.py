"""What listens on a public address of this machine is not reached by callers: tried in a network of its own."""

import os
import shutil
import subprocess
import sys

import pytest

# Two public addresses and a name for one of them, a server on each, and the two ways in which callers' addresses are
# asked: by a POST (webhooks, POST /webhook/test) and by `opened` (recordings, avatars, calendars).
PROGRAM = """
import asyncio
import socket
import subprocess

for arguments in ("link set lo up", "addr add 11.22.33.44/32 dev lo", "addr add 2a00:1:2::3/128 dev lo nodad"):
    subprocess.run(["ip", *arguments.split()], check=True)

from sederunt import addresses
from sederunt.errors import DestinationError

async def answer(reader, writer):
    asked.append(await reader.readline())
    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
    writer.close()

async def posted(url, allow_private):
    async with addresses.guarded_client(allow_private=allow_private, timeout_s=20) as client:
        await client.post(url)

async def fetched(url, allow_private):
    async with addresses.guarded_client(allow_private=allow_private, timeout_s=20) as client:
        async with addresses.opened(client, url, allow_private=allow_private):
            pass

async def main():
    resolve = socket.getaddrinfo
    own = lambda host, *rest, **more: resolve("11.22.33.44" if host == "own.example" else host, *rest, **more)
    socket.getaddrinfo = own
    async with await asyncio.start_server(answer, ["11.22.33.44", "2a00:1:2::3"], 8080):
        for host in ("11.22.33.44", "[2a00:1:2::3]", "[::ffff:11.22.33.44]", "own.example"):
            for ask in (posted, fetched):
                try:
                    await ask(f"http://{host}:8080/", False)
                except DestinationError as error:
                    assert "private network" in str(error), error
                assert asked == [], (host, ask)
                await ask(f"http://{host}:8080/", True)
                assert asked.pop(), (host, ask)

asked = []
asyncio.run(main())
"""


def test_a_service_on_a_public_address_of_this_machine_is_not_reached() -> None:
    alone = ["unshare", "--net"]
    if os.geteuid() != 0 or not shutil.which("ip") or subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("NOT TESTED: a network of its own needs root, unshare and iproute2")
    done = subprocess.run([*alone, sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
