"""One recording out of pieces, whatever happened to them."""

import json
import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
import pytest

from sederunt.media import opus
from sederunt.media.assembly import AssemblyFacts, assemble
from sederunt.media.pieces import read_piece, write_piece
from sederunt.media.seam import Fit
from sederunt.media.spool import FittedPiece
from sederunt.model.audio import Packet

MakePackets = Callable[..., list[Packet]]


def _pieces(packets: Sequence[Packet], seconds: float = 4.0) -> list[bytes]:
    cut: dict[int, list[Packet]] = {}
    for packet in packets:
        cut.setdefault(int(packet.start // seconds), []).append(packet)
    return [write_piece(cut[number]) for number in sorted(cut)]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., AssemblyFacts]:
    def assembled(pieces: Sequence[bytes | FittedPiece[Packet]], duration_s: float, **more: object) -> AssemblyFacts:
        return assemble(
            iter(pieces),
            mixed=tmp_path / "recording.webm",
            tracks=tmp_path / "tracks",
            duration_s=duration_s,
            **more,  # type: ignore[arg-type]
        )

    return assembled


Run = Callable[..., AssemblyFacts]


def _decoded(path: Path) -> npt.NDArray[np.float32]:
    with av.open(str(path)) as container:
        return np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])


def _times(path: Path) -> list[float]:
    with av.open(str(path)) as container:
        return [float(packet.pts * packet.time_base) for packet in container.demux() if packet.pts is not None]


