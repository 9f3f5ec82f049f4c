"""The page of webhooks, for every kind of delivery that there can be."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from sederunt.console.render import environment
from sederunt.model.history import TOLD_WHEN_ASKED

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "data", "told"),
    [
        ("status_update", {"old_status": "joining", "new_status": "recording"}, "Recording"),
        ("test", {}, "Test"),
        *((kind, {"message": "…"}, kind.replace("_", " ").capitalize()) for kind in TOLD_WHEN_ASKED),
    ],
)
def test_a_delivery_of_each_kind_is_listed(kind: str, data: dict[str, str], told: str) -> None:
    delivery = {
        "id": "1",
        "type": kind,
        "state": "delivered",
        "payload": {"type": kind, "data": data},
        "webhook_url": "https://example.com/hook",
        "created_at": NOON,
        "next_attempt_at": None,
        "attempts": [{"at": NOON, "http_status": 200, "ms": 5, "answer": ""}],
    }
    page = (
        environment()
        .get_template("webhooks.html")
        .render(
            visitor=SimpleNamespace(
                csrf="", role="owner", person=SimpleNamespace(name="", account_name="", has_password=True)
            ),
            path="/webhooks",
            query={},
            may_write=True,
            may_manage=True,
            deliveries=[delivery],
            cursor=None,
            states=["delivered"],
            secret=None,
            verifying=[],
            nonce="",
        )
    )
    summary = page[page.index("<summary>") : page.index("</summary>")]
    assert f"· {told} ·" in summary
