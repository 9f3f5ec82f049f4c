"""Files to send: those made to harm who reads them, each from an attack that this service has seen, and a tone."""

import io
import struct
import wave

import av
import numpy as np
import numpy.typing as npt

YEARS_S = 20 * 365 * 86_400.0
_RATE = 48_000


def lasting_years() -> bytes:
    """Return a WebM of some hundred bytes whose last packet lies twenty years after the first."""
    file = io.BytesIO()
    with av.open(file, "w", format="webm") as container:
        stream = container.add_stream("libopus", rate=_RATE)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, _RATE), np.int16), "s16", "mono")
        frame.sample_rate, frame.pts = _RATE, 0
        packets = [*stream.encode(frame), *stream.encode(None)]
        for packet, at_s in zip(packets, (0.0, 0.02, YEARS_S), strict=False):
            assert packet.time_base is not None
            packet.pts = packet.dts = round(at_s / packet.time_base)
            container.mux(packet)
    data = file.getvalue()
    at = data.index(b"\x44\x89\x88") + 3  # Duration, a float of 8 bytes, in milliseconds
    return data[:at] + struct.pack(">d", 2_000.0) + data[at + 8 :]


def elements(count: int = 5_000_000) -> bytes:
    """Return a WebM of so many elements of two bytes."""
    header = bytes.fromhex("1a45dfa3 87 4282 84 7765626d") + bytes.fromhex("18538067 01ffffffffffffff")
    return header + b"\xec\x80" * count


def boxes(count: int = 1_000_000) -> bytes:
    """Return an MP4 of so many boxes of eight bytes."""
    return struct.pack(">I8s", 12, b"ftypisom") + struct.pack(">I4s", 8, b"free") * count


def tone(seconds: float) -> bytes:
    """Return a WAV of a tone that comes and goes as syllables do, 16 kHz mono."""
    times = np.arange(round(16_000 * seconds), dtype=np.float32) / 16_000
    samples = 8000 * np.sin(2 * np.pi * 220 * times) * (np.sin(2 * np.pi * 2 * times) > 0)
    return wav_of(samples.astype("<i2"), 16_000)


def wav_of(samples: npt.NDArray[np.int16], rate: int) -> bytes:
    """Return a mono WAV of these samples."""
    file = io.BytesIO()
    with wave.open(file, "wb") as target:
        target.setnchannels(1)
        target.setsampwidth(2)
        target.setframerate(rate)
        target.writeframes(samples.tobytes())
    return file.getvalue()
