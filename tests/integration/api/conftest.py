"""The application in process, with a real database, a real nats-server and a real folder."""

import io
import wave
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import numpy as np
import pytest

from harness.api_room import ApiRoom, api_room, nats_process
from harness.fake_clock import FakeClock
from sederunt.settings import BusSettings


@pytest.fixture(scope="session")
def bus_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BusSettings]:
    with nats_process(tmp_path_factory.mktemp("nats")) as settings:
        yield settings


@pytest.fixture
async def room(tmp_path: Path, bus_settings: BusSettings, clock: FakeClock) -> AsyncIterator[ApiRoom]:
    """With limits that a test can reach."""
    limits = {"max_upload_bytes": 3_000_000, "max_body_mb": 1, "concurrent_bots": 12, "requests_per_minute": 500}
    async with api_room(tmp_path / "data", bus_settings, clock, api=limits) as opened:
        yield opened


@pytest.fixture(scope="session")
def wav() -> bytes:
    """A second of a tone, 16 kHz mono."""
    samples = (8000 * np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as target:
        target.setnchannels(1)
        target.setsampwidth(2)
        target.setframerate(16_000)
        target.writeframes(samples.tobytes())
    return file.getvalue()
