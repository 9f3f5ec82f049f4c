"""Prepare sound for a vendor: unchanged if every vendor reads it, else as Ogg/Opus, in bounded memory.

Our own recordings leave out silence, which only their timestamps show; a video is mostly pictures. Both are converted
to 16 kHz, mono, Opus at 40 kbit/s, like the sound of meetings.
"""

from __future__ import annotations

import fractions
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import cast

import av
import numpy as np

from sederunt.errors import Cancelled
from sederunt.media.facts import MediaFacts
from sederunt.media.pcm import RATE, Block, Samples, read_pcm
from sederunt.media.probe import probe
from sederunt.media.sandboxed_probe import probe_sandboxed
from sederunt.media.sandboxed_reader import read_pcm_sandboxed
from sederunt.transcription.cloud.plan import BETWEEN_S, STEP_S, Levels, PlannedFile

BITS_PER_S = 40_000
PACKET = RATE // 50  # samples of an Opus packet

# Containers that every vendor reads → their media type.
_AS_IT_IS = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "ogg": "audio/ogg", "m4a": "audio/mp4"}


class TaskSound:
    """The files of a task. A caller's file is always read in a separate process.

    Args:
        caller_file_s: the length of the only file, if a caller sent it; None for our own recordings.
    """

    def __init__(self, paths: Sequence[Path], caller_file_s: float | None, cancelled: threading.Event) -> None:
        self.paths, self._caller_file_s, self._cancelled = paths, caller_file_s, cancelled

    def facts(self) -> MediaFacts:
        """Return the facts of the only file. Raises MediaError."""
        return probe(self.paths[0]) if self._caller_file_s is None else probe_sandboxed(self.paths[0])

    def read(self, source: int, start_s: float = 0.0, end_s: float | None = None) -> Iterator[Samples]:
        """Return the samples of a source between two moments. Raises Cancelled, MediaError."""
        path, length_s = self.paths[source], self._caller_file_s
        if length_s is None:
            blocks = read_pcm(path, start_s=start_s, end_s=end_s)
        else:
            blocks = read_pcm_sandboxed(path, duration_s=length_s, start_s=start_s)
        remaining = float("inf") if end_s is None else round((end_s - start_s) * RATE)
        with closing(cast(Generator[Block, None, None], blocks)):
            for block in blocks:
                if self._cancelled.is_set():
                    raise Cancelled("The transcription was stopped.")
                samples = block.samples if len(block.samples) <= remaining else block.samples[: int(remaining)]
                remaining -= len(samples)
                yield samples
                if remaining <= 0:
                    return


def media_type_as_it_is(facts: MediaFacts) -> str | None:
    """Return the media type of a file that every vendor reads unchanged; None for any other.

    Vendors differ in which of several tracks they read, and in whether they go on where another recording begins or
    the stated length ends.
    """
    if facts.ends_early or facts.stated_s is not None:
        return None
    if facts.has_video or facts.joined or facts.tracks != 1:
        return None
    return _AS_IT_IS.get(facts.container)


def levels_of(sound: TaskSound, source: int) -> Levels:
    """Return the loudness of each STEP_S of a file, to find cuts and silence. Raises Cancelled, MediaError."""
    step = round(STEP_S * RATE)
    levels: list[Levels] = []
    for samples in sound.read(source):
        padded = np.pad(samples, (0, -len(samples) % step)).reshape(-1, step)
        levels.append(np.sqrt(np.mean(np.square(padded), axis=1)).astype(np.float32))
    return np.concatenate(levels) if levels else np.zeros(0, np.float32)


def write_file(file: PlannedFile, sound: TaskSound, target: Path) -> None:
    """Write a planned file for the vendor, piece by piece. Raises Cancelled, MediaError."""
    with av.open(str(target), "w", format="ogg") as container:
        stream = container.add_stream("libopus", rate=RATE, options={"compression_level": "5", "application": "voip"})
        stream.layout = "mono"
        stream.bit_rate = BITS_PER_S
        sample_count = 0
        for packet_samples in _packets(_samples(file, sound)):
            frame = av.AudioFrame.from_ndarray(packet_samples[np.newaxis, :], format="s16", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = RATE, sample_count, fractions.Fraction(1, RATE)
            sample_count += len(packet_samples)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _samples(file: PlannedFile, sound: TaskSound) -> Iterable[Samples]:
    for n, piece in enumerate(file.pieces):
        if n:
            yield np.zeros(round(BETWEEN_S * RATE), np.float32)
        remaining = round((piece.end - piece.start) * RATE)
        for samples in sound.read(piece.source, piece.start, piece.end):
            yield samples
            remaining -= len(samples)
        if remaining > 0:  # what the source leaves out at its end is silence, too
            yield np.zeros(remaining, np.float32)


def _packets(stretches: Iterable[Samples]) -> Iterable[np.ndarray[tuple[int], np.dtype[np.int16]]]:
    buffer = np.zeros(0, np.float32)
    for stretch in stretches:
        buffer = np.concatenate([buffer, stretch])
        full_length = len(buffer) // PACKET * PACKET
        for at in range(0, full_length, PACKET):
            yield _as_int16(buffer[at : at + PACKET])
        buffer = buffer[full_length:]
    if len(buffer):
        yield _as_int16(np.pad(buffer, (0, PACKET - len(buffer))))


def _as_int16(samples: Samples) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    return np.clip(np.round(samples * 32_767), -32_768, 32_767).astype(np.int16)
