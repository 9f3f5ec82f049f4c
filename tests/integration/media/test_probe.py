"""Files are judged by what is in them, and refused with a sentence that says why."""

import re
import shutil
import struct
import subprocess
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sederunt.errors import BrokenMedia, MediaError, UnsupportedMedia
from sederunt.media.matroska import EBML, elements
from sederunt.media.pcm import RATE, read_pcm
from sederunt.media.pieces import write_piece
from sederunt.media.probe import probe
from sederunt.model.audio import Packet

TONE = ("-f", "lavfi", "-i", "sine=440:duration=4:sample_rate=44100")
PICTURE = ("-f", "lavfi", "-i", "testsrc=duration=4:size=64x64:rate=10")

Make = Callable[..., Path]


@pytest.mark.parametrize(
    ("name", "arguments", "container", "codec"),
    [
        ("a.mp3", (), "mp3", "mp3"),
        ("a.mp3", ("-write_xing", "0", "-id3v2_version", "0"), "mp3", "mp3"),
        ("a.mp3", ("-ar", "16000", "-b:a", "24k"), "mp3", "mp3"),
        ("a.wav", (), "wav", "pcm_s16le"),
        ("a.wav", ("-c:a", "pcm_f32le", "-rf64", "always"), "wav", "pcm_f32le"),
        ("a.wav", ("-c:a", "adpcm_ms"), "wav", "adpcm_ms"),
        ("a.m4a", (), "m4a", "aac"),
        ("a.mp4", (), "mp4", "aac"),
        ("a.mp4", ("-movflags", "frag_keyframe+empty_moov"), "mp4", "aac"),
        ("a.mov", (), "mov", "aac"),
        ("a.webm", (), "webm", "opus"),
        ("a.webm", ("-c:a", "libvorbis"), "webm", "vorbis"),
        ("a.mka", ("-c:a", "libopus"), "matroska", "opus"),
        ("a.flac", (), "flac", "flac"),
        ("a.ogg", (), "ogg", "vorbis"),
        ("a.opus", (), "ogg", "opus"),
    ],
)
def test_every_format_is_known_by_its_content_whatever_its_name(
    make_file: Make, tmp_path: Path, name: str, arguments: tuple[str, ...], container: str, codec: str
) -> None:
    made = make_file(name, *TONE, *arguments)
    disguised = tmp_path / "holiday.jpg"
    shutil.copy(made, disguised)
    facts = probe(disguised)
    assert (facts.container, facts.codec, facts.has_audio, facts.has_video) == (container, codec, True, False)
    assert facts.duration_s == pytest.approx(4.0, abs=0.1)


def test_video_with_sound_is_taken_and_said(make_file: Make) -> None:
    facts = probe(make_file("a.mp4", *PICTURE, *TONE, "-c:v", "libx264", "-c:a", "aac"))
    assert (facts.has_video, facts.codec) == (True, "aac")
    assert probe(make_file("a.webm", *PICTURE, *TONE, "-c:v", "libvpx", "-c:a", "libopus")).has_video


def test_a_cover_picture_is_no_video(make_file: Make) -> None:
    cover = make_file("cover.png", *PICTURE, "-frames:v", "1")
    song = make_file("a.mp3", *TONE, "-i", str(cover), "-map", "0:a", "-map", "1:v", "-c:v", "copy")
    facts = probe(song)
    assert (facts.container, facts.has_video) == ("mp3", False)


