"""After the meeting: turn pieces into one recording to listen to, and one file per source for the recogniser.

Streams with bounded memory. Pieces may come in any order, overlap (two hosts were in the meeting for a while) or come
twice: they are copied to a scratch file and then read in the order of their times; a packet is dropped if its source
already covers that time.
"""

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import OutputContainer

from sederunt.media import matroska, opus
from sederunt.media.mixing import Mixer, Samples, Voice
from sederunt.media.pieces import add_track, read_piece, to_mux
from sederunt.media.spool import FittedPiece, Spool
from sederunt.model.audio import Packet

MIX_BIT_RATE = 32_000
HEARD = 0.002  # -54 dB of full scale, of one packet: a room in which nobody speaks is quieter
COVERED_SHARE = 0.5  # a packet is a repeat if its source already covers this share of it


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceFacts:
    source: str
    file: str  # relative to the tracks folder
    packets: int
    start: float  # seconds: of its first packet
    end: float  # of its last
    heard_s: float  # how long it was audible
    loudness_db: float | None  # of full scale, while audible; None if it never was


@dataclass(frozen=True, kw_only=True, slots=True)
class AssemblyFacts:
    duration_s: float
    heard_s: float  # how long anybody was audible
    sources: tuple[SourceFacts, ...]  # in the order of their first sound
    mixed: str  # file name of the one recording
    pieces: int
    damaged_pieces: int  # only partly readable, or not at all
    repeated_packets: int  # dropped because their source had already covered that time


def assemble(
    pieces: Iterable[bytes | FittedPiece[Packet]],
    *,
    mixed: Path,
    tracks: Path,
    duration_s: float,
    progress: Callable[[float], None] | None = None,
) -> AssemblyFacts:
    """Make `mixed` (WebM, Opus mono 48 kHz, gapless from 0 to `duration_s`) and `tracks`/<n>.mka.

    A track holds one source's packets undecoded, at their times in the recording; its title is the source.

    Args:
        pieces: the content of pieces, in any order; taken one by one.
        duration_s: of the recording; 0 or less means until the last packet. Later sound is cut from the mix.
        progress: called now and then with the share done.
    """
    tracks.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=mixed.parent) as scratch:
        spool = Spool(scratch, lambda data, salvage: read_piece(data, salvage=salvage))
        spool.fill(pieces)
        with _Recording(mixed, tracks, duration_s, progress) as recording:
            for packet in spool.items():
                recording.add(packet)
        return recording.facts(spool)


class _Track:
    """One source: its file, its voice in the mix, and its facts."""

    def __init__(self, source: str, path: Path) -> None:
        self.source, self.path = source, path
        self.voice = Voice()
        self._container: OutputContainer = av.open(str(path), "w", format="matroska")
        matroska.mark_as_recording(self._container)
        self._stream: AudioStream = add_track(self._container, source)
        self._packets, self._start, self._end = 0, math.inf, 0.0
        self._energy = self._heard_s = 0.0

    def covers(self, packet: Packet) -> bool:
        return self._end - packet.start > packet.duration * COVERED_SHARE

    def keep(self, packet: Packet) -> None:
        self._container.mux_one(to_mux(packet, self._stream))
        self._packets += 1
        self._start, self._end = min(self._start, packet.start), packet.start + packet.duration

    def listen(self, samples: Samples) -> bool:
        """Record the loudness; returns whether the sound is audible."""
        mean_square = float(np.dot(samples, samples)) / max(1, len(samples))
        if mean_square < HEARD**2:
            return False
        seconds = len(samples) / opus.RATE
        self._heard_s += seconds
        self._energy += mean_square * seconds
        return True

    def close(self) -> None:
        self._container.close()

    def facts(self) -> SourceFacts:
        loudness = 10 * math.log10(self._energy / self._heard_s) if self._heard_s else None
        return SourceFacts(
            source=self.source,
            file=self.path.name,
            packets=self._packets,
            start=round(self._start, 6),
            end=round(self._end, 6),
            heard_s=round(self._heard_s, 3),
            loudness_db=None if loudness is None else round(loudness, 2),
        )


class _Mix:
    """The one recording, being written."""

    def __init__(self, path: Path) -> None:
        self._container: OutputContainer = av.open(str(path), "w", format="webm")
        matroska.mark_as_recording(self._container)
        self._stream = add_track(self._container, "mix")
        self._container.start_encoding()  # so that a recording without sound is a valid file too
        self._encoder = opus.OpusEncoder(opus.RATE, MIX_BIT_RATE, complexity=5)
        self._number = 0

    def write(self, samples: Samples) -> None:
        self._mux(self._encoder.encode((samples * 32_767).astype(np.int16)))

    def finish(self) -> None:
        self._mux(self._encoder.flush())

    def close(self) -> None:
        self._container.close()

    def _mux(self, payloads: Sequence[bytes]) -> None:
        for payload in payloads:
            start = self._number * opus.PACKET_S
            packet = Packet(source="mix", start=start, duration=opus.PACKET_S, payload=payload)
            self._container.mux_one(to_mux(packet, self._stream))
            self._number += 1


class _Recording:
    """Turns packets, ordered by start, into the files."""

    def __init__(self, mixed: Path, tracks: Path, duration_s: float, progress: Callable[[float], None] | None) -> None:
        self._folder, self._name, self._progress = tracks, mixed.name, progress
        self._tracks: dict[str, _Track] = {}
        self._mix = _Mix(mixed)
        self._end = round(duration_s * opus.RATE) if duration_s > 0 else None
        self._mixer = Mixer(self._mix.write, self._end)
        self._heard = bytearray()  # one byte for each 20 ms of the recording
        self._repeated = self._samples = 0

    def add(self, packet: Packet) -> None:
        track = self._tracks.get(packet.source)
        if track is None:
            path = self._folder / f"{len(self._tracks)}.mka"
            track = self._tracks[packet.source] = _Track(packet.source, path)
        if track.covers(packet):
            self._repeated += 1
            return
        track.keep(packet)
        start_sample = round(packet.start * opus.RATE)
        if self._end is not None and start_sample >= self._end:
            return
        previous_position = self._mixer.position
        self._mixer.advance(start_sample, self._voices())
        for first_sample, samples in track.voice.decode(packet):
            self._mixer.add(first_sample, samples)
            if track.listen(samples):
                self._mark_heard(first_sample, len(samples))
        if self._progress and self._end and self._mixer.position != previous_position:
            self._progress(min(1.0, self._mixer.position / self._end))

    def __enter__(self) -> "_Recording":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._samples = self._mixer.finish(self._voices())
                self._mix.finish()
        finally:
            self._mix.close()
            for track in self._tracks.values():
                track.close()
        if self._progress and kind is None:
            self._progress(1.0)

    def facts(self, spool: Spool[Packet]) -> AssemblyFacts:
        return AssemblyFacts(
            duration_s=round(self._samples / opus.RATE, 6),
            heard_s=round(sum(self._heard) * opus.PACKET_S, 2),
            sources=tuple(track.facts() for track in self._tracks.values()),
            mixed=self._name,
            pieces=spool.pieces,
            damaged_pieces=spool.damaged,
            repeated_packets=self._repeated,
        )

    def _voices(self) -> Iterator[Voice]:
        return (track.voice for track in self._tracks.values())

    def _mark_heard(self, first_sample: int, count: int) -> None:
        slot = opus.RATE // 50
        start, end = first_sample // slot, max(first_sample // slot + 1, (first_sample + count) // slot)
        if end > len(self._heard):
            self._heard.extend(bytes(end - len(self._heard)))
        self._heard[start:end] = b"\x01" * (end - start)
