"""Models in memory: one of each per process, loaded when first asked for."""

import threading
from functools import partial
from pathlib import Path

from sederunt import log
from sederunt.errors import SetupError
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import devices, files, memory, resolution
from sederunt.transcription.whisper.catalog import LANGUAGE_FINDER, onnx_model
from sederunt.transcription.whisper.decoding import Network
from sederunt.transcription.whisper.engine import Whisper
from sederunt.transcription.whisper.resolution import Found
from sederunt.transcription.whisper.speech_network import SpeechNetwork

logger = log.get(component="transcription")

_networks: dict[tuple[Path, int, int, str], SpeechNetwork] = {}
_loading = threading.Lock()


def load_whisper(settings: WhisperSettings, data: Path, model: str | None = None, *, workers: int = 1) -> Whisper:
    """Load the model of the settings, or another by name or path; quick from the second time on. Blocks.

    `data` is the data directory, `workers` how many threads may read at once; others wait.
    Raises SetupError where the model is not on this machine or its file was changed.
    """
    found = resolution.resolve(settings, data, model)
    network = _network(found, settings, workers)
    return Whisper(found.name, network, partial(_language_finder, settings, data))


def unload() -> int:
    """Forget all models; those that somebody still reads with go when they are done. Returns how many there were."""
    with _loading:
        count = len(_networks)
        _networks.clear()
    return count


def _language_finder(settings: WhisperSettings, data: Path) -> SpeechNetwork | None:
    found = resolution.find(settings, data, LANGUAGE_FINDER)
    return _network(found, settings, 1) if found else None


def _network(found: Found, settings: WhisperSettings, workers: int) -> SpeechNetwork:
    key = (found.directory.resolve(), settings.threads, workers, f"{settings.device} {settings.compute_type}")
    with _loading:
        if key not in _networks:
            _networks[key] = _load(found, settings, workers)
        return _networks[key]


def _load(found: Found, settings: WhisperSettings, workers: int) -> SpeechNetwork:
    if wrong := files.faults(found.directory, found.expected_sums()):
        raise found.refusal(wrong)
    try:
        network = _onnx(found, settings) if files.onnx_kind(found.directory) else _whisper(found, settings, workers)
    except (RuntimeError, ValueError) as fault:
        raise SetupError(
            f"Model '{found.name}' in {found.directory} does not load on device {settings.device} with compute type "
            f"{settings.compute_type}: {fault}"
        ) from fault
    logger.info(
        "A speech model was loaded.",
        action="model_loaded",
        model=found.name,
        origin=found.origin,
        device=settings.device,
        bytes=files.size(found.directory),
        sha256=found.expected_sums().get(files.WEIGHTS, "")[:12] or "unpinned",
    )
    return network


def _whisper(found: Found, settings: WhisperSettings, workers: int) -> SpeechNetwork:
    memory.keep_few_kernels()
    from faster_whisper import WhisperModel

    if (why := devices.obstacle(settings)) is not None:
        raise SetupError(why)
    model = WhisperModel(
        str(found.directory),
        device=devices.chosen(settings),
        compute_type=settings.compute_type,
        cpu_threads=settings.threads,
        num_workers=workers,
        local_files_only=True,
    )
    return Network(model)


def _onnx(found: Found, settings: WhisperSettings) -> SpeechNetwork:
    from sederunt.transcription.whisper.onnx_network import load_onnx

    manifest = files.read_manifest(found.directory)
    known = onnx_model(found.name) or onnx_model(manifest.repository if manifest else "")
    return load_onnx(found.directory, settings, known.languages if known else None)
