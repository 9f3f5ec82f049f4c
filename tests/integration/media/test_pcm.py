"""Samples for the recogniser: whatever the file, every sound is at its time."""

import resource
import wave
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from sederunt.media import opus
from sederunt.media.assembly import assemble
from sederunt.media.pcm import RATE, Block, read_pcm
from sederunt.media.pieces import write_piece
from sederunt.model.audio import Packet

TONE = ("-f", "lavfi", "-i", "sine=440:duration=4:sample_rate=44100")
CLICK = ("-f", "lavfi", "-i", "aevalsrc='if(between(t,2,2.005),0.8*sin(2*PI*2000*t),0)':d=4:s=44100")

Make = Callable[..., Path]


def _whole(blocks: list[Block]) -> npt.NDArray[np.float32]:
    for before, after in pairwise(blocks):
        assert after.start_s == pytest.approx(before.start_s + len(before.samples) / RATE)
    assert all(block.samples.dtype == np.float32 and block.samples.ndim == 1 for block in blocks)
    return np.concatenate([block.samples for block in blocks])


def _loudest_s(samples: npt.NDArray[np.float32]) -> float:
    """The second at which the click begins."""
    return float(np.argmax(np.abs(samples) > 0.1) / RATE)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("a.wav", ()),
        ("a.wav", ("-c:a", "pcm_s24le", "-ac", "2", "-ar", "48000")),
        ("a.wav", ("-c:a", "pcm_alaw", "-ar", "8000")),
        ("a.mp3", ()),
        ("a.m4a", ()),
        ("a.mp4", ("-f", "mp4")),
        ("a.webm", ()),
        ("a.flac", ()),
        ("a.ogg", ()),
        ("a.opus", ()),
    ],
)
def test_a_click_is_where_it_was_in_every_format(make_file: Make, name: str, arguments: tuple[str, ...]) -> None:
    samples = _whole(list(read_pcm(make_file(name, *CLICK, *arguments), block_s=0.7)))
    assert len(samples) / RATE == pytest.approx(4.0, abs=0.05)
    assert _loudest_s(samples) == pytest.approx(2.0, abs=0.004)


STRETCHES = ((0.0, 1.0), (3.3, 7.7), (11.0, None), (29.9, 30.1), (40.0, None))


@pytest.mark.parametrize("name", ["a.wav", "a.mp3", "a.m4a", "a.webm", "a.flac", "a.ogg", "a.opus"])
def test_a_part_is_the_same_as_that_part_of_the_whole(make_file: Make, name: str) -> None:
    path = make_file(name, "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*(200+10*t)*t)':d=30:s=44100")
    whole = _whole(list(read_pcm(path)))
    for start_s, end_s in STRETCHES:
        blocks = list(read_pcm(path, start_s=start_s, end_s=end_s, block_s=2.0))
        expected = whole[round(start_s * RATE) : None if end_s is None else round(end_s * RATE)]
        if not len(expected):
            assert blocks == []
            continue
        part = _whole(blocks)
        assert blocks[0].start_s == pytest.approx(start_s)
        assert abs(len(part) - len(expected)) <= 20  # some formats know times to the millisecond
        length = min(len(part), len(expected)) - 100
        shifts = [
            float(np.sqrt(np.mean((np.roll(part, n)[100:length] - expected[100:length]) ** 2))) for n in range(-16, 17)
        ]
        assert min(shifts) < 0.06, start_s  # the same sound, at most a millisecond beside it


def test_blocks_have_the_length_that_was_asked_for(make_file: Make) -> None:
    blocks = list(read_pcm(make_file("a.wav", *TONE), block_s=1.5))
    assert [len(block.samples) for block in blocks] == [24_000, 24_000, 16_000]
    assert [block.start_s for block in blocks] == [0.0, 1.5, 3.0]


