"""How a simulated vendor can be told to fail, and what it has still to do of it."""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

# kind → what happens. A request meets the first fault that is set for its operation.
ANSWERS = {
    "status": "answers with `status` in the vendor's own form; `retry_after` becomes its header",
    "html": "answers with `status` (502) and a page of HTML",
    "redirect": "sends the caller on to the address in `message`, or to where it came, with `status` (307)",
    "slow": "answers piece by piece, over `seconds`",
    "half_body": "announces the whole answer, sends half of it and drops the connection",
    "bad_json": "answers with half of the JSON as if it were the whole",
    "other_answer": "does what was asked for, and answers with the JSON of `value` instead",
    "drop": "drops the connection before it did anything",
    "lost": "does what was asked for, and drops the connection instead of answering",
    "refused": "drops every connection for `seconds` from now on, whatever `times` says",
}
JOBS = {
    "job_failed": "the job ends in failure, in the vendor's own way (`message`)",
    "stuck": "the job never ends",
    "empty": "nothing was heard",
    "field": "the value of each key `field` in the result is `value`",
}
SOCKETS = {
    "close": "closes with `code` and `message` after `after_s` seconds of sound",
    "dropped": "drops the connection after `after_s`",
    "error": "tells an error with `code`, then closes as the vendor does, after `after_s`",
    "silent": "answers nothing any more after `after_s`, and takes sound",
    "broken_message": "sends half a message after `after_s`",
    "out_of_order": "sends the next two transcripts after `after_s` the wrong way round",
    "lag": "tells everything `seconds` late",
    "twice": "tells each final twice",
    "field": JOBS["field"],
    "empty": JOBS["empty"],
}
KINDS = {**ANSWERS, **JOBS, **SOCKETS}


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One way to fail. What a kind needs is in the tables above."""

    kind: str
    on: str = "*"  # the operation: submit, upload, poll, fetch, delete, list, socket, …; "*" for any
    times: int | None = 1  # None: always
    status: int = 0
    retry_after: str | None = None
    seconds: float = 0.0
    after_s: float = 0.0
    code: int = 0
    message: str = ""
    field: str = ""
    value: Any = None
    until: float = 0.0  # of "refused": on the monotonic clock


class Faults:
    """What is still to go wrong. Safe from any thread."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self._changing = threading.Lock()

    def add(self, fault: Fault) -> None:
        """Raises ValueError where there is no such kind."""
        if fault.kind not in KINDS:
            raise ValueError(f"{fault.kind} is no fault; there are {', '.join(KINDS)}")
        with self._changing:
            if fault.kind == "refused":
                fault = replace(fault, until=time.monotonic() + fault.seconds, times=None)
            self._waiting.append(fault)

    def clear(self) -> None:
        with self._changing:
            self._waiting.clear()

    def take(self, operation: str, kinds: Iterable[str]) -> Fault | None:
        """The first fault of these kinds for an operation; it counts as happened."""
        now = time.monotonic()
        with self._changing:
            self._waiting = [fault for fault in self._waiting if not fault.until or fault.until > now]
            for place, fault in enumerate(self._waiting):
                if fault.kind in kinds and fault.on in ("*", operation):
                    if fault.times is not None:
                        self._waiting[place : place + 1] = (
                            [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
                        )
                    return fault
        return None


def with_field(value: Any, field: str, changed: Any) -> Any:
    """A JSON value in which each key of this name has another value."""
    if isinstance(value, dict):
        return {name: changed if name == field else with_field(item, field, changed) for name, item in value.items()}
    if isinstance(value, list):
        return [with_field(item, field, changed) for item in value]
    return value
