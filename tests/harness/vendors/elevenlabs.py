"""ElevenLabs Scribe: one synchronous form per file. Seconds, speakers speaker_0, …; spaces are items of their own."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from harness.vendors.jobs import Job, fetched
from harness.vendors.recognition import Phrase, SpokenWord
from harness.vendors.rest import Asked, Operation, Part, Reply
from harness.vendors.shapes import DECIMAL, FLAG, LANGUAGE, TEXT, WHOLE, Refusal, check_query
from harness.vendors.vendor import Limits, Vendor

MODELS = frozenset({"scribe_v2", "scribe_v2_medical", "scribe_v3"})
FIELDS = {
    "model_id": MODELS,
    "language_code": LANGUAGE,
    "diarize": FLAG,
    "num_speakers": WHOLE,
    "diarization_threshold": DECIMAL,
    "timestamps_granularity": frozenset({"none", "word", "character"}),
    "tag_audio_events": FLAG,
    "keyterms": TEXT,
    "no_verbatim": FLAG,
    "entity_detection": TEXT,
    "file_format": frozenset({"pcm_s16le_16", "other"}),
    "use_multi_channel": FLAG,
    "temperature": DECIMAL,
    "seed": WHOLE,
    "source_url": TEXT,
    "cloud_storage_url": TEXT,
    "webhook": FLAG,
    "webhook_id": TEXT,
    "webhook_metadata": TEXT,
    "additional_formats": TEXT,
    "detect_speaker_roles": FLAG,
}
MOST_TERMS, MOST_LETTERS, MOST_WORDS = 1000, 50, 5


class ElevenLabs(Vendor):
    """api.elevenlabs.io."""

    name = "elevenlabs"

    @classmethod
    def usual_limits(cls) -> Limits:
        return Limits(file_bytes=3_000_000_000, audio_s=36_000)

    def authorised(self, headers: Mapping[str, str]) -> None:
        try:
            self.key_in(headers.get("xi-api-key"))
        except Refusal:
            raise Refusal(401, "Invalid API key", code="invalid_api_key") from None

    def error_body(self, refusal: Refusal) -> Any:
        if refusal.status == 422:
            return {"detail": [{"loc": ["body"], "msg": refusal.message, "type": "value_error"}]}
        codes = {401: "invalid_api_key", 402: "quota_exceeded", 429: "too_many_concurrent_requests", 503: "system_busy"}
        status = refusal.code or codes.get(refusal.status, "error")
        return {"detail": {"status": status, "message": refusal.message}}

    async def transcribe(self, asked: Asked) -> Reply:
        """POST /v1/speech-to-text."""
        check_query(asked.query, {"enable_logging": FLAG})
        parts = asked.form()
        files = [part for part in parts if part.name == "file"]
        given = _fields(parts)
        if len(files) + ("source_url" in given) + ("cloud_storage_url" in given) != 1:
            raise Refusal(422, "give file, source_url or cloud_storage_url")
        address = given.get("source_url") or given.get("cloud_storage_url") or ""
        sound = files[0].data if files else await fetched(address, self.jobs.files)
        job = await self.jobs.submit(
            sound,
            given,
            reference=given.get("webhook_metadata"),
            by_channel=_on(given, "use_multi_channel"),
            diarize=_on(given, "diarize"),
            raw=1 if given.get("file_format") == "pcm_s16le_16" else 0,
            most_s=self.limits.audio_s,
        )
        if job.told("job_failed"):
            self.jobs.drop(job.id)
            raise Refusal(500, job.failure, told=True)
        if job.failure:
            self.jobs.drop(job.id)
            raise Refusal(400, job.failure, code="invalid_audio")
        await job.heard()
        body = _result(job) if not job.by_channel else {"transcripts": _channels(job), "transcription_id": job.id}
        return Reply(body=job.spoiled(body))

    async def fetch(self, asked: Asked) -> Reply:
        """GET /v1/speech-to-text/transcripts/{id}."""
        return Reply(body=_result(self._job(asked)))

    async def delete(self, asked: Asked) -> Reply:
        """DELETE /v1/speech-to-text/transcripts/{id}."""
        self.jobs.drop(self._job(asked).id)
        return Reply(body={"status": "ok"})

    async def user(self, _: Asked) -> Reply:
        """GET /v1/user."""
        return Reply(body={"user_id": "practice", "subscription": {"tier": "creator", "status": "active"}})

    async def models(self, _: Asked) -> Reply:
        """GET /v1/models."""
        return Reply(body=[])

    operations = (
        Operation("submit", "POST", "/v1/speech-to-text", transcribe),
        Operation("fetch", "GET", "/v1/speech-to-text/transcripts/{id}", fetch),
        Operation("delete", "DELETE", "/v1/speech-to-text/transcripts/{id}", delete),
        Operation("check", "GET", "/v1/user", user),
        Operation("check", "GET", "/v1/models", models),
    )

    def _job(self, asked: Asked) -> Job:
        job = self.jobs.jobs.get(asked.path["id"])
        if job is None:
            raise Refusal(404, "Transcript not found", code="transcript_not_found")
        return job


def _fields(parts: list[Part]) -> dict[str, str]:
    """The checked fields; the literal null, which the vendor's own client sends, is a field that was not sent."""
    pairs = [(part.name, part.data.decode()) for part in parts if part.name != "file"]
    pairs = [(name, value) for name, value in pairs if value != "null"]
    given = check_query(pairs, FIELDS, repeated=("keyterms",), required=("model_id",), status=422)
    terms = [value for name, value in pairs if name == "keyterms"]
    if len(terms) > MOST_TERMS or any(len(term) >= MOST_LETTERS or len(term.split()) > MOST_WORDS for term in terms):
        raise Refusal(
            422, f"keyterms: at most {MOST_TERMS}, shorter than {MOST_LETTERS} characters, {MOST_WORDS} words"
        )
    if int(given.get("num_speakers", "1")) > 32:
        raise Refusal(422, "num_speakers must be at most 32")
    if "webhook_metadata" in given:
        json.loads(given["webhook_metadata"])
    return given


