"""Files and jobs that a simulated vendor holds: what was uploaded, what it costs, when it is done."""

import asyncio
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx2

from harness.vendors.faults import JOBS, Fault, Faults, with_field
from harness.vendors.ledger import Bill, Ledger
from harness.vendors.recognition import RATE, Listen, NoSound, Phrase, Samples, decode, raw_channels, transcribed


@dataclass(kw_only=True)
class Job:
    """One transcription."""

    id: str
    options: dict[str, Any]
    reference: str | None
    fault: Fault | None
    by_channel: bool
    diarize: bool
    seconds: float = 0.0
    channels: int = 1
    phrases: list[Phrase] = field(default_factory=list)
    failure: str = ""  # why it came to nothing
    polls: int = 0
    work: "asyncio.Task[None] | None" = None

    @property
    def is_done(self) -> bool:
        """Whether there is nothing more to wait for."""
        if self.failure:
            return not self.told("stuck")
        return not self.told("stuck") and self.work is not None and self.work.done()  # without: not decoded yet

    async def heard(self) -> None:
        """Return once it was listened to; never, where a fault wants that."""
        if self.told("stuck"):
            await asyncio.Event().wait()
        if self.work is not None:
            await self.work

    def told(self, kind: str) -> bool:
        """Whether this fault was set for it."""
        return self.fault is not None and self.fault.kind == kind

    def spoiled(self, result: Any) -> Any:
        """Its result, with a field changed where a fault wants that."""
        return with_field(result, self.fault.field, self.fault.value) if self.fault and self.told("field") else result


class Jobs:
    """All that one vendor holds."""

    def __init__(self, ledger: Ledger, faults: Faults, listen: Listen) -> None:
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, Job] = {}
        self._ledger, self._faults, self._listen = ledger, faults, listen

    def keep(self, data: bytes, id: str | None = None) -> str:  # noqa: A002
        """Keep an upload; its id."""
        file_id = id or str(uuid.uuid4())
        self.files[file_id] = data
        self._ledger.kept.add(file_id)
        self._ledger.note()
        return file_id

    def drop(self, id: str) -> None:  # noqa: A002
        """Delete a file or a job. KeyError where there is none."""
        if self.files.pop(id, None) is None:
            del self.jobs[id]
        self._ledger.kept.discard(id)
        self._ledger.deleted.append(id)
        self._ledger.note()

    def forget(self, id: str) -> None:  # noqa: A002
        """Let go of what the vendor itself does not keep."""
        self.files.pop(id, None)
        self.jobs.pop(id, None)
        self._ledger.kept.discard(id)

    async def submit(
        self,
        sound: bytes,
        options: dict[str, Any],
        *,
        reference: str | None = None,
        by_channel: bool = False,
        diarize: bool = False,
        raw: int = 0,
        most_s: float | None = None,
        id: str | None = None,  # noqa: A002
    ) -> Job:
        """Begin a job, and bill it unless it fails at once. `raw` is the number of channels of bare samples."""
        job = Job(
            id=id or str(uuid.uuid4()),
            options=options,
            reference=reference,
            fault=self._faults.take("submit", JOBS),
            by_channel=by_channel,
            diarize=diarize,
        )
        self.jobs[job.id] = job
        self._ledger.kept.add(job.id)
        try:
            channels = (
                await asyncio.to_thread(raw_channels, sound, raw) if raw else await asyncio.to_thread(decode, sound)
            )
        except NoSound as fault:
            job.failure = f"Unable to process audio: {fault}"
            return job
        job.seconds, job.channels = round(len(channels[0]) / RATE, 3), len(channels)
        if most_s is not None and job.seconds > most_s:
            job.failure = f"Audio is too long: {job.seconds} s, at most {most_s} s"
            return job
        if job.fault is not None and job.told("job_failed"):
            job.failure = job.fault.message or "Internal server error"
            return job
        self._ledger.billed.append(Bill(id=job.id, seconds=job.seconds, reference=reference))
        self._ledger.note()
        job.work = asyncio.create_task(self._hear(job, channels))
        return job

    async def _hear(self, job: Job, channels: list[Samples]) -> None:
        if job.told("empty"):
            return
        job.phrases = await asyncio.to_thread(
            transcribed, channels, by_channel=job.by_channel, diarize=job.diarize, listen=self._listen
        )
        self._ledger.note()


async def fetched(url: str, files: dict[str, bytes]) -> bytes:
    """What lies at an address: of our own uploads, or anywhere else. Raises NoSound."""
    if (mine := files.get(url.rstrip("/").rpartition("/")[2].partition("?")[0])) is not None:
        return mine
    async with httpx2.AsyncClient(timeout=30, follow_redirects=True) as client:
        try:
            answer = await client.get(url)
            answer.raise_for_status()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise NoSound(f"Download failed: {error}") from error
        return answer.content
