"""Speechmatics: a job from a form of two parts; live messages over a socket. Seconds, speakers S1, S2, … and UU."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from websockets.datastructures import Headers

from harness.vendors.jobs import Job, fetched
from harness.vendors.punctuation import ends_sentence, parted
from harness.vendors.recognition import NoSound, Phrase, SpokenWord
from harness.vendors.rest import Asked, Operation, Reply
from harness.vendors.shapes import ANY, BOOL, FLAG, INT, LANGUAGE, NUMBER, TEXT, WHOLE, Refusal, check, check_query
from harness.vendors.sockets import HangUp, Socket
from harness.vendors.vendor import Limits, Vendor

MODELS = frozenset({"standard", "enhanced", "melia-1", "oak-1"})
VOCABULARY = [{"content": TEXT, "sounds_like": [TEXT]}]
SHARED = {
    "language": (LANGUAGE, frozenset({"auto", "multi", "cmn", "yue"})),
    "model": MODELS,
    "operating_point": MODELS,
    "output_locale": TEXT,
    "additional_vocab": VOCABULARY,
    "punctuation_overrides": {"permitted_marks": [TEXT], "sensitivity": NUMBER},
    "domain": TEXT,
    "enable_entities": BOOL,
    "transcript_filtering_config": {"remove_disfluencies": BOOL, "replacements": [{"from": TEXT, "to": TEXT}]},
    "audio_filtering_config": {"volume_threshold": NUMBER},
    "language_hints": [TEXT],
    "language_hints_strict": BOOL,
    "channel_diarization_labels": [TEXT],
}
OF_JOBS = {
    "type": frozenset({"transcription"}),
    "fetch_data": {"url": TEXT, "auth_headers": [TEXT]},
    "transcription_config": {
        **SHARED,
        "diarization": frozenset({"none", "speaker", "channel"}),
        "speaker_diarization_config": {
            "speaker_sensitivity": NUMBER,
            "prefer_current_speaker": BOOL,
            "get_speakers": BOOL,
            "speakers": [ANY],
        },
    },
    "language_identification_config": {
        "expected_languages": [TEXT],
        "low_confidence_action": frozenset({"reject", "allow", "use_default_language"}),
        "default_language": TEXT,
    },
    "notification_config": [{"url": TEXT, "contents": [TEXT], "method": TEXT, "auth_headers": [TEXT]}],
    "tracking": {"title": TEXT, "reference": TEXT, "tags": [TEXT], "details": ANY},
    "output_config": {"srt_overrides": ANY, "generate_lattice": BOOL},
}
OF_STREAMS = {
    "message": frozenset({"StartRecognition"}),
    "audio_format": {
        "type": frozenset({"raw"}),
        "encoding": frozenset({"pcm_s16le"}),
        "sample_rate": frozenset({16_000}),
    },
    "transcription_config": {
        **SHARED,
        "diarization": frozenset({"none", "speaker"}),
        "speaker_diarization_config": {
            "max_speakers": INT,
            "speaker_sensitivity": NUMBER,
            "prefer_current_speaker": BOOL,
            "speakers": [ANY],
        },
        "enable_partials": BOOL,
        "max_delay": NUMBER,
        "max_delay_mode": frozenset({"fixed", "flexible"}),
        "conversation_config": {"end_of_utterance_silence_trigger": NUMBER},
        "streaming_mode": BOOL,
    },
}
UNIDENTIFIED = "No speech found for language identification"
MOST_TERMS, MOST_WORDS = 1000, 6


def _check_config(config: Mapping[str, Any]) -> None:
    if "language" not in config:
        raise Refusal(400, "transcription_config.language is required")
    if "model" in config and "operating_point" in config:
        raise Refusal(400, "give model or operating_point, not both")
    if config.get("model") == "melia-1" and config["language"] == "auto":
        raise Refusal(400, "language 'auto' is not supported by melia-1; use 'multi'")
    vocabulary = config.get("additional_vocab", [])
    if len(vocabulary) > MOST_TERMS or any(len(entry["content"].split()) > MOST_WORDS for entry in vocabulary):
        raise Refusal(400, f"additional_vocab: at most {MOST_TERMS} entries of at most {MOST_WORDS} words")


def _results(phrase: Phrase, label: str | None, channel: str | None) -> list[dict[str, Any]]:
    """Words and punctuation of a phrase as items."""
    return [_item(word, mark, label, channel) for whole in phrase.words for word, mark in parted(whole)]


def _item(word: SpokenWord, mark: str, label: str | None, channel: str | None) -> dict[str, Any]:
    alternative: dict[str, Any] = {"content": mark or word.text, "confidence": word.confidence, "language": "en"}
    if label is not None:
        alternative["speaker"] = label
    item: dict[str, Any] = {
        "type": "punctuation" if mark else "word",
        "start_time": word.start,
        "end_time": word.end,
        "alternatives": [alternative],
    }
    if mark:
        item |= {"attaches_to": "previous", "is_eos": ends_sentence(mark)}
    return item | ({} if channel is None else {"channel": channel})


class Stream(Socket):
    """No sound before RecognitionStarted; each frame is counted, and the count is checked at the end."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.config: dict[str, Any] = {}

    @classmethod
    def check(cls, vendor: Vendor, path: str, query: list[tuple[str, str]], headers: Headers) -> dict[str, str]:
        if path.rstrip("/") != "/v2":
            raise Refusal(404, "Not found")
        given = check_query(query, {"jwt": TEXT, "sm-sdk": TEXT, "sm-app": TEXT})
        vendor.authorised({"authorization": f"Bearer {given['jwt']}"} if "jwt" in given else headers)
        return given

    async def begin(self) -> None:
        message = await self.receive()
        if not isinstance(message, str):
            self.stream.refusal = "sound came before StartRecognition"
            raise self._error(1003, "protocol_error", self.stream.refusal)
        try:
            start = json.loads(message)
            self.stream.received.append(start)
            check(start, OF_STREAMS, "StartRecognition")
            self.config = start["transcription_config"]
            _check_config(self.config)
            if self.config["language"] == "auto":
                raise Refusal(400, "language 'auto' is not supported in realtime")
            if "audio_format" not in start:
                raise Refusal(400, "audio_format is required")
        except (ValueError, KeyError, Refusal) as fault:
            self.stream.refusal = f"StartRecognition: {fault}"
            raise self._error(1003, "protocol_error", self.stream.refusal) from None
        self.listen(diarize=self.config.get("diarization") == "speaker")
        await self.send(
            {
                "message": "RecognitionStarted",
                "id": self.id,
                "orchestrator_version": "2026.01",
                "language_pack_info": {"language_description": "English", "word_delimiter": " ", "adapted": False},
            }
        )
        await self.send(
            {"message": "Info", "type": "recognition_quality", "quality": "broadcast", "reason": "Running broadcast"}
        )

    async def on_sound(self, data: bytes) -> None:
        self.hear(data)
        await self.send({"message": "AudioAdded", "seq_no": len(self.stream.frames)})

    async def on_text(self, text: str) -> None:
        message = json.loads(text)
        kind = message.get("message")
        if kind == "EndOfStream":
            if message.get("last_seq_no") != len(self.stream.frames):
                self.stream.refusal = f"last_seq_no {message.get('last_seq_no')} after {len(self.stream.frames)} frames"
                raise self._error(1003, "protocol_error", self.stream.refusal)
            await self.settle()
            await self.send({"message": "EndOfTranscript"})
            raise HangUp(1000)
        if kind == "ForceEndOfUtterance":
            assert self.ears is not None
            self.ears.flush()
        elif kind not in ("SetRecognitionConfig", "GetSpeakers"):
            self.stream.refusal = f"unknown message {text[:80]}"
            raise self._error(1003, "protocol_error", self.stream.refusal)

    async def tell(self, phrase: Phrase, *, final: bool) -> None:
        if not final and not self.config.get("enable_partials"):
            return
        label = f"S{phrase.speaker + 1}" if self.config.get("diarization") == "speaker" else None
        message = {
            "message": "AddTranscript" if final else "AddPartialTranscript",
            "format": "2.9",
            "metadata": {
                "start_time": phrase.start,
                "end_time": phrase.end,
                "transcript": phrase.text + (" " if phrase.text else ""),
            },
            "results": _results(phrase, label, None),
        }
        await self.send_transcript(message, final=final)
        if final and self.config.get("conversation_config"):
            told = {"start_time": phrase.end, "end_time": phrase.end}
            await self.send({"message": "EndOfUtterance", "metadata": told})

    def idle(self) -> HangUp:
        return self._error(1008, "idle_timeout", "Session ended due to inactivity")

    def over_limit(self) -> HangUp:
        return self._error(1008, "session_timeout", "Session ended: it reached its longest duration")

    def broken(self, code: int, message: str) -> HangUp:
        kinds = {4001: "not_authorised", 4005: "quota_exceeded", 4006: "timelimit_exceeded", 4013: "job_error"}
        return self._error(code or 1011, kinds.get(code, "internal_error"), message or "internal error")

    def _error(self, code: int, kind: str, reason: str) -> HangUp:
        return HangUp(code, kind, {"message": "Error", "type": kind, "reason": reason})


