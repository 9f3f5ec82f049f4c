"""What a network keeps of the windows it has read."""

import subprocess
import sys

# Encodes windows of many different lengths; prints the resident memory, MiB, after the first twenty and at the end.
READS = """
from pathlib import Path
import numpy, psutil
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper.loading import load_whisper
network = load_whisper(WhisperSettings(), Path("data"), "tiny.en").network
noise = numpy.random.default_rng(0).normal(0, 0.01, 16 * 16000).astype(numpy.float32)
for number in range(1, 51):
    network.encode(noise[: round((8.5 + number / 10) * 16000)])
    if number in (20, 50):
        print(psutil.Process().memory_info().rss >> 20)
"""


def test_windows_of_many_lengths_do_not_fill_the_memory() -> None:
    """A process of its own, so that the memory is the network's. Unbounded it grew by two MiB for each length."""
    ended = subprocess.run([sys.executable, "-c", READS], capture_output=True, text=True, check=True)
    early, late = (int(line) for line in ended.stdout.split()[-2:])
    assert late - early < 30
