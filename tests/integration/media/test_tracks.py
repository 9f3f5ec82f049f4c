"""A file with several sound tracks is read with all of them, each sound at its time."""

import resource
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import cast

import av
import numpy as np
import numpy.typing as npt
import pytest
from av.audio.stream import AudioStream

from integration.media.conftest import Make
from sederunt.errors import BrokenMedia, UnsupportedMedia
from sederunt.media import matroska
from sederunt.media.pcm import RATE, read_pcm
from sederunt.media.probe import probe
from sederunt.media.sandboxed_probe import probe_sandboxed
from sederunt.media.sandboxed_reader import read_pcm_sandboxed, separate_channels_sandboxed

NAMES = ("a.mp4", "a.mov", "a.m4a", "a.mkv", "a.ogg")
PICTURE = ("-f", "lavfi", "-i", "testsrc=duration=6:size=64x64:rate=10")

Samples = npt.NDArray[np.float32]


def _tone(during: tuple[float, float], lasts_s: float = 6.0, level: float = 0.3, hertz: int = 440) -> tuple[str, ...]:
    """Arguments for a source that is heard between two seconds, and silent for the others."""
    first, last = during
    sound = f"aevalsrc='{level}*sin(2*PI*{hertz}*t)*between(t,{first},{last})':d={lasts_s}:s=48000"
    return "-f", "lavfi", "-i", sound


def _tracks(*sources: tuple[str, ...], options: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Arguments for one file with a track for each source."""
    maps = [word for number in range(len(sources)) for word in ("-map", str(number))]
    return (*(word for source in sources for word in source), *maps, *options)


def _sound(path: Path, **stretch: float | None) -> Samples:
    blocks = list(read_pcm(path, block_s=0.7, **stretch))  # type: ignore[arg-type]
    for before, after in pairwise(blocks):
        assert after.start_s == pytest.approx(before.start_s + len(before.samples) / RATE)
    return np.concatenate([block.samples for block in blocks])


def _loud(samples: Samples) -> list[int]:
    """Return the seconds in whose middle something is heard."""
    middles = [samples[s * RATE + RATE // 4 : s * RATE + 3 * RATE // 4] for s in range(round(len(samples) / RATE))]
    return [second for second, middle in enumerate(middles) if np.abs(middle).max() > 0.1]


SILENT = _tone((9, 9))


@pytest.mark.parametrize("name", NAMES)
def test_what_the_second_track_alone_has_is_heard(make_file: Make, name: str) -> None:
    path = make_file(name, *_tracks(SILENT, _tone((2, 4))))
    assert _loud(_sound(path)) == [2, 3]
    facts = probe(path)
    assert facts.tracks == 2
    assert facts.duration_s == pytest.approx(6.0, abs=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_each_track_is_heard_at_its_time_and_to_the_end_of_the_longest(make_file: Make, name: str) -> None:
    later = ("-itsoffset", "5", *_tone((1, 2), lasts_s=7))
    path = make_file(name, *_tracks(_tone((1, 2), lasts_s=3), later, _tone((3, 4), lasts_s=4)))
    samples = _sound(path)
    assert _loud(samples) == [1, 3, 6]
    assert probe(path).duration_s == pytest.approx(12.0, abs=0.1)
    assert len(samples) / RATE == pytest.approx(12.0, abs=0.1)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_beside_a_picture_too(make_file: Make, name: str) -> None:
    path = make_file(name, *_tracks(PICTURE, SILENT, _tone((2, 4)), options=("-c:v", "libx264")))
    assert _loud(_sound(path)) == [2, 3]
    assert probe(path).has_video


@pytest.mark.parametrize("name", NAMES)
def test_a_part_is_that_part_of_the_whole(make_file: Make, name: str) -> None:
    """The first track begins long after the second, so that a place sought in it is none of the other's."""
    first = ("-itsoffset", "20", *_tone((0, 30), lasts_s=20, hertz=300))
    path = make_file(name, *_tracks(first, _tone((0, 60), lasts_s=60), _tone((0, 9), lasts_s=9)))
    whole = _sound(path)
    assert len(whole) / RATE == pytest.approx(60.0, abs=0.1)
    for start_s, end_s in ((3.3, 7.7), (12.0, 14.0), (19.0, 22.0), (45.0, 47.0), (58.0, None)):
        part = _sound(path, start_s=start_s, end_s=end_s)
        expected = whole[round(start_s * RATE) : None if end_s is None else round(end_s * RATE)]
        assert abs(len(part) - len(expected)) <= 20
        ends = min(len(part), len(expected)) - 100
        shifts = [
            float(np.sqrt(np.mean((np.roll(part, n)[100:ends] - expected[100:ends]) ** 2))) for n in range(-16, 17)
        ]
        assert min(shifts) < 0.06, start_s


def test_the_sum_stays_within_full_scale(make_file: Make) -> None:
    loud = _tone((0, 6), level=0.9)
    samples = _sound(make_file("a.mkv", *_tracks(loud, loud, loud, options=("-c:a", "pcm_s16le"))))
    assert np.abs(samples).max() == pytest.approx(1.0, abs=0.001)
    assert np.abs(samples).max() <= 1.0
    assert float(np.mean(np.abs(samples) > 0.99)) > 0.5  # cut off, not wrapped around


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.mkv", ("-disposition:a:1", "comment")),
        ("a.mkv", ("-disposition:a:1", "visual_impaired")),
        ("a.mp4", ("-disposition:a:1", "dub")),
        ("a.mp4", ("-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu")),
        ("a.mkv", ("-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=ger")),
    ],
)
def test_a_track_that_says_it_again_is_left_out(make_file: Make, name: str, options: tuple[str, ...]) -> None:
    other = _tone((2, 4), lasts_s=15)
    path = make_file(name, *_tracks(_tone((0, 2)), other, _tone((5, 6)), options=options))
    assert _loud(_sound(path)) == [0, 1, 5]
    facts = probe(path)
    assert facts.tracks == 3
    assert facts.duration_s == pytest.approx(6.0, abs=0.1)


