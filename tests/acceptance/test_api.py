"""Standalone recordings from outside, whole ways; and what the service writes into its log meanwhile."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import httpx2

from harness.file_server import file_server
from harness.receiver import Receiver
from harness.service import Service, until
from sederunt.bench.words import word_error_rate

SPEECH = Path(__file__).parents[2] / "src/sederunt/practice/speech"
CLIP = "jfk.wav"


def reference() -> str:
    """What is said in the clip."""
    clips = json.loads((SPEECH / "transcripts.json").read_text(encoding="utf-8"))
    text: str = next(clip["text"] for clip in clips if clip["file"] == CLIP)
    return text


async def finished(api: httpx2.AsyncClient, receiver: Receiver, made: dict[str, Any]) -> dict[str, Any]:
    reached = await asyncio.to_thread(receiver.wait, made["id"], "finished", "failed", timeout_s=120)
    found: dict[str, Any] = (await api.get(f"/recording/{made['id']}")).json()
    assert reached == found["status"] == "finished", found["events"]
    return found


async def test_an_uploaded_file_comes_back_as_text_and_is_deleted_for_good(
    api: httpx2.AsyncClient, receiver: Receiver
) -> None:
    data = (SPEECH / CLIP).read_bytes()
    fields = {"transcription_model": "whisper", "webhook_url": receiver.url, "lang": "en"}
    answer = await api.post("/recording", data=fields, files={"recording_file": ("speech", data)})
    assert answer.status_code == 200, answer.text
    made = answer.json()
    assert made["status"] == "transcribing"

    found = await finished(api, receiver, made)
    heard = " ".join(segment["transcript"] for segment in found["transcript"])
    assert word_error_rate(reference(), heard) <= 0.2
    for segment in found["transcript"]:
        assert isinstance(segment["speaker"], int)
        assert [word["word"] for utterance in segment["utterances"] for word in utterance["words"]]
    delivery = next(d for d in receiver.deliveries if d.body.get("recording_id") == made["id"])
    assert (delivery.body["type"], delivery.body["data"]["new_status"]) == ("status_update", "finished")
    async with httpx2.AsyncClient(timeout=60) as anyone:
        assert (await anyone.get(found["recording_url"])).content == data
        assert (await api.delete(f"/recording/{made['id']}")).status_code == 200
        assert (await anyone.get(found["recording_url"])).status_code == 404
    assert (await api.get(f"/recording/{made['id']}")).status_code == 404


async def test_a_recording_is_fetched_from_where_it_is(api: httpx2.AsyncClient, receiver: Receiver) -> None:
    with file_server() as files:
        address = files.give("/talks/today?sig=1%2F2&x=", (SPEECH / CLIP).read_bytes())
        body = {"recording_url": address, "transcription_model": "vendor1", "webhook_url": receiver.url}
        made = (await api.post("/recording", json=body)).json()
        found = await finished(api, receiver, made)
        assert files.asked == ["/talks/today?sig=1%2F2&x="]
    assert (found["detected_lang"], found["transcription_model"]) == ("en", "vendor1")
    assert found["transcript"]


async def test_a_recording_that_cannot_be_had_fails_with_a_sentence(
    api: httpx2.AsyncClient, receiver: Receiver
) -> None:
    with file_server() as files:
        address = files.give("/gone", b"", 410)
        body = {"recording_url": address, "transcription_model": "vendor1", "webhook_url": receiver.url}
        made = (await api.post("/recording", json=body)).json()
        await asyncio.to_thread(receiver.wait, made["id"], "failed", timeout_s=60)
    found = (await api.get(f"/recording/{made['id']}")).json()
    assert found["events"][-1]["data"]["cause"] == "fetch_failed"
    assert "410" in found["events"][-1]["data"]["message"]


async def test_the_log_says_who_asked_what_and_holds_no_secret(service: Service, api: httpx2.AsyncClient) -> None:
    mark = f"log-{time.time_ns()}"
    headers = {"X-Request-Id": mark}
    body = {
        "service": "zoom",
        "meeting_url": f"https://zoom.us/j/12345678901?pwd=passcode-{mark}",
        "bot_name": "Minutes",
        "transcription_model": "none",
        "scheduled_start_time": 4_000_000_000,
        "authentication": {"zoom_zak_token": f"zak-{mark}"},
        "webhook_url": f"https://a.example/?token=hook-{mark}",
    }
    made = (await api.post("/bot", json=body, headers=headers)).json()
    await api.get(f"/bot/{made['id']}", headers=headers)
    await api.get("/bot", params={"cursor": f"cursor-{mark}"}, headers=headers)
    async with httpx2.AsyncClient(base_url=service.url, headers=headers, timeout=60) as stranger:
        await stranger.get("/bot", headers={"Authorization": f"Bearer sk_key-{mark}"})
        await stranger.get(f"/../../files/bots/x/y?signature=signed-{mark}")
        await stranger.get(f"/nowhere/path-{mark}")
    await api.delete(f"/bot/{made['id']}", headers=headers)
    # A line is written when its answer is out, and comes by way of the supervisor, in order.
    last = f"last{time.time_ns()}"
    await api.get("/bot", headers={"X-Request-Id": last})
    until(lambda: f'"{last}"' in service.log.read_text(), "the line of the last request")

    text = service.log.read_text()
    lines = [json.loads(line) for line in text.splitlines() if f'"{mark}"' in line]
    answered = [line for line in lines if line["action"] == "request_answered"]
    assert [line["status"] for line in answered] == [200, 200, 400, 401, 404, 404, 200]
    assert [line["route"] for line in answered][:2] == ["/bot", "/bot/{id}"]
    assert [bool(line["key_id"]) for line in answered] == [True, True, True, False, False, False, True]
    assert {"bot_created", "bot_deleted"} <= {line["action"] for line in lines}
    assert f"-{mark}" not in text.replace(f'"{mark}"', "")
    assert service.key not in text
