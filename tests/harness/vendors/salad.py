"""SaladCloud: files in its own storage, jobs that name an address, failure inside success, large results as a file."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from harness.vendors.jobs import Job, fetched
from harness.vendors.recognition import NoSound
from harness.vendors.rest import Asked, Operation, Reply
from harness.vendors.shapes import ANY, BOOL, INT, TEXT, WHOLE, Refusal, check, check_query
from harness.vendors.vendor import Limits, Vendor

LANGUAGE = re.compile(r"[a-z]{2}|haw|yue")
SWITCH = (BOOL, frozenset({"true", "false"}))
INPUT = {
    "url": TEXT,
    "language_code": LANGUAGE,
    "return_as_file": SWITCH,
    "sentence_level_timestamps": SWITCH,
    "word_level_timestamps": SWITCH,
    "diarization": SWITCH,
    "sentence_diarization": SWITCH,
    "multichannel": SWITCH,
    "custom_vocabulary": TEXT,
    "custom_prompt": TEXT,
    "srt": SWITCH,
    "summarize": INT,
    "translate": TEXT,
    "llm_translation": TEXT,
    "srt_translation": TEXT,
}
OF_JOBS = {"input": INPUT, "webhook": (TEXT, None), "webhook_url": (TEXT, None), "metadata": ANY}
ENDPOINTS = frozenset({"transcribe", "transcription-lite"})
LARGEST_DIRECT = 100 * 1024 * 1024
LARGEST_ANSWER = 1024 * 1024


class Salad(Vendor):
    """api.salad.com/api/public for jobs, storage-api.salad.com for files: here both at one address."""

    name = "salad"
    organisation = "practice-organisation"

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.parts: dict[str, dict[int, bytes]] = {}

    @classmethod
    def usual_limits(cls) -> Limits:
        return Limits(file_bytes=3_000_000_000, audio_s=9000)

    def authorised(self, headers: Mapping[str, str]) -> None:
        self.key_in(headers.get("salad-api-key"))

    def error_body(self, refusal: Refusal) -> Any:
        return {
            "type": f"https://httpstatuses.com/{refusal.status}",
            "title": refusal.code or "Problem",
            "status": refusal.status,
            "detail": refusal.message,
            "instance": str(uuid.uuid4()),
        }

    async def upload(self, asked: Asked) -> Reply:
        """PUT a file, at once or as the beginning and end of one in parts."""
        self._of_organisation(asked)
        given = check_query(asked.query, {"action": frozenset({"mpu-create", "mpu-complete"}), "uploadId": TEXT})
        name = asked.path["name"]
        if given.get("action") == "mpu-create":
            upload_id = uuid.uuid4().hex
            self.parts[upload_id] = {}
            return Reply(body={"uploadId": upload_id, "key": name})
        if given.get("action") == "mpu-complete":
            body = asked.json()
            check(body, {"parts": [{"partNumber": INT, "etag": TEXT}]})
            parts = self.parts.pop(given["uploadId"])
            self.jobs.keep(b"".join(parts[part["partNumber"]] for part in body["parts"]), name)
            return Reply(body={"url": self._address(name)})
        form = {part.name: part for part in asked.form()}
        if unknown := sorted(set(form) - {"file", "sign", "signatureExp", "mimeType", "file_name"}):
            raise Refusal(400, f"unknown part {', '.join(unknown)}")
        if "file" not in form:
            raise Refusal(400, "part file is missing")
        if len(form["file"].data) > self.limits.extra.get("largest_direct", LARGEST_DIRECT):
            raise Refusal(413, "The file is larger than 100 MB: upload it in parts")
        self.jobs.keep(form["file"].data, name)
        signed = "sign" in form and form["sign"].data.lower() == b"true"
        return Reply(body={"url": self._address(name, signed=signed)})

    async def upload_part(self, asked: Asked) -> Reply:
        """PUT one part of a file."""
        self._of_organisation(asked)
        given = check_query(asked.query, {"partNumber": WHOLE, "uploadId": TEXT}, required=("partNumber", "uploadId"))
        if given["uploadId"] not in self.parts:
            raise Refusal(404, "No such upload")
        sent = asked.form()[0].data if "multipart" in asked.headers.get("content-type", "") else asked.body
        self.parts[given["uploadId"]][int(given["partNumber"])] = sent
        return Reply(body={"etag": uuid.uuid4().hex, "partNumber": int(given["partNumber"])})

    async def sign(self, asked: Asked) -> Reply:
        """POST for a signed address."""
        self._of_organisation(asked)
        body = asked.json()
        check(body, {"method": frozenset({"GET"}), "exp": INT})
        return Reply(body={"url": self._address(asked.path["name"])})

    async def delete_file(self, asked: Asked) -> Reply:
        """DELETE a file."""
        self._of_organisation(asked)
        if asked.path["name"] not in self.jobs.files:
            raise Refusal(404, "File not found")
        self.jobs.drop(asked.path["name"])
        return Reply(status=204)

    async def list_files(self, asked: Asked) -> Reply:
        """GET the files."""
        self._of_organisation(asked)
        return Reply(body={"files": [{"url": self._address(name)} for name in self.jobs.files]})

    async def submit(self, asked: Asked) -> Reply:
        """POST a job."""
        self._of_organisation(asked)
        if asked.path["endpoint"] not in ENDPOINTS:
            raise Refusal(404, "No such inference endpoint")
        order = asked.json()
        check(order, OF_JOBS)
        if "url" not in order.get("input", {}):
            raise Refusal(400, "input.url is required")
        options = order["input"]
        try:
            sound = await fetched(options["url"], self.jobs.files)
        except NoSound:
            sound = b""
        metadata = order.get("metadata")
        job = await self.jobs.submit(
            sound,
            {**order, "endpoint": asked.path["endpoint"]},
            reference=json.dumps(metadata, sort_keys=True) if metadata else None,
            by_channel=_on(options, "multichannel"),
            diarize=_on(options, "diarization") or _on(options, "sentence_diarization"),
            most_s=self.limits.audio_s,
        )
        return Reply(status=201, body=self._shown(job))

    async def poll(self, asked: Asked) -> Reply:
        """GET a job."""
        self._of_organisation(asked)
        job = self._job(asked)
        job.polls += 1
        return Reply(body=self._shown(job))

    async def list_jobs(self, asked: Asked) -> Reply:
        """GET the jobs."""
        self._of_organisation(asked)
        check_query(asked.query, {"page": WHOLE, "page_size": WHOLE})
        rows = [self._shown(job) for job in reversed(self.jobs.jobs.values())]
        return Reply(body={"items": rows, "page": 1, "page_size": 100, "total_size": len(rows)})

    async def delete(self, asked: Asked) -> Reply:
        """DELETE a job: cancels it."""
        self._of_organisation(asked)
        self.jobs.drop(self._job(asked).id)
        return Reply(status=202)

    async def look(self, asked: Asked) -> Reply:
        """GET the endpoint."""
        self._of_organisation(asked)
        return Reply(body={"id": str(uuid.uuid4()), "name": asked.path["endpoint"]})

    async def download(self, asked: Asked) -> Reply:
        """GET what lies in the storage."""
        data = self.jobs.files.get(asked.path["name"])
        if data is None:
            raise Refusal(404, "File not found")
        return Reply(body=data.decode("utf-8", "replace"))

    def _of_organisation(self, asked: Asked) -> None:
        if asked.path["org"] != self.organisation:
            raise Refusal(404, f"Organization {asked.path['org']} was not found", code="Not Found")

    def _address(self, name: str, *, signed: bool = True) -> str:
        token = f"?token={uuid.uuid4().hex}" if signed else ""
        return f"{self.url}/organizations/{self.organisation}/files/{name}{token}"

    def _job(self, asked: Asked) -> Job:
        job = self.jobs.jobs.get(asked.path["id"])
        if job is None:
            raise Refusal(404, "Job not found", code="Not Found")
        return job

    def _shown(self, job: Job) -> dict[str, Any]:
        status, output = "pending" if job.polls == 0 else "running", None
        if job.polls > self.limits.polls and job.is_done:
            status, output = "succeeded", self._output(job)
            if job.told("job_failed") and not (job.fault and job.fault.message):
                status, output = "failed", None
        return {
            "id": job.id,
            "input": job.options["input"],
            "inference_endpoint_name": job.options["endpoint"],
            "organization_name": self.organisation,
            "metadata": job.options.get("metadata"),
            "status": status,
            "events": [],
            "output": output,
            "create_time": _now(),
            "update_time": _now(),
        }

    def _output(self, job: Job) -> Any:
        """The result; an error where it came to nothing (which is a success too); an address where it is large."""
        if job.failure:
            return {"error": job.failure, "duration": 0, "processing_time": 1.0}
        output = job.spoiled(_result(job))
        as_file = _on(job.options["input"], "return_as_file")
        if not as_file and len(json.dumps(output)) <= self.limits.extra.get("largest_answer", LARGEST_ANSWER):
            return output
        name = f"{job.id}.json"
        self.jobs.keep(json.dumps(output).encode(), name)
        return {"url": self._address(name), "duration": output["duration"], "processing_time": 1.0}


def _on(options: Mapping[str, Any], name: str) -> bool:
    return str(options.get(name, "false")).lower() == "true"


def _result(job: Job) -> dict[str, Any]:
    options = job.options["input"]
    words = [
        {
            "word": word.text,
            "start": word.start,
            "end": word.end,
            "score": word.confidence,
            "timestamp": [word.start, word.end],
            **({"speaker": f"SPEAKER_{phrase.speaker:02d}"} if _on(options, "diarization") else {}),
            **({"channel": phrase.channel} if job.by_channel else {}),
        }
        for phrase in job.phrases
        for word in phrase.words
    ]
    sentences = [
        {
            "text": phrase.text,
            "timestamp": [phrase.start, phrase.end],
            "start": phrase.start,
            "end": phrase.end,
            **({"speaker": f"SPEAKER_{phrase.speaker:02d}"} if _on(options, "sentence_diarization") else {}),
            **({"channel": phrase.channel} if job.by_channel else {}),
        }
        for phrase in job.phrases
    ]
    output: dict[str, Any] = {
        "text": " ".join(phrase.text for phrase in job.phrases),
        "duration": round(job.seconds / 3600, 6),
        "duration_in_seconds": job.seconds,
        "processing_time": 1.0,
    }
    if _on(options, "word_level_timestamps") or _on(options, "diarization"):
        output["word_segments"] = words
    if str(options.get("sentence_level_timestamps", "true")).lower() == "true":
        output["sentence_level_timestamps"] = sentences
    return output


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _operations_on_jobs(prefix: str) -> tuple[Operation, ...]:
    endpoint = prefix + "/organizations/{org}/inference-endpoints/{endpoint}"
    return (
        Operation("submit", "POST", endpoint + "/jobs", Salad.submit),
        Operation("list", "GET", endpoint + "/jobs", Salad.list_jobs),
        Operation("poll", "GET", endpoint + "/jobs/{id}", Salad.poll),
        Operation("delete", "DELETE", endpoint + "/jobs/{id}", Salad.delete),
        Operation("check", "GET", endpoint, Salad.look),
    )


Salad.operations = (
    *_operations_on_jobs(""),
    *_operations_on_jobs("/api/public"),
    Operation("upload", "PUT", "/organizations/{org}/files/{name}", Salad.upload),
    Operation("upload_part", "PUT", "/organizations/{org}/file_parts/{name}", Salad.upload_part),
    Operation("sign", "POST", "/organizations/{org}/file_tokens/{name}", Salad.sign),
    Operation("list_files", "GET", "/organizations/{org}/files", Salad.list_files),
    Operation("download", "GET", "/organizations/{org}/files/{name}", Salad.download),
    Operation("delete_file", "DELETE", "/organizations/{org}/files/{name}", Salad.delete_file),
)