@pytest.mark.parametrize("name", ["a.mkv", "a.mov"])
def test_a_track_that_cannot_be_read_does_not_hide_the_others(make_file: Make, name: str) -> None:
    options = ("-c:a:0", "pcm_f32le", "-c:a:1", "aac")
    path = make_file(name, *_tracks(_tone((0, 6)), _tone((2, 4)), options=options))
    _spoil_first_codec(path)
    assert _loud(_sound(path)) == [2, 3]
    facts = probe(path)
    assert (facts.codec, facts.tracks) == ("aac", 2)


def _spoil_first_codec(path: Path) -> None:
    """Give a codec that nobody knows the place of the first one's name."""
    data = path.read_bytes()
    for name, other in ((b"A_PCM/FLOAT/IEEE", b"A_QUACK/NOTHING!"), (b"fl32", b"quak"), (b"lpcm", b"quak")):
        if name in data:
            path.write_bytes(data.replace(name, other, 1))
            return
    raise AssertionError("the first codec is not found")


def test_where_no_track_can_be_read_the_file_is_refused(make_file: Make) -> None:
    path = make_file("a.mkv", *_tracks(SILENT, SILENT, options=("-c:a", "wmav2")))
    for act in (probe, lambda path: list(read_pcm(path))):
        with pytest.raises(UnsupportedMedia, match="wmav2"):
            act(path)


@pytest.mark.parametrize("damaged", [(0,), (1,), (0, 1)])
def test_a_track_that_is_damaged_is_silent_unless_all_are(
    make_file: Make, tmp_path: Path, damaged: tuple[int, ...]
) -> None:
    path = make_file("a.mkv", *_tracks(_tone((0, 2)), _tone((3, 5)), options=("-c:a", "flac")))
    path.write_bytes(_with_noise(path.read_bytes(), damaged))
    if len(damaged) == 2:
        for act in (probe, lambda path: list(read_pcm(path))):
            with pytest.raises(BrokenMedia, match="cannot be decoded"):
                act(path)
        return
    assert probe(path).duration_s == pytest.approx(6.0, abs=0.1)
    assert _loud(_sound(path)) == ([0, 1] if damaged == (1,) else [3, 4])


