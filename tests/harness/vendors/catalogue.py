"""Every simulated vendor by name, and a process that runs some of them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.vendors.control import VendorControl
from harness.vendors.deepgram import Deepgram
from harness.vendors.vendor import Vendor

VENDORS: Mapping[str, type[Vendor]] = {vendor.name: vendor for vendor in (Deepgram,)}


@contextmanager
def vendors_process(*names: str) -> Iterator[dict[str, VendorControl]]:
    """These vendors, or all, in a process of their own; by name."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.vendors", *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        text=True,
    )
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    controls = {name: VendorControl(name, **address) for name, address in told.items()}
    yield controls
    for control in controls.values():
        control.close()
    process.communicate()
