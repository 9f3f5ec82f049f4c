"""Gladia: upload, job, poll; a live session that is begun by POST and can be resumed. Seconds."""

from __future__ import annotations

import asyncio
import base64
import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from websockets.datastructures import Headers

from harness.vendors.jobs import Job, fetched
from harness.vendors.ledger import Bill
from harness.vendors.recognition import RATE, LiveRecognition, NoSound, Phrase
from harness.vendors.rest import Asked, Operation, Reply
from harness.vendors.shapes import ANY, BOOL, INT, NUMBER, TEXT, WHOLE, Refusal, check, check_query
from harness.vendors.sockets import HangUp, Socket
from harness.vendors.vendor import Limits, Vendor

MODELS = frozenset({"solaria-1", "solaria-3", "solaria-fusion"})
VOCABULARY = {
    "vocabulary": [(TEXT, {"value": TEXT, "intensity": NUMBER, "pronunciations": [TEXT], "language": TEXT})],
    "default_intensity": NUMBER,
}
LANGUAGES = {"languages": [TEXT], "code_switching": BOOL}
CALLBACK = {"url": TEXT, "method": frozenset({"POST", "PUT"})}
OF_JOBS = {
    "audio_url": TEXT,
    "model": MODELS,
    "language_config": LANGUAGES,
    "diarization": BOOL,
    "diarization_config": {"number_of_speakers": INT, "min_speakers": INT, "max_speakers": INT},
    "custom_vocabulary": BOOL,
    "custom_vocabulary_config": VOCABULARY,
    "custom_spelling": BOOL,
    "custom_spelling_config": {"spelling_dictionary": ANY},
    "punctuation_enhanced": BOOL,
    "sentences": BOOL,
    "subtitles": BOOL,
    "subtitles_config": ANY,
    "custom_metadata": ANY,
    "callback": BOOL,
    "callback_config": CALLBACK,
}
MESSAGES = {
    f"receive_{kind}": BOOL
    for kind in (
        "partial_transcripts",
        "final_transcripts",
        "speech_events",
        "pre_processing_events",
        "realtime_processing_events",
        "post_processing_events",
        "acknowledgments",
        "errors",
        "lifecycle_events",
    )
}
# What is sent where the client did not say.
USUAL = {"receive_partial_transcripts": False, "receive_acknowledgments": True, "receive_lifecycle_events": True}
OF_STREAMS = {
    "encoding": frozenset({"wav/pcm"}),
    "bit_depth": frozenset({16}),
    "sample_rate": frozenset({16_000}),
    "channels": frozenset({1}),
    "model": MODELS,
    "endpointing": NUMBER,
    "maximum_duration_without_endpointing": NUMBER,
    "language_config": LANGUAGES,
    "pre_processing": {"audio_enhancer": BOOL, "speech_threshold": NUMBER},
    "realtime_processing": {
        "custom_vocabulary": BOOL,
        "custom_vocabulary_config": VOCABULARY,
        "custom_spelling": BOOL,
        "custom_spelling_config": {"spelling_dictionary": ANY},
    },
    "post_processing": {"summarization": BOOL, "summarization_config": ANY, "chapterization": BOOL},
    "messages_config": MESSAGES,
    "custom_metadata": ANY,
    "callback": BOOL,
    "callback_config": ANY,
}
MOST_TERMS, MOST_LETTERS, MOST_WORDS = 100, 10_000, 5
LARGEST_FRAME = 2**20


def _check_vocabulary(config: Mapping[str, Any]) -> None:
    if "custom_vocabulary_config" in config and not config.get("custom_vocabulary"):
        raise Refusal(400, "custom_vocabulary_config needs custom_vocabulary")
    entries = config.get("custom_vocabulary_config", {}).get("vocabulary", [])
    terms = [entry if isinstance(entry, str) else entry["value"] for entry in entries]
    if len(terms) > MOST_TERMS or sum(map(len, terms)) > MOST_LETTERS:
        raise Refusal(400, f"custom_vocabulary: at most {MOST_TERMS} entries and {MOST_LETTERS} characters")
    if any(len(term.split()) > MOST_WORDS for term in terms):
        raise Refusal(400, f"custom_vocabulary: at most {MOST_WORDS} words an entry")


def _utterance(phrase: Phrase, *, diarized: bool) -> dict[str, Any]:
    words = [
        {"word": f" {word.text}", "start": word.start, "end": word.end, "confidence": word.confidence}
        for word in phrase.words
    ]
    shown: dict[str, Any] = {
        "start": phrase.start,
        "end": phrase.end,
        "confidence": phrase.confidence,
        "channel": phrase.channel,
        "words": words,
        "text": phrase.text,
        "language": "en",
    }
    return shown | ({"speaker": phrase.speaker} if diarized else {})


