"""A bot sits in a meeting and brings back who said what."""

import json
from pathlib import Path

import httpx2
from standardwebhooks import Webhook

from harness.collector import Collector
from harness.journeys import (
    begin,
    download,
    ffprobe,
    largest_hole_s,
    look,
    reach,
    send_bot,
    stay_bounds_s,
    unhurried,
)
from harness.leaks import PLANTED
from harness.receiver import TOLD_TRANSCRIBED, Receiver
from harness.service import Service
from sederunt.bench.words import word_error_rate
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import Variant, demo

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
SPANS = (
    "POST /bot",
    "queue attend",
    "attend",
    "open page",
    "knock",
    "sit",
    "assemble",
    "assemble pieces",
    "transcribe",
    "transcribe tracks",
    "deliver",
    "POST webhook",
)


async def test_a_bot_knocks_listens_and_brings_back_who_said_what(
    api: httpx2.AsyncClient,
    meetings: PracticeClient,
    receiver: Receiver,
    tmp_path: Path,
    service: Service,
    collector: Collector,
) -> None:
    script = unhurried(demo(Variant(entry="knock", media_prompt="both"), turns=4), begins=False)
    meeting = await meetings.open_meeting(script)
    api.headers |= {"X-Request-Id": "order-7", "traceparent": TRACEPARENT}
    bot = await send_bot(
        api,
        meeting.url,
        receiver,
        transcription_model="whisper",
        initial_chat_message="Hello, I take the minutes.",
        custom_metadata={"matter": "the Aberdeen acquisition"},
    )
    assert bot["status"] == "booting"
    knocking = await meeting.wait_for("knocked")
    assert knocking["name"] == "Minutes"
    await meeting.admit()
    await begin(meeting, receiver, bot)
    await reach(receiver, bot, "finished", timeout_s=180)

    found = await look(api, bot)
    assert receiver.statuses(bot["id"]) == [*TOLD_TRANSCRIBED]
    assert found["stop_reason"] == "meeting_ended"
    assert found["verdict"] == "healthy"
    assert {p["name"] for p in found["participants"]} == {"Ada Lovelace", "Charles Babbage", "Mary Somerville"}
    assert {s["speaker_name"] for s in found["transcript"]} == {who for who, _ in script.reference()}
    heard = " ".join(s["transcript"] for s in found["transcript"])
    assert word_error_rate(" ".join(text for _, text in script.reference()), heard) <= 0.12
    assert all(p["events"] for p in found["participants"])
    for segment in found["transcript"]:
        for utterance in segment["utterances"]:
            assert [w["word"] for w in utterance["words"]]

    events = [e for e in found["events"] if e["event"] == "status_update"]
    assert [e["data"]["new_status"] for e in events] == [*TOLD_TRANSCRIBED]
    recording = ffprobe(await download(found["recording_url"], tmp_path / "recording.webm"))
    assert [s["codec_name"] for s in recording["streams"]] == ["opus"]
    assert largest_hole_s(recording) < 0.001
    least_s, most_s = stay_bounds_s(found)
    assert least_s < float(recording["format"]["duration"]) < most_s
    chat = (await meeting.state())["chat"]
    assert [line["text"] for line in chat if line["sender"] == "Minutes"] == ["Hello, I take the minutes."]

    # One request, in the logs and the spans of all roles, up to the receiver.
    _, trace_id, ours, _ = TRACEPARENT.split("-")
    spans = collector.wait(trace_id, SPANS, began_by=ours)
    assert {span.service for span in spans} == {"sederunt-api", "sederunt-host", "sederunt-worker"}
    told = [json.loads(line) for line in service.log.read_text().splitlines() if '"order-7"' in line]
    assert {line["role"] for line in told if line["request_id"] == "order-7"} == {"api", "host", "worker"}
    hooks = [d for d in receiver.deliveries if d.body.get("bot_id") == bot["id"]]
    assert {hook.headers["x-request-id"] for hook in hooks} == {"order-7"}
    assert not [text for text in PLANTED.texts for span in spans if text in str(span.attributes)]


async def test_no_log_has_a_secret_or_a_word_of_what_was_said(api: httpx2.AsyncClient, service: Service) -> None:
    """What every other test plants is looked for at the end of the run; here is some of each kind."""
    made = await api.post(
        "/bot",
        json={
            "service": "zoom",
            "meeting_url": "https://zoom.us/j/12345678901?pwd=Passcode-of-theirs",
            "bot_name": "Minutes",
            "transcription_model": "none",
            "scheduled_start_time": 4_000_000_000,
            "authentication": {"zoom_zak_token": "zak-of-nobody-else"},
            "custom_metadata": {"a key of somebody's own": "and a value of theirs"},
        },
    )
    assert made.status_code == 200, made.text
    wrong = {**json.loads(made.request.content), "custom_metadata": {"deep": {"x": "matter of somebody"}}}
    assert (await api.post("/bot", json=wrong)).status_code == 400
    service.run("accounts", "webhook-secret")
    service.run("keys", "create", "another")
    service.run("credentials", "add", "deepgram", given="vendor-key-of-theirs\n")
    service.run("accounts", "add-meeting", "gmeet", "registrar@aberdeen.example", given="Trombone-84 staple\n")
    assert {"key", "metadata", "chat", "words", "token", "secret", "password"} <= set(PLANTED.texts.values())
    assert '"bot_created"' in service.log.read_text()
    assert not PLANTED.leaked()


async def test_webhooks_carry_the_metadata_and_a_signature_anyone_can_check(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, webhook_secret: str
) -> None:
    meeting = await meetings.open_meeting(demo(Variant(entry="invalid")))
    bot = await send_bot(api, meeting.url, receiver, custom_metadata={"room": "9"})
    await reach(receiver, bot, "not_admitted")
    deliveries = [d for d in receiver.deliveries if d.body.get("bot_id") == bot["id"]]
    assert deliveries[0].body["type"] == "status_update"
    assert deliveries[0].body["custom_metadata"] == {"room": "9"}
    for delivery in deliveries:
        Webhook(webhook_secret).verify(delivery.raw, {k.lower(): v for k, v in delivery.headers.items()})
