"""Pieces give back what was put in, and say so when they cannot."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.errors import BrokenMedia
from sederunt.media.pieces import read_piece, write_piece
from sederunt.model.audio import Packet

MakePackets = Callable[..., list[Packet]]

_payloads = st.builds(lambda toc, rest: bytes([toc & 0xFC]) + rest, st.integers(0, 255), st.binary(max_size=300))


@given(
    st.lists(
        st.tuples(st.sampled_from(["1001", "1002", "track-0", "track-12"]), st.integers(0, 14_400_000), _payloads),
        min_size=1,
        max_size=40,
        unique_by=lambda row: row[:2],
    )
)
def test_any_packets_come_back_bit_for_bit_and_to_the_millisecond(rows: list[tuple[str, int, bytes]]) -> None:
    packets = [_packet(source, at_ms / 1000, payload) for source, at_ms, payload in rows]
    found = read_piece(write_piece(packets))
    assert sorted((p.source, round(p.start * 1000), p.payload, p.duration) for p in found) == sorted(
        (p.source, round(p.start * 1000), p.payload, p.duration) for p in packets
    )
    assert [p.start for p in found] == sorted(p.start for p in found)


def test_a_piece_from_the_end_of_a_long_meeting_keeps_its_time(make_packets: MakePackets) -> None:
    packets = make_packets(start=4 * 3600 - 1.0004)
    found = read_piece(write_piece(packets))
    assert all(abs(a.start - b.start) <= 0.00051 for a, b in zip(found, packets, strict=True))


def test_an_empty_piece_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one packet"):
        write_piece([])


def test_a_common_player_reads_a_piece(make_packets: MakePackets, tmp_path: Path) -> None:
    path = tmp_path / "piece.mka"
    path.write_bytes(write_piece([*make_packets("1001", 10.0), *make_packets("track-1", 12.5, hertz=880)]))
    shown = subprocess.run(
        ["ffprobe", "-v", "error", "-of", "json", "-show_streams", "-count_packets", str(path)],
        capture_output=True,
        check=True,
    )
    assert not shown.stderr
    streams = json.loads(shown.stdout)["streams"]
    assert [(s["codec_name"], s["tags"]["title"], s["channels"], s["nb_read_packets"]) for s in streams] == [
        ("opus", "1001", 1, "50"),
        ("opus", "track-1", 1, "50"),
    ]
    assert [float(s["start_time"]) for s in streams] == [10.0, 12.5]


def test_a_piece_cut_anywhere_is_refused_and_salvage_gives_what_is_whole(make_packets: MakePackets) -> None:
    packets = make_packets(seconds=0.4)
    data = write_piece(packets)
    kept = 0
    for cut in range(0, len(data), 37):
        with pytest.raises(BrokenMedia):
            read_piece(data[:cut])
        saved = read_piece(data[:cut], salvage=True)
        assert [p.payload for p in saved] == [p.payload for p in packets[: len(saved)]]
        assert len(saved) >= kept
        kept = len(saved)
    assert kept >= len(packets) - 1


def test_a_flipped_bit_is_noticed(make_packets: MakePackets) -> None:
    data = bytearray(write_piece(make_packets(seconds=0.4)))
    data[len(data) // 2] ^= 1
    with pytest.raises(BrokenMedia, match="damaged"):
        read_piece(bytes(data))


@pytest.mark.parametrize("data", [b"", b"\x00", b"no media at all", b"OggS" + bytes(100), b"\x1a\x45\xdf\xa3"])
def test_what_is_no_piece_is_refused_and_holds_nothing_to_salvage(data: bytes) -> None:
    with pytest.raises(BrokenMedia):
        read_piece(data)
    assert read_piece(data, salvage=True) == []


@given(st.binary(max_size=200))
def test_salvage_never_fails(data: bytes) -> None:
    assert isinstance(read_piece(b"\x1a\x45\xdf\xa3" + data, salvage=True), list)


def _packet(source: str, start: float, payload: bytes) -> Packet:
    from sederunt.media.opus import packet_duration_s

    return Packet(source=source, start=start, duration=packet_duration_s(payload), payload=payload)
