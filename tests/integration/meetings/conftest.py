"""A folder as storage, a spool in front of it, and a recorder that is not attached to any page."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from harness.captured import ZERO_MS
from harness.failing import FailingObjects
from sederunt.clock import SYSTEM_CLOCK, Clock
from sederunt.meetings.record.recorder import Recorder
from sederunt.meetings.record.spool import PieceSpool
from sederunt.model.audio import Packet
from sederunt.storage.objects import Objects


@pytest.fixture
def objects(tmp_path: Path) -> FailingObjects:
    return FailingObjects(tmp_path / "data" / "objects")


@pytest.fixture
def bot_id() -> UUID:
    return uuid4()


@pytest.fixture
def spool(tmp_path: Path, bot_id: UUID, objects: Objects) -> PieceSpool:
    return PieceSpool(tmp_path / "spool", bot_id, objects)


MakeRecorder = Callable[..., Recorder]


@pytest.fixture
def make_recorder(bot_id: UUID, spool: PieceSpool) -> MakeRecorder:
    def make(
        stay: str = "000001.01",
        piece_s: float = 1000.0,
        on_packets: Callable[[Sequence[Packet]], None] | None = None,
        cut_off: asyncio.Event | None = None,
        clock: Clock = SYSTEM_CLOCK,
        on_speech: Callable[[str, bool, int], None] = lambda source, speaking, at_ms: None,
    ) -> Recorder:
        return Recorder(
            bot_id=bot_id,
            stay=stay,
            started_ms=ZERO_MS,
            piece_s=piece_s,
            batch_ms=200,
            spool=spool,
            on_speech=on_speech,
            on_packets=on_packets,
            cut_off=cut_off,
            clock=clock,
        )

    return make
