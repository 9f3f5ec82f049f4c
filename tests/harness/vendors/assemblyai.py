"""AssemblyAI: upload, job, poll; live turns over a socket. Milliseconds, speakers A, B, …; 200 with an error inside."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from websockets.datastructures import Headers

from harness.vendors.jobs import Job, fetched
from harness.vendors.recognition import NoSound, Phrase, SpokenWord
from harness.vendors.rest import Asked, Operation, Reply
from harness.vendors.shapes import (
    BOOL,
    DECIMAL,
    FLAG,
    INT,
    LANGUAGE,
    NUMBER,
    TEXT,
    WHOLE,
    Refusal,
    check,
    check_query,
)
from harness.vendors.sockets import HangUp, Socket
from harness.vendors.vendor import Limits, Vendor

OF_JOBS = {
    "audio_url": TEXT,
    "audio_start_from": INT,
    "audio_end_at": INT,
    "custom_spelling": [{"from": [TEXT], "to": TEXT}],
    "disfluencies": BOOL,
    "domain": TEXT,
    "filter_profanity": BOOL,
    "format_text": BOOL,
    "keyterms_prompt": [TEXT],
    "language_code": LANGUAGE,
    "language_codes": [LANGUAGE],
    "language_confidence_threshold": NUMBER,
    "language_detection": BOOL,
    "language_detection_options": {"expected_languages": [TEXT], "fallback_language": TEXT, "code_switching": BOOL},
    "multichannel": BOOL,
    "prompt": TEXT,
    "punctuate": BOOL,
    "speaker_labels": BOOL,
    "speaker_options": {"min_speakers_expected": INT, "max_speakers_expected": INT},
    "speakers_expected": INT,
    "speech_model": frozenset({"best", "nano", "slam-1", "universal"}),
    "speech_models": [frozenset({"universal-3-pro", "universal-3-5-pro", "universal-2", "universal", "slam-1"})],
    "speech_threshold": NUMBER,
    "temperature": NUMBER,
    "webhook_url": TEXT,
    "webhook_auth_header_name": TEXT,
    "webhook_auth_header_value": TEXT,
}
MODELS = frozenset(
    {
        "universal-streaming-english",
        "universal-streaming-multilingual",
        "u3-rt-pro",
        "universal-3-5-pro",
        "universal-3-6",
        "universal-3-6-pro",
        "whisper-rt",
    }
)
OF_STREAMS = {
    "sample_rate": frozenset({"16000"}),
    "encoding": frozenset({"pcm_s16le"}),
    "speech_model": MODELS,
    "format_turns": FLAG,
    "language_code": LANGUAGE,
    "language_codes": TEXT,
    "language_detection": FLAG,
    "speaker_labels": FLAG,
    "speaker_labels_revision_interval_ms": WHOLE,
    "max_speakers": WHOLE,
    "keyterms_prompt": TEXT,
    "filter_profanity": FLAG,
    "min_turn_silence": WHOLE,
    "min_end_of_turn_silence_when_confident": WHOLE,
    "max_turn_silence": WHOLE,
    "end_of_turn_confidence_threshold": DECIMAL,
    "inactivity_timeout": WHOLE,
    "session_heartbeat": FLAG,
    "vad_threshold": DECIMAL,
    "include_partial_turns": FLAG,
    "continuous_partials": FLAG,
    "domain": TEXT,
    "prompt": TEXT,
}
LEAST_FRAME_MS, MOST_FRAME_MS = 50, 1000
MOST_TERMS = {"universal-2": 200, "universal-3-pro": 1000}
STREAM_TERMS, STREAM_TERM_LENGTH = 100, 50


def letter(speaker: int) -> str:
    """A speaker's label."""
    return chr(ord("A") + speaker)


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


