"""Two accounts for the console: one with something of everything, one without; and people who look at them."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx2

from harness.api_room import ApiRoom, tone_wav
from sederunt.accounts.sign_in import MemberRole, SignIns
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.status import StopReason, Trigger
from sederunt.model.transcript import Segment, Transcript, Utterance, Word

BASE = "http://api.test"


@dataclass(frozen=True, kw_only=True)
class Furnished:
    """What the first account has."""

    finished: dict[str, Any]
    live: dict[str, Any]
    scheduled: dict[str, Any]
    refused: dict[str, Any]
    recording: dict[str, Any]


def spoken(start: float, text: str, who: str | None) -> Segment:
    words = tuple(
        Word(word=word, start=start + n * 0.4, end=start + n * 0.4 + 0.3, confidence=0.9)
        for n, word in enumerate(text.split())
    )
    said = Utterance(start=start, end=words[-1].end, speaker=0, confidence=0.9, transcript=text, words=words)
    return Segment(
        start=start,
        end=words[-1].end,
        speaker=0,
        confidence=0.9,
        transcript=text,
        utterances=(said,),
        speaker_name=who,
    )


TRANSCRIPT = Transcript(
    segments=tuple(
        spoken(n * 5.0, f"Sentence number {n} of the zanzibar meeting with <b>marks</b>.", ("Ada", "Charles")[n % 2])
        for n in range(400)
    ),
    detected_lang="en",
)


async def furnish(room: ApiRoom) -> Furnished:
    """Something of everything, made in the ways that the service makes it."""
    hook = "https://receiver.zanzibar.example/hook"
    finished = await room.bot_in("transcribing", bot_name="Zanzibar minutes", webhook_url=hook)
    bot_id = UUID(finished["id"])
    began = (await room.bots.get(bot_id)).recording_started_at
    assert began is not None
    at = round(began.timestamp() * 1000)
    events = (
        SpeakingEvent(type=SpeakingKind.STARTED, timestamp=at + 10),
        SpeakingEvent(type=SpeakingKind.STOPPED, timestamp=at + 900),
    )
    people = [Participant(key=n, name=n, avatar=None, first_seen_at=began, events=events) for n in ("Ada", "Charles")]
    await room.bots.save_participants(bot_id, people, {"ada": "Ada"})
    await room.objects.put(f"bots/{bot_id}/recording.webm", tone_wav(2))
    await room.bots.mark(
        bot_id,
        recording_object=f"bots/{bot_id}/recording.webm",
        capture={"packets": 12, "lost": 0, "cpu_s": 3.42, "memory_mib": 61.2},
        evidence={"signals": f"bots/{bot_id}/evidence/signals.json"},  # as of a bot that was asked to leave: no picture
    )
    await room.objects.put(f"bots/{bot_id}/tracks/0.mka", tone_wav(1))
    track = {"source": "ada", "file": "0.mka", "packets": 50, "start": 0.1, "end": 1.1, "heard_s": 0.9}
    await room.objects.put(f"bots/{bot_id}/tracks.json", json.dumps({"sources": [track]}).encode())
    await room.objects.put(f"bots/{bot_id}/peaks.json", b'{"duration": 2.0, "peaks": [10, 90, 40, 70]}')
    await room.transcripts.save(bot_id, TRANSCRIPT)
    await room.finish(bot_id, reason=StopReason.MEETING_ENDED)
    await room.client.post("/credential", json={"provider": "deepgram", "key": "s3cret-key-of-deepgram"})
    await room.client.post(
        "/meeting-account", json={"service": "gmeet", "email": "bot@zanzibar.example", "password": "x"}
    )
    feed = {"name": "Zanzibar calendar", "calendar_url": "https://calendar.zanzibar.example/basic.ics"}
    await room.client.post("/calendar-feed", json=feed)
    recording = await room.recording(tone_wav(2))
    await room.transcripts.save(UUID(recording["id"]), TRANSCRIPT)
    await room.recordings.record_transition(UUID(recording["id"]), Trigger.TRANSCRIBED)
    return Furnished(
        finished=finished,
        live=await room.bot_in("recording", bot_name="Live one"),
        scheduled=await room.bot_in("scheduled", bot_name="Later"),
        refused=await room.bot_in("not_admitted", bot_name="Refused"),
        recording=recording,
    )


async def link_for(room: ApiRoom, role: MemberRole = MemberRole.OWNER, account_id: UUID | None = None) -> str:
    """The path of a link that lets somebody in."""
    token = await SignIns(room.database).invite(account_id or room.account_id, role, name="Grace Hopper")
    return f"/welcome?token={token}"


async def visitor(room: ApiRoom, role: MemberRole = MemberRole.OWNER, account_id: UUID | None = None) -> "Visitor":
    """Somebody who is signed in, without a browser."""
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app), base_url=BASE, timeout=60)
    token = (await link_for(room, role, account_id)).partition("token=")[2]
    answer = await client.post("/welcome", data={"token": token})
    assert answer.status_code == 303, answer.text
    return Visitor(client)


class Visitor:
    """Their cookies, and the token that their pages know."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def page(self, path: str) -> httpx2.Response:
        return await self.client.get(path)

    async def csrf(self) -> str:
        page = (await self.client.get("/people")).text
        return page.partition('name="csrf" content="')[2].partition('"')[0]

    async def ask(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        """A request that a page's script would make."""
        headers = {"X-CSRF-Token": await self.csrf()}
        return await self.client.request(method, f"/api/v1{path}", json=body, headers=headers)


async def people_of(room: ApiRoom) -> list[UUID]:
    """Who was let in so far."""
    return [person.id for person in await SignIns(room.database).people.of_account(room.account_id)]


async def session_of(room: ApiRoom, person_id: UUID) -> Visitor:
    """Another browser of somebody who is there already."""
    token = await SignIns(room.database).invite(room.account_id, MemberRole.OWNER, person_id=person_id)
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app), base_url=BASE, timeout=60)
    await client.post("/welcome", data={"token": token})
    return Visitor(client)
