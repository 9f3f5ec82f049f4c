"""What a publisher says of its message, whatever the server said of its tries."""

from types import SimpleNamespace
from typing import Any

import pytest
from nats.errors import TimeoutError as NatsTimeout
from nats.js.api import PubAck
from nats.js.errors import APIError, NoStreamResponseError

from sederunt.bus import connection
from sederunt.bus.connection import Bus
from sederunt.bus.streams import ALREADY_QUEUED
from sederunt.settings import BusSettings

NEW = PubAck(stream="JOBS", seq=1, duplicate=None)
SEEN_BEFORE = PubAck(stream="JOBS", seq=1, duplicate=True)
REFUSED = APIError(code=503, err_code=10077 + 1, description="no room")
QUEUED = APIError(code=400, err_code=ALREADY_QUEUED, description="maximum messages per subject exceeded")


@pytest.mark.parametrize(
    ("answers", "is_new"),
    [
        ((NEW,), True),
        ((SEEN_BEFORE,), False),
        ((QUEUED,), False),
        ((NatsTimeout(), NEW), True),
        ((NatsTimeout(), SEEN_BEFORE), True),  # by our own first try, whose confirmation came late
        ((REFUSED, SEEN_BEFORE), False),
        ((NoStreamResponseError(), SEEN_BEFORE), False),  # nobody was there to store it
    ],
)
async def test_a_message_is_new_unless_somebody_else_stored_it(
    answers: tuple[PubAck | Exception, ...], is_new: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = list(answers)

    async def publish(*_: Any, **__: Any) -> PubAck:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(Bus, "js", SimpleNamespace(publish=publish))
    monkeypatch.setattr(connection, "RETRY_S", 0)
    bus = Bus(BusSettings(url="nats://127.0.0.1:9", ack_wait_s=12, replicas=1), name="test")
    assert await bus.publish("job.attend.1", b"{}", "one", within_s=60) is is_new
    assert left == []
