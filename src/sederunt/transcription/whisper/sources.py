"""Where models with a name come from beside the cache: packages, any package, folders. In the order of the settings.

The files of the models that everybody needs are known by their content, so it does not matter who carries them, under
which name, or in how many pieces: a package that vanishes is replaced by a copy of its files in a folder.
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
_PIECE = ".part"  # what follows it in a name counts the pieces of a file


def roots(sources: Iterable[str]) -> list[Path]:
    """Return the folders that the settings name, those of packages among them, as far as they are there."""
    folders = (_root(source) for source in sources if source not in (PACKAGES, HUB))
    return [root for root in folders if root is not None and root.is_dir()]


def whole(name: str, sources: Iterable[str]) -> Path | None:
    """Return a directory, named like the model, that holds all of it; None where there is none."""
    directories = (root / folder(name) for root in roots(sources))
    return next((directory for directory in directories if files.is_model(directory)), None)


def is_offered(name: str, sources: Sequence[str]) -> bool:
    """Return whether files of the sizes of this model's are there; nothing is read for it."""
    return whole(name, sources) is not None or bool(_candidates(name, roots(sources)))


def gathered(name: str, cache: Path) -> Path:
    """Return where a model is that was put together from several places, or would be."""
    return cache / f"{name}-gathered"


def gather(name: str, sources: Sequence[str], cache: Path) -> Path | None:
    """Return where a model's files were put together in `cache`, by their content; None where not all were found."""
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
        with contextlib.suppress(OSError):  # another process may have been quicker; its copy is as good as ours
            draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def refuse_without_hub(name: str, sources: Sequence[str]) -> None:
    """Raise SetupError where the settings leave the hub out."""
    if HUB not in sources:
        raise SetupError(f"The hub is not among SEDERUNT_WHISPER__SOURCES: '{name}' is not pulled from it.")


def _root(source: str) -> Path | None:
    if not source.startswith(PACKAGE):
        return Path(source).expanduser()
    spec = importlib.util.find_spec(source.removeprefix(PACKAGE))  # without importing it
    return Path(spec.origin).parent if spec and spec.origin else None


def _candidates(name: str, within: Sequence[Path]) -> Mapping[str, Sequence[tuple[Path, ...]]]:
    """Return, for each file of a model that we know by heart, what has its size; empty where one has nothing."""
    pinned_files = PINNED.get(name, {})
    piece_groups = [*_alone(within), *_in_pieces(within)] if pinned_files else []
    sizes = [(pieces, sum(piece.stat().st_size for piece in pieces)) for pieces in piece_groups]
    copies_by_file = {
        file: [pieces for pieces, size in sizes if size == pinned_file.size]
        for file, pinned_file in pinned_files.items()
    }
    return copies_by_file if all(copies_by_file.values()) else {}


def _alone(within: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    return ((path,) for root in within for path in sorted(root.rglob("*")) if path.is_file())


def _in_pieces(within: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Return the files that lie in pieces, perhaps of several folders, each piece once."""
    pieces = {path.name: path for root in reversed(within) for path in root.rglob(f"*{_PIECE}*") if path.is_file()}
    for _, names in groupby(sorted(pieces), lambda name: name.partition(_PIECE)[0]):
        yield tuple(pieces[name] for name in names)
