"""Each vendor's official client against the simulated vendor, with real speech.

A simulator refuses, and notes, everything that it does not know; so a client that ends with the right words and without
a refusal has proven methods, paths, queries, authentication and field names.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from harness.vendors.catalogue import VENDORS
from harness.vendors.vendor import Vendor
from sederunt.bench.words import word_error_rate
from sederunt.practice.clips import SHIPPED, catalogue

ROOT = Path(__file__).parents[3]
CLIENTS = Path(__file__).with_name("official_clients.py")
CLIP = "jfk"
BATCH = tuple(VENDORS)
LIVE = tuple(name for name, kind in VENDORS.items() if kind.socket is not None)
WORST_WER = 0.1


@pytest.fixture(scope="session")
def clients_python() -> Path:
    """The Python that has the official clients."""
    done = subprocess.run([ROOT / "scripts" / "oracle"], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0 and os.environ.get("CI") != "true":
        pytest.skip(f"NOT TESTED: the vendors' clients could not be installed: {done.stderr[-500:]}")
    assert done.returncode == 0, done.stderr
    return ROOT / ".oracle" / "bin" / "python"


def ended_with(python: Path, vendor: Vendor, way: str) -> dict[str, object]:
    addresses = {"url": vendor.url, "socket_url": vendor.socket_url, "key": vendor.key}
    done = subprocess.run(
        [python, CLIENTS, vendor.name, way, json.dumps(addresses), SHIPPED / f"{CLIP}.wav"],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said: dict[str, object] = json.loads(done.stdout)
    return said


@pytest.mark.parametrize("name", BATCH)
def test_the_official_client_brings_a_file_back_as_words(clients_python: Path, name: str) -> None:
    with VENDORS[name]() as vendor:
        told = ended_with(clients_python, vendor, "batch")
        assert word_error_rate(catalogue()[CLIP].text, str(told["text"]).removeprefix("SPEAKER S1: ")) <= WORST_WER
        assert vendor.ledger.refusals == []
        assert [round(bill.seconds) for bill in vendor.ledger.billed] == [11]


@pytest.mark.parametrize("name", LIVE)
def test_the_official_client_brings_a_live_stream_back_as_words(clients_python: Path, name: str) -> None:
    with VENDORS[name]() as vendor:
        told = ended_with(clients_python, vendor, "live")
        assert word_error_rate(catalogue()[CLIP].text, str(told["text"])) <= WORST_WER
        assert int(str(told["drafts"])) > 0
        assert not told.get("errors")
        assert vendor.ledger.refusals == []
        # The client may end on the last word, and a vendor bills once the connection has closed.
        vendor.ledger.wait(lambda ledger: not any(stream.is_open for stream in ledger.streams))
        (stream,) = vendor.ledger.streams
        assert stream.seconds == pytest.approx(11, abs=0.1)
        assert [round(bill.seconds) for bill in vendor.ledger.billed] == [11]
