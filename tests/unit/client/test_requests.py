"""What the client sends, when it tries again, and what it raises."""

import io
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

import sederunt_client
from sederunt_client.errors import ApiError, InvalidRequest, NotReached, TooManyRequests
from sederunt_client.models import Message
from sederunt_client.requests import LONGEST_PAUSE_S, UNSET, Outcome, Request, base_of, given, part, pause_after
from sederunt_client.uploads import Upload

AWAY = Outcome.of_error(httpx2.ConnectError("refused"))
LOST = Outcome.of_error(httpx2.ReadTimeout("no answer"))


@pytest.mark.parametrize(
    ("outcome", "may_repeat", "can_resend", "again"),
    [
        (AWAY, False, False, True),  # the service cannot have got it
        (LOST, False, True, False),
        (LOST, True, True, True),
        (Outcome(status=429), False, True, True),
        (Outcome(status=429), False, False, False),  # it has read what cannot be read again
        (Outcome(status=503), False, True, False),
        (Outcome(status=503), True, True, True),
        (Outcome(status=500), True, True, False),
        (Outcome(status=404), True, True, False),
        (Outcome(status=200), True, True, False),
    ],
)
def test_a_request_is_repeated_only_where_that_does_nothing_twice(
    outcome: Outcome, may_repeat: bool, can_resend: bool, again: bool
) -> None:
    assert (pause_after(outcome, 1, may_repeat=may_repeat, can_resend=can_resend) is not None) == again


def test_pauses_grow_to_a_longest_one_and_obey_retry_after() -> None:
    pauses = [pause_after(AWAY, attempt, may_repeat=True) or 0 for attempt in (1, 4, 40)]
    assert pauses == sorted(pauses)
    assert pauses[-1] <= LONGEST_PAUSE_S
    for told, least in (("7", 7), ("7000", LONGEST_PAUSE_S)):
        busy = Outcome(status=429, headers={"retry-after": told})
        pauses = [pause_after(busy, 1, may_repeat=True) or 0 for _ in range(20)]
        assert least <= min(pauses) < max(pauses) <= least * 1.5, "not all callers at the same moment"


def test_a_keyed_request_has_one_key_of_its_own_or_the_callers() -> None:
    keyed = Request("POST", "/bot", Message, body={}, is_keyed=True)
    assert keyed.may_repeat
    assert keyed.headers["Idempotency-Key"] != keyed.headers["Idempotency-Key"]  # the client asks once per request
    assert Request("POST", "/bot", Message, is_keyed=True, key="mine").headers["Idempotency-Key"] == "mine"
    assert not Request("POST", "/webhook/test", Message, body={}).may_repeat


def test_values_are_written_as_the_service_reads_them() -> None:
    moment = datetime(2026, 3, 2, 9, tzinfo=UTC)
    body = {"at": moment, "picture": b"\x00\x01", "stop_options": {"time_limit": 5}, "cleared": None}
    assert Request("POST", "/bot", Message, body=body).json() == (
        b'{"at": 1772442000, "picture": "AAE=", "stop_options": {"time_limit": 5}, "cleared": null}'
    )
    query = {"metadata": {"room": 7, "x&y": "a b"}, "with-speaker-events": True, "from": date(2026, 3, 2), "gone": None}
    sent = str(Request("GET", "/bot", Message, query=query).parameters())
    assert sent == "metadata%5Broom%5D=7&metadata%5Bx%26y%5D=a+b&with-speaker-events=true&from=2026-03-02"
    with pytest.raises(TypeError, match="object cannot be sent"):
        Request("POST", "/bot", Message, body={"x": object()}).json()


def test_what_was_not_given_is_not_sent_and_null_is() -> None:
    assert given({"a": UNSET, "b": None, "c": 0}) == {"b": None, "c": 0}


def test_an_id_cannot_lead_to_another_path() -> None:
    assert part("../key?x") == "..%2Fkey%3Fx"


@pytest.mark.parametrize("url", ["http://h:1", "http://h:1/", "http://h:1/api/v1", "http://h:1/api/v1/"])
def test_the_address_is_taken_with_and_without_the_version(url: str) -> None:
    assert base_of(url) == "http://h:1/api/v1"


def test_a_client_without_address_or_key_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEDERUNT_URL", raising=False)
    with pytest.raises(sederunt_client.SederuntClientError, match="SEDERUNT_URL and SEDERUNT_KEY"):
        sederunt_client.Client(key="sk_x")
    with pytest.raises(ValueError, match="http://"):
        sederunt_client.Client("localhost:8080", "sk_x")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "InvalidRequest"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (409, "Conflict"),
        (413, "TooLarge"),
        (422, "KeyReused"),
        (429, "TooManyRequests"),
        (500, "ServiceFault"),
        (503, "ServiceFault"),
        (418, "ApiError"),
    ],
)
def test_each_refusal_has_a_class(status: int, kind: str) -> None:
    error = ApiError.of(status, {"x-request-id": "r1"}, b'{"message": "No."}')
    assert type(error) is getattr(sederunt_client, kind)
    assert (error.message, error.request_id, str(error)) == ("No.", "r1", f"No. (status {status})")


def test_faults_are_told_by_field_and_odd_bodies_are_shown() -> None:
    told = b'{"message": "bot_name is required.", "errors": {"bot_name": ["bot_name is required."]}}'
    error = ApiError.of(400, {}, told)
    assert isinstance(error, InvalidRequest)
    assert error.fields == {"bot_name": ["bot_name is required."]}
    later = ApiError.of(429, {"retry-after": "3"}, b"{}")
    assert isinstance(later, TooManyRequests)
    assert later.retry_after_s == 3
    assert "<html>" in ApiError.of(502, {}, b"<html>bad gateway").message
    with pytest.raises(NotReached, match="refused"):
        Request("GET", "/bot", Message).read(AWAY)


def test_an_upload_tells_how_far_it_is_and_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "talk.mp3"
    path.write_bytes(b"x" * 100)
    told: list[tuple[int, int | None]] = []
    upload = Upload("recording_file", path, lambda sent, total: told.append((sent, total)))
    assert upload.can_rewind
    for _ in range(2):
        with upload.opened() as form:
            name, file = form["recording_file"]
            blocks = [file.read(64), file.read(64), file.read(64)]
            assert (name, b"".join(blocks)) == ("talk.mp3", b"x" * 100)
    assert told == [(64, 100), (100, 100)] * 2


def test_a_stream_that_cannot_begin_anew_is_sent_once() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    pipe = Upload("recording_file", Pipe(b"sound"), None)
    assert not pipe.can_rewind
    request: Request[Any] = Request("POST", "/recording", Message, body={}, upload=pipe, is_keyed=True)
    assert not request.may_repeat
    assert not request.can_resend
    kept = Upload("recording_file", io.BytesIO(b"sound"), None)
    assert kept.can_rewind
    assert request.form() == {}
