"""The live messages of a bot's page, as a browser asks for them and asks for them again."""

import json
from typing import Any

import pytest

from harness.api_room import ApiRoom
from harness.console_room import Furnished, Visitor, visitor
from sederunt.bus.streams import events_subject
from sederunt.realtime import hub


async def told(reader: Visitor, bot_id: str, last: str | None = None) -> list[dict[str, str]]:
    """Every message of a feed until it is over, by the fields of its lines."""
    headers = {} if last is None else {"Last-Event-ID": last}
    answer = await reader.client.get(f"/bots/{bot_id}/feed", headers=headers)
    assert answer.status_code == 200, answer.text
    messages = [dict(line.split(": ", 1) for line in each.split("\n")) for each in answer.text.split("\n\n") if each]
    assert messages.pop()["event"] == "over"
    return messages


def lines_in(messages: list[dict[str, str]]) -> list[str]:
    values: list[dict[str, Any]] = [json.loads(message["data"]) for message in messages]
    return [value["data"]["transcript"] for value in values if value["type"] == "ts"]


async def test_a_feed_that_is_asked_for_again_goes_on_behind_its_last_message(
    room: ApiRoom, furnished: Furnished, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, bot_id = await visitor(room), furnished.live["id"]
    for number in range(3):
        line = {"segment_id": str(number), "transcript": f"Line {number}.", "start": number, "end": number + 1}
        said = json.dumps({"type": "ts", "data": {**line, "speaker": 0, "speaker_name": "Ada"}}).encode()
        await room.bus.publish(events_subject(bot_id), said, f"line-{number}")
    over = {"type": "status-update", "data": {"old_status": "recording", "new_status": "finished"}}
    await room.bus.publish(events_subject(bot_id), json.dumps(over).encode(), "over")
    monkeypatch.setattr(hub, "LINGER_S", 0.0)
    whole = await told(reader, bot_id)
    greeting = json.loads(whole[0]["data"])
    assert (greeting["type"], str(greeting["seq"])) == ("connected", whole[0]["id"])
    every = await told(reader, bot_id, "0")
    assert lines_in(every) == ["Line 0.", "Line 1.", "Line 2."]
    assert [message["id"] for message in every] == [str(json.loads(message["data"])["seq"]) for message in every]
    first = next(message["id"] for message in every if "Line 0." in message["data"])
    assert lines_in(await told(reader, bot_id, first)) == ["Line 1.", "Line 2."]
    assert await told(reader, bot_id, every[-1]["id"]) == []
    [greeted] = await told(reader, bot_id, "987654321")  # of a message server that was lost
    assert json.loads(greeted["data"])["type"] == "connected"
    assert (await reader.client.get(f"/bots/{bot_id}/feed", headers={"Last-Event-ID": "x"})).status_code == 400
