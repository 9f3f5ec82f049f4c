"""The long recording that a vendor is measured with: speech to its end, of the length that was asked for."""

from pathlib import Path

import numpy as np

from sederunt.bench.providers import RATE, write_long
from sederunt.media.pcm import read_pcm
from sederunt.media.probe import probe


def test_the_long_recording_is_speech_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    write_long(path, 0.02)
    facts = probe(path)
    assert facts.duration_s == 72.0
    samples = np.concatenate([block.samples for block in read_pcm(path)])
    loud = [np.abs(samples[start : start + 10 * RATE]).max() for start in range(0, 70 * RATE, 10 * RATE)]
    assert all(level > 0.05 for level in loud) or all(level > 1000 for level in loud)
