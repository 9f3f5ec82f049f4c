"""The mix is sent as often as pages hand sound over, not more often."""

from typing import Any, cast
from uuid import UUID

import pytest

from sederunt.meetings.live.mix import LiveMix
from sederunt.meetings.live.recent import RecordingClock


class Feed:
    def __init__(self) -> None:
        self.blocks: list[bytes] = []

    async def audio(self, _bot_id: UUID, pcm: bytes) -> None:
        self.blocks.append(pcm)


class Clock:
    def __init__(self) -> None:
        self.s = 0.0

    def now_s(self) -> float:
        return self.s


@pytest.mark.parametrize(("batch_s", "beats"), [(0.06, 100), (0.1, 100), (0.2, 50), (0.5, 20)])
async def test_blocks_of_a_batch_go_out_at_one_beat(batch_s: float, beats: int) -> None:
    feed, clock = Feed(), Clock()
    mix = LiveMix(UUID(int=1), cast("Any", feed), cast("RecordingClock", clock), batch_s=batch_s)
    count = 0
    while clock.s < 10:
        clock.s += mix.next_beat_s
        await mix.beat()
        count += 1
    assert count == pytest.approx(beats, abs=3)
    assert len(feed.blocks) * 0.1 == pytest.approx(clock.s, abs=batch_s + 0.2), "none is left out"
