"""What a caller deletes is nowhere any more: not in the database's files, the storage, the message server, the log."""

import asyncio
import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2

from harness.file_server import file_server
from harness.journeys import look, reach, send_bot
from harness.painted import picture
from harness.receiver import Receiver
from harness.service import Service, until
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import CastMember, ScriptedAct, demo

SPEECH = Path(__file__).parents[2] / "src/sederunt/practice/speech"


async def test_nothing_of_a_deleted_bot_or_recording_is_left_even_when_the_worker_dies_meanwhile(
    start_service: Callable[..., Service], meetings: PracticeClient, receiver: Receiver
) -> None:
    service = start_service()
    async with service.client() as api:
        bot, said = await _finished_bot(api, meetings, receiver)
        uploaded = await _uploaded(api, receiver)
        fetched = await _fetched(api, receiver)
        words = [*BOT_WORDS.values(), said, *UPLOAD_WORDS.values(), FETCH_WORD]
        until(lambda: not set(words) - _found(service.data, words), "everything to be on disk")
        assert _found(service.data / "nats", BOT_WORDS.values()) >= {BOT_WORDS["chat"], BOT_WORDS["speaker"]}

        for path in (f"/bot/{bot['id']}", f"/recording/{uploaded['id']}", f"/recording/{fetched['id']}"):
            assert (await api.delete(path)).status_code == 200
        service.kill("worker")
        await asyncio.to_thread(until, lambda: not _found(service.data, words), "everything to be gone", 120)
        for path in (f"/bot/{bot['id']}", f"/recording/{uploaded['id']}", f"/recording/{fetched['id']}"):
            assert (await api.get(path)).status_code == 404
        for resource in ("bot", "recording"):
            assert (await api.get(f"/{resource}")).json()["data"] == []
    service.stop()
    assert not _found(service.data, words)


BOT_WORDS = {
    "name": "Qzname Brimblewick",
    "metadata name": "qzmetaname",
    "metadata value": "qzmetavalue",
    "webhook": "qzwebhook",
    "vocabulary": "qzvocabulary",
    "greeting": "qzgreeting to all of you",
    "speaker": "Qzspeaker Tattersall",
    "chat": "qzchat from somebody else",
    "avatar": "qzavatarbytes",
}
UPLOAD_WORDS = {"content": "qzuploadedbytes", "webhook": "qzrecordinghook", "vocabulary": "qzrecordingword"}
FETCH_WORD = "qzfetchedaddress"


async def _finished_bot(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> tuple[dict[str, Any], str]:
    """A bot with everything that a bot can have, and some words that were said in its meeting."""
    short = demo(turns=1)
    (line,) = (act for act in short.acts if act.do == "say")
    who = BOT_WORDS["speaker"]
    script = replace(
        short,
        cast=(*short.cast, CastMember(name=who)),
        acts=(
            replace(line, who=who),
            ScriptedAct(at_s=2.0, do="chat", who=who, text=BOT_WORDS["chat"]),
            *short.acts[1:],
        ),
    )
    meeting = await meetings.open_meeting(script)
    bot = await send_bot(
        api,
        meeting.url,
        receiver,
        bot_name=BOT_WORDS["name"],
        transcription_model="whisper",
        custom_metadata={BOT_WORDS["metadata name"]: BOT_WORDS["metadata value"]},
        webhook_url=f"{receiver.url}?{BOT_WORDS['webhook']}",
        custom_vocabulary=[BOT_WORDS["vocabulary"]],
        initial_chat_message=BOT_WORDS["greeting"],
        bot_avatar_file=base64.b64encode(picture((200, 30, 40)) + BOT_WORDS["avatar"].encode()).decode(),
    )
    await reach(receiver, bot, "finished", timeout_s=180)
    found = await look(api, bot)
    assert who in {person["name"] for person in found["participants"]}
    said: str = max((segment["transcript"] for segment in found["transcript"]), key=len)
    return bot, json.dumps(said.strip())[1:-1]


async def _uploaded(api: httpx2.AsyncClient, receiver: Receiver) -> dict[str, Any]:
    data = (SPEECH / "jfk.wav").read_bytes() + UPLOAD_WORDS["content"].encode()
    form = {
        "transcription_model": "whisper",
        "lang": "en",
        "webhook_url": f"{receiver.url}?{UPLOAD_WORDS['webhook']}",
        "custom_vocabulary": UPLOAD_WORDS["vocabulary"],
    }
    answer = await api.post("/recording", data=form, files={"recording_file": ("speech.wav", data)})
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    await reach(receiver, made, "finished")
    return made


async def _fetched(api: httpx2.AsyncClient, receiver: Receiver) -> dict[str, Any]:
    """A recording whose address did not deliver, and stands in the event."""
    with file_server() as files:
        address = files.give(f"/{FETCH_WORD}?token=1", b"gone", 410)
        body = {"recording_url": address, "transcription_model": "whisper", "webhook_url": receiver.url}
        made: dict[str, Any] = (await api.post("/recording", json=body)).json()
        await reach(receiver, made, "failed")
    return made


def _found(folder: Path, words: Iterable[str]) -> set[str]:
    """Which of the words stand in any file below the folder, or in its name."""
    wanted = {word: word.encode() for word in words}
    found = set[str]()
    for path in folder.rglob("*"):
        try:
            content = str(path).encode() + (path.read_bytes() if path.is_file() else b"")
        except FileNotFoundError:  # gone meanwhile
            continue
        found |= {word for word, needle in wanted.items() if needle in content}
    return found
