"""Callers' files are read by a process that can be spared."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import av
import numpy as np
import psutil
import pytest

from integration.media.conftest import Make
from sederunt.errors import BrokenMedia, Cancelled, MediaError, UnsupportedMedia
from sederunt.media import reader_processes, sandbox, sandboxed_probe, sandboxed_reader
from sederunt.media.pcm import RATE, Block, read_pcm
from sederunt.media.probe import probe
from sederunt.media.reader_processes import ReaderLost, ReaderServer, end_where_stopped
from sederunt.media.sandboxed_probe import probe_sandboxed
from sederunt.media.sandboxed_reader import read_pcm_sandboxed, separate_channels_sandboxed

TONE = ("-f", "lavfi", "-i", "sine=440:duration=4:sample_rate=44100")
TURNS = ("-f", "lavfi", "-i", "aevalsrc='0.3*sin(2764*t)*lt(mod(t,4),2)|0.3*sin(2073*t)*gte(mod(t,4),2)':d=8:s=44100")
YEARS_S = 20 * 365 * 86_400


def test_it_finds_what_the_parser_finds(make_file: Make) -> None:
    for name in ("a.mp3", "a.webm", "a.m4a"):
        path = make_file(name, *TONE)
        assert probe_sandboxed(path) == probe(path)


def test_two_people_in_two_channels_are_read_apart(make_file: Make) -> None:
    path = make_file("call.mp3", *TURNS)
    assert probe_sandboxed(path).channels == 2
    left, right = separate_channels_sandboxed(path, duration_s=8.0)
    sound = [
        np.concatenate([b.samples for b in read_pcm_sandboxed(path, duration_s=8.0, channel=c)]) for c in (left, right)
    ]
    loud = [[bool(np.abs(each[s * RATE : (s + 1) * RATE]).max() > 0.1) for s in (0, 2, 4, 6)] for each in sound]
    assert loud == [[True, False, True, False], [False, True, False, True]]
    (block,) = read_pcm_sandboxed(path, duration_s=8.0, start_s=5.0, channel=left)
    assert np.array_equal(block.samples[:RATE], sound[0][5 * RATE : 6 * RATE])
    assert not separate_channels_sandboxed(make_file("room.mp3", *TONE, "-ac", "2"), duration_s=4.0)


@pytest.mark.parametrize(
    "arguments",
    [
        ("a.ogg",),
        ("a.opus",),
        ("a.webm",),
        ("a.mka", "-c:a", "aac"),
        ("a.webm", "-live", "1"),
        ("a.webm", "-c:a", "libvorbis", "-f", "webm", "-live", "1"),
        ("a.flac",),
    ],
)
def test_recordings_that_were_joined_are_read_to_the_end_of_the_last(
    make_file: Make, arguments: tuple[str, ...]
) -> None:
    """Joined byte by byte, as `cat` does it: the clock begins anew in each."""
    name, *options = arguments
    pieces = [make_file(name, *TONE, *options).read_bytes()]
    pieces.append(make_file(name, "-f", "lavfi", "-i", "sine=880:duration=7:sample_rate=44100", *options).read_bytes())
    path = make_file(name, *TONE, *options)
    path.write_bytes(b"".join(pieces))
    facts = probe(path)
    duration_s = facts.duration_s
    assert facts.joined
    assert duration_s == pytest.approx(11.0, abs=0.2)
    whole = np.concatenate([block.samples for block in read_pcm(path)])
    assert len(whole) / RATE == pytest.approx(11.0, abs=0.2)
    there = np.concatenate([block.samples for block in read_pcm_sandboxed(path, duration_s=duration_s)])
    assert np.array_equal(there, whole)
    part = np.concatenate([block.samples for block in read_pcm(path, start_s=9.0)])
    assert np.array_equal(part, whole[9 * RATE :])


def test_samples_are_the_same_to_the_bit(make_file: Make) -> None:
    path = make_file("a.ogg", *TONE)
    here = np.concatenate([block.samples for block in read_pcm(path, start_s=1.0)])
    there = list(read_pcm_sandboxed(path, duration_s=4.0, start_s=1.0, block_s=0.5))
    assert there[0].start_s == 1.0
    assert np.array_equal(here, np.concatenate([block.samples for block in there]))


@pytest.mark.parametrize("name", ["call.mp3", "call.m4a"])
@pytest.mark.parametrize("damaged", [1, 13])
def test_what_is_said_of_damage_gets_into_no_answer(make_file: Make, name: str, damaged: int) -> None:
    path = make_file(name, *TURNS)
    with av.open(str(path)) as container:
        packets = [(packet.pos or 0, packet.size) for packet in container.demux(audio=0) if packet.size]
    data = bytearray(path.read_bytes())
    for pos, size in packets[50 : 50 + 2 * damaged : 2]:
        data[pos + 4 : pos + size] = b"\xff" * (size - 4)  # past the header by which a frame is found
    path.write_bytes(data)
    here = np.concatenate([block.samples for block in read_pcm(path)])
    there = np.concatenate([block.samples for block in read_pcm_sandboxed(path, duration_s=8.0)])
    assert np.array_equal(here, there)
    assert len(separate_channels_sandboxed(path, duration_s=8.0)) == 2


def test_faults_keep_their_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nothing to hear")
    (tmp_path / "empty").touch()
    with pytest.raises(UnsupportedMedia, match="the content of the file is text"):
        probe_sandboxed(tmp_path / "a.txt")
    with pytest.raises(BrokenMedia, match="The file is empty"):
        probe_sandboxed(tmp_path / "empty")


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
    heard_s = sum(len(block.samples) for block in read_pcm_sandboxed(path, duration_s=2.0)) / RATE
    assert heard_s <= 2.0 + sandboxed_reader.SLACK_S


def test_millions_of_tiny_parts_are_refused_and_cost_little(tmp_path: Path, make_file: Make) -> None:
    crumbs = tmp_path / "crumbs.webm"
    header = bytes.fromhex("1a45dfa3 87 4282 84 7765626d") + bytes.fromhex("18538067 01ffffffffffffff")
    crumbs.write_bytes(header + b"\xec\x80" * 5_000_000)
    boxes = tmp_path / "crumbs.mp4"
    boxes.write_bytes(struct.pack(">I8s", 12, b"ftypisom") + struct.pack(">I4s", 8, b"free") * 1_000_000)
    probe_sandboxed(make_file("a.wav", *TONE))  # there is a server now
    before_s = _server().cpu_times().children_user
    for path in (crumbs, boxes):
        with pytest.raises(BrokenMedia, match="more than 10,000 parts"):
            probe_sandboxed(path)
    assert 0 < _server().cpu_times().children_user - before_s < 2 * sandboxed_probe.PROBE_CPU_S / 4


def _server() -> psutil.Process:
    """Return the process that readers are forked from."""
    children = psutil.Process().children()
    return next(child for child in children if "sederunt.media.sandboxed_reader_child" in child.cmdline())


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let readers work until their limit."""
    server = ReaderServer("integration.media.endless", {"PYTHONPATH": str(Path(__file__).parents[2])})
    monkeypatch.setattr(sandbox, "READERS", server)


