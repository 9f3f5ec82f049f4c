"""Every simulated vendor by name, and a process that runs some of them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.vendors.assemblyai import AssemblyAI
from harness.vendors.control import VendorControl
from harness.vendors.deepgram import Deepgram
from harness.vendors.elevenlabs import ElevenLabs
from harness.vendors.gladia import Gladia
from harness.vendors.revai import RevAI
from harness.vendors.salad import Salad
from harness.vendors.soniox import Soniox
from harness.vendors.speechmatics import Speechmatics
from harness.vendors.vendor import Vendor

KINDS: tuple[type[Vendor], ...] = (
    Deepgram,
    AssemblyAI,
    Speechmatics,
    RevAI,
    ElevenLabs,
    Soniox,
    Gladia,
    Salad,
)
VENDORS: Mapping[str, type[Vendor]] = {kind.name: kind for kind in KINDS}


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
