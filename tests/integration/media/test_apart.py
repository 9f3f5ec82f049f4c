"""Callers' files are read by a process that can be spared."""

import resource
import socket
import struct
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest

from integration.media.conftest import Make
from sederunt.errors import BrokenMedia, MediaError, UnsupportedMedia
from sederunt.media import apart
from sederunt.media.apart import probe_apart, read_pcm_apart
from sederunt.media.pcm import RATE, read_pcm
from sederunt.media.probe import probe

TONE = ("-f", "lavfi", "-i", "sine=440:duration=4:sample_rate=44100")
YEARS_S = 20 * 365 * 86_400


def test_it_finds_what_the_parser_finds(make_file: Make) -> None:
    for name in ("a.mp3", "a.webm", "a.m4a"):
        path = make_file(name, *TONE)
        assert probe_apart(path) == probe(path)


def test_samples_are_the_same_to_the_bit(make_file: Make) -> None:
    path = make_file("a.ogg", *TONE)
    here = np.concatenate([block.samples for block in read_pcm(path, start_s=1.0)])
    there = list(read_pcm_apart(path, duration_s=4.0, start_s=1.0, block_s=0.5))
    assert there[0].start_s == 1.0
    assert np.array_equal(here, np.concatenate([block.samples for block in there]))


def test_faults_keep_their_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nothing to hear")
    (tmp_path / "empty").touch()
    with pytest.raises(UnsupportedMedia, match="the content of the file is text"):
        probe_apart(tmp_path / "a.txt")
    with pytest.raises(BrokenMedia, match="The file is empty"):
        probe_apart(tmp_path / "empty")


def _file_that_lasts(path: Path, *times_s: float) -> Path:
    """Write a little file whose packets lie at these times, and whose header says that it lasts for two seconds."""
    with av.open(str(path), "w", format="webm") as container:
        stream = container.add_stream("libopus", rate=48_000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 48_000), np.int16), "s16", "mono")
        frame.sample_rate, frame.pts = 48_000, 0
        packets = [*stream.encode(frame), *stream.encode(None)][: len(times_s)]
        for packet, at_s in zip(packets, times_s, strict=True):
            packet.pts = packet.dts = round(at_s / packet.time_base)
            container.mux(packet)
    data = path.read_bytes()
    at = data.index(b"\x44\x89\x88") + 3  # Duration, a float of 8 bytes, in milliseconds
    path.write_bytes(data[:at] + struct.pack(">d", 2_000.0) + data[at + 8 :])
    return path


def test_a_file_of_some_hundred_bytes_does_not_last_for_twenty_years(tmp_path: Path) -> None:
    path = _file_that_lasts(tmp_path / "long.webm", 0.0, 0.02, YEARS_S)
    assert path.stat().st_size < 2_000
    assert probe(path).duration_s > 24 * 3600  # so that it is refused for its length


def test_silence_that_timestamps_leave_ends_where_the_file_does(tmp_path: Path) -> None:
    path = _file_that_lasts(tmp_path / "jump.webm", 0.0, 0.02, YEARS_S)
    heard_s = sum(len(block.samples) for block in read_pcm_apart(path, duration_s=2.0)) / RATE
    assert heard_s <= 2.0 + apart.SLACK_S


def test_millions_of_tiny_parts_are_refused_and_cost_little(tmp_path: Path) -> None:
    crumbs = tmp_path / "crumbs.webm"
    header = bytes.fromhex("1a45dfa3 87 4282 84 7765626d") + bytes.fromhex("18538067 01ffffffffffffff")
    crumbs.write_bytes(header + b"\xec\x80" * 5_000_000)
    boxes = tmp_path / "crumbs.mp4"
    boxes.write_bytes(struct.pack(">I8s", 12, b"ftypisom") + struct.pack(">I4s", 8, b"free") * 1_000_000)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for path in (crumbs, boxes):
        with pytest.raises(BrokenMedia, match="more than 10,000 parts"):
            probe_apart(path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 2 * apart.PROBE_CPU_S / 4


def test_a_file_that_takes_too_much_work_costs_its_reader_alone(
    make_file: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "_CHILD", "integration.media.endless")
    monkeypatch.setattr(apart, "PROBE_CPU_S", 1)
    monkeypatch.setattr(apart, "_environment", lambda: {"PYTHONPATH": str(Path(__file__).parents[2])})
    with pytest.raises(MediaError, match="more than 1 seconds of work"):
        probe_apart(make_file("a.wav", *TONE))


def test_the_reader_sees_its_file_and_no_other_one(tmp_path: Path) -> None:
    data = tmp_path / "data"  # where its parent works, as `serve` with ./data does
    data.mkdir()
    for name in ("given", "sealing.key"):
        (data / name).write_text(name)
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from sederunt.media.apart_child import give_up_rights\n"
        "give_up_rights(5, Path(sys.argv[1]))\n"
        "import av, numpy\n"  # what it runs from is still there
        "print(Path(sys.argv[1]).read_text())\n"
        "for path in (sys.argv[2], '/etc/passwd', '/proc/1/environ', '/proc/self/environ'):\n"
        "    try: print(path, len(open(path).read()))\n"
        "    except OSError: pass\n"
    )
    command = [sys.executable, "-c", script, str(data / "given"), str(data / "sealing.key")]
    done = subprocess.run(command, cwd=data, capture_output=True, text=True, timeout=60)
    assert (done.stdout.splitlines(), done.stderr) == (["given"], "")


def test_the_reader_can_neither_write_nor_talk(tmp_path: Path) -> None:
    script = (
        "import socket, sys\n"
        "from sederunt.media.apart_child import give_up_rights\n"
        "give_up_rights(5)\n"
        "try:\n    open(sys.argv[1], 'wb', 0).write(b'x' * 10); print('wrote')\n"
        "except OSError: print('no write')\n"
        "try:\n    socket.create_connection(('127.0.0.1', int(sys.argv[2])), 2); print('talked')\n"
        "except OSError: print('no network')\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "x"), str(port)], capture_output=True, text=True, timeout=60
        )
    assert "no write" in done.stdout or done.returncode == -25  # SIGXFSZ
    assert "talked" not in done.stdout