@pytest.mark.usefixtures("endless")
def test_a_file_that_takes_too_much_work_costs_its_reader_alone(
    make_file: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxed_probe, "PROBE_CPU_S", 1)
    with pytest.raises(MediaError, match="more than 1 seconds of work"):
        probe_sandboxed(make_file("a.wav", *TONE))


@pytest.mark.usefixtures("endless")
def test_a_file_whose_reader_gets_no_core_is_not_called_damaged(
    make_file: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_file("a.wav", *TONE)
    monkeypatch.setattr(sandbox, "STALLED_S", 0.6)
    monkeypatch.setattr(sandbox, "STALLED_TIMES_CPU", 0.0)
    with pytest.raises(ReaderLost, match="too busy"):
        probe_sandboxed(path)
    with pytest.raises(ReaderLost, match="too busy"):
        separate_channels_sandboxed(path, duration_s=4.0)


@pytest.mark.usefixtures("endless")
def test_a_reader_whose_file_nobody_wants_any_more_is_ended(make_file: Make) -> None:
    left = threading.Event()
    threading.Timer(0.5, left.set).start()
    with pytest.raises(Cancelled):
        probe_sandboxed(make_file("a.wav", *TONE), left=left)
    servers = [child for child in psutil.Process().children() if "integration.media.endless" in child.cmdline()]
    _, alive = psutil.wait_procs([reader for server in servers for reader in server.children()], timeout=5)
    assert not alive


def test_a_reader_that_nobody_listens_to_any_more_ends(make_file: Make) -> None:
    path = make_file("long.wav", "-f", "lavfi", "-i", "sine=440:duration=600:sample_rate=48000")
    blocks = cast(Generator[Block, None, None], read_pcm_sandboxed(path, duration_s=600.0, block_s=0.5))
    next(blocks)
    readers = _server().children()
    assert readers
    blocks.close()
    _, left = psutil.wait_procs(readers, timeout=60)
    assert not left


@pytest.mark.parametrize("harm", [signal.SIGKILL, signal.SIGSTOP])
def test_a_file_is_read_though_the_process_that_readers_come_from_was_harmed(
    make_file: Make, monkeypatch: pytest.MonkeyPatch, harm: signal.Signals
) -> None:
    path = make_file("a.wav", *TONE)
    probe_sandboxed(path)
    harmed = _server()
    harmed.send_signal(harm)
    if harm == signal.SIGSTOP:
        monkeypatch.setattr(reader_processes, "ANSWER_S", 1.0)
    assert probe_sandboxed(path) == probe(path)
    assert not harmed.is_running()


@pytest.mark.parametrize(
    ("harm", "whole_family"), [(signal.SIGKILL, False), (signal.SIGSTOP, False), (signal.SIGSTOP, True)]
)
def test_a_reader_that_somebody_stops_or_kills_is_ended_and_another_goes_on_where_it_was(
    make_file: Make, harm: signal.Signals, whole_family: bool
) -> None:
    path = make_file("long.wav", "-f", "lavfi", "-i", "sine=440:duration=120:sample_rate=16000")
    blocks = read_pcm_sandboxed(path, duration_s=120.0, block_s=0.5)
    first = next(blocks)
    harmed = [*_server().children(), *([_server()] if whole_family else [])]
    for process in harmed:
        process.send_signal(harm)
    there = np.concatenate([first.samples, *(block.samples for block in blocks)])
    assert np.array_equal(there, np.concatenate([block.samples for block in read_pcm(path)]))
    _, left = psutil.wait_procs(harmed, timeout=60)
    assert not left


def test_a_child_that_is_stopped_and_does_not_go_on_is_ended() -> None:
    with subprocess.Popen(["sleep", "600"]) as child:
        child.send_signal(signal.SIGSTOP)
        end_where_stopped(child.pid)
        assert child.wait(60) == -signal.SIGKILL


def test_nothing_of_its_parent_is_left_to_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEDERUNT_SECRET", "planted")
    telling = ReaderServer("integration.media.telling", {"PYTHONPATH": str(Path(__file__).parents[2])})
    with Path(__file__).open("rb"), telling.reader() as reader:
        assert reader.wait(60) == 0
        told = json.loads(reader.output.read())
        assert reader.errors.read() == b"said aside"
    assert told["descriptors"] == [0, 1, 2, 3]  # the last is its answer
    assert not any(name.startswith("SEDERUNT") for name in told["environment"])


def test_a_reader_that_ends_while_its_asker_hangs_up_takes_no_other_one_with_it(tmp_path: Path) -> None:
    server = _tried("at once")
    with _held(tmp_path) as (held, let_go), server.reader(str(held)) as other:
        with server.reader(os.devnull) as ended:
            forked_from = ended.output.read()
        with server.reader(os.devnull) as after:
            assert (after.output.read(), after.wait(60)) == (forked_from, 0)
        let_go()
        assert (other.output.read(), other.wait(60)) == (forked_from, 0)


def test_whoever_asks_while_the_process_is_still_loading_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_processes, "ANSWER_S", 2.0)
    server = _tried("slow")

    def forked_from(after_s: float) -> bytes:
        time.sleep(after_s)
        with server.reader(os.devnull) as reader:
            return reader.output.read()

    with ThreadPoolExecutor(8) as askers:
        answers = list(askers.map(forked_from, np.arange(8) / 10))
    assert len(set(answers)) == 1


