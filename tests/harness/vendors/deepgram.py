"""Deepgram: one synchronous request per file; a live socket configured by its query. Seconds, speakers from 0."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from websockets.datastructures import Headers

from harness.vendors.jobs import Job, fetched
from harness.vendors.recognition import Phrase, SpokenWord
from harness.vendors.rest import Asked, Operation, Reply
from harness.vendors.shapes import DECIMAL, FLAG, LANGUAGE, TEXT, WHOLE, Refusal, check, check_query
from harness.vendors.sockets import HangUp, Socket
from harness.vendors.vendor import Limits, Vendor

MODELS = frozenset({"nova-2", "nova-3", "nova-2-meeting", "nova-3-general", "nova-2-general", "base", "enhanced"})
SHARED = {
    "callback": TEXT,
    "callback_method": frozenset({"POST", "PUT"}),
    "detect_entities": FLAG,
    "diarize": FLAG,
    "dictation": FLAG,
    "extra": TEXT,
    "keyterm": TEXT,
    "keywords": TEXT,
    "language": (LANGUAGE, frozenset({"multi"})),
    "language_hint": LANGUAGE,
    "mip_opt_out": FLAG,
    "model": MODELS,
    "multichannel": FLAG,
    "numerals": FLAG,
    "profanity_filter": FLAG,
    "punctuate": FLAG,
    "redact": TEXT,
    "replace": TEXT,
    "search": TEXT,
    "smart_format": FLAG,
    "tag": TEXT,
    "version": TEXT,
    "encoding": TEXT,
}
OF_FILES = {
    **SHARED,
    "detect_language": (FLAG, LANGUAGE),
    "diarize_model": frozenset({"latest", "v1", "v2"}),
    "filler_words": FLAG,
    "measurements": FLAG,
    "paragraphs": FLAG,
    "sample_rate": WHOLE,
    "channels": WHOLE,
    "utterances": FLAG,
    "utt_split": DECIMAL,
}
OF_STREAMS = {
    **SHARED,
    "channels": frozenset({"1"}),
    "diarize_model": frozenset({"latest", "v1"}),
    "encoding": frozenset({"linear16"}),
    "endpointing": (WHOLE, FLAG),
    "interim_results": FLAG,
    "sample_rate": frozenset({"16000"}),
    "utterance_end_ms": WHOLE,
    "vad_events": FLAG,
}
REPEATED = ("keyterm", "keywords", "tag", "extra", "replace", "search", "language_hint")
MOST_KEYWORDS, MOST_KEYTERM_TOKENS = 100, 500


def _checked(query: list[tuple[str, str]], shapes: Mapping[str, Any]) -> dict[str, str]:
    given = check_query(query, shapes, repeated=REPEATED)
    model = given.get("model", "base")
    keywords = [value for name, value in query if name == "keywords"]
    keyterms = [value for name, value in query if name == "keyterm"]
    if keyterms and not model.startswith("nova-3"):
        raise Refusal(400, "keyterm is only available with nova-3 models", code="Bad Request")
    if keywords and model.startswith("nova-3"):
        raise Refusal(400, "keywords are not supported with nova-3 models; use keyterm", code="Bad Request")
    if len(keywords) > MOST_KEYWORDS or any(" " in word for word in keywords):
        raise Refusal(400, f"At most {MOST_KEYWORDS} keywords, single words", code="Bad Request")
    if sum(len(term) // 4 + 1 for term in keyterms) > MOST_KEYTERM_TOKENS:
        raise Refusal(400, f"Keyterm limit exceeded: at most {MOST_KEYTERM_TOKENS} tokens", code="Bad Request")
    if given.get("language") == "multi" and not model.startswith(("nova-3", "nova-2")):
        raise Refusal(400, "No such model/language/tier combination found.", code="Bad Request")
    return given


def _on(given: Mapping[str, str], *names: str) -> bool:
    return any(given.get(name, "false").lower() not in ("false", "") for name in names)


def _word(word: SpokenWord, speaker: int | None, *, batch: bool, punctuated: bool, language: str) -> dict[str, Any]:
    said: dict[str, Any] = {
        "word": word.text.strip(".,?!;:").lower(),
        "start": word.start,
        "end": word.end,
        "confidence": word.confidence,
    }
    if language:
        said["language"] = language
    if speaker is not None:
        said |= {"speaker": speaker} | ({"speaker_confidence": 0.8} if batch else {})
    return said | ({"punctuated_word": word.text} if punctuated else {})


class Stream(Socket):
    """Configured by its query; windows follow each other without a gap, `speech_final` ends a turn."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.final_until = 0.0

    @classmethod
    def check(cls, vendor: Vendor, path: str, query: list[tuple[str, str]], headers: Headers) -> dict[str, str]:
        vendor.authorised(headers)
        if path != "/v1/listen":
            raise Refusal(404, "Not found", code="NOT_FOUND")
        given = _checked(query, OF_STREAMS)
        if given.get("encoding") != "linear16" or "sample_rate" not in given or "model" not in given:
            raise Refusal(400, "model, encoding=linear16 and sample_rate are required here", code="Bad Request")
        if "utterance_end_ms" in given and not _on(given, "interim_results"):
            raise Refusal(400, "utterance_end_ms requires interim_results=true", code="Bad Request")
        return given

    async def begin(self) -> None:
        self.listen(diarize=_on(self.query, "diarize", "diarize_model"))

    async def on_text(self, text: str) -> None:
        message = _object(text)
        kind = message.get("type")
        if kind not in ("KeepAlive", "Finalize", "CloseStream", "Configure"):
            self.stream.refusal = f"unknown message {text[:80]}"
            raise HangUp(1008, "DATA-0000", {"type": "Error", "variant": "SchemaError", "description": text[:80]})
        if kind == "Finalize":
            assert self.ears is not None
            self.ears.flush()
        if kind == "Configure":
            await self.send({"type": "ConfigureSuccess", **message})
        if kind == "CloseStream":
            await self.settle()
            await self.send(
                {
                    "type": "Metadata",
                    "transaction_key": "deprecated",
                    "request_id": self.id,
                    "sha256": hashlib.sha256(self.stream.pcm).hexdigest(),
                    "created": datetime.now(UTC).isoformat(),
                    "duration": round(self.seconds, 3),
                    "channels": 1,
                }
            )
            raise HangUp(1000)

    async def tell_onset(self, at: float) -> None:
        if _on(self.query, "vad_events"):
            await self.send({"type": "SpeechStarted", "channel": [0], "timestamp": round(at, 3)})

    async def tell(self, phrase: Phrase, *, final: bool) -> None:
        if not final and not _on(self.query, "interim_results"):
            return
        speaker = phrase.speaker if _on(self.query, "diarize", "diarize_model") else None
        punctuated = _on(self.query, "punctuate", "smart_format")
        language = "en" if self.query.get("language") == "multi" else ""
        words = [_word(w, speaker, batch=False, punctuated=punctuated, language=language) for w in phrase.words]
        alternative: dict[str, Any] = {
            "transcript": phrase.text if punctuated else " ".join(word["word"] for word in words),
            "confidence": phrase.confidence,
            "words": words,
        }
        if language:
            alternative["languages"] = ["en"] if words else []
        start, end = self.final_until, max(phrase.end, self.final_until)
        if final:
            self.final_until = end
        message = {
            "type": "Results",
            "channel_index": [0, 1],
            "duration": round(end - start, 3),
            "start": round(start, 3),
            "is_final": final,
            "speech_final": final,
            "channel": {"alternatives": [alternative]},
            "metadata": {
                "request_id": self.id,
                "model_info": {"name": self.query["model"], "version": "2026-01-01.0", "arch": self.query["model"]},
                "model_uuid": "00000000-0000-4000-8000-000000000000",
            },
            "from_finalize": False,
        }
        await self.send_transcript(message, final=final)
        if final and phrase.words and "utterance_end_ms" in self.query:
            await self.send({"type": "UtteranceEnd", "channel": [0, 1], "last_word_end": phrase.end})

    def idle(self) -> HangUp:
        text = "Deepgram did not receive audio data or a text message within the timeout window."
        return HangUp(1011, f"NET-0001: {text}")

    def broken(self, code: int, message: str) -> HangUp:
        told = {"type": "Error", "variant": "INTERNAL", "description": message or "internal", "message": ""}
        return HangUp(code or 1011, message, told)


