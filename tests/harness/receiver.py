"""A receiver of webhooks on a loopback port."""

import json
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# The statuses that a webhook tells of a bot whose meeting goes as it should: with a transcript, and without one.
TOLD_TRANSCRIBED = ("joining", "recording", "leaving", "processing", "transcribing", "finished")
TOLD_RECORDED = ("joining", "recording", "leaving", "processing", "finished")


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One webhook as it arrived."""

    path: str
    headers: Mapping[str, str]
    raw: bytes

    @cached_property
    def body(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.raw)
        return parsed


class Receiver:
    """Takes webhooks on a loopback port; lets a test wait for one. `answer` is the status it gives."""

    def __init__(self) -> None:
        self.deliveries: list[Delivery] = []
        self.answer = 200
        # bot or recording → delivery id → new status. Dozens of tests wait here while thousands of deliveries come.
        self._statuses: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._changed = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                receiver._arrived(Delivery(path=self.path, headers=dict(self.headers.items()), raw=raw))
                self.send_response(receiver.answer)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/hook"

    def _arrived(self, delivery: Delivery) -> None:
        with self._changed:
            if self.answer < 300:
                self.deliveries.append(delivery)
                self._note(delivery)
            self._changed.notify_all()

    def _note(self, delivery: Delivery) -> None:
        body = delivery.body
        if status := body["data"].get("new_status"):
            told = self._statuses[body.get("bot_id") or body["recording_id"]]
            told.setdefault(delivery.headers["webhook-id"], status)

    def statuses(self, bot_id: str) -> list[str]:
        """New statuses of one bot or recording in the order of arrival.

        A delivery whose sender was killed before it could note the answer comes again under the same id; receivers
        are told to go by that id, and so does this one.
        """
        return list(self._statuses.get(bot_id, {}).values())

    def wait(self, bot_id: str, *wanted: str, timeout_s: float = 120) -> str:
        """Block until one of these statuses was delivered for this resource; returns it."""

        def there() -> str | None:
            return next((status for status in self.statuses(bot_id) if status in wanted), None)

        with self._changed:
            if not self._changed.wait_for(lambda: there() is not None, timeout_s):
                raise AssertionError(f"waited {timeout_s} s for {wanted}, had {self.statuses(bot_id)}")
        found = there()
        assert found is not None
        return found

    def wait_count(self, bot_id: str, status: str, count: int, timeout_s: float = 180) -> None:
        """Block until this status was delivered so often."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.statuses(bot_id).count(status) >= count, timeout_s):
                raise AssertionError(f"waited {timeout_s} s for {count} {status}, had {self.statuses(bot_id)}")

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