def _pitch(samples: npt.NDArray[np.float32], start: float) -> float:
    part = samples[round(start * opus.RATE) :][: opus.RATE // 2]
    return float(np.argmax(np.abs(np.fft.rfft(part))) * 2)


def test_two_people_are_heard_at_their_times_and_kept_apart_in_tracks(
    run: Run, make_packets: MakePackets, tmp_path: Path
) -> None:
    packets = [*make_packets("1001", 3.0, 2.0, 440), *make_packets("1002", 7.5, 2.0, 880)]
    facts = run(_pieces(packets), 12.0)
    mixed = _decoded(tmp_path / "recording.webm")
    assert len(mixed) == 12 * opus.RATE
    assert _pitch(mixed, 3.7) == 440
    assert _pitch(mixed, 8.2) == 880
    assert np.abs(mixed[: round(2.9 * opus.RATE)]).max() < 0.01
    assert facts.duration_s == 12.0
    assert facts.heard_s == pytest.approx(4.0, abs=0.1)
    assert [(one.source, one.file, one.packets) for one in facts.sources] == [
        ("1001", "0.mka", 100),
        ("1002", "1.mka", 100),
    ]
    assert facts.sources[0].loudness_db == pytest.approx(20 * np.log10(0.3 / np.sqrt(2)), abs=0.5)
    for number, source in enumerate(("1001", "1002")):
        track = read_piece((tmp_path / "tracks" / f"{number}.mka").read_bytes())
        assert [p.payload for p in track] == [p.payload for p in packets if p.source == source]
        assert track[0].start == pytest.approx((3.0, 7.5)[number])


def test_the_recording_has_exactly_contiguous_times_over_its_whole_length(
    run: Run, make_packets: MakePackets, tmp_path: Path
) -> None:
    run(_pieces(make_packets("1001", 20.0004)), 63.417)
    times = _times(tmp_path / "recording.webm")
    assert times[0] == 0
    assert {round(b - a, 9) for a, b in pairwise(times)} == {0.02}
    assert 63.417 <= times[-1] + 0.02 < 63.437


def test_a_common_player_reads_the_files_and_knows_the_duration(
    run: Run, make_packets: MakePackets, tmp_path: Path
) -> None:
    run(_pieces(make_packets("1001", 1.0)), 5.0)
    for name, kind, length in (("recording.webm", "matroska,webm", 5.0), ("tracks/0.mka", "matroska,webm", 2.0)):
        shown = subprocess.run(
            ["ffprobe", "-v", "error", "-of", "json", "-show_format", "-show_streams", str(tmp_path / name)],
            capture_output=True,
            check=True,
        )
        assert not shown.stderr
        found = json.loads(shown.stdout)
        assert found["format"]["format_name"] == kind
        assert float(found["format"]["duration"]) == pytest.approx(length)
        assert (found["streams"][0]["codec_name"], found["streams"][0]["channels"]) == ("opus", 1)
    assert b"webm" in (tmp_path / "recording.webm").read_bytes()[:64]


def test_order_repeats_and_a_second_host_in_the_meeting_change_nothing(
    run: Run, make_packets: MakePackets, tmp_path: Path
) -> None:
    packets = [*make_packets("1001", 1.0, 9.0), *make_packets("1002", 2.0, 3.0, 880)]
    pieces = _pieces(packets)
    expected = run(pieces, 11.0)
    before = (tmp_path / "recording.webm").stat().st_size
    zombie = [
        Packet(source=p.source, start=p.start + 0.007, duration=p.duration, payload=p.payload)
        for p in packets
        if 3.5 < p.start < 6
    ]
    jumbled = [*pieces, *pieces[1:], *_pieces(zombie, 1.0)]
    random.Random(7).shuffle(jumbled)
    facts = run(jumbled, 11.0)
    repeats = sum(len(read_piece(piece)) for piece in pieces[1:]) + len(zombie)
    assert facts.repeated_packets in (repeats, repeats + 1)
    assert [s.source for s in facts.sources] == [s.source for s in expected.sources]
    assert sum(s.packets for s in facts.sources) == pytest.approx(len(packets), abs=2)
    assert (tmp_path / "recording.webm").stat().st_size == pytest.approx(before, rel=0.02)
    assert {round(b - a, 3) for a, b in pairwise(_times(tmp_path / "tracks/0.mka"))} <= {0.02, 0.013, 0.027}


def test_a_damaged_piece_that_is_fitted_is_told_too(run: Run, make_packets: MakePackets) -> None:
    first, second = _pieces(make_packets("1001", 0.0, 8.0), 4.0)
    facts = run([first, FittedPiece(data=second[: len(second) // 2], fit=Fit(shift_s=1.0))], 9.0)
    assert (facts.pieces, facts.damaged_pieces) == (2, 1)
    assert 5.5 < facts.sources[0].end < 8.0, "what is left of it lies a second later"


def test_a_damaged_piece_costs_what_is_damaged_and_is_told(run: Run, make_packets: MakePackets) -> None:
    pieces = _pieces(make_packets("1001", 0.0, 8.0), 2.0)
    pieces[1] = pieces[1][: len(pieces[1]) // 2]
    pieces[2] = b"nothing of the kind"
    facts = run(pieces, 8.0)
    assert (facts.pieces, facts.damaged_pieces) == (4, 2)
    assert 200 < facts.sources[0].packets < 260


def test_a_silent_meeting_has_a_recording_of_its_length_and_no_tracks(run: Run, tmp_path: Path) -> None:
    facts = run([], 4.0)
    assert len(_decoded(tmp_path / "recording.webm")) == 4 * opus.RATE
    assert (facts.heard_s, facts.sources, facts.pieces) == (0, (), 0)
    assert list((tmp_path / "tracks").iterdir()) == []


def test_without_a_duration_the_last_packet_ends_the_recording(run: Run, make_packets: MakePackets) -> None:
    assert run(_pieces(make_packets("1001", 2.0, 1.0)), 0).duration_s == pytest.approx(3.0)
    assert run([], 0).duration_s == 0


def test_packets_after_the_end_are_in_the_track_and_not_in_the_mix(
    run: Run, make_packets: MakePackets, tmp_path: Path
) -> None:
    facts = run(_pieces(make_packets("1001", 1.0, 3.0)), 2.0)
    assert len(_decoded(tmp_path / "recording.webm")) == 2 * opus.RATE
    assert facts.sources[0].packets == 150


def test_quiet_sources_were_not_heard(run: Run, tmp_path: Path) -> None:
    encoder = opus.OpusEncoder(opus.RATE, 16_000)
    noise = np.random.default_rng(1).normal(0, 20, opus.RATE * 2).astype(np.int16)
    packets = [
        Packet(source="1001", start=n * 0.02, duration=0.02, payload=payload)
        for n, payload in enumerate(encoder.encode(noise))
    ]
    facts = run(_pieces(packets), 2.0)
    assert facts.heard_s == 0
    assert (facts.sources[0].heard_s, facts.sources[0].loudness_db) == (0, None)


def test_progress_goes_from_nothing_to_all(run: Run, make_packets: MakePackets) -> None:
    shares: list[float] = []
    run(_pieces(make_packets("1001", 0.0, 8.0)), 8.0, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > 3


def test_pieces_are_taken_one_by_one_and_the_facts_can_be_written_down(
    run: Run, make_packets: MakePackets, tmp_path: Path
) -> None:
    def lazily() -> Iterator[bytes]:
        yield from _pieces(make_packets("1001", 0.0, 2.0))

    facts = assemble(lazily(), mixed=tmp_path / "r.webm", tracks=tmp_path / "t", duration_s=2.0)
    assert json.loads(json.dumps(asdict(facts)))["sources"][0]["source"] == "1001"


def test_an_error_on_the_way_leaves_no_scratch_file(make_packets: MakePackets, tmp_path: Path) -> None:
    def failing() -> Iterator[bytes]:
        yield write_piece(make_packets())
        raise RuntimeError("storage went away")

    with pytest.raises(RuntimeError, match="went away"):
        assemble(failing(), mixed=tmp_path / "r.webm", tracks=tmp_path / "t", duration_s=2.0)
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
