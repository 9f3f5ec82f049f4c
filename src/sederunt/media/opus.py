"""Opus packets: length, silence, RED envelopes, encoding and decoding."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import av
import numpy as np
import numpy.typing as npt
from av.audio.codeccontext import AudioCodecContext

from sederunt.errors import BrokenMedia

RATE = 48_000  # the clock of every Opus packet, whatever its sampling rate
CODED_RATES = (8_000, 12_000, 16_000, 24_000, 48_000)  # RFC 6716, 2.1: an encoder's input rates
PACKET_S = 0.02  # the encoder's packets
MOST_SAMPLES = 5_760  # RFC 6716: no packet is longer than 120 ms

_NO_SAMPLES = np.zeros(0, dtype=np.int16)

# RFC 6716, table 2: samples at 48 kHz of one frame, by the upper five bits of the TOC byte.
_SILK, _HYBRID, _CELT = (480, 960, 1920, 2880), (480, 960), (120, 240, 480, 960)
_FRAME_SAMPLES = _SILK * 3 + _HYBRID * 2 + _CELT * 4
# Samples per packet for codes 0 to 2, by the whole TOC byte; 0 for code 3, where the second byte counts the frames.
_PACKET_SAMPLES = tuple((_FRAME_SAMPLES[toc >> 3] * (1, 2, 2, 0)[toc & 3]) for toc in range(256))


def packet_samples(payload: bytes) -> int:
    """Return the length of an Opus packet in samples at 48 kHz; 0 if `payload` is no Opus packet."""
    if not payload:
        return 0
    toc, length = payload[0], len(payload)
    code = toc & 3
    if code == 0:
        return _PACKET_SAMPLES[toc]
    if code == 1:
        return _PACKET_SAMPLES[toc] if length % 2 else 0  # two frames of the same length
    if length < 2:
        return 0
    if code == 2:
        first_length = payload[1] if payload[1] < 252 else payload[1] + 4 * payload[2] + 1 if length > 2 else length
        return _PACKET_SAMPLES[toc] if first_length + 2 <= length else 0
    samples = _FRAME_SAMPLES[toc >> 3] * (payload[1] & 0x3F)
    return samples if samples <= MOST_SAMPLES else 0


def packet_duration_s(payload: bytes) -> float:
    """Return the length of an Opus packet in seconds. Raises BrokenMedia if `payload` is no Opus packet."""
    samples = packet_samples(payload)
    if not samples:
        raise BrokenMedia(f"Expected an Opus packet, found {len(payload)} bytes that are none.")
    return samples / RATE


def is_silence(payload: bytes) -> bool:
    """Return whether a packet only signals silence (DTX): a bare TOC byte, or frames without content."""
    return len(payload) <= 2 or (len(payload) == 3 and payload[1:] == b"\xff\xfe")


def voice_flag(payload: bytes) -> bool | None:
    """Return whether the encoder flagged the first frame as voice; None if the packet has no flag.

    SILK and hybrid frames open with a voice activity bit for each 20 ms (RFC 6716, 4.2.3); CELT has none. Speech at the
    bit rates of meetings is mostly SILK or hybrid. Measured on four recordings: the bit was set in 98 % of the frames
    above -30 dB and in 2 % of those below -60 dB.
    """
    config = payload[0] >> 3
    if config >= 16:
        return None
    at = 1
    if payload[0] & 3 == 2:  # two frames, the first one's length before it
        at = 2 if len(payload) > 1 and payload[1] < 252 else 3
    elif payload[0] & 3 == 3:
        return None
    if len(payload) <= at:
        return False
    flags = max(1, _FRAME_SAMPLES[config] // 960)
    return payload[at] >> (8 - flags) != 0


def concealment(payload: bytes) -> bytes:
    """Return a packet that makes a decoder conceal one lost frame of the kind at the start of `payload`."""
    return bytes([payload[0] & 0xFC])  # code 0 without a byte of content counts as lost (RFC 6716, 3.2.1 and 4.4)


@dataclass(frozen=True, kw_only=True, slots=True)
class RedBlock:
    """One packet out of a RED envelope."""

    payload_type: int
    offset: int  # RTP ticks before the envelope's timestamp; 0 for its primary packet
    payload: bytes


def unpack_red(envelope: bytes) -> list[RedBlock]:
    """Return the blocks of an RFC 2198 envelope, oldest first; the last is the primary packet.

    Raises BrokenMedia if the lengths in the headers do not fit.
    """
    headers: list[tuple[int, int, int]] = []
    at = 0
    while at < len(envelope) and envelope[at] & 0x80:
        if at + 4 > len(envelope):
            raise BrokenMedia("A RED envelope ends inside a block header.")
        (word,) = struct.unpack_from(">I", envelope, at)
        headers.append((word >> 24 & 0x7F, word >> 10 & 0x3FFF, word & 0x3FF))
        at += 4
    if at >= len(envelope):
        raise BrokenMedia("A RED envelope has no primary block.")
    primary_type = envelope[at] & 0x7F
    at += 1
    blocks = []
    for payload_type, offset, length in headers:
        if at + length > len(envelope):
            raise BrokenMedia("A RED envelope is shorter than its headers say.")
        blocks.append(RedBlock(payload_type=payload_type, offset=offset, payload=envelope[at : at + length]))
        at += length
    return [*blocks, RedBlock(payload_type=primary_type, offset=0, payload=envelope[at:])]


@cache
def header(channels: int = 1) -> bytes:
    """Return the OpusHead of our files: without pre-skip, a packet has the same time in the file and the recording."""
    return b"OpusHead" + struct.pack("<BBHIhB", 1, channels, 0, RATE, 0, 0)


# After this many identical packets of silence the encoder has forgotten earlier sound.
SETTLED = 10


class OpusEncoder:
    """Encodes mono samples as Opus packets of 20 ms; the decoded sound begins exactly at the first sample.

    libopus looks ahead by 6.5 ms. Matroska can only round a pre-skip to milliseconds, so the first 6.5 ms of the stream
    are skipped instead.
    """

    def __init__(self, rate: int, bit_rate: int, *, complexity: int = 10) -> None:
        self._rate = rate
        context = av.CodecContext.create("libopus", "w")
        assert isinstance(context, AudioCodecContext)
        context.sample_rate = rate
        context.layout = "mono"
        context.format = "s16"
        context.bit_rate = bit_rate
        context.time_base = Fraction(1, rate)
        context.options = {"compression_level": str(complexity), "frame_duration": "20"}
        context.open()
        self._context = context
        self._waiting = _NO_SAMPLES
        own_header = self._context.extradata or header()
        self._skip = int.from_bytes(own_header[10:12], "little") * self._context.sample_rate // RATE
        self._taken = self._fed = 0  # samples
        self._last, self._alike = b"", 0  # the last packet, and how many identical silent ones preceded it

    def encode(self, samples: npt.NDArray[np.int16]) -> list[bytes]:
        """Return the packets that these samples complete."""
        self._taken += len(samples)
        skipped_count = min(self._skip, len(samples))
        self._skip -= skipped_count
        self._waiting = np.concatenate((self._waiting, samples[skipped_count:]))
        return self._packets()

    def flush(self) -> list[bytes]:
        """Return the last packets, padded with silence to cover every sample. The encoder is finished then."""
        missing_count = -(-self._taken // self._frame) * self._frame - self._fed - len(self._waiting)
        self._waiting = np.concatenate((self._waiting, np.zeros(missing_count, dtype=np.int16)))
        return self._packets()

    @property
    def _frame(self) -> int:
        return self._rate // 50

    def _packets(self) -> list[bytes]:
        packets: list[bytes] = []
        whole_count = len(self._waiting) // self._frame * self._frame
        for at in range(0, whole_count, self._frame):
            packets.extend(self._coded(self._waiting[at : at + self._frame]))
            self._fed += self._frame
        self._waiting = self._waiting[whole_count:]
        return packets

    def _coded(self, samples: npt.NDArray[np.int16]) -> list[bytes]:
        """Return the packet of a frame. Continued silence is not encoded: it costs libopus twice as much as speech
        (16 ms of CPU a second), and all its packets are the same.
        """
        is_silent = not samples.any()
        if is_silent and self._alike >= SETTLED:
            return [self._last]
        frame = av.AudioFrame.from_ndarray(samples[np.newaxis], format="s16", layout="mono")
        frame.sample_rate = self._rate
        packets = [bytes(packet) for packet in self._context.encode(frame)]
        self._alike = self._alike + 1 if is_silent and packets == [self._last] else 0
        self._last = packets[-1] if packets else b""
        return packets


class PcmEncoder:
    """Encodes the worklet's samples, at any `rate` in Hz, as Opus packets of 20 ms."""

    def __init__(self, rate: int) -> None:
        coded_rate = rate if rate in CODED_RATES else RATE
        self._rate = rate
        self._encoder = OpusEncoder(coded_rate, 24_000 if coded_rate <= 16_000 else 32_000, complexity=5)
        self._resampler = (
            None if coded_rate == rate else av.AudioResampler(format="s16", layout="mono", rate=coded_rate)
        )

    def encode(self, samples: npt.NDArray[np.int16]) -> list[bytes]:
        """Return the packets that these samples complete."""
        return self._encoder.encode(self._resampled(samples))

    def flush(self) -> list[bytes]:
        """Return the last packets, padded with silence. The encoder is finished then."""
        return self._encoder.encode(self._resampled(None)) + self._encoder.flush()

    def _resampled(self, samples: npt.NDArray[np.int16] | None) -> npt.NDArray[np.int16]:
        """Resample; None flushes the resampler."""
        if self._resampler is None:
            return _NO_SAMPLES if samples is None else samples
        frame = None
        if samples is not None:
            frame = av.AudioFrame.from_ndarray(samples[np.newaxis], format="s16", layout="mono")
            frame.sample_rate = self._rate
        return _joined(self._resampler.resample(frame))


def _joined(frames: Sequence[av.AudioFrame]) -> npt.NDArray[np.int16]:
    return np.concatenate([_NO_SAMPLES, *(frame.to_ndarray()[0] for frame in frames)])


class OpusDecoder:
    """Decodes one source's packets to mono samples at 48 kHz. `decode` never raises: a bad packet gives no samples."""

    def __init__(self) -> None:
        context = av.CodecContext.create("libopus", "r")
        assert isinstance(context, AudioCodecContext)
        context.sample_rate = RATE
        context.layout = "mono"
        context.extradata = header()
        self._context = context

    def decode(self, payload: bytes) -> npt.NDArray[np.int16]:
        """Return the samples of one packet; empty if it is damaged."""
        try:
            frames = self._context.decode(av.Packet(payload))
        except av.FFmpegError:
            return _NO_SAMPLES
        # Straight from the buffer: `to_ndarray` and joining one array take a sixth of a packet's time.
        if len(frames) == 1:
            return np.frombuffer(bytes(frames[0].planes[0]), dtype=np.int16, count=frames[0].samples)
        return _joined(frames)