class Stream(Socket):
    """Turns: each message has the whole text of its turn; a formatted second final follows where that was asked for."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.turns: dict[str, int] = {}
        self.told: list[tuple[int, Phrase]] = []

    @classmethod
    def check(cls, vendor: Vendor, path: str, query: list[tuple[str, str]], headers: Headers) -> dict[str, str]:
        if path != "/v3/ws":
            raise Refusal(404, "Not found")
        vendor.authorised(headers)
        given = check_query(query, OF_STREAMS, required=("sample_rate", "speech_model"))
        terms = json.loads(given.get("keyterms_prompt", "[]"))
        check(terms, [TEXT], "keyterms_prompt")
        if len(terms) > STREAM_TERMS or any(len(term) > STREAM_TERM_LENGTH for term in terms):
            raise Refusal(400, f"keyterms_prompt: at most {STREAM_TERMS} terms of {STREAM_TERM_LENGTH} characters")
        if not given["speech_model"].startswith("universal-streaming") and "format_turns" in given:
            raise Refusal(400, "format_turns is not supported by this model: its turns are always formatted")
        return given

    @property
    def labelled(self) -> bool:
        return self.query.get("speaker_labels", "").lower() == "true"

    async def begin(self) -> None:
        self.listen(diarize=self.labelled)
        most_s = self.vendor.limits.session_s or 10_800
        await self.send(
            {
                "type": "Begin",
                "id": self.id,
                "expires_at": (datetime.now(UTC) + timedelta(seconds=most_s)).isoformat(),
                "configuration": {"model": self.query["speech_model"], "api_version": "2025-05-12"},
            }
        )

    async def on_sound(self, data: bytes) -> None:
        length_ms = len(data) / 32
        if not LEAST_FRAME_MS <= length_ms <= MOST_FRAME_MS:
            text = f"Input Duration Error: {length_ms} ms. Expected between {LEAST_FRAME_MS} and {MOST_FRAME_MS} ms"
            self.stream.refusal = text
            raise self._error(3007, text)
        self.hear(data)

    async def on_text(self, text: str) -> None:
        try:
            message = json.loads(text)
            kind = message["type"]
        except (ValueError, KeyError, TypeError):
            kind = None
        if kind == "ForceEndpoint":
            assert self.ears is not None
            self.ears.flush()
        elif kind == "Terminate":
            await self.settle()
            await self._revise()
            seconds = round(self.seconds)
            await self.send(
                {"type": "Termination", "audio_duration_seconds": seconds, "session_duration_seconds": seconds}
            )
            raise HangUp(1000)
        elif kind not in ("KeepAlive", "UpdateConfiguration"):
            self.stream.refusal = f"invalid message {text[:80]}"
            raise self._error(3006, "Invalid Message Type")

    async def tell_onset(self, at: float) -> None:
        await self.send({"type": "SpeechStarted", "timestamp": _ms(at)})

    async def tell(self, phrase: Phrase, *, final: bool) -> None:
        order = self.turns.setdefault(phrase.key, len(self.turns))
        formatted = not self.query["speech_model"].startswith("universal-streaming")
        wants_format = self.query.get("format_turns", "").lower() == "true"
        await self.send_transcript(self._turn(order, phrase, final=final, formatted=formatted), final=final)
        if final and wants_format:
            await self.send_transcript(self._turn(order, phrase, final=True, formatted=True), final=True)
        if final and phrase.words:
            self.told.append((order, phrase))

    def over_limit(self) -> HangUp:
        return self._error(3008, "Session Expired: Maximum session duration exceeded")

    def too_fast(self) -> HangUp:
        self.stream.refusal = "sound came faster than real time"
        return self._error(3007, "Audio Transmission Rate Exceeded: sent faster than real time")

    def idle(self) -> HangUp:
        return self._error(3005, "Session terminated due to inactivity")

    def broken(self, code: int, message: str) -> HangUp:
        return self._error(code or 3005, message or "Server error")

    def _error(self, code: int, text: str) -> HangUp:
        return HangUp(code, text[:100], {"type": "Error", "error_code": code, "error": text})

    def _turn(self, order: int, phrase: Phrase, *, final: bool, formatted: bool) -> dict[str, Any]:
        words = [self._word(word, phrase.speaker, final=final, formatted=formatted) for word in phrase.words]
        turn: dict[str, Any] = {
            "type": "Turn",
            "turn_order": order,
            "turn_is_formatted": final and formatted,
            "end_of_turn": final,
            "transcript": " ".join(word["text"] for word in words),
            "utterance": phrase.text if final else "",
            "end_of_turn_confidence": 0.9 if final else 0.1,
            "words": words,
        }
        if self.labelled:
            turn["speaker_label"] = letter(phrase.speaker) if phrase.words else "UNKNOWN"
        if self.query.get("language_detection", "").lower() == "true" and final:
            turn |= {"language_code": "en", "language_confidence": 0.98}
        return turn

    def _word(self, word: SpokenWord, speaker: int, *, final: bool, formatted: bool) -> dict[str, Any]:
        said = {
            "text": word.text if formatted else word.text.strip(".,?!;:").lower(),
            "start": _ms(word.start),
            "end": _ms(word.end),
            "confidence": word.confidence,
            "word_is_final": final,
        }
        return said | ({"speaker": letter(speaker)} if self.labelled else {})

    async def _revise(self) -> None:
        """What `limits.extra["revise"]` says: turn → label, told as a late correction."""
        wanted = self.vendor.limits.extra.get("revise")
        if not wanted or not self.labelled:
            return
        revisions = []
        for order, phrase in self.told:
            if order in wanted:
                label = wanted[order]
                words = [self._word(word, 0, final=True, formatted=True) | {"speaker": label} for word in phrase.words]
                revisions.append({"turn_order": order, "speaker_label": label, "words": words})
        await self.send({"type": "SpeakerRevision", "revisions": revisions})


class AssemblyAI(Vendor):
    """api.assemblyai.com and streaming.assemblyai.com."""

    name = "assemblyai"
    socket = Stream
    socket_path = "/v3/ws"

    @classmethod
    def usual_limits(cls) -> Limits:
        return Limits(
            file_bytes=2_200_000_000, audio_s=36_000, session_s=10_800, speed=2.0, ahead_s=10.0, frame_bytes=2**20
        )

    def authorised(self, headers: Mapping[str, str]) -> None:
        self.key_in(headers.get("authorization"))

    def error_body(self, refusal: Refusal) -> Any:
        return {"error": refusal.message}

    async def upload(self, asked: Asked) -> Reply:
        """POST /v2/upload: raw bytes."""
        if not asked.body:
            raise Refusal(400, "Upload failed, please try again.")
        return Reply(body={"upload_url": f"{self.url}/upload/{self.jobs.keep(asked.body)}"})

    async def submit(self, asked: Asked) -> Reply:
        """POST /v2/transcript."""
        options = asked.json()
        check(options, OF_JOBS)
        if "audio_url" not in options:
            raise Refusal(400, "audio_url is required")
        _check_choices(options)
        try:
            sound = await fetched(options["audio_url"], self.jobs.files)
        except NoSound as fault:
            sound = b""
            asked.noted.refusal = str(fault)
        job = await self.jobs.submit(
            sound,
            options,
            by_channel=bool(options.get("multichannel")),
            diarize=bool(options.get("speaker_labels")),
            most_s=self.limits.audio_s,
        )
        return Reply(body=self._shown(job, "queued"))

    async def poll(self, asked: Asked) -> Reply:
        """GET /v2/transcript/{id}."""
        job = self._job(asked)
        job.polls += 1
        return Reply(body=self._shown(job, self._status(job)))

    async def list_jobs(self, _: Asked) -> Reply:
        """GET /v2/transcript: newest first."""
        rows = [
            {
                "id": job.id,
                "status": self._status(job),
                "audio_url": job.options["audio_url"],
                "resource_url": f"{self.url}/v2/transcript/{job.id}",
                "created": datetime.now(UTC).isoformat(),
                "completed": None,
                "error": job.failure or None,
            }
            for job in reversed(self.jobs.jobs.values())
        ]
        page = {"limit": 10, "result_count": len(rows), "current_url": "", "prev_url": None, "next_url": None}
        return Reply(body={"page_details": page, "transcripts": rows})

    async def delete(self, asked: Asked) -> Reply:
        """DELETE /v2/transcript/{id}."""
        job = self._job(asked)
        self.jobs.drop(job.id)
        return Reply(
            body={
                "id": job.id,
                "status": "completed",
                "text": "Deleted by user.",
                "audio_url": "http://deleted_by_user",
            }
        )

    operations = (
        Operation("upload", "POST", "/v2/upload", upload),
        Operation("submit", "POST", "/v2/transcript", submit),
        Operation("poll", "GET", "/v2/transcript/{id}", poll),
        Operation("list", "GET", "/v2/transcript", list_jobs),
        Operation("delete", "DELETE", "/v2/transcript/{id}", delete),
    )

    def _job(self, asked: Asked) -> Job:
        job = self.jobs.jobs.get(asked.path["id"])
        if job is None:
            raise Refusal(404, "Transcript lookup error, transcript id not found")
        return job

    def _status(self, job: Job) -> str:
        if job.polls <= self.limits.polls or not job.is_done:
            return "queued" if job.polls == 0 else "processing"
        return "error" if job.failure else "completed"

    def _shown(self, job: Job, status: str) -> dict[str, Any]:
        options = job.options
        shown: dict[str, Any] = {
            "id": job.id,
            "status": status,
            "audio_url": options["audio_url"],
            "text": None,
            "words": None,
            "utterances": None,
            "confidence": None,
            "audio_duration": None,
            "language_code": options.get("language_code", "en_us"),
            "language_detection": options.get("language_detection", False),
            "speaker_labels": options.get("speaker_labels", False),
            "throttled": False,
        }
        if status == "error":
            return shown | {"error": job.failure}
        if status != "completed":
            return shown
        apart = bool(options.get("speaker_labels")) or bool(options.get("multichannel"))
        words = [_job_word(word, phrase, job) for phrase in job.phrases for word in phrase.words]
        shown |= {
            "text": " ".join(phrase.text for phrase in job.phrases),
            "words": words,
            "utterances": [_utterance(phrase, job) for phrase in job.phrases] if apart else None,
            "confidence": round(sum(word["confidence"] for word in words) / len(words), 4) if words else 0.0,
            "audio_duration": round(job.seconds),
            "speech_model_used": (options.get("speech_models") or ["universal-2"])[0],
        }
        if options.get("language_detection"):
            shown |= {"language_code": "en", "language_confidence": 0.98}
        changed: dict[str, Any] = job.spoiled(shown)
        return changed


def _check_choices(options: Mapping[str, Any]) -> None:
    models = options.get("speech_models") or ["universal-2"]
    terms = options.get("keyterms_prompt", [])
    most = MOST_TERMS.get(models[0], 1000)
    if len(terms) > most or any(len(term.split()) > 6 for term in terms):
        raise Refusal(400, f"keyterms_prompt: at most {most} terms of at most 6 words")
    if options.get("language_detection") and "language_code" in options:
        raise Refusal(400, "language_code and language_detection cannot be used together")
    if options.get("prompt") and terms:
        raise Refusal(400, "prompt and keyterms_prompt cannot be used together")


def _labels(phrase: Phrase, job: Job) -> dict[str, Any]:
    if job.options.get("multichannel"):
        return {"channel": str(phrase.channel + 1), "speaker": str(phrase.channel + 1)}
    return {"speaker": letter(phrase.speaker) if job.options.get("speaker_labels") else None}


def _job_word(word: SpokenWord, phrase: Phrase, job: Job) -> dict[str, Any]:
    times = {"text": word.text, "start": _ms(word.start), "end": _ms(word.end), "confidence": word.confidence}
    return times | _labels(phrase, job)


def _utterance(phrase: Phrase, job: Job) -> dict[str, Any]:
    return {
        "text": phrase.text,
        "start": _ms(phrase.start),
        "end": _ms(phrase.end),
        "confidence": phrase.confidence,
        "words": [_job_word(word, phrase, job) for word in phrase.words],
        "id": str(uuid.uuid4()),
        **_labels(phrase, job),
    }