class Session:
    """A live session: outlives its connections."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.id, self.options = str(uuid.uuid4()), options
        self.token = uuid.uuid4().hex
        self.events: asyncio.Queue[tuple[Phrase | float, bool]] = asyncio.Queue()
        self.ears: LiveRecognition | None = None
        self.pcm = bytearray()  # what was acknowledged
        self.connections = 0
        self.finals: list[Phrase] = []
        self.ids: dict[str, str] = {}
        self.is_over = False
        self.created_at = _now()

    def wants(self, kind: str) -> bool:
        """Whether the client is to get messages of a kind."""
        chosen: Mapping[str, bool] = self.options.get("messages_config", {})
        return chosen.get(f"receive_{kind}", USUAL.get(f"receive_{kind}", True))


class Stream(Socket):
    """One connection of a session; sound counts once it is acknowledged."""

    vendor: Gladia

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.session = self.vendor.sessions[self.query["token"]]
        self.stream.id = self.session.id
        self.pending = bytearray()
        self.unacknowledged = 0
        self._events = self.session.events

    @classmethod
    def check(cls, vendor: Vendor, path: str, query: list[tuple[str, str]], headers: Headers) -> dict[str, str]:
        assert isinstance(vendor, Gladia)
        given = check_query(query, {"token": TEXT}, required=("token",))
        if path != "/v2/live" or given["token"] not in vendor.sessions:
            raise Refusal(401, "token is not valid")
        return given

    async def begin(self) -> None:
        session = self.session
        if session.is_over:
            raise HangUp(4403, "Session is over")
        session.connections += 1
        if session.ears is None:
            session.ears = LiveRecognition(lambda what, final: session.events.put_nowait((what, final)))
            if session.wants("lifecycle_events"):
                await self.send(self._message("start_session"))
                await self.send(self._message("start_recording"))
        self.ears = session.ears

    async def on_sound(self, data: bytes) -> None:
        self.pending += data
        self.unacknowledged += 1
        if self.unacknowledged >= self.vendor.limits.extra.get("ack_every", 1):
            await self._acknowledge()

    async def on_text(self, text: str) -> None:
        try:
            message = json.loads(text)
        except ValueError:
            message = {}
        kind = message.get("type")
        if kind == "audio_chunk":
            await self._sound(base64.b64decode(message["data"]["chunk"]))
        elif kind == "stop_recording":
            await self._stop()
        else:
            self.stream.refusal = f"unknown message {text[:80]}"
            raise HangUp(4400, "Invalid message")

    async def tell_onset(self, at: float) -> None:
        if self.session.wants("speech_events"):
            await self.send(self._message("speech_start", {"time": round(at, 3), "channel": 0}))

    async def tell(self, phrase: Phrase, *, final: bool) -> None:
        if final and phrase.words:
            self.session.finals.append(phrase)
        if not phrase.words or not self.session.wants("final_transcripts" if final else "partial_transcripts"):
            return
        ids = self.session.ids
        told = {
            "id": ids.setdefault(phrase.key, f"00_{len(ids):08d}"),
            "is_final": final,
            "utterance": _utterance(phrase, diarized=False),
        }
        await self.send_transcript(self._message("transcript", told), final=final)
        if final and self.session.wants("speech_events"):
            await self.send(self._message("speech_end", {"time": phrase.end, "channel": 0}))

    def over_limit(self) -> HangUp:
        self.session.is_over = True
        return HangUp(4408, "Session reached its maximum duration")

    def broken(self, code: int, message: str) -> HangUp:
        return HangUp(code or 1011, message or "internal error")

    def let_go(self) -> None:
        """The session waits for its next connection, and pays once."""

    async def _acknowledge(self) -> None:
        first = len(self.session.pcm)
        self.session.pcm += self.pending
        assert self.ears is not None
        if self.pending:
            self.ears.feed(bytes(self.pending))
        self.pending.clear()
        self.unacknowledged = 0
        last = len(self.session.pcm)
        if self.session.wants("acknowledgments"):
            ranges = {"byte_range": [first, last], "time_range": [first / 2 / RATE, last / 2 / RATE]}
            await self.send(self._message("audio_chunk", ranges) | {"acknowledged": True, "error": None})

    async def _stop(self) -> None:
        session = self.session
        if self.pending:
            await self._acknowledge()
        seconds = len(session.pcm) / 2 / RATE
        if session.wants("acknowledgments"):
            told = {"recording_duration": seconds, "recording_left_to_process": 0.0}
            await self.send(self._message("stop_recording", told) | {"acknowledged": True, "error": None})
        await self.settle()
        session.is_over = True
        self.vendor.ledger.billed.append(Bill(id=session.id, seconds=round(seconds, 3)))
        if session.wants("lifecycle_events"):
            await self.send(self._message("end_recording", {"recording_duration": seconds}))
        if session.wants("post_processing_events"):
            await self.send(self._message("post_transcript", _transcription(session.finals, diarized=False)))
            await self.send(self._message("post_final_transcript", _result(session.finals, seconds, diarized=False)))
        if session.wants("lifecycle_events"):
            await self.send(self._message("end_session"))
        raise HangUp(1000, "Session is over")

    def _message(self, kind: str, data: Any = None) -> dict[str, Any]:
        told = {"type": kind, "session_id": self.session.id, "created_at": _now()}
        return told | ({} if data is None else {"data": data})


class Gladia(Vendor):
    """api.gladia.io."""

    name = "gladia"
    socket = Stream
    socket_path = "/v2/live"

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.sessions: dict[str, Session] = {}

    @classmethod
    def usual_limits(cls) -> Limits:
        return Limits(file_bytes=1_000_000_000, audio_s=135 * 60, frame_bytes=LARGEST_FRAME, sessions=30)

    def authorised(self, headers: Mapping[str, str]) -> None:
        self.key_in(headers.get("x-gladia-key"))

    def error_body(self, refusal: Refusal) -> Any:
        return {
            "timestamp": _now(),
            "path": "",
            "request_id": f"G-{uuid.uuid4().hex[:8]}",
            "statusCode": refusal.status,
            "message": refusal.message,
        }

    async def upload(self, asked: Asked) -> Reply:
        """POST /v2/upload: the part audio."""
        parts = {part.name: part for part in asked.form()}
        if set(parts) != {"audio"} or not parts["audio"].file_name:
            raise Refusal(400, f"expected the part audio with a file name, got {', '.join(parts)}")
        part = parts["audio"]
        file_id = self.jobs.keep(part.data)
        name = part.file_name or ""
        about = {
            "id": file_id,
            "filename": name,
            "source": None,
            "extension": name.rpartition(".")[2],
            "size": len(part.data),
            "audio_duration": 0.0,
            "number_of_channels": 1,
        }
        return Reply(body={"audio_url": f"{self.url}/file/{file_id}", "audio_metadata": about})

    async def submit(self, asked: Asked) -> Reply:
        """POST /v2/pre-recorded."""
        options = asked.json()
        check(options, OF_JOBS)
        if "audio_url" not in options:
            raise Refusal(400, "audio_url is required")
        _check_vocabulary(options)
        if "diarization_config" in options and not options.get("diarization"):
            raise Refusal(400, "diarization_config needs diarization")
        try:
            sound = await fetched(options["audio_url"], self.jobs.files)
        except NoSound:
            sound = b""
        reference = options.get("custom_metadata")
        job = await self.jobs.submit(
            sound,
            options,
            reference=json.dumps(reference, sort_keys=True) if reference else None,
            by_channel=True,  # every channel is written down, as channels of the utterances
            diarize=bool(options.get("diarization")),
            most_s=self.limits.audio_s,
        )
        return Reply(status=201, body={"id": job.id, "result_url": f"{self.url}/v2/pre-recorded/{job.id}"})

    async def poll(self, asked: Asked) -> Reply:
        """GET /v2/pre-recorded/{id}."""
        job = self._job(asked)
        job.polls += 1
        return Reply(body=self._shown(job))

    async def list_jobs(self, asked: Asked) -> Reply:
        """GET /v2/pre-recorded: newest first, by `custom_metadata[name]` where that is given."""
        wanted = {name[16:-1]: value for name, value in asked.query if name.startswith("custom_metadata[")}
        plain = [(name, value) for name, value in asked.query if not name.startswith("custom_metadata[")]
        shapes = {
            "offset": WHOLE,
            "limit": WHOLE,
            "date": TEXT,
            "before_date": TEXT,
            "after_date": TEXT,
            "status": TEXT,
        }
        check_query(plain, shapes, repeated=("status",))
        rows = [
            self._shown(job)
            for job in reversed(self.jobs.jobs.values())
            if all(str(job.options.get("custom_metadata", {}).get(name)) == value for name, value in wanted.items())
        ]
        here = f"{self.url}/v2/pre-recorded?offset=0"
        return Reply(body={"first": here, "current": here, "next": None, "items": rows})

    async def delete(self, asked: Asked) -> Reply:
        """DELETE /v2/pre-recorded/{id}."""
        self.jobs.drop(self._job(asked).id)
        return Reply(status=202)

    async def begin_live(self, asked: Asked) -> Reply:
        """POST /v2/live: where to connect, with a token inside."""
        check_query(asked.query, {"region": frozenset({"eu-west", "us-west"})})
        options = asked.json()
        check(options, OF_STREAMS)
        _check_vocabulary(options.get("realtime_processing", {}))
        if not 0.01 <= options.get("endpointing", 0.05) <= 10:
            raise Refusal(400, "endpointing must be between 0.01 and 10")
        if not 5 <= options.get("maximum_duration_without_endpointing", 5) <= 60:
            raise Refusal(400, "maximum_duration_without_endpointing must be between 5 and 60")
        session = Session(options)
        self.sessions[session.token] = session
        self.ledger.kept.add(session.id)
        address = f"{self.socket_url}?token={session.token}"
        return Reply(status=201, body={"id": session.id, "created_at": session.created_at, "url": address})

    async def look(self, asked: Asked) -> Reply:
        """GET /v2/live/{id}."""
        session = self._session(asked)
        shown = {
            "id": session.id,
            "request_id": "G-practice",
            "version": 2,
            "status": "done" if session.is_over else "processing",
            "created_at": session.created_at,
            "kind": "live",
            "result": _result(session.finals, len(session.pcm) / 2 / RATE, diarized=False) if session.is_over else None,
        }
        return Reply(body=shown)

    async def delete_live(self, asked: Asked) -> Reply:
        """DELETE /v2/live/{id}."""
        session = self._session(asked)
        del self.sessions[session.token]
        self.ledger.kept.discard(session.id)
        self.ledger.deleted.append(session.id)
        self.ledger.note()
        return Reply(status=202)

    async def list_live(self, asked: Asked) -> Reply:
        """GET /v2/live: newest first."""
        check_query(asked.query, {"offset": WHOLE, "limit": WHOLE})
        rows = [
            {"id": session.id, "custom_metadata": session.options.get("custom_metadata")}
            for session in reversed(self.sessions.values())
        ]
        return Reply(body={"next": None, "items": rows})

    operations = (
        Operation("upload", "POST", "/v2/upload", upload),
        Operation("submit", "POST", "/v2/pre-recorded", submit),
        Operation("list", "GET", "/v2/pre-recorded", list_jobs),
        Operation("poll", "GET", "/v2/pre-recorded/{id}", poll),
        Operation("delete", "DELETE", "/v2/pre-recorded/{id}", delete),
        Operation("open", "POST", "/v2/live", begin_live),
        Operation("list_live", "GET", "/v2/live", list_live),
        Operation("look", "GET", "/v2/live/{id}", look),
        Operation("delete_live", "DELETE", "/v2/live/{id}", delete_live),
    )

    def _job(self, asked: Asked) -> Job:
        job = self.jobs.jobs.get(asked.path["id"])
        if job is None:
            raise Refusal(404, "Transcription not found")
        return job

    def _session(self, asked: Asked) -> Session:
        found = [session for session in self.sessions.values() if session.id == asked.path["id"]]
        if not found:
            raise Refusal(404, "Session not found")
        return found[0]

    def _shown(self, job: Job) -> dict[str, Any]:
        status = "queued" if job.polls == 0 else "processing"
        if job.polls > self.limits.polls and job.is_done:
            status = "error" if job.failure else "done"
        diarized = bool(job.options.get("diarization"))
        return {
            "id": job.id,
            "request_id": "G-practice",
            "version": 2,
            "status": status,
            "created_at": _now(),
            "kind": "pre-recorded",
            "completed_at": _now() if status in ("done", "error") else None,
            "custom_metadata": job.options.get("custom_metadata"),
            "error_code": 500 if status == "error" else None,
            "file": {"id": str(uuid.uuid4()), "filename": "audio", "audio_duration": job.seconds},
            "request_params": job.options,
            "result": job.spoiled(_result(job.phrases, job.seconds, diarized=diarized)) if status == "done" else None,
        }


def _transcription(phrases: list[Phrase], *, diarized: bool) -> dict[str, Any]:
    return {
        "full_transcript": " ".join(phrase.text for phrase in phrases),
        "languages": ["en"] if phrases else [],
        "utterances": [_utterance(phrase, diarized=diarized) for phrase in phrases],
    }


def _result(phrases: list[Phrase], seconds: float, *, diarized: bool) -> dict[str, Any]:
    about = {
        "audio_duration": seconds,
        "number_of_distinct_channels": len({phrase.channel for phrase in phrases}) or 1,
        "billing_time": seconds,
        "transcription_time": 1.0,
    }
    return {"metadata": about, "transcription": _transcription(phrases, diarized=diarized)}


def _now() -> str:
    return datetime.now(UTC).isoformat()
