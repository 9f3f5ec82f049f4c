"""Opus packets against RFC 6716 and RFC 2198, and the encoder against its own promise."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.errors import BrokenMedia
from sederunt.media import opus


@pytest.mark.parametrize(
    ("payload", "milliseconds"),
    [
        (b"\x00", 10),  # SILK narrow band
        (b"\x08", 20),
        (b"\x18", 60),
        (b"\x19", 120),  # two frames of 60 ms
        (b"\x7a\x02abc", 40),  # two frames, the first of two bytes
        (b"\x7a\xfc\x01" + bytes(300), 40),  # the first of 257 bytes
        (b"\x60", 10),  # hybrid
        (b"\x78", 20),
        (b"\x80", 2.5),  # CELT
        (b"\x98", 20),
        (b"\xf8\xff\xfe", 20),
        (b"\xfb\x03", 60),  # code 3: the second byte counts the frames
        (b"\xe3\x30", 120),  # 48 frames of 2.5 ms
    ],
)
def test_the_toc_byte_gives_the_duration(payload: bytes, milliseconds: float) -> None:
    assert opus.packet_duration_s(payload) == pytest.approx(milliseconds / 1000)


@pytest.mark.parametrize(
    "payload",
    [b"", b"\xfb", b"\xfb\x00", b"\xfb\x07", b"\x19\x00", b"\x7a", b"\x7a\x02a", b"\x7a\xfc", b"\x7a\xfc\x01a"],
)
def test_what_is_no_opus_packet_has_no_duration(payload: bytes) -> None:
    assert opus.packet_samples(payload) == 0
    with pytest.raises(BrokenMedia, match="Opus"):
        opus.packet_duration_s(payload)


def test_silent_packets_are_told_from_sound() -> None:
    encoder = opus.OpusEncoder(opus.RATE, 32_000)
    (packet, *_) = encoder.encode(np.full(1920, 9_000, dtype=np.int16))
    assert opus.is_silence(b"\x78")
    assert opus.is_silence(b"\xf8\xff\xfe")
    assert not opus.is_silence(packet)


@pytest.mark.parametrize(
    ("payload", "voice"),
    [
        (b"\x78\x80..", True),  # hybrid, one frame, flag set
        (b"\x78\x7f..", False),
        (b"\x18\x20..", True),  # SILK 60 ms: three flags, the last one set
        (b"\x18\x1f..", False),
        (b"\x7a\x10\x80..", True),  # two frames with a length before the first
        (b"\x7a\xfc\x01\x80..", True),
        (b"\x78", False),
        (b"\xf8\xff\xff", None),  # CELT
        (b"\x7b\x02\xff", None),
    ],
)
def test_the_encoders_voice_bit_is_read(payload: bytes, voice: bool | None) -> None:
    assert opus.voice_flag(payload) is voice


def test_a_red_envelope_gives_its_blocks_oldest_first() -> None:
    envelope = _red(111, [(1920, b"older"), (960, b"old")], b"primary")
    assert [(block.offset, block.payload) for block in opus.unpack_red(envelope)] == [
        (1920, b"older"),
        (960, b"old"),
        (0, b"primary"),
    ]
    assert {block.payload_type for block in opus.unpack_red(envelope)} == {111}


def test_a_red_envelope_without_redundancy_is_its_primary() -> None:
    assert [block.payload for block in opus.unpack_red(b"\x6fsound")] == [b"sound"]


@given(st.binary(max_size=60))
def test_any_bytes_are_a_red_envelope_or_refused_by_name(envelope: bytes) -> None:
    try:
        blocks = opus.unpack_red(envelope)
    except BrokenMedia:
        return
    assert sum(len(block.payload) for block in blocks) < len(envelope)


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_red_envelope_cut_in_its_headers_is_refused(cut: int) -> None:
    with pytest.raises(BrokenMedia):
        opus.unpack_red(_red(111, [(1920, b"older"), (960, b"old")], b"primary")[:cut])


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
@pytest.mark.parametrize("block", [160, 333, 4000])
def test_pcm_comes_back_as_loud_and_as_early_as_it_went_in(rate: int, block: int) -> None:
    rng = np.random.default_rng(5)
    noise = np.repeat(rng.normal(0, 6_000, rate // 4), 4)  # noise has a sharp beginning
    samples = np.zeros(rate, dtype=np.int16)
    half, end = rate // 2, rate * 3 // 4
    samples[half:end] = noise[: end - half].clip(-32_768, 32_767).astype(np.int16)
    encoder, decoder = opus.PcmEncoder(rate), opus.OpusDecoder()
    packets = []
    for at in range(0, len(samples), block):
        packets += encoder.encode(samples[at : at + block])
    packets += encoder.flush()
    decoded = np.concatenate([decoder.decode(packet) for packet in packets]).astype(float)
    assert len(packets) == 50
    assert {opus.packet_samples(packet) for packet in packets} == {960}
    times = np.arange(24_000, 35_700) / 48_000
    meant = np.interp(times, np.arange(rate) / rate, samples.astype(float))
    correlation = [np.dot(decoded[24_000 + lag : 35_700 + lag], meant) for lag in range(-180, 181)]
    assert abs(int(np.argmax(correlation)) - 180) <= 4  # within a twelfth of a millisecond
    assert 0.8 < np.abs(decoded[24_000:35_700]).mean() / np.abs(meant).mean() < 1.2
    assert np.abs(decoded[:23_700]).max() < 300


def test_a_long_silence_keeps_its_length_and_the_sound_behind_it_its_place() -> None:
    tone = (8_000 * np.sin(2 * np.pi * 300 * np.arange(opus.RATE) / opus.RATE)).astype(np.int16)
    samples = np.concatenate([tone, np.zeros(5 * opus.RATE, dtype=np.int16), tone])
    encoder, decoder = opus.OpusEncoder(opus.RATE, 32_000), opus.OpusDecoder()
    packets = encoder.encode(samples) + encoder.flush()
    assert len(packets) == len(samples) // 960
    assert len(set(packets[80:290])) == 1
    decoded = np.concatenate([decoder.decode(packet) for packet in packets]).astype(float)
    assert not decoded[2 * opus.RATE : 6 * opus.RATE - 960].any()
    again, meant = decoded[6 * opus.RATE + 960 : 7 * opus.RATE - 960], tone[960:-960].astype(float)
    assert np.corrcoef(again, meant)[0, 1] > 0.99


def test_flushing_covers_every_sample_and_no_frame_more() -> None:
    for samples, packets in ((1, 1), (319, 1), (320, 1), (321, 2), (640, 2)):
        encoder = opus.PcmEncoder(16_000)
        made = encoder.encode(np.ones(samples, dtype=np.int16)) + encoder.flush()
        assert len(made) == packets


def test_a_decoder_takes_rubbish_as_no_sound_and_goes_on() -> None:
    decoder = opus.OpusDecoder()
    encoder = opus.OpusEncoder(opus.RATE, 32_000)
    (packet, *_) = encoder.encode(np.full(1920, 9_000, dtype=np.int16))
    assert len(decoder.decode(b"\xfb\x00")) == 0
    assert len(decoder.decode(packet)) == 960
    assert len(decoder.decode(opus.concealment(packet))) == 960


def _red(payload_type: int, older: list[tuple[int, bytes]], primary: bytes) -> bytes:
    headers = b"".join(
        struct.pack(">I", 1 << 31 | payload_type << 24 | offset << 10 | len(block)) for offset, block in older
    )
    return headers + bytes([payload_type]) + b"".join(block for _, block in older) + primary
