"""Detect who is speaking from packets without decoding them; cheap enough to run live for every bot.

The RTP packet's audio level decides, if the sender gave one. Otherwise the encoder's own voice bit does, which every
SILK or hybrid packet has. A CELT packet has none and is judged by its size, a weak sign: a quiet room took 70 % of the
bytes of speech at 32 kbit/s. DTX leaves out silence altogether.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from sederunt.media import opus
from sederunt.model.audio import Packet

LOUD = 0.01  # -40 dB of full scale: quieter than any word near a microphone, louder than a quiet room
LEAST_BYTES_PER_S = 1_500.0  # below this no CELT packet holds speech
QUIET_SHARE = 0.8  # of the sender's usual rate in speech: smaller CELT packets are room noise
RATE_MEMORY_S = 30.0  # how fast the usual rate is forgotten
STARTED_AFTER_S = 0.06  # this much voice within the last RECENT_S is speech: clicks are not
RECENT_S = 0.2
STOPPED_AFTER_S = 0.6  # pauses between words are shorter


@dataclass(slots=True)
class _Voice:
    """One source's recent past."""

    recent: deque[tuple[float, float]] = field(default_factory=deque)  # start and length of voiced packets
    recent_s: float = 0.0
    speaking: bool = False
    heard_until: float = 0.0
    usual_rate: float = 0.0  # bytes per second during speech


class Activity:
    """Tracks whether each source speaks, with hysteresis."""

    def __init__(self) -> None:
        self._voices: dict[str, _Voice] = {}
        self._now_s = 0.0

    def feed(self, packets: Iterable[Packet], *, now_s: float | None = None) -> list[tuple[str, bool, float]]:
        """Return changes as (source, is speaking, second of the recording), in the order in which they became certain.

        A mixed packet counts for every contributor, each under their own source.

        Speech begins with the first voiced packet and ends where the last one ended. `now_s` (seconds of the
        recording) lets a source fall silent when no more packets come.
        """
        changes: list[tuple[str, bool, float]] = []
        for packet in packets:
            self._now_s = max(self._now_s, packet.start)
            for source in packet.voices or (packet.source,):
                voice = self._voices.setdefault(source, _Voice())
                if voice.speaking and packet.start - voice.heard_until > STOPPED_AFTER_S:
                    changes.append(_stop(source, voice))
                if _is_voiced(packet, voice):
                    changes.extend(_hear(source, packet, voice))
        self._now_s = max(self._now_s, now_s or 0.0)
        for source, voice in self._voices.items():
            if voice.speaking and self._now_s - voice.heard_until > STOPPED_AFTER_S:
                changes.append(_stop(source, voice))
        return changes

    def speaking(self) -> set[str]:
        """Return the sources that speak now."""
        return {source for source, voice in self._voices.items() if voice.speaking}


def _stop(source: str, voice: _Voice) -> tuple[str, bool, float]:
    voice.speaking = False
    voice.recent.clear()
    voice.recent_s = 0.0
    return source, False, voice.heard_until


def _hear(source: str, packet: Packet, voice: _Voice) -> Iterable[tuple[str, bool, float]]:
    voice.heard_until = packet.start + packet.duration
    if voice.speaking:
        return
    voice.recent.append((packet.start, packet.duration))
    voice.recent_s += packet.duration
    while voice.recent and packet.start - voice.recent[0][0] > RECENT_S:
        voice.recent_s -= voice.recent.popleft()[1]
    if voice.recent_s >= STARTED_AFTER_S - 1e-9:
        voice.speaking = True
        yield source, True, voice.recent[0][0]


def _is_voiced(packet: Packet, voice: _Voice) -> bool:
    if opus.is_silence(packet.payload):
        return False
    if packet.level is not None:
        return packet.level >= LOUD
    encoder_flag = opus.voice_flag(packet.payload)
    if encoder_flag is not None:
        return encoder_flag
    rate = len(packet.payload) / packet.duration
    if rate > voice.usual_rate:
        voice.usual_rate += (rate - voice.usual_rate) * 0.2
    else:
        voice.usual_rate -= voice.usual_rate * packet.duration / RATE_MEMORY_S
    return rate >= max(LEAST_BYTES_PER_S, QUIET_SHARE * voice.usual_rate)
