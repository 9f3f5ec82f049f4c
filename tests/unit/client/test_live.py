"""Where a listener is, across its connections."""

import json
from typing import Any

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, ConnectionClosedError, ConnectionClosedOK, InvalidStatus
from websockets.frames import Close
from websockets.http11 import Response

from sederunt_client.errors import BotDeleted, NotReached, SederuntClientError, Unauthorized
from sederunt_client.live import PATIENCE_S, LiveEvent, Position, audio_address, events_address

ADDRESS = "wss://h/realtime/b/events/t"


def frame(kind: str, seq: int | None = None, **data: Any) -> str:
    return json.dumps({"type": kind, "data": data, **({} if seq is None else {"seq": seq})})


def closed(code: int) -> ConnectionClosed:
    return (ConnectionClosedOK if code == 1000 else ConnectionClosedError)(Close(code, ""), None)


def test_events_are_told_in_order_and_pings_are_not() -> None:
    position = Position(ADDRESS, None)
    assert position.address == ADDRESS
    assert position.take(frame("connected", 3, status="joining")) == LiveEvent(
        type="connected", data={"status": "joining"}, seq=3
    )
    assert position.take('{"type": "ping"}') is None
    assert position.take(frame("ts-draft", transcript="Hel")) == LiveEvent(
        type="ts-draft", data={"transcript": "Hel"}, seq=None
    )
    position.take(frame("ts", 5, transcript="Hello."))
    assert position.address == f"{ADDRESS}?since=5"


@pytest.mark.parametrize("code", [1006, 1011, 1012, 1013])
def test_after_a_break_it_goes_on_where_it_was(code: int) -> None:
    position = Position(ADDRESS, None)
    position.take(frame("connected", 3))
    position.take(frame("ts", 5))
    error = ConnectionClosedError(None, None) if code == 1006 else closed(code)
    assert position.pause_after(error, 100.0) is not None
    assert position.take(frame("connected", 5)) is None  # what is known already
    assert position.take(frame("ts", 6)) is not None
    assert position.address.endswith("since=6")


def test_where_the_number_is_not_known_any_more_everything_so_far_is_told() -> None:
    position = Position(ADDRESS, 5)
    position.pause_after(closed(1012), 0.0)
    told = position.take(frame("connected", 90, transcripts=["…"]))
    assert told is not None
    assert (told.type, position.since) == ("connected", 90)


def test_the_first_snapshot_is_told_also_to_who_resumes_by_a_number() -> None:
    assert Position(ADDRESS, 0).take(frame("connected", 0)) is not None


def test_it_is_over_when_the_bot_has_ended_or_was_deleted() -> None:
    position = Position(ADDRESS, None)
    assert position.pause_after(closed(1000), 0.0) is None
    with pytest.raises(BotDeleted):
        position.pause_after(closed(4404), 0.0)


def test_a_refusal_is_told_and_an_absence_is_waited_out_for_a_while() -> None:
    position = Position(ADDRESS, None)
    refused = InvalidStatus(Response(401, "", Headers(), b'{"message": "Unauthenticated."}'))
    with pytest.raises(Unauthorized, match="Unauthenticated"):
        position.pause_after(refused, 0.0)
    away = InvalidStatus(Response(503, "", Headers(), b""))
    pauses = [position.pause_after(away, at) or 0 for at in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)]
    assert pauses[-1] > pauses[0]
    with pytest.raises(NotReached):
        position.pause_after(OSError("refused"), PATIENCE_S + 1)


def test_what_was_heard_between_two_breaks_makes_patience_whole_again() -> None:
    position = Position(ADDRESS, None)
    position.pause_after(OSError("refused"), 0.0)
    position.take(frame("ts", 1))
    assert position.pause_after(OSError("refused"), PATIENCE_S * 2) is not None


def test_a_bot_without_sockets_is_told_as_such() -> None:
    class Plain:
        websocket_url = websocket_read_only_url = websocket_audio_url = None

    for address in (events_address, audio_address):
        with pytest.raises(SederuntClientError, match="realtime model"):
            address(Plain())
        assert address(ADDRESS) == ADDRESS