class Speechmatics(Vendor):
    """eu1.asr.api.speechmatics.com/v2 and eu.rt.speechmatics.com/v2."""

    name = "speechmatics"
    socket = Stream
    socket_path = "/v2"

    @classmethod
    def usual_limits(cls) -> Limits:
        return Limits(file_bytes=999_999_999, session_s=48 * 3600, idle_s=3600)

    def authorised(self, headers: Mapping[str, str]) -> None:
        self.key_in(headers.get("authorization"), "Bearer ")

    def error_body(self, refusal: Refusal) -> Any:
        words = {
            400: "Bad Request",
            401: "Permission Denied",
            403: "Forbidden",
            404: "Job not found",
            410: "Job Expired",
            413: "Payload Too Large",
            423: "Resource Locked",
            429: "Rate Limited",
        }
        error = words.get(refusal.status, "Internal Server Error")
        return {"code": refusal.status, "error": error, "detail": refusal.message}

    async def submit(self, asked: Asked) -> Reply:
        """POST /v2/jobs: the parts config and data_file."""
        parts = {part.name: part for part in asked.form()}
        if unknown := sorted(set(parts) - {"config", "data_file"}):
            raise Refusal(400, f"unknown part {', '.join(unknown)}")
        if "config" not in parts:
            raise Refusal(400, "part config is missing")
        config = json.loads(parts["config"].data)
        asked.noted.fields = config
        check(config, OF_JOBS, "config")
        if config.get("type") != "transcription" or "transcription_config" not in config:
            raise Refusal(400, "config.type and config.transcription_config are required")
        _check_config(config["transcription_config"])
        if ("fetch_data" in config) == ("data_file" in parts):
            raise Refusal(400, "give data_file or fetch_data")
        file = parts.get("data_file")
        if file is not None and file.file_name is None:
            raise Refusal(400, "data_file has no file name")
        try:
            sound = file.data if file else await fetched(config["fetch_data"]["url"], self.jobs.files)
        except NoSound:
            sound = b""
        diarization = config["transcription_config"].get("diarization", "none")
        job = await self.jobs.submit(
            sound,
            {**config, "data_name": file.file_name if file else config["fetch_data"]["url"]},
            reference=config.get("tracking", {}).get("reference"),
            by_channel=diarization == "channel",
            diarize=diarization == "speaker",
            most_s=self.limits.audio_s,
        )
        return Reply(status=201, body={"id": job.id})

    async def poll(self, asked: Asked) -> Reply:
        """GET /v2/jobs/{id}."""
        check_query(asked.query, {"wait": WHOLE})
        job = self._job(asked)
        job.polls += 1
        return Reply(body={"job": self._shown(job)})

    async def list_jobs(self, asked: Asked) -> Reply:
        """GET /v2/jobs."""
        check_query(
            asked.query, {"limit": WHOLE, "created_before": TEXT, "created_after": TEXT, "include_deleted": FLAG}
        )
        return Reply(body={"jobs": [self._shown(job) for job in reversed(self.jobs.jobs.values())]})

    async def fetch(self, asked: Asked) -> Reply:
        """GET /v2/jobs/{id}/transcript."""
        given = check_query(asked.query, {"format": frozenset({"json-v2", "txt", "srt"}), "wait": WHOLE})
        job = self._job(asked)
        if self._status(job) != "done":
            raise Refusal(404, "the transcript is not available", told=True)
        if given.get("format") == "txt":
            return Reply(body=" ".join(phrase.text for phrase in job.phrases))
        return Reply(body=job.spoiled(self._transcript(job)))

    async def delete(self, asked: Asked) -> Reply:
        """DELETE /v2/jobs/{id}: `force` where it is running."""
        given = check_query(asked.query, {"force": FLAG})
        job = self._job(asked)
        if self._status(job) == "running" and given.get("force", "").lower() != "true":
            raise Refusal(423, "the job is running")
        shown = self._shown(job)
        self.jobs.drop(job.id)
        return Reply(body={"job": {**shown, "status": "deleted"}})

    operations = (
        Operation("submit", "POST", "/v2/jobs", submit),
        Operation("list", "GET", "/v2/jobs", list_jobs),
        Operation("poll", "GET", "/v2/jobs/{id}", poll),
        Operation("fetch", "GET", "/v2/jobs/{id}/transcript", fetch),
        Operation("delete", "DELETE", "/v2/jobs/{id}", delete),
    )

    def _job(self, asked: Asked) -> Job:
        job = self.jobs.jobs.get(asked.path["id"])
        if job is None:
            raise Refusal(404, "job not found")
        return job

    def _status(self, job: Job) -> str:
        if job.polls <= self.limits.polls or not job.is_done:
            return "running"
        return "rejected" if job.failure or self._is_unidentified(job) else "done"

    def _is_unidentified(self, job: Job) -> bool:
        """Whether nothing is spoken in a file whose language was to be found, and none was given for that case."""
        wanted = job.options["transcription_config"]["language"] == "auto"
        otherwise = job.options.get("language_identification_config", {}).get("default_language")
        return wanted and not otherwise and not any(phrase.words for phrase in job.phrases)

    def _shown(self, job: Job) -> dict[str, Any]:
        status = self._status(job)
        config = {name: value for name, value in job.options.items() if name != "data_name"}
        shown: dict[str, Any] = {
            "id": job.id,
            "status": status,
            "created_at": _now(),
            "data_name": job.options["data_name"],
            "duration": round(job.seconds),
            "config": config,
        }
        if status == "rejected":
            shown["errors"] = [{"timestamp": _now(), "message": job.failure or UNIDENTIFIED}]
        return shown

    def _transcript(self, job: Job) -> dict[str, Any]:
        config = job.options["transcription_config"]
        diarization = config.get("diarization", "none")
        labels = config.get("channel_diarization_labels", [])
        results: list[dict[str, Any]] = []
        for phrase in job.phrases:
            label = f"S{phrase.speaker + 1}" if diarization == "speaker" else None
            named = labels[phrase.channel] if phrase.channel < len(labels) else f"channel_{phrase.channel + 1}"
            results += _results(phrase, label, named if diarization == "channel" else None)
        metadata: dict[str, Any] = {
            "created_at": _now(),
            "type": "transcription",
            "transcription_config": config,
            "language_pack_info": {
                "language_description": "English",
                "word_delimiter": " ",
                "writing_direction": "left-to-right",
            },
        }
        if config["language"] == "auto":
            found = {"language": "en", "confidence": 0.98}
            metadata["language_identification"] = (
                {"results": [{"start_time": 0.0, "end_time": job.seconds, "alternatives": [found]}]}
                if job.phrases
                else {"error": "NO_SPEECH", "message": UNIDENTIFIED}
            )
        info = {
            "created_at": _now(),
            "data_name": job.options["data_name"],
            "duration": round(job.seconds),
            "id": job.id,
            **({"tracking": job.options["tracking"]} if "tracking" in job.options else {}),
        }
        return {"format": "2.9", "job": info, "metadata": metadata, "results": results}


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")