@pytest.mark.parametrize("arguments", [("-f", "webm"), ("-f", "wav"), ("-f", "mp3"), ("-f", "ogg"), ("-f", "flac")])
def test_the_length_of_a_live_recording_without_a_header_is_found(
    make_file: Make, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Written to a pipe, a recorder cannot go back and fill in sizes and durations."""
    path = tmp_path / "live"
    piped = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", *TONE, *arguments, "-"], check=True, capture_output=True, timeout=60
    )
    path.write_bytes(piped.stdout)
    assert probe(path).duration_s == pytest.approx(4.0, abs=0.1)


@pytest.mark.parametrize("late_s", [1.5, 5.0, 3_600.0])
@pytest.mark.parametrize("name", ["a.webm", "a.mka", "a.ogg", "a.opus", "a.m4a"])
def test_a_clock_that_begins_late_does_not_make_a_file_longer(make_file: Make, name: str, late_s: float) -> None:
    path = make_file(name, *TONE, "-output_ts_offset", str(late_s))
    assert probe(path).duration_s == pytest.approx(4.0, abs=0.1)


def test_video_without_sound_is_refused(make_file: Make) -> None:
    path = make_file("a.mp4", *PICTURE, "-c:v", "libx264")
    with pytest.raises(UnsupportedMedia, match="no sound, only: video"):
        probe(path)
    with pytest.raises(UnsupportedMedia, match="no sound"):
        list(read_pcm(path))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"%PDF-1.7 and more", "a PDF document"),
        (b"PK\x03\x04" + bytes(50), "a ZIP archive"),
        (b"#EXTM3U\n/etc/passwd\n", "a playlist"),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", "text"),
        (b"Dear all, please find attached", "text"),
        (b"RIFF\x10\x00\x00\x00AVI LIST", "AVI"),
        (b"\xff\xd8\xff\xe0" + bytes(100), "JPEG"),
        (bytes(1000), "something else"),
    ],
)
def test_what_is_no_recording_is_refused_whatever_its_name(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "meeting.mp3"
    path.write_bytes(content)
    with pytest.raises(UnsupportedMedia, match=f"MP3, WAV, MP4.*{re.escape(told)}"):
        probe(path)
    with pytest.raises(UnsupportedMedia):
        list(read_pcm(path))


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("a.aac", ("-f", "adts"), "bare AAC"),
        ("a.ts", ("-f", "mpegts"), "transport stream"),
        ("a.aiff", (), "AIFF"),
        ("a.avi", (), "AVI"),
    ],
)
def test_sound_in_other_formats_is_refused_by_name(
    make_file: Make, name: str, arguments: tuple[str, ...], told: str
) -> None:
    with pytest.raises(UnsupportedMedia, match=told):
        probe(make_file(name, *TONE, *arguments))


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.touch()
    with pytest.raises(BrokenMedia, match="empty"):
        probe(path)


def test_a_file_with_a_header_and_no_sound_is_told(make_file: Make, tmp_path: Path) -> None:
    wav = make_file("a.wav", *TONE).read_bytes()
    data = wav.index(b"data")
    path = tmp_path / "silent.wav"
    path.write_bytes(b"RIFF" + struct.pack("<I", data) + wav[8:data] + b"data" + struct.pack("<I", 0))
    with pytest.raises(BrokenMedia, match="no sound"):
        probe(path)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("a.wav", ()),
        ("a.m4a", ("-movflags", "+faststart")),
        ("a.mp4", ("-movflags", "+faststart")),
        ("a.mp4", ("-movflags", "frag_keyframe+empty_moov", "-frag_duration", "500000")),
        ("a.webm", ()),
        ("a.mka", ("-c:a", "libopus")),
        ("a.flac", ()),
    ],
)
@pytest.mark.parametrize("share", [0.6, 0.9])
def test_of_a_file_that_was_cut_what_is_there_is_read(
    make_file: Make, name: str, arguments: tuple[str, ...], share: float
) -> None:
    path = make_file(name, "-f", "lavfi", "-i", "anoisesrc=duration=30:amplitude=0.1", *arguments)
    assert not probe(path).ends_early
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    facts = probe(path)
    assert facts.ends_early
    assert facts.duration_s == pytest.approx(30 * share, abs=1.5)
    assert sum(len(block.samples) for block in read_pcm(path)) / RATE == pytest.approx(facts.duration_s, abs=0.3)
    from_the_middle = sum(len(block.samples) for block in read_pcm(path, start_s=10.0)) / RATE
    assert from_the_middle == pytest.approx(facts.duration_s - 10.0, abs=0.3)


def test_a_file_with_an_index_and_none_of_its_sound_is_refused(make_file: Make) -> None:
    path = make_file("a.m4a", *TONE, "-movflags", "+faststart")
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"mdat") + 4])
    with pytest.raises(BrokenMedia, match="no sound"):
        probe(path)


def test_an_mp4_whose_index_is_missing_is_refused(make_file: Make) -> None:
    path = make_file("a.m4a", *TONE)
    path.write_bytes(path.read_bytes()[:-6000])
    with pytest.raises(BrokenMedia, match="no index"):
        probe(path)


def with_sizes_of(path: Path, seconds: float) -> None:
    """State in the header of a WAV (44.1 kHz, 16 bit, mono) that it has so much sound."""
    data = bytearray(path.read_bytes())
    at, stated = data.index(b"data"), round(seconds * 44_100) * 2
    data[at + 4 : at + 8] = struct.pack("<I", stated)
    data[4:8] = struct.pack("<I", at + stated)
    path.write_bytes(data)


@pytest.mark.parametrize("stated_s", [0.5, 1.0, 2.5])
def test_a_wav_with_the_sizes_of_before_a_crash_is_read_to_its_end(make_file: Make, stated_s: float) -> None:
    path = make_file("a.wav", *TONE)
    with_sizes_of(path, stated_s)
    assert probe(path).duration_s == pytest.approx(4.0, abs=0.05)
    samples = np.concatenate([block.samples for block in read_pcm(path)])
    assert len(samples) == pytest.approx(4.0 * RATE, abs=800)
    assert np.std(samples[-RATE:]) > 0.05
    late = np.concatenate([block.samples for block in read_pcm(path, start_s=3.0)])
    assert np.array_equal(late[100:-100], samples[3 * RATE :][100 : len(late) - 100])


def test_what_follows_the_sound_of_a_wav_is_not_read_as_sound(make_file: Make) -> None:
    path = make_file("a.wav", *TONE)
    chunk = b"bext" + struct.pack("<I", 20_000) + b"\x55" * 20_000
    path.write_bytes(path.read_bytes() + chunk)
    assert probe(path).duration_s == pytest.approx(4.0, abs=0.01)
    assert sum(len(block.samples) for block in read_pcm(path)) == pytest.approx(4 * RATE, abs=2)


@pytest.mark.parametrize("name", [b"RF64", b"BW64"])
def test_a_wav_with_long_sizes_is_read(make_file: Make, name: bytes) -> None:
    path = make_file("a.wav", *TONE, "-rf64", "always")
    path.write_bytes(name + path.read_bytes()[4:])
    assert probe(path).container == "wav"
    assert sum(len(block.samples) for block in read_pcm(path)) == pytest.approx(4 * RATE, abs=800)


def test_an_mp3_that_was_cut_is_as_long_as_what_is_there(make_file: Make) -> None:
    path = make_file("a.mp3", "-f", "lavfi", "-i", "anoisesrc=duration=30:amplitude=0.1", "-q:a", "4")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert 10 < probe(path).duration_s < 20


def test_an_encrypted_mp4_is_told(make_file: Make) -> None:
    key = ("-encryption_key", "76a6c65c5ea762046bd749a2e632ccbb", "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8")
    path = make_file("a.mp4", *TONE, "-c:a", "aac", "-encryption_scheme", "cenc-aes-ctr", *key)
    with pytest.raises(BrokenMedia, match="encrypted"):
        probe(path)
    with pytest.raises(BrokenMedia, match="encrypted"):
        list(read_pcm(path))


@pytest.mark.parametrize("title", ["Cuenca", "drms"])
@pytest.mark.parametrize("name", ["a.m4a", "a.mov"])
def test_a_title_does_not_make_a_file_encrypted(make_file: Make, name: str, title: str) -> None:
    path = make_file(name, *TONE, "-c:a", "aac", "-metadata", f"title={title}")
    assert title.encode() in path.read_bytes()
    assert probe(path).duration_s == pytest.approx(4.0, abs=0.1)


def test_an_encrypted_webm_is_told(tmp_path: Path) -> None:
    """No common tool writes one, so a track entry is given the encoding that says it."""
    piece = write_piece([Packet(source="1", start=n / 50, duration=0.02, payload=b"\xf8\xff\xfe") for n in range(50)])
    encryption = _element(0x6D80, _element(0x6240, _element(0x5035, _element(0x47E1, b"\x05"))))
    path = tmp_path / "a.webm"
    path.write_bytes(_with_encoding(piece, encryption))
    with pytest.raises(BrokenMedia, match="encrypted"):
        probe(path)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_no_damage_escapes_as_anything_but_a_media_error(make_file: Make, tmp_path: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["a.mp3", "a.wav", "a.m4a", "a.webm", "a.flac", "a.ogg"]))
    source = tmp_path / name
    if not source.exists():
        make_file(name, *TONE)
    content = bytearray(source.read_bytes())
    for at, value in data.draw(
        st.lists(st.tuples(st.integers(0, min(len(content) - 1, 5_000)), st.integers(0, 255)), max_size=20)
    ):
        content[at] = value
    path = tmp_path / "damaged"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    for act in (lambda: probe(path), lambda: list(read_pcm(path))):
        with suppress(MediaError):
            act()


def _element(identifier: int, content: bytes) -> bytes:
    length = (identifier.bit_length() + 7) // 8
    return identifier.to_bytes(length, "big") + (1 << 56 | len(content)).to_bytes(8, "big") + content


def _with_encoding(piece: bytes, encoding: bytes) -> bytes:
    """The file with `encoding` at the end of its first track, all sizes written anew and the checksum left out."""
    header, segment = elements(piece, 0, len(piece))
    assert segment.end is not None
    assert header.end is not None
    content = b""
    for element in elements(piece, segment.start, segment.end):
        assert element.end is not None
        inside = piece[element.start : element.end]
        if element.id == 0x1654AE6B:
            entry = next(inner for inner in elements(piece, element.start, element.end) if inner.id == 0xAE)
            assert entry.end is not None
            inside = _element(0xAE, piece[entry.start : entry.end] + encoding)
        if element.id in (0x1549A966, 0x1654AE6B, 0x1F43B675):
            content += _element(element.id, inside)
    return _element(EBML, piece[header.start : header.end]) + _element(0x18538067, content)


def test_a_codec_that_the_library_does_not_know_is_refused(tmp_path: Path) -> None:
    unknown = struct.pack("<HHIIHH", 0x1234, 1, 8_000, 16_000, 2, 16)
    sound = b"data" + struct.pack("<I", 3_200) + bytes(3_200)
    file = tmp_path / "unknown.wav"
    file.write_bytes(b"RIFF" + struct.pack("<I", 36 + 3_200) + b"WAVEfmt " + struct.pack("<I", 16) + unknown + sound)
    with pytest.raises(UnsupportedMedia, match="without a name"):
        probe(file)


def test_a_rate_at_which_nothing_is_heard_is_refused(tmp_path: Path) -> None:
    """At one sample a second 64 kB would be nine hours to transcribe."""
    path = tmp_path / "slow.wav"
    for hertz, fits in ((1, False), (999, False), (1_000, True)):
        layout = struct.pack("<HHIIHH", 1, 1, hertz, hertz * 2, 2, 16)
        data = b"\1\0" * 32_000
        head = b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + layout
        path.write_bytes(head + b"data" + struct.pack("<I", len(data)) + data)
        with nullcontext() if fits else pytest.raises(BrokenMedia, match=f"has {hertz} samples a second"):
            probe(path)