@pytest.mark.parametrize("trial", ["no fork", "no descriptors"])
def test_a_reader_that_cannot_be_started_takes_no_other_one_with_it(tmp_path: Path, trial: str) -> None:
    server = _tried(trial)
    with _held(tmp_path) as (held, let_go), server.reader(str(held)) as one, server.reader(str(held)) as two:
        with pytest.raises(ReaderLost, match="no room"), server.reader(os.devnull):
            pass
        with server.reader(os.devnull) as after:
            forked_from = after.output.read()
        let_go()
        for reader in (one, two):
            assert (reader.output.read(), reader.wait(60)) == (forked_from, 0)


def _tried(trial: str) -> ReaderServer:
    return ReaderServer("integration.media.trying", {"PYTHONPATH": str(Path(__file__).parents[2]), "TRIAL": trial})


@contextmanager
def _held(folder: Path) -> Iterator[tuple[Path, Callable[[], object]]]:
    """Make a file that readers wait at; they go on after the call."""
    path = folder / "held"
    os.mkfifo(path)
    end = os.open(path, os.O_RDWR)
    try:
        yield path, lambda: os.write(end, b"goes on")
    finally:
        os.close(end)


def test_the_process_that_readers_come_from_ends_when_it_is_idle() -> None:
    asking, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    script = "from sederunt.media import reader_server as s; s.IDLE_S = 0.1; s.main()"
    with asking, asked:
        command = [sys.executable, "-c", script, str(asked.fileno()), "sederunt.media.sandboxed_reader_child"]
        assert subprocess.run(command, pass_fds=[asked.fileno()], timeout=60).returncode == 0


def test_the_reader_sees_its_file_and_no_other_one(tmp_path: Path) -> None:
    data = tmp_path / "data"  # where its parent works, as `serve` with ./data does
    data.mkdir()
    for name in ("given", "sealing.key"):
        (data / name).write_text(name)
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from sederunt.media.sandboxed_reader_child import give_up_rights\n"
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
        "from sederunt.media.sandboxed_reader_child import give_up_rights\n"
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
