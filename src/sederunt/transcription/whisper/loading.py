"""Models in memory: one of each per process, loaded on first use."""

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
    """Load the model of the settings, or another by name or path, or return the one in memory. Blocks.

    `data` is the data directory; `workers` is how many threads may read at once, while others wait.
    Raises SetupError if the model is not on this machine or its file was changed.
    """
    local_model = resolution.resolve(settings, data, model)
    network = _network(local_model, settings, workers)
    return Whisper(local_model.name, network, partial(_language_finder, settings, data))


def unload() -> int:
    """Forget all models; those in use are freed when their users finish. Returns how many there were."""
    with _loading:
        count = len(_networks)
        _networks.clear()
    return count


def _language_finder(settings: WhisperSettings, data: Path) -> SpeechNetwork | None:
    local_model = resolution.find(settings, data, LANGUAGE_FINDER)
    return _network(local_model, settings, 1) if local_model else None


def _network(local_model: Found, settings: WhisperSettings, workers: int) -> SpeechNetwork:
    key = (local_model.directory.resolve(), settings.threads, workers, f"{settings.device} {settings.compute_type}")
    with _loading:
        if key not in _networks:
            _networks[key] = _load(local_model, settings, workers)
        return _networks[key]


def _load(local_model: Found, settings: WhisperSettings, workers: int) -> SpeechNetwork:
    if problems := files.faults(local_model.directory, local_model.expected_sums()):
        raise local_model.refusal(problems)
    try:
        network = (
            _onnx(local_model, settings)
            if files.onnx_kind(local_model.directory)
            else _whisper(local_model, settings, workers)
        )
    except (RuntimeError, ValueError) as fault:
        raise SetupError(
            f"Model '{local_model.name}' in {local_model.directory} does not load on device {settings.device} "
            f"with compute type {settings.compute_type}: {fault}"
        ) from fault
    logger.info(
        "A speech model was loaded.",
        action="model_loaded",
        model=local_model.name,
        origin=local_model.origin,
        device=settings.device,
        bytes=files.size(local_model.directory),
        sha256=local_model.expected_sums().get(files.WEIGHTS, "")[:12] or "unpinned",
    )
    return network


def _whisper(local_model: Found, settings: WhisperSettings, workers: int) -> SpeechNetwork:
    memory.keep_few_kernels()
    from faster_whisper import WhisperModel

    if (obstacle := devices.obstacle(settings)) is not None:
        raise SetupError(obstacle)
    model = WhisperModel(
        str(local_model.directory),
        device=devices.chosen(settings),
        compute_type=settings.compute_type,
        cpu_threads=settings.threads,
        num_workers=workers,
        local_files_only=True,
    )
    return Network(model)


def _onnx(local_model: Found, settings: WhisperSettings) -> SpeechNetwork:
    from sederunt.transcription.whisper.onnx_network import load_onnx

    manifest = files.read_manifest(local_model.directory)
    onnx_entry = onnx_model(local_model.name) or onnx_model(manifest.repository if manifest else "")
    return load_onnx(local_model.directory, settings, onnx_entry.languages if onnx_entry else None)
