"""A model's directory: which files it needs, and what it was when it came."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

WEIGHTS = "model.bin"
_NEEDED = (WEIGHTS, "config.json", "tokenizer.json")
_VOCABULARIES = ("vocabulary.txt", "vocabulary.json")
# What a download leaves beside the files: their sizes and sums.
MANIFEST = "sederunt.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Where a downloaded model came from."""

    repository: str
    revision: str
    sums: dict[str, str]  # file → SHA-256


def is_model(directory: Path) -> bool:
    """Return whether a directory holds everything that loading needs, so that nothing is fetched behind our back."""
    return not missing(directory)


def missing(directory: Path) -> list[str]:
    """Return what a model directory lacks."""
    lacking = [name for name in _NEEDED if not (directory / name).is_file()]
    if not any((directory / name).is_file() for name in _VOCABULARIES):
        lacking.append(_VOCABULARIES[0])
    return lacking


def sha256(*paths: Path) -> str:
    """Return the SHA-256 of a file, or of one that lies in pieces, in hexadecimal."""
    found = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: found)
    return found.hexdigest()


def size(directory: Path) -> int:
    """Return bytes of all files of a model."""
    return sum(path.stat().st_size for path in directory.iterdir() if path.is_file())


def write_manifest(directory: Path, manifest: Manifest) -> None:
    text = json.dumps({"repository": manifest.repository, "revision": manifest.revision, "sha256": manifest.sums})
    (directory / MANIFEST).write_text(text, encoding="utf-8")


def read_manifest(directory: Path) -> Manifest | None:
    """Return what a download noted; None for a directory that came in another way."""
    path = directory / MANIFEST
    if not path.is_file():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    return Manifest(data["repository"], data["revision"], data["sha256"])


def faults(directory: Path, sums: dict[str, str]) -> list[str]:
    """Return what is wrong with a model's files, as sentences; sums are those it should have."""
    found = [f"{name} is missing" for name in missing(directory)]
    for name, expected in sums.items():
        path = directory / name
        if path.is_file() and sha256(path) != expected:
            found.append(f"{name} is not what it was (SHA-256 differs)")
    return found