class Deepgram(Vendor):
    """api.deepgram.com."""

    name = "deepgram"
    socket = Stream
    socket_path = "/v1/listen"

    @classmethod
    def usual_limits(cls) -> Limits:
        return Limits(idle_s=10.0)

    def authorised(self, headers: Mapping[str, str]) -> None:
        self.key_in(headers.get("authorization"), "Token ")

    def error_body(self, refusal: Refusal) -> Any:
        if refusal.status in (401, 403):
            code = "INVALID_AUTH" if refusal.status == 401 else "INSUFFICIENT_PERMISSIONS"
            return {"err_code": code, "err_msg": refusal.message, "request_id": str(uuid.uuid4())}
        if refusal.status == 402:
            return {
                "category": "PAYMENT_REQUIRED",
                "message": "Project does not have enough credits",
                "details": "Buy credits, or switch on automatic payment.",
                "request_id": str(uuid.uuid4()),
            }
        code = {429: "TOO_MANY_REQUESTS"}.get(refusal.status, refusal.code or "Bad Request")
        return {"err_code": code, "err_msg": refusal.message, "request_id": str(uuid.uuid4())}

    async def transcribe(self, asked: Asked) -> Reply:
        """POST /v1/listen."""
        given = _checked(asked.query, OF_FILES)
        sound = await self._sound(asked)
        job = await self.jobs.submit(
            sound,
            dict(given),
            reference=given.get("extra") or given.get("tag"),
            by_channel=_on(given, "multichannel"),
            diarize=_on(given, "diarize", "diarize_model"),
            raw=int(given.get("channels", "1")) if given.get("encoding") == "linear16" else 0,
        )
        self.jobs.forget(job.id)  # nothing is kept
        if job.told("job_failed"):
            raise Refusal(500, job.failure, code="INTERNAL_SERVER_ERROR", told=True)
        if job.failure:
            text = "Bad Request: failed to process audio: corrupt or unsupported data"
            raise Refusal(400, text, code="Bad Request")
        await job.heard()
        return Reply(body=job.spoiled(_result(job, hashlib.sha256(sound).hexdigest())))

    async def projects(self, _: Asked) -> Reply:
        """GET /v1/projects: the cheapest question with a key."""
        return Reply(body={"projects": [{"project_id": str(uuid.uuid4()), "name": "practice"}]})

    async def _sound(self, asked: Asked) -> bytes:
        if not asked.headers.get("content-type", "").startswith("application/json"):
            if not asked.body:
                raise Refusal(400, "Bad Request: no audio", code="Bad Request")
            return asked.body
        body = asked.json()
        check(body, {"url": TEXT})
        return await fetched(body["url"], self.jobs.files)

    operations = (
        Operation("submit", "POST", "/v1/listen", transcribe),
        Operation("check", "GET", "/v1/projects", projects),
    )