def _on(given: Mapping[str, str], name: str) -> bool:
    return given.get(name, "false").lower() == "true"


def _result(job: Job, phrases: list[Phrase] | None = None, channel: int | None = None) -> dict[str, Any]:
    said = job.phrases if phrases is None else phrases
    with_speaker = _on(job.options, "diarize") or channel is not None
    items: list[dict[str, Any]] = []
    last = 0.0
    for phrase in said:
        for word in phrase.words:
            if items:
                items.append(_item(" ", last, word.start, "spacing", phrase, 0.0, with_speaker=with_speaker))
            items.append(_word(word, phrase, with_speaker=with_speaker))
            last = word.end
    code = job.options.get("language_code", "eng")
    result = {
        "language_code": "eng" if code == "en" else code,
        "language_probability": 0.98 if "language_code" not in job.options else 1.0,
        "text": " ".join(phrase.text for phrase in said),
        "words": items if job.options.get("timestamps_granularity", "word") != "none" else [],
        "transcription_id": job.id,
        "audio_duration_secs": job.seconds,
    }
    return result | ({} if channel is None else {"channel_index": channel})


def _channels(job: Job) -> list[dict[str, Any]]:
    return [
        _result(job, [phrase for phrase in job.phrases if phrase.channel == number], number)
        for number in range(job.channels)
    ]


def _word(word: SpokenWord, phrase: Phrase, *, with_speaker: bool) -> dict[str, Any]:
    odds = math.log(max(word.confidence, 1e-6))
    return _item(word.text, word.start, word.end, "word", phrase, odds, with_speaker=with_speaker)


def _item(
    text: str, start: float, end: float, kind: str, phrase: Phrase, odds: float, *, with_speaker: bool
) -> dict[str, Any]:
    item = {"text": text, "start": start, "end": end, "type": kind, "logprob": round(odds, 4)}
    return item | {"speaker_id": f"speaker_{phrase.speaker}" if with_speaker else None}
