"""A task that is cancelled frees its thread, whatever its requests make of that."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from sederunt.errors import Cancelled
from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.deepgram.vendor import VENDOR
from sederunt.transcription.provider import Task


class Deaf:
    """Work that loses the first cancellations, as a connection does that is there in the same moment."""

    lost = 0

    def __init__(self, *_: object) -> None:
        """Take what real work takes."""

    async def results(self, _tracks: object, *, join: bool) -> list[Any]:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                Deaf.lost += 1
                if Deaf.lost > 2:
                    raise


def test_a_cancellation_that_is_lost_is_said_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sederunt.transcription.cloud.work.Work", Deaf)
    cancelled = threading.Event()
    task = Task(
        model=VENDOR.models[0], path=tmp_path, access=Access(key="k", label="the operator's key"), cancelled=cancelled
    )
    ended: list[BaseException] = []

    def work() -> None:
        try:
            CloudProvider(VENDOR).transcribe(Settings(), task)
        except Cancelled as error:
            ended.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    cancelled.set()
    thread.join(60)
    assert not thread.is_alive()
    assert (len(ended), Deaf.lost) == (1, 3)
