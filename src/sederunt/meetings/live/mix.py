"""Mixed sound of a running meeting, sent by the clock whether anybody speaks or not."""

from collections.abc import Sequence
from uuid import UUID

from sederunt.media.live import BEHIND_S, BLOCK, RATE, LiveSound, Stretch
from sederunt.meetings.journal import Feed
from sederunt.meetings.live.pressure import CpuPressure
from sederunt.meetings.live.recent import RecordingClock
from sederunt.model.audio import Packet

ON_THE_WAY_S = 0.1  # from the page to here, in addition to the time for which it gathers packets
BLOCK_S = BLOCK / RATE
BEAT_S = 0.05  # how often late sound is checked for
MOST_LATE_S = 3.0  # sound later than this is not expected when silence is told from sound to come
# How long to wait for sound that broke off, and for a page that brings none, if the machine is overloaded.
BUSY_PATIENCE_S = 2.0
LATE_HALVED_S = 3.0  # half-life of the memory that packets came late


class LiveMix:
    """Decodes the recorder's packets and sends their mix to the bot's listeners.

    `batch_s`: how long the page gathers packets.
    """

    def __init__(self, bot_id: UUID, feed: Feed, clock: RecordingClock, *, batch_s: float) -> None:
        self._bot_id, self._feed, self._clock = bot_id, feed, clock
        self._behind_s = max(BEHIND_S, batch_s + ON_THE_WAY_S)
        self._sound = LiveSound(clock.now_s(), self._behind_s)
        self._together_s = max(0, round(batch_s / BLOCK_S) - 1) * BLOCK_S  # blocks that come together are sent together
        self._late_s = 0.0  # how late packets have recently come
        self._beaten_s = clock.now_s()
        self._pressure = CpuPressure()

    def take(self, packets: Sequence[Packet]) -> Sequence[Stretch]:
        """Add packets, in each source's order; return them decoded."""
        now_s = self._clock.now_s()
        self._late_s = max([self._late_s, *(now_s - packet.start - packet.duration for packet in packets)])
        return self._sound.take(packets)

    @property
    def complete_until_s(self) -> float:
        """Return the second of the recording up to which no more sound is expected.

        Silence that is reported too early would split a word.
        """
        return self._clock.now_s() - min(max(self._behind_s, self._late_s), MOST_LATE_S)

    @property
    def patience_s(self) -> float:
        """Return how much longer to wait for sound that broke off mid-speech: before packets are late for the first
        time, nothing shows that they will be.
        """
        return BUSY_PATIENCE_S if self._pressure.is_high() else 0.0

    @property
    def next_beat_s(self) -> float:
        """Return in how many seconds `beat` should be called next: when the blocks of a batch are due."""
        due_in_s = self._sound.due_in_s(self._clock.now_s())
        return due_in_s + self._together_s if due_in_s else BEAT_S

    async def beat(self) -> None:
        """Send what is due by now. To be called after `next_beat_s`, even if nothing has arrived."""
        now_s = self._clock.now_s()
        self._late_s *= 0.5 ** (max(0.0, now_s - self._beaten_s) / LATE_HALVED_S)
        self._beaten_s = now_s
        # A page that stands still for lack of a core brings its sound later, when it would be too late for the mix.
        await self._send(self._sound.blocks(now_s, busy_s=self.patience_s))

    async def end(self, at_s: float) -> None:
        """Send everything up to this second of the recording; nothing comes after it."""
        await self._send(self._sound.end(at_s))

    async def _send(self, blocks: Sequence[bytes]) -> None:
        for block in blocks:
            await self._feed.audio(self._bot_id, block)
