"""Sources of named models besides the cache, in the order of the settings: packages, any package, folders.

The files of the models that everybody needs are recognised by content, whatever package, name or pieces they come in:
a package that vanishes can be replaced by a copy of its files in a folder.
"""

import contextlib
import importlib.util
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from sederunt.errors import SetupError
from sederunt.transcription.whisper import files
from sederunt.transcription.whisper.catalog import PINNED, folder

PACKAGES, HUB, PACKAGE = "packages", "hub", "package:"
_PIECE = ".part"  # followed in a file name by the number of the piece


def roots(sources: Iterable[str]) -> list[Path]:
    """Return the folders that the settings name, including those of packages, if they exist."""
    folders = (_root(source) for source in sources if source not in (PACKAGES, HUB))
    return [root for root in folders if root is not None and root.is_dir()]


def whole(name: str, sources: Iterable[str]) -> Path | None:
    """Return a directory that is named like the model and holds all of it; None if there is none."""
    directories = (root / folder(name) for root in roots(sources))
    return next((directory for directory in directories if files.is_model(directory)), None)


def is_offered(name: str, sources: Sequence[str]) -> bool:
    """Return whether files with the sizes of this model's files exist; no file is read."""
    return whole(name, sources) is not None or bool(_candidates(name, roots(sources)))


def gathered(name: str, cache: Path) -> Path:
    """Return the directory of a model that is gathered from several places."""
    return cache / f"{name}-gathered"


def gather(name: str, sources: Sequence[str], cache: Path) -> Path | None:
    """Return the directory in `cache` with a model's files, gathered by content; None if any is missing."""
    target = gathered(name, cache)
    if name in PINNED and files.is_model(target):
        return target
    candidates = _candidates(name, roots(sources))
    if not candidates:
        return None
    cache.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache))
    try:
        for file, copies in candidates.items():
            matches = (pieces for pieces in copies if files.remembered_sha256(*pieces) == PINNED[name][file].sha256)
            if (pieces := next(matches, None)) is None:
                return None
            with (draft / file).open("wb") as out:
                for piece in pieces:
                    with piece.open("rb") as part:
                        shutil.copyfileobj(part, out, 1 << 20)
        draft.chmod(0o755)
        with contextlib.suppress(OSError):  # another process may have been first; its copy is just as good
            draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def refuse_without_hub(name: str, sources: Sequence[str]) -> None:
    """Raise SetupError if the settings exclude the hub."""
    if HUB not in sources:
        raise SetupError(f"The hub is not among SEDERUNT_WHISPER__SOURCES: '{name}' is not pulled from it.")


def _root(source: str) -> Path | None:
    if not source.startswith(PACKAGE):
        return Path(source).expanduser()
    spec = importlib.util.find_spec(source.removeprefix(PACKAGE))  # without importing it
    return Path(spec.origin).parent if spec and spec.origin else None


def _candidates(name: str, folders: Sequence[Path]) -> Mapping[str, Sequence[tuple[Path, ...]]]:
    """Return the candidates for each file of a pinned model, by size; empty if one file has none."""
    pinned_files = PINNED.get(name, {})
    piece_groups = [*_alone(folders), *_in_pieces(folders)] if pinned_files else []
    sizes = [(pieces, sum(piece.stat().st_size for piece in pieces)) for pieces in piece_groups]
    copies_by_file = {
        file: [pieces for pieces, size in sizes if size == pinned_file.size]
        for file, pinned_file in pinned_files.items()
    }
    return copies_by_file if all(copies_by_file.values()) else {}


def _alone(folders: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    return ((path,) for root in folders for path in sorted(root.rglob("*")) if path.is_file())


def _in_pieces(folders: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Yield the pieces of each split file, perhaps from several folders, each piece once."""
    pieces = {path.name: path for root in reversed(folders) for path in root.rglob(f"*{_PIECE}*") if path.is_file()}
    for _, names in groupby(sorted(pieces), lambda name: name.partition(_PIECE)[0]):
        yield tuple(pieces[name] for name in names)
