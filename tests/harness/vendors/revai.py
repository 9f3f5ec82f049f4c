"""Rev.ai: a job by address or by form, its transcript in monologues, and a second kind of job for the language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from harness.vendors.jobs import Job, fetched
from harness.vendors.punctuation import parted
from harness.vendors.recognition import NoSound, Phrase
from harness.vendors.rest import Asked, Operation, Reply
from harness.vendors.shapes import BOOL, INT, LANGUAGE, TEXT, WHOLE, Refusal, check, check_query
from harness.vendors.vendor import Limits, Vendor

KIND = "application/vnd.rev.transcript.v1.0+json"
SOURCE = {"url": TEXT, "auth_headers": (None, {"Authorization": TEXT})}
OPTIONS = {
    "media_url": TEXT,
    "source_config": SOURCE,
    "notification_config": SOURCE,
    "callback_url": TEXT,
    "metadata": TEXT,
    "delete_after_seconds": INT,
    "language": LANGUAGE,
    "transcriber": frozenset({"machine", "reverb", "low_cost", "human", "fusion", "machine_v2"}),
    "skip_diarization": BOOL,
    "skip_punctuation": BOOL,
    "skip_postprocessing": BOOL,
    "remove_disfluencies": BOOL,
    "remove_atmospherics": BOOL,
    "filter_profanity": BOOL,
    "speakers_count": INT,
    "speaker_channels_count": INT,
    "diarization_type": frozenset({"standard", "premium"}),
    "custom_vocabularies": [{"phrases": [TEXT]}],
    "custom_vocabulary_id": TEXT,
    "verbatim": BOOL,
    "strict_custom_vocabulary": BOOL,
}
LANGUAGE_OPTIONS = {
    "media_url": TEXT,
    "source_config": SOURCE,
    "notification_config": SOURCE,
    "metadata": TEXT,
    "delete_after_seconds": INT,
}
MOST_PHRASES, MOST_WORDS, MOST_LETTERS = 6000, 12, 34


class RevAI(Vendor):
    """api.rev.ai."""

    name = "revai"

    @classmethod
    def usual_limits(cls) -> Limits:
        return Limits(file_bytes=2_000_000_000, audio_s=17 * 3600)

    def authorised(self, headers: Mapping[str, str]) -> None:
        self.key_in(headers.get("authorization"), "Bearer ")

    def error_body(self, refusal: Refusal) -> Any:
        titles = {
            400: "Your request parameters didn't validate",
            401: "Authorization has been denied for this request.",
            403: "You do not have enough credits",
            404: "could not find job",
            409: "Job is in invalid state",
            413: "Payload is too large",
            429: "Too many requests",
        }
        problem: dict[str, Any] = {
            "type": f"https://www.rev.ai/docs#error-{refusal.status}",
            "title": titles.get(refusal.status, "Server error"),
            "status": refusal.status,
            "detail": refusal.message,
        }
        if refusal.status == 400:
            problem["parameters"] = {"options": [refusal.message]}
        return problem

    async def submit(self, asked: Asked) -> Reply:
        """POST /speechtotext/v1/jobs."""
        job = await self._begin(asked, OPTIONS, kind="async")
        return Reply(body=self._shown(job))

    async def submit_language(self, asked: Asked) -> Reply:
        """POST /languageid/v1/jobs."""
        job = await self._begin(asked, LANGUAGE_OPTIONS, kind="language_id")
        return Reply(body=self._shown(job))

    async def _begin(self, asked: Asked, shape: Mapping[str, Any], *, kind: str) -> Job:
        options, sound = await self._order(asked)
        check(options, dict(shape), "options")
        _check_vocabulary(options)
        channels = options.get("speaker_channels_count", 0)
        if channels and not 1 <= channels <= 8:
            raise Refusal(400, "speaker_channels_count must be between 1 and 8")
        return await self.jobs.submit(
            sound,
            {**options, "kind": kind},
            reference=options.get("metadata"),
            by_channel=bool(channels),
            diarize=not options.get("skip_diarization", False),
            most_s=self.limits.audio_s,
        )

    async def _order(self, asked: Asked) -> tuple[dict[str, Any], bytes]:
        if asked.headers.get("content-type", "").startswith("multipart/form-data"):
            parts = {part.name: part for part in asked.form()}
            if unknown := sorted(set(parts) - {"media", "options"}):
                raise Refusal(400, f"unknown part {', '.join(unknown)}")
            if "media" not in parts:
                raise Refusal(400, "part media is missing")
            options = json.loads(parts["options"].data) if "options" in parts else {}
            asked.noted.fields = options
            return options, parts["media"].data
        options = asked.json()
        address = options.get("media_url") or options.get("source_config", {}).get("url")
        if not address:
            raise Refusal(400, "source_config is required")
        try:
            return options, await fetched(address, self.jobs.files)
        except NoSound:
            return options, b""

    async def poll(self, asked: Asked) -> Reply:
        """GET a job of either kind."""
        job = self._job(asked)
        job.polls += 1
        return Reply(body=self._shown(job))

    async def list_jobs(self, asked: Asked) -> Reply:
        """GET /speechtotext/v1/jobs: newest first."""
        check_query(asked.query, {"limit": WHOLE, "starting_after": TEXT})
        jobs = [job for job in reversed(self.jobs.jobs.values()) if job.options["kind"] == "async"]
        return Reply(body=[self._shown(job) for job in jobs])

    async def fetch(self, asked: Asked) -> Reply:
        """GET /speechtotext/v1/jobs/{id}/transcript."""
        job = self._finished(asked)
        if asked.headers.get("accept", "") != KIND:
            return Reply(body=" ".join(phrase.text for phrase in job.phrases))
        return Reply(body=job.spoiled({"monologues": [_monologue(phrase) for phrase in job.phrases]}))

    async def fetch_language(self, asked: Asked) -> Reply:
        """GET /languageid/v1/jobs/{id}/result."""
        self._finished(asked)
        sure = [{"language": "en", "confidence": 0.97}, {"language": "de", "confidence": 0.02}]
        return Reply(body={"top_language": "en", "language_confidences": sure})

    async def delete(self, asked: Asked) -> Reply:
        """DELETE a job of either kind."""
        job = self._job(asked)
        if self._status(job) == "in_progress":
            raise Refusal(409, "The job is in progress and cannot be deleted")
        self.jobs.drop(job.id)
        return Reply(status=204)

    async def account(self, _: Asked) -> Reply:
        """GET /speechtotext/v1/account."""
        return Reply(body={"email": "practice@example.com", "balance_seconds": 60_000})

    operations = (
        Operation("submit", "POST", "/speechtotext/v1/jobs", submit),
        Operation("list", "GET", "/speechtotext/v1/jobs", list_jobs),
        Operation("poll", "GET", "/speechtotext/v1/jobs/{id}", poll),
        Operation("fetch", "GET", "/speechtotext/v1/jobs/{id}/transcript", fetch),
        Operation("delete", "DELETE", "/speechtotext/v1/jobs/{id}", delete),
        Operation("check", "GET", "/speechtotext/v1/account", account),
        Operation("submit_language", "POST", "/languageid/v1/jobs", submit_language),
        Operation("poll_language", "GET", "/languageid/v1/jobs/{id}", poll),
        Operation("fetch_language", "GET", "/languageid/v1/jobs/{id}/result", fetch_language),
        Operation("delete_language", "DELETE", "/languageid/v1/jobs/{id}", delete),
    )

    def _job(self, asked: Asked) -> Job:
        job = self.jobs.jobs.get(asked.path["id"])
        if job is None:
            raise Refusal(404, "could not find job")
        return job

    def _finished(self, asked: Asked) -> Job:
        job = self._job(asked)
        if self._status(job) in ("in_progress", "failed"):
            raise Refusal(409, f"The job is {self._status(job)}")
        return job

    def _status(self, job: Job) -> str:
        if job.polls <= self.limits.polls or not job.is_done:
            return "in_progress"
        if job.failure:
            return "failed"
        return "transcribed" if job.options["kind"] == "async" else "completed"

    def _shown(self, job: Job) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        status = self._status(job)
        shown: dict[str, Any] = {
            "id": job.id,
            "status": status,
            "created_on": now,
            "type": job.options["kind"],
            "language": job.options.get("language", "en"),
            "transcriber": job.options.get("transcriber", "machine"),
        }
        if job.options.get("metadata"):
            shown["metadata"] = job.options["metadata"]
        if status == "failed":
            told = job.told("job_failed")
            return shown | {
                "failure": "internal_processing" if told else "invalid_media",
                "failure_detail": job.failure,
                "completed_on": now,
            }
        return shown | ({"completed_on": now, "duration_seconds": job.seconds} if status != "in_progress" else {})


def _check_vocabulary(options: Mapping[str, Any]) -> None:
    if "custom_vocabularies" in options and "custom_vocabulary_id" in options:
        raise Refusal(400, "give custom_vocabularies or custom_vocabulary_id")
    phrases = [phrase for entry in options.get("custom_vocabularies", []) for phrase in entry["phrases"]]
    for phrase in phrases:
        words = phrase.split()
        if len(words) > MOST_WORDS or any(len(word) > MOST_LETTERS for word in words) or any(map(str.isdigit, phrase)):
            raise Refusal(400, f"custom_vocabularies: {phrase!r} is not valid")
    if len(phrases) > MOST_PHRASES:
        raise Refusal(400, f"custom_vocabularies: at most {MOST_PHRASES} phrases")


def _monologue(phrase: Phrase) -> dict[str, Any]:
    elements: list[dict[str, Any]] = []
    for whole in phrase.words:
        if elements:
            elements.append({"type": "punct", "value": " "})
        for word, mark in parted(whole):
            elements.append(
                {"type": "punct", "value": mark}
                if mark
                else {
                    "type": "text",
                    "value": word.text,
                    "ts": word.start,
                    "end_ts": word.end,
                    "confidence": word.confidence,
                }
            )
    return {"speaker": phrase.speaker, "elements": elements}
