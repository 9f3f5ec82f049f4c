"""The wheel as its users install it: in an empty environment outside the repository, with nothing of ours around it."""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.plugin import ROOT, empty_environment
from sederunt.practice.script import demo

# What somebody writes who has a language model's client: over standard input and output, then over HTTP.
SESSIONS = """
import asyncio, json, sys
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

command, url, key = sys.argv[1:]

async def bots_by(server):
    async with Client(server) as client, asyncio.timeout(120):
        names = {tool.name for tool in (await client.list_tools()).tools}
        while not (bots := (await client.call_tool("list_bots", {})).structured_content["bots"]):
            await asyncio.sleep(0.5)
        return sorted(names), [bot["id"] for bot in bots]

async def main():
    own = StdioServerParameters(command=command, args=["mcp"], env={"SEDERUNT_URL": url, "SEDERUNT_KEY": key})
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=90) as http:
        print(json.dumps([await bots_by(own), await bots_by(streamable_http_client(f"{url}/mcp", http_client=http))]))

asyncio.run(main())
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Provide the programs of an environment into which the wheel was installed with all its extras."""
    return empty_environment(tmp_path, ROOT, extras="[all]")


@contextmanager
def ended(command: list[str | Path], log: Path, **options: object) -> Iterator["subprocess.Popen[str]"]:
    """Run a program that writes to a file; it has ended when the block has."""
    with log.open("w") as sink:
        process = subprocess.Popen(command, stdout=sink, stderr=subprocess.STDOUT, text=True, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(60)


def test_the_demo_runs_from_an_installed_wheel_and_is_seen_by_tools(installed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    bare = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
    bare |= {name: os.environ[name] for name in ("TMPDIR",) if name in os.environ}

    def run(*command: str | Path) -> str:
        done = subprocess.run(
            command, env=bare, cwd=home, capture_output=True, text=True, timeout=300, check=False
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    log = tmp_path / "demo.log"
    with ended([installed / "sederunt", "demo"], log, env=bare | {"COLUMNS": "250"}, cwd=home) as running:
        while (serving := re.search(r"Serving on (\S+)/api/v1, data in (\S+)\n", log.read_text())) is None:
            assert running.poll() is None, log.read_text()
            time.sleep(0.2)  # a file that grows gives no event to wait for
        key = run(installed / "sederunt", "keys", "create", "tools", "--data", serving[2]).split()[-1]
        told = json.loads(run(installed / "python", "-c", SESSIONS, installed / "sederunt", serving[1], key))
        assert running.wait(380) == 0, log.read_text()
    said = log.read_text()
    assert "Word error rate" in said
    assert all(person.name.split()[0] in said for person in demo().cast)
    (tools, bots), by_http = told
    assert {"send_bot", "explain_bot", "read_transcript"} <= set(tools)
    assert (len(bots), by_http) == (1, [tools, bots])
    # It was the installed package that ran, not the source beside this test.
    where = run(installed / "python", "-c", "import sederunt; print(sederunt.__file__)")
    assert where.startswith(str(installed.parent))
