"""Sound made ready for a vendor: as it is where every vendor reads it, else as Ogg/Opus, in bounded memory.

Recordings of our own leave out what was silent, and only their timestamps say so; a video is mostly pictures. Both are
written anew: 16 kHz, mono, Opus at 40 kbit/s, which is what the meeting's own sound is made of.
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

# Kinds of file that every vendor reads as they are → their media type.
_AS_IT_IS = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "ogg": "audio/ogg", "m4a": "audio/mp4"}


class TaskSound:
    """The files of a task. A caller's own is read in a process apart, whatever is done with it.

    Args:
        caller_file_s: the length of the one file, where a caller sent it; None for recordings of our own.
    """

    def __init__(self, paths: Sequence[Path], caller_file_s: float | None, cancelled: threading.Event) -> None:
        self.paths, self._caller_file_s, self._cancelled = paths, caller_file_s, cancelled

    def facts(self) -> MediaFacts:
        """Return what the one file holds. Raises MediaError."""
        return probe(self.paths[0]) if self._caller_file_s is None else probe_sandboxed(self.paths[0])

    def read(self, source: int, start_s: float = 0.0, end_s: float | None = None) -> Iterator[Samples]:
        """Return the samples of a source between two moments. Raises Cancelled, MediaError."""
        path, length_s = self.paths[source], self._caller_file_s
        if length_s is None:
            blocks = read_pcm(path, start_s=start_s, end_s=end_s)
        else:
            blocks = read_pcm_sandboxed(path, duration_s=length_s, start_s=start_s)
        wanted = float("inf") if end_s is None else round((end_s - start_s) * RATE)
        with closing(cast(Generator[Block, None, None], blocks)):
            for block in blocks:
                if self._cancelled.is_set():
                    raise Cancelled("The transcription was stopped.")
                samples = block.samples if len(block.samples) <= wanted else block.samples[: int(wanted)]
                wanted -= len(samples)
                yield samples
                if wanted <= 0:
                    return


def media_type_as_it_is(facts: MediaFacts) -> str | None:
    """Return the media type of a file that every vendor reads as it is; None of any other.

    Which of several tracks a vendor hears, and whether it goes on where another recording begins or where the stated
    length ends, it alone knows.
    """
    if facts.ends_early or facts.stated_s is not None:
        return None
    if facts.has_video or facts.joined or facts.tracks != 1:
        return None
    return _AS_IT_IS.get(facts.container)


def levels_of(sound: TaskSound, source: int) -> Levels:
    """Return how loud each STEP_S of a file is: what cuts and silence are found by. Raises Cancelled, MediaError."""
    step = round(STEP_S * RATE)
    found: list[Levels] = []
    for samples in sound.read(source):
        padded = np.pad(samples, (0, -len(samples) % step)).reshape(-1, step)
        found.append(np.sqrt(np.mean(np.square(padded), axis=1)).astype(np.float32))
    return np.concatenate(found) if found else np.zeros(0, np.float32)


def write_file(file: PlannedFile, sound: TaskSound, target: Path) -> None:
    """Write what a file for the vendor holds, piece by piece. Raises Cancelled, MediaError."""
    with av.open(str(target), "w", format="ogg") as container:
        stream = container.add_stream("libopus", rate=RATE, options={"compression_level": "5", "application": "voip"})
        stream.layout = "mono"
        stream.bit_rate = BITS_PER_S
        sent = 0
        for packet_samples in _packets(_samples(file, sound)):
            frame = av.AudioFrame.from_ndarray(packet_samples[np.newaxis, :], format="s16", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = RATE, sent, fractions.Fraction(1, RATE)
            sent += len(packet_samples)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _samples(file: PlannedFile, sound: TaskSound) -> Iterable[Samples]:
    for n, piece in enumerate(file.pieces):
        if n:
            yield np.zeros(round(BETWEEN_S * RATE), np.float32)
        wanted = round((piece.end - piece.start) * RATE)
        for samples in sound.read(piece.source, piece.start, piece.end):
            yield samples
            wanted -= len(samples)
        if wanted > 0:  # what the file leaves out at its end is silence, too
            yield np.zeros(wanted, np.float32)


def _packets(stretches: Iterable[Samples]) -> Iterable[np.ndarray[tuple[int], np.dtype[np.int16]]]:
    held = np.zeros(0, np.float32)
    for stretch in stretches:
        held = np.concatenate([held, stretch])
        full = len(held) // PACKET * PACKET
        for at in range(0, full, PACKET):
            yield _as_int16(held[at : at + PACKET])
        held = held[full:]
    if len(held):
        yield _as_int16(np.pad(held, (0, PACKET - len(held))))


def _as_int16(samples: Samples) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    return np.clip(np.round(samples * 32_767), -32_768, 32_767).astype(np.int16)