def test_pauses_in_a_track_of_ours_are_silence_and_its_times_are_the_recordings(tmp_path: Path) -> None:
    encoder = opus.OpusEncoder(opus.RATE, 32_000)
    times = np.arange(opus.RATE) / opus.RATE
    payloads = encoder.encode((9_000 * np.sin(2 * np.pi * 440 * times)).astype(np.int16)) + encoder.flush()
    packets = [
        Packet(source="1001", start=first + n * 0.02, duration=0.02, payload=payload)
        for first in (30.0, 45.5)
        for n, payload in enumerate(payloads)
    ]
    assemble([write_piece(packets)], mixed=tmp_path / "r.webm", tracks=tmp_path, duration_s=60)
    for path in (tmp_path / "0.mka", tmp_path / "r.webm"):
        samples = _whole(list(read_pcm(path, block_s=4.0)))
        loud = np.append(np.abs(samples[: len(samples) // 160 * 160]).reshape(-1, 160).max(axis=1) > 0.05, False)
        assert [n / 100 for n in np.flatnonzero(np.diff(loud.astype(int)))] == pytest.approx(
            [29.99, 30.99, 45.49, 46.49], abs=0.03
        )
    part = list(read_pcm(tmp_path / "0.mka", start_s=40, end_s=46))
    assert part[0].start_s == 40.0
    assert np.abs(_whole(part)[: round(5.45 * RATE)]).max() == 0.0
    assert np.abs(_whole(part)[round(5.6 * RATE) :]).max() > 0.2


def test_sound_that_begins_after_the_picture_keeps_its_place(make_file: Make) -> None:
    picture = ("-f", "lavfi", "-i", "testsrc=duration=6:size=64x64:rate=10")
    path = make_file("a.mp4", *picture, "-itsoffset", "1.5", *CLICK, "-c:v", "libx264", "-c:a", "aac")
    assert _loudest_s(_whole(list(read_pcm(path)))) == pytest.approx(3.5, abs=0.03)


def test_a_file_whose_clock_begins_late_is_read_from_its_own_beginning(make_file: Make) -> None:
    path = make_file("a.webm", *CLICK, "-output_ts_offset", "3600")
    samples = _whole(list(read_pcm(path)))
    assert _loudest_s(samples) == pytest.approx(2.0, abs=0.03)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 6, 8])
def test_any_number_of_channels_becomes_one_that_does_not_exceed_full_scale(tmp_path: Path, channels: int) -> None:
    path = tmp_path / "a.wav"
    loud = (32_000 * np.sin(np.arange(22_050) * 2 * np.pi * 300 / 22_050)).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, 22_050, 0, "NONE", ""))
        file.writeframes(np.repeat(loud[:, np.newaxis], channels, axis=1).tobytes())
    samples = _whole(list(read_pcm(path)))
    assert len(samples) == RATE
    assert 0.5 < np.abs(samples).max() <= 1.0


def test_damage_in_the_middle_is_silence_and_what_follows_keeps_its_time(make_file: Make) -> None:
    path = make_file("a.mp3", *CLICK, "-b:a", "128k", "-write_xing", "0")
    content = bytearray(path.read_bytes())
    content[8_000:16_000] = bytes(8_000)
    path.write_bytes(content)
    assert _loudest_s(_whole(list(read_pcm(path)))) == pytest.approx(2.0, abs=0.6)


def test_a_long_recording_takes_no_more_memory_than_a_block(make_file: Make) -> None:
    path = make_file("a.flac", "-f", "lavfi", "-i", "sine=440:duration=1800:sample_rate=16000")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = sum(len(block.samples) for block in read_pcm(path, block_s=10)) / RATE
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert seconds == pytest.approx(1800)
    assert grown_mb < 40  # the samples of the whole are 115 MB


SWEEP = "0.5*sin(2*PI*(200+10*t)*t)"


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("a.mp3", ()),
        ("a.ogg", ("-c:a", "libvorbis")),
        ("a.opus", ()),
        ("a.wav", ()),
        ("a.flac", ()),
        ("a.m4a", ()),
        ("a.mp4", ("-c:a", "aac")),
        ("a.webm", ("-c:a", "libopus")),
    ],
)
@pytest.mark.parametrize("right", ["-1", "-0.5"])
def test_channels_of_opposite_polarity_do_not_cancel(
    make_file: Make, name: str, codec: tuple[str, ...], right: str
) -> None:
    plain = _whole(list(read_pcm(make_file("plain.wav", "-f", "lavfi", "-i", f"aevalsrc='{SWEEP}':d=4:s=48000"))))
    path = make_file(name, "-f", "lavfi", "-i", f"aevalsrc='{SWEEP}|{right}*{SWEEP}':d=4:s=48000", *codec)
    mixed = _whole(list(read_pcm(path)))
    shared = slice(RATE // 2, 3 * RATE)
    assert np.std(mixed[shared]) > 0.7 * np.std(plain[shared])
    steps = np.abs(np.diff(mixed[shared]))
    assert steps.max() < 1.2 * np.abs(np.diff(plain[shared])).max(), "the sign stays: no clicks"


def test_tracks_of_opposite_polarity_do_not_cancel(make_file: Make) -> None:
    one = ("-f", "lavfi", "-i", f"aevalsrc='{SWEEP}':d=4:s=48000")
    other = ("-f", "lavfi", "-i", f"aevalsrc='-{SWEEP}':d=4:s=48000")
    path = make_file("a.mkv", *one, *other, "-map", "0", "-map", "1", "-c:a", "flac")
    assert np.std(_whole(list(read_pcm(path)))) > 0.3


def test_somebody_heard_with_one_polarity_follows_somebody_with_the_other(make_file: Make) -> None:
    turns = f"{SWEEP}|if(between(mod(t,2),1,2),-1,1)*{SWEEP}"
    samples = _whole(list(read_pcm(make_file("a.wav", "-f", "lavfi", "-i", f"aevalsrc='{turns}':d=6:s=16000"))))
    loud = np.sqrt(np.mean(np.square(samples.reshape(-1, RATE // 10)), axis=1)) > 0.2
    assert np.count_nonzero(~loud) <= 5, "at most a tenth of a second is lost at each change"
