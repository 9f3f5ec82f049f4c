"""The job `peaks`: the waveform of a recording, made on first request."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sederunt import log
from sederunt.errors import NotFound
from sederunt.jobs.context import WorkerContext
from sederunt.jobs.job import Job
from sederunt.jobs.scratch import scratch_of
from sederunt.media.readers import until_read
from sederunt.media.sandboxed_probe import probe_sandboxed
from sederunt.media.sandboxed_reader import read_pcm_sandboxed
from sederunt.storage.names import peaks_object

logger = log.get(component="jobs")

PER_S = 50  # levels while reading
MOST = 4000  # stored levels: more than a screen has pixels

Levels = npt.NDArray[np.float32]


async def peaks(job: Job, context: WorkerContext) -> None:
    """Make the waveform unless it exists. A bot or recording without media gets none."""
    key = peaks_object(job.resource, job.id)
    if await context.objects.size(key) is not None:
        return
    owner = await context.store_of(job.resource).get(job.id)
    object_name = owner.recording_object
    if object_name is None:
        return
    with scratch_of(context, job) as scratch:
        path = scratch / "recording"
        await context.objects.get_file(object_name, path)
        async with context.readers.place(owner.account_id) as gives_way:
            facts = await until_read(partial(probe_sandboxed, path, gives_way=gives_way))
            levels = await until_read(partial(_shape_of, path, facts.duration_s, gives_way))
    waveform = {"duration": round(facts.duration_s, 3), "peaks": levels}
    await _keep(json.dumps(waveform, separators=(",", ":")).encode(), job, context)
    if await context.objects.size(object_name) is None:  # it just expired, and its row is updated last
        await context.objects.delete(key)
    logger.info("shape of a recording made", action="peaks_made", resource=job.resource, id=str(job.id))


async def give_up(job: Job, context: WorkerContext, error: BaseException) -> None:
    """Store an empty waveform, so that it is not requested again."""
    logger.warning("no shape of a recording", action="peaks_given_up", id=str(job.id), error=str(error))
    await _keep(b'{"duration":0,"peaks":[]}', job, context)


async def _keep(waveform: bytes, job: Job, context: WorkerContext) -> None:
    """Store a waveform, unless its sound is removed meanwhile: nobody looks for leftover files a second time."""
    key = peaks_object(job.resource, job.id)
    await context.objects.put(key, waveform)
    try:
        object_name = (await context.store_of(job.resource).get(job.id)).recording_object
    except NotFound:
        object_name = None
    if object_name is None:
        await context.objects.delete(key)


def _shape_of(path: Path, duration_s: float, gives_way: int, *, left: threading.Event) -> list[int]:
    blocks = read_pcm_sandboxed(path, duration_s=duration_s, gives_way=gives_way, left=left)
    return shape(block.samples for block in blocks)


def shape(blocks: Iterator[npt.NDArray[Any]], rate: int = 16_000) -> list[int]:
    """Return the peak level of each stretch, 0 to 100, in at most MOST stretches of equal length."""
    step = rate // PER_S
    parts: list[Levels] = []
    for samples in blocks:
        whole = np.abs(samples[: len(samples) // step * step].reshape(-1, step))
        rest = np.abs(samples[len(samples) // step * step :])
        parts.append(whole.max(axis=1).astype(np.float32))
        if len(rest):
            parts.append(np.array([rest.max()], np.float32))
    levels = np.concatenate(parts) if parts else np.zeros(1, np.float32)
    if len(levels) > MOST:
        edges = np.linspace(0, len(levels), MOST, endpoint=False).astype(int)
        levels = np.maximum.reduceat(levels, edges)
    loudest = float(levels.max()) or 1.0
    return [int(level) for level in np.rint(levels / loudest * 100)]
