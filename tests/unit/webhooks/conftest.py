"""A delivery to be sent."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from sederunt.database.deliveries import Delivery, DeliveryState


@pytest.fixture
def make_delivery() -> Callable[..., Delivery]:
    def make(**changes: Any) -> Delivery:
        delivery = Delivery(
            id=UUID(int=1),
            account_id=UUID(int=2),
            resource="bot",
            resource_id=UUID(int=3),
            url="https://receiver.example/hook",
            type="status_update",
            data={"old_status": "joining", "new_status": "recording"},
            custom_metadata={"order": "Ä1"},
            created_at=datetime(2026, 3, 2, 9, tzinfo=UTC),
            state=DeliveryState.PENDING,
            next_attempt_at=None,
        )
        return replace(delivery, **changes)

    return make
