"""What vendors get has no gaps and the recording's times."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sederunt.media.assembly import assemble
from sederunt.media.pcm import RATE, read_pcm
from sederunt.media.pieces import write_piece
from sederunt.media.upload import write_continuous
from sederunt.model.audio import Packet


def test_a_sparse_track_becomes_continuous_for_any_decoder(
    make_packets: Callable[..., list[Packet]], tmp_path: Path
) -> None:
    packets = [*make_packets("1001", 8.0), *make_packets("1001", 14.0)]
    assemble([write_piece(packets)], mixed=tmp_path / "r.webm", tracks=tmp_path, duration_s=16)
    assert write_continuous(tmp_path / "0.mka", tmp_path / "0.ogg") == pytest.approx(15.0, abs=0.021)
    # The command-line decoder without its timestamps: sound in the order of the file, nothing filled in.
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(tmp_path / "0.ogg"), "-f", "s16le", "-ac", "1", "-ar", "16000", "-"],
        capture_output=True,
        check=True,
    ).stdout
    plain = np.frombuffer(raw, dtype="<i2") / 32_768
    ours = np.concatenate([block.samples for block in read_pcm(tmp_path / "0.ogg")])
    for samples in (plain, ours):
        loud = np.flatnonzero(np.abs(samples) > 0.05) / RATE
        assert loud[0] == pytest.approx(8.0, abs=0.02)
        assert loud[loud > 10][0] == pytest.approx(14.0, abs=0.02)
        assert len(samples) / RATE == pytest.approx(15.0, abs=0.03)
