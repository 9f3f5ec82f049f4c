"""Temporary files of jobs, below the data directory; those of killed workers are removed.

A worker that is killed leaves its folder behind. The same job empties it if it returns to the same machine; otherwise
`remove_left` removes it.
"""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from sederunt import log
from sederunt.jobs.context import WorkerContext
from sederunt.jobs.job import Job
from sederunt.settings import Settings

logger = log.get(component="jobs")

LEFT_AFTER_S = 86_400.0  # no job works for a day without touching its folder


@contextmanager
def scratch_of(context: WorkerContext, job: Job) -> Iterator[Path]:
    """Lend a folder for one job's temporary files, emptied before and after: a killed worker may leave files."""
    path = folder_of(context.settings) / f"{job.kind}-{job.id}"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def folder_of(settings: Settings) -> Path:
    """Return the folder that contains the folders of this machine's jobs."""
    return settings.data / "scratch"


def remove_left(scratch: Path, *, of: UUID | None = None) -> int:
    """Remove the folders of one resource, or all that were not touched for a day. Returns how many."""
    folders = [path for path in scratch.glob("*") if _is_left(path)] if of is None else list(scratch.glob(f"*-{of}"))
    for path in folders:
        shutil.rmtree(path, ignore_errors=True)
        logger.info("temporary files removed", action="scratch_removed", folder=path.name)
    return len(folders)


def _is_left(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > LEFT_AFTER_S
    except FileNotFoundError:
        return False
