"""A model's directory: the files it needs, and a record of what was downloaded."""

import hashlib
import json
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

WEIGHTS = "model.bin"
CONFIG = "config.json"
_NEEDED = (WEIGHTS, CONFIG, "tokenizer.json")
_VOCABULARIES = ("vocabulary.txt", "vocabulary.json")
ONNX_VOCABULARY = "vocab.txt"
# `model_type` in config.json of a network in the ONNX format → the files that hold it.
ONNX_PARTS = {
    "nemo-conformer-ctc": ("model",),
    "nemo-conformer-rnnt": ("encoder-model", "decoder_joint-model"),
    "nemo-conformer-tdt": ("encoder-model", "decoder_joint-model"),
}
# File that a download writes beside the model: where it came from, and its sums.
MANIFEST = "sederunt.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Where a downloaded model came from."""

    repository: str
    revision: str
    sums: dict[str, str]  # file → SHA-256


def is_model(directory: Path) -> bool:
    """Return whether a directory holds everything that loading needs, so that the loader downloads nothing."""
    return not missing(directory)


def onnx_kind(directory: Path) -> str | None:
    """Return the kind of ONNX network that a directory's config names; None for another format."""
    try:
        config = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    kind = config.get("model_type") if isinstance(config, dict) else None
    return kind if kind in ONNX_PARTS else None


def quantization(directory: Path, kind: str) -> str | None:
    """Return "int8" if all parts of an ONNX network are present in 8 bits; otherwise None, for the exported form."""
    return "int8" if in_8_bits(_names(directory), kind) else None


def missing(directory: Path) -> list[str]:
    """Return the files that a model directory lacks."""
    return lacking(_names(directory), onnx_kind(directory))


def lacking(file_names: Set[str], kind: str | None) -> list[str]:
    """Return what a model needs besides these files; `kind` is that of an ONNX network."""
    if kind is not None:
        suffix = ".int8.onnx" if in_8_bits(file_names, kind) else ".onnx"
        needed_names = (*(f"{part}{suffix}" for part in ONNX_PARTS[kind]), ONNX_VOCABULARY, CONFIG)
        return [name for name in needed_names if name not in file_names]
    vocabulary = () if file_names & {*_VOCABULARIES} else _VOCABULARIES[:1]
    return [*(name for name in _NEEDED if name not in file_names), *vocabulary]


def likely_kind(file_names: Set[str]) -> str | None:
    """Return the kind of ONNX network that file names alone suggest; None for Whisper."""
    if WEIGHTS in file_names or ONNX_VOCABULARY not in file_names:
        return None
    stems = {name.partition(".")[0] for name in file_names if name.endswith(".onnx")}
    return max(ONNX_PARTS, key=lambda kind: len(stems & {*ONNX_PARTS[kind]}))


def in_8_bits(file_names: Set[str], kind: str) -> bool:
    """Return whether the files contain all parts of an ONNX network in 8 bits."""
    return file_names >= {f"{part}.int8.onnx" for part in ONNX_PARTS[kind]}


def _names(directory: Path) -> Set[str]:
    try:
        return {path.name for path in directory.iterdir() if path.is_file()}
    except OSError:
        return frozenset()


def sha256(*paths: Path) -> str:
    """Return the SHA-256 of a file, or of the pieces of one, in hexadecimal."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


def git_sum(path: Path) -> str:
    """Return git's SHA-1 of a file as a blob, in hexadecimal."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


def remembered_sha256(*paths: Path) -> str:
    """Return the SHA-256, cached while the files' sizes and modification times stay the same."""
    stats = [path.stat() for path in paths]
    return _sha256_as_of(paths, tuple((stat.st_size, stat.st_mtime_ns) for stat in stats))


@lru_cache(maxsize=64)
def _sha256_as_of(paths: tuple[Path, ...], _state: tuple[tuple[int, int], ...]) -> str:
    return sha256(*paths)


def size(directory: Path) -> int:
    """Return the bytes of all files of a model."""
    return sum(path.stat().st_size for path in directory.iterdir() if path.is_file())


def write_manifest(directory: Path, manifest: Manifest) -> None:
    text = json.dumps({"repository": manifest.repository, "revision": manifest.revision, "sha256": manifest.sums})
    (directory / MANIFEST).write_text(text, encoding="utf-8")


def read_manifest(directory: Path) -> Manifest | None:
    """Return what a download recorded; None for a directory from elsewhere."""
    path = directory / MANIFEST
    if not path.is_file():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    return Manifest(data["repository"], data["revision"], data["sha256"])


def faults(directory: Path, sums: dict[str, str]) -> list[str]:
    """Return what is wrong with a model's files, as sentences; `sums` are the expected ones."""
    return [f"{name} is missing" for name in missing(directory)] + changed(directory, sums)


def changed(directory: Path, sums: Mapping[str, str], sum_of: Callable[[Path], str] = sha256) -> list[str]:
    """Return, as sentences, which of the existing files do not have the expected sum."""
    problems = []
    for name, expected_sum in sums.items():
        path = directory / name
        if path.is_file() and sum_of(path) != expected_sum:
            problems.append(f"{name} is not what it was (SHA-256 differs)")
    return problems