def _with_noise(file: bytes, tracks: tuple[int, ...]) -> bytes:
    """The file with the blocks of some tracks filled with what is no frame."""
    data = bytearray(file)
    for _, block in _blocks(file):
        assert block.end is not None
        if (file[block.start] & 0x7F) - 1 in tracks:
            data[block.start + 4 : block.end] = b"\x5a" * (block.end - block.start - 4)
    return bytes(data)


def _blocks(file: bytes) -> Iterator[tuple[int, matroska.Element]]:
    """Yield each block of sound, and where the element begins that is it or holds it alone."""
    segment = matroska.first_segment(file)
    assert segment is not None
    assert segment.end is not None
    for cluster in matroska.elements(file, segment.start, segment.end):
        if cluster.id != matroska.CLUSTER or cluster.end is None:
            continue
        at = cluster.start
        for element in matroska.elements(file, cluster.start, cluster.end):
            assert element.end is not None
            is_group = element.id == 0xA0  # of one block
            block = next(matroska.elements(file, element.start, element.end)) if is_group else element
            if block.id in (0xA3, 0xA1):
                yield at, block
            at = element.end


def test_an_empty_track_is_no_fault(make_file: Make) -> None:
    path = make_file("a.mkv", *_tracks(_tone((0, 2)), _tone((3, 5)), options=("-c:a", "flac")))
    path.write_bytes(_with_blocks_of_first_track_alone(path.read_bytes()))
    assert probe(path).tracks == 2
    assert _loud(_sound(path)) == [0, 1]


def _with_blocks_of_first_track_alone(file: bytes) -> bytes:
    """The file with the others' blocks made what is to be skipped (a Void element)."""
    data = bytearray(file)
    for at, block in _blocks(file):
        if file[block.start] & 0x7F == 2:
            data[at] = 0xEC
    return bytes(data)


def test_the_reader_apart_reads_the_same(make_file: Make) -> None:
    path = make_file("a.mkv", *_tracks(_tone((0, 2)), _tone((3, 5))))
    facts = probe_sandboxed(path)
    assert facts == probe(path)
    there = np.concatenate([block.samples for block in read_pcm_sandboxed(path, duration_s=facts.duration_s)])
    assert np.abs(there - _sound(path)).max() < 1e-4
    assert not separate_channels_sandboxed(path, duration_s=facts.duration_s)


def test_tracks_that_lie_one_behind_the_other_take_no_more_memory(tmp_path: Path) -> None:
    """In the file all of the first is before all of the second."""
    path = _one_behind_the_other(tmp_path / "a.mkv", 1_800)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = sum(len(block.samples) for block in read_pcm(path, block_s=10)) / RATE
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert seconds == pytest.approx(1_800, abs=0.1)
    assert grown_mb < 60  # the samples of each track are 115 MB
    assert probe(path).duration_s == pytest.approx(1_800, abs=0.1)


def _one_behind_the_other(path: Path, lasts_s: int) -> Path:
    with av.open(str(path), "w", format="matroska") as container:
        streams = [container.add_stream("pcm_s16le", rate=8_000, layout="mono") for _ in range(2)]
        container.start_encoding()
        for stream in streams:
            for second in range(lasts_s):
                packet = cast("av.Packet[AudioStream]", av.Packet(b"\0\1" * 8_000))
                packet.stream, packet.time_base = stream, Fraction(1, 1_000)
                packet.pts = packet.dts = second * 1_000
                packet.duration = 1_000
                packet.is_keyframe = True
                container.mux_one(packet)
    return path