def _result(job: Job, digest: str) -> dict[str, Any]:
    options: dict[str, str] = job.options
    diarized = _on(options, "diarize", "diarize_model")
    numbers = range(job.channels) if job.by_channel else range(1)
    multi = options.get("language") == "multi"
    channels = [_channel(job, number, diarized=diarized, multi=multi) for number in numbers]
    results: dict[str, Any] = {"channels": channels}
    if _on(options, "utterances"):
        results["utterances"] = [_utterance(phrase, diarized=diarized) for phrase in job.phrases]
    info: dict[str, Any] = {
        "transaction_key": "deprecated",
        "request_id": job.id,
        "sha256": digest,
        "created": datetime.now(UTC).isoformat(),
        "duration": job.seconds,
        "channels": len(channels),
        "models": ["00000000-0000-4000-8000-000000000000"],
        "model_info": {
            "00000000-0000-4000-8000-000000000000": {
                "name": options.get("model", "base"),
                "version": "2026-01-01.0",
                "arch": options.get("model", "base"),
            }
        },
    }
    return {"metadata": info, "results": results}


def _channel(job: Job, number: int, *, diarized: bool, multi: bool) -> dict[str, Any]:
    phrases = [phrase for phrase in job.phrases if phrase.channel == number]
    punctuated = _on(job.options, "punctuate", "smart_format")
    words = [
        _word(
            word,
            phrase.speaker if diarized else None,
            batch=True,
            punctuated=punctuated,
            language="en" if multi else "",
        )
        for phrase in phrases
        for word in phrase.words
    ]
    text = " ".join(phrase.text for phrase in phrases)
    alternative: dict[str, Any] = {
        "transcript": text if punctuated else " ".join(word["word"] for word in words),
        "confidence": round(sum(word["confidence"] for word in words) / len(words), 4) if words else 0,
        "words": words,
    }
    if multi:
        alternative["languages"] = ["en"]
    found = (
        {"detected_language": "en", "language_confidence": 0.98}
        if _on(job.options, "detect_language") and words
        else {}
    )
    return {"alternatives": [alternative], **found}


def _utterance(phrase: Phrase, *, diarized: bool) -> dict[str, Any]:
    speaker = phrase.speaker if diarized else None
    return {
        "start": phrase.start,
        "end": phrase.end,
        "confidence": phrase.confidence,
        "channel": phrase.channel,
        "transcript": phrase.text,
        "words": [_word(word, speaker, batch=True, punctuated=True, language="") for word in phrase.words],
        **({} if speaker is None else {"speaker": speaker}),
        "id": str(uuid.uuid4()),
    }


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
