"""Soniox: files, then transcriptions of them; live tokens over a socket. Milliseconds, speakers "1", …, sub-words."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from websockets.datastructures import Headers

from harness.vendors.jobs import Job, fetched
from harness.vendors.recognition import NoSound, Phrase, SpokenWord
from harness.vendors.rest import Asked, Operation, Reply
from harness.vendors.shapes import BOOL, INT, NUMBER, TEXT, WHOLE, Refusal, check, check_query
from harness.vendors.sockets import HangUp, Socket
from harness.vendors.vendor import Limits, Vendor

CONTEXT = {
    "general": [{"key": TEXT, "value": TEXT}],
    "text": TEXT,
    "terms": [TEXT],
    "translation_terms": [{"source": TEXT, "target": TEXT}],
}
SHARED = {
    "language_hints": [TEXT],
    "language_hints_strict": BOOL,
    "enable_speaker_diarization": BOOL,
    "enable_language_identification": BOOL,
    "context": (CONTEXT, TEXT),
    "client_reference_id": TEXT,
}
OF_JOBS = {
    **SHARED,
    "model": frozenset({"stt-async-v5", "stt-async-v4", "stt-async-v3"}),
    "audio_url": TEXT,
    "file_id": TEXT,
    "webhook_url": TEXT,
    "webhook_auth_header_name": TEXT,
    "webhook_auth_header_value": TEXT,
}
OF_STREAMS = {
    **SHARED,
    "api_key": TEXT,
    "model": frozenset({"stt-rt-v5", "stt-rt-v4", "stt-rt-v3"}),
    "audio_format": frozenset({"pcm_s16le"}),
    "sample_rate": frozenset({16_000}),
    "num_channels": frozenset({1}),
    "enable_endpoint_detection": BOOL,
    "max_endpoint_delay_ms": INT,
    "endpoint_sensitivity": NUMBER,
    "endpoint_latency_adjustment_level": INT,
}
LONGEST_REFERENCE = 256
KINDS = {
    400: "invalid_request",
    401: "unauthenticated",
    402: "organization_balance_exhausted",
    403: "forbidden",
    404: "not_found",
    409: "invalid_state",
    413: "payload_too_large",
    429: "rate_limit_exceeded",
}


def _pieces(word: SpokenWord) -> Iterator[tuple[str, float, float]]:
    """A word as tokens: longer ones in two, the first of them with the space before it."""
    cut = len(word.text) // 2 if len(word.text) > 5 else len(word.text)
    middle = word.start + (word.end - word.start) * cut / max(1, len(word.text))
    yield word.text[:cut], word.start, middle
    if word.text[cut:]:
        yield word.text[cut:], middle, word.end


def tokens_of(
    phrase: Phrase, *, speaker: bool, language: bool, first: bool, final: bool | None = None
) -> list[dict[str, Any]]:
    """The tokens of a phrase."""
    tokens: list[dict[str, Any]] = []
    for word in phrase.words:
        for number, (text, start, end) in enumerate(_pieces(word)):
            begins = number == 0 and not (first and not tokens)
            token: dict[str, Any] = {
                "text": (" " if begins else "") + text,
                "start_ms": round(start * 1000),
                "end_ms": round(end * 1000),
                "confidence": word.confidence,
            }
            if speaker:
                token["speaker"] = str(phrase.speaker + 1)
            if language:
                token["language"] = "en"
            tokens.append(token if final is None else token | {"is_final": final})
    return tokens


class Stream(Socket):
    """Configured by its first message; final tokens come once, others are replaced by each message."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.config: dict[str, Any] = {}
        self.said_anything = False

    @classmethod
    def check(cls, vendor: Vendor, path: str, query: list[tuple[str, str]], headers: Headers) -> dict[str, str]:
        if path != "/transcribe-websocket":
            raise Refusal(404, "Not found")
        check_query(query, {})
        vendor.authorised(headers)
        return {}

    async def begin(self) -> None:
        message = await self.receive()
        try:
            self.config = json.loads(message)
            self.stream.received.append(self.config)
            check(self.config, OF_STREAMS, "configuration")
            missing = [name for name in ("model", "audio_format") if name not in self.config]
            if missing or ("sample_rate" not in self.config) or ("num_channels" not in self.config):
                raise Refusal(400, "model, audio_format, sample_rate and num_channels are required for raw audio")
            if not 500 <= self.config.get("max_endpoint_delay_ms", 2000) <= 3000:
                raise Refusal(400, "max_endpoint_delay_ms must be between 500 and 3000")
        except (ValueError, Refusal) as fault:
            self.stream.refusal = f"configuration: {fault}"
            raise self._error(400, str(fault)) from None
        self.listen(diarize=bool(self.config.get("enable_speaker_diarization")))

    async def on_text(self, text: str) -> None:
        assert self.ears is not None
        if not text:
            await self.settle()
            await self._tell([], finished=True)
            raise HangUp(1000)
        try:
            kind = json.loads(text).get("type")
        except ValueError:
            kind = None
        if kind == "finalize":
            self.ears.flush()
            await self._tell([self._mark("<fin>")])
        elif kind != "keepalive":
            self.stream.refusal = f"unknown message {text[:80]}"
            raise self._error(400, "Control request invalid type.")

    async def tell(self, phrase: Phrase, *, final: bool) -> None:
        tokens = tokens_of(
            phrase,
            speaker=bool(self.config.get("enable_speaker_diarization")),
            language=bool(self.config.get("enable_language_identification")),
            first=not self.said_anything,
            final=final,
        )
        if final and tokens:
            self.said_anything = True
            if self.config.get("enable_endpoint_detection"):
                tokens.append(self._mark("<end>"))
        await self.send_transcript(self._message(tokens, final_s=phrase.end if final else None), final=final)

    def idle(self) -> HangUp:
        return self._error(408, "Request timeout.")

    def over_limit(self) -> HangUp:
        return self._error(400, "Maximum audio duration exceeded")

    def too_fast(self) -> HangUp:
        self.stream.refusal = "sound came faster than real time"
        return self._error(400, "Audio is sent too fast")

    def broken(self, code: int, message: str) -> HangUp:
        words = message or ("Cannot continue request (code 1). Please restart the request." if code == 503 else "error")
        return self._error(code or 500, words)

    async def _tell(self, tokens: list[dict[str, Any]], *, finished: bool = False) -> None:
        message = self._message(tokens, final_s=self.seconds)
        await self.send(message | ({"finished": True} if finished else {}))

    def _message(self, tokens: list[dict[str, Any]], *, final_s: float | None) -> dict[str, Any]:
        total = round(self.seconds * 1000)
        done = total if final_s is None else round(final_s * 1000)
        return {"tokens": tokens, "final_audio_proc_ms": min(done, total), "total_audio_proc_ms": total}

    def _mark(self, text: str) -> dict[str, Any]:
        return {"text": text, "confidence": 1.0, "is_final": True}

    def _error(self, code: int, text: str) -> HangUp:
        told = {"tokens": [], "error_code": code, "error_message": text, "final_audio_proc_ms": 0}
        return HangUp(1000, "", told | {"total_audio_proc_ms": round(self.seconds * 1000)})


