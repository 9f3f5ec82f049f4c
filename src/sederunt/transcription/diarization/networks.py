"""The two networks in memory: one pair per process, loaded on first use."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sederunt import log
from sederunt.settings import Settings
from sederunt.transcription.diarization import weights
from sederunt.transcription.diarization.fbank import features
from sederunt.transcription.diarization.voice_stretches import Samples, Vector, unit

logger = log.get(component="transcription")

# Steps (20 ms each) over which the voice network pools the context of a frame.
_STRETCH = 100

_loaded: "dict[Path, Networks]" = {}
_loading = threading.Lock()


def load_networks(settings: Settings) -> "Networks | None":
    """Load both networks, or return those in memory; None if their weights are missing or disabled. Blocks.

    Raises SetupError if a weights file is not the known one.
    """
    directory = weights.find(settings)
    if directory is None:
        return None
    with _loading:
        if directory not in _loaded:
            _loaded[directory] = Networks(directory)
            logger.info("The networks that tell voices apart were loaded.", action="model_loaded", model="diarization")
        return _loaded[directory]


def unload() -> int:
    """Forget both networks; those in use are freed when their users finish. Returns how many pairs there were."""
    with _loading:
        count = len(_loaded)
        _loaded.clear()
    return count


class Networks:
    """Both networks, on one thread each. Every method blocks and may be called from any thread."""

    def __init__(self, directory: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._segmentation, self._voice = (
            onnxruntime.InferenceSession(str(directory / name), options, providers=["CPUExecutionProvider"])
            for name in ("segmentation.onnx", "voice.onnx")
        )

    def classes(self, samples: Samples) -> NDArray[np.float32]:
        """Return (frames, 7): log-probabilities of each set of speakers in a window of ten seconds."""
        output: Any = self._segmentation.run(None, {"samples": samples[None]})[0]
        return np.asarray(output[0], np.float32)

    def voice(self, samples: Samples) -> Vector:
        """Return a voice as 192 numbers of length 1. The cosine of two voices tells how alike they are."""
        filter_banks = features(samples)
        pool, spread = context(len(filter_banks))
        output: Any = self._voice.run(None, {"features": filter_banks[None], "pool": pool, "spread": spread})[0]
        return unit(np.asarray(output[0], np.float32))


def context(frames: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return how the voice network pools the context of its steps: over all steps, plus over each step's stretch.

    The result is "pool" (steps, stretches) and "spread" (stretches, steps), which maps back to the steps.
    """
    steps = (frames + 1) // 2
    owner = np.arange(steps) // _STRETCH
    spread = (owner[None, :] == np.arange(owner[-1] + 1)[:, None]).astype(np.float32)
    return (1 / steps + spread.T / spread.sum(axis=1)).astype(np.float32), spread