class Soniox(Vendor):
    """api.soniox.com/v1 and stt-rt.soniox.com."""

    name = "soniox"
    socket = Stream
    socket_path = "/transcribe-websocket"

    @classmethod
    def usual_limits(cls) -> Limits:
        return Limits(audio_s=18_000, session_s=18_000, idle_s=20.0, sessions=10, speed=2.0, ahead_s=30.0)

    def authorised(self, headers: Mapping[str, str]) -> None:
        self.key_in(headers.get("authorization"), "Bearer ")

    def error_body(self, refusal: Refusal) -> Any:
        return {
            "status_code": refusal.status,
            "error_type": refusal.code or KINDS.get(refusal.status, "internal_error"),
            "message": refusal.message,
            "validation_errors": [],
            "request_id": str(uuid.uuid4()),
        }

    async def upload(self, asked: Asked) -> Reply:
        """POST /v1/files: the part file."""
        parts = {part.name: part for part in asked.form()}
        if unknown := sorted(set(parts) - {"file", "client_reference_id"}):
            raise Refusal(400, f"unknown part {', '.join(unknown)}")
        if "file" not in parts or not parts["file"].file_name:
            raise Refusal(400, "part file is missing")
        file = parts["file"]
        shown = {
            "id": self.jobs.keep(file.data),
            "filename": file.file_name,
            "size": len(file.data),
            "created_at": _now(),
        }
        return Reply(status=201, body=shown)

    async def submit(self, asked: Asked) -> Reply:
        """POST /v1/transcriptions."""
        options = asked.json()
        check(options, OF_JOBS)
        if "model" not in options or ("file_id" in options) == ("audio_url" in options):
            raise Refusal(400, "give model, and file_id or audio_url")
        if len(options.get("client_reference_id", "")) > LONGEST_REFERENCE:
            raise Refusal(400, f"client_reference_id: at most {LONGEST_REFERENCE} characters")
        if "file_id" in options and options["file_id"] not in self.jobs.files:
            raise Refusal(404, "File not found", code="file_not_found")
        try:
            sound = self.jobs.files.get(options.get("file_id", "")) or await fetched(
                options["audio_url"], self.jobs.files
            )
        except (NoSound, KeyError):
            sound = b""
        job = await self.jobs.submit(
            sound,
            options,
            reference=options.get("client_reference_id"),
            diarize=bool(options.get("enable_speaker_diarization")),
            most_s=self.limits.audio_s,
        )
        return Reply(status=201, body=self._shown(job))

    async def poll(self, asked: Asked) -> Reply:
        """GET /v1/transcriptions/{id}."""
        job = self._job(asked)
        job.polls += 1
        return Reply(body=self._shown(job))

    async def list_jobs(self, asked: Asked) -> Reply:
        """GET /v1/transcriptions."""
        check_query(asked.query, {"limit": WHOLE, "cursor": TEXT})
        rows = [self._shown(job) for job in reversed(self.jobs.jobs.values())]
        return Reply(body={"transcriptions": rows, "next_page_cursor": None})

    async def list_files(self, asked: Asked) -> Reply:
        """GET /v1/files."""
        check_query(asked.query, {"limit": WHOLE, "cursor": TEXT})
        rows = [
            {"id": name, "filename": "audio", "size": len(data), "created_at": _now()}
            for name, data in self.jobs.files.items()
        ]
        return Reply(body={"files": rows, "next_page_cursor": None})

    async def fetch(self, asked: Asked) -> Reply:
        """GET /v1/transcriptions/{id}/transcript."""
        job = self._job(asked)
        if self._status(job) != "completed":
            raise Refusal(409, "The transcription is not completed", code="transcription_invalid_state")
        tokens: list[dict[str, Any]] = []
        for phrase in job.phrases:
            tokens += tokens_of(
                phrase,
                speaker=bool(job.options.get("enable_speaker_diarization")),
                language=bool(job.options.get("enable_language_identification")),
                first=not tokens,
            )
        text = "".join(token["text"] for token in tokens)
        return Reply(body=job.spoiled({"id": job.id, "text": text, "tokens": tokens}))

    async def delete(self, asked: Asked) -> Reply:
        """DELETE /v1/transcriptions/{id}."""
        job = self._job(asked)
        if self._status(job) == "processing":
            raise Refusal(409, "The transcription is being processed", code="transcription_invalid_state")
        self.jobs.drop(job.id)
        return Reply(status=204)

    async def delete_file(self, asked: Asked) -> Reply:
        """DELETE /v1/files/{id}."""
        if asked.path["id"] not in self.jobs.files:
            raise Refusal(404, "File not found", code="file_not_found")
        self.jobs.drop(asked.path["id"])
        return Reply(status=204)

    async def models(self, _: Asked) -> Reply:
        """GET /v1/models."""
        return Reply(body={"models": []})

    operations = (
        Operation("upload", "POST", "/v1/files", upload),
        Operation("list_files", "GET", "/v1/files", list_files),
        Operation("delete_file", "DELETE", "/v1/files/{id}", delete_file),
        Operation("submit", "POST", "/v1/transcriptions", submit),
        Operation("list", "GET", "/v1/transcriptions", list_jobs),
        Operation("poll", "GET", "/v1/transcriptions/{id}", poll),
        Operation("fetch", "GET", "/v1/transcriptions/{id}/transcript", fetch),
        Operation("delete", "DELETE", "/v1/transcriptions/{id}", delete),
        Operation("check", "GET", "/v1/models", models),
    )

    def _job(self, asked: Asked) -> Job:
        job = self.jobs.jobs.get(asked.path["id"])
        if job is None:
            raise Refusal(404, "Transcription not found", code="transcription_not_found")
        return job

    def _status(self, job: Job) -> str:
        if job.polls <= self.limits.polls or not job.is_done:
            return "queued" if job.polls == 0 else "processing"
        return "error" if job.failure else "completed"

    def _shown(self, job: Job) -> dict[str, Any]:
        status = self._status(job)
        options = job.options
        return {
            "id": job.id,
            "status": status,
            "created_at": _now(),
            "model": options["model"],
            "audio_url": options.get("audio_url"),
            "file_id": options.get("file_id"),
            "filename": "audio",
            "language_hints": options.get("language_hints"),
            "enable_speaker_diarization": options.get("enable_speaker_diarization", False),
            "enable_language_identification": options.get("enable_language_identification", False),
            "audio_duration_ms": round(job.seconds * 1000) if status == "completed" else None,
            "error_type": "internal_error" if status == "error" else None,
            "error_message": job.failure if status == "error" else None,
            "client_reference_id": options.get("client_reference_id"),
        }


def _now() -> str:
    return datetime.now(UTC).isoformat()
