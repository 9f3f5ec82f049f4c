"""Finds the directory of a Whisper model by name: a path, the cache, an installed package. Never downloads.

The first hit wins; a copy of a pinned model is a hit only if its files are the known ones. A missing model is a
SetupError that names every remedy; downloading is `hub.pull`, which an operator runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sederunt import log
from sederunt.errors import SetupError
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import files, packages, sources
from sederunt.transcription.whisper.catalog import AUTO, AUTO_NAME, HUB, ONNX, PINNED, folder, repository

logger = log.get(component="transcription")

Origin = Literal["path", "cache", "package", "folder"]


@dataclass(frozen=True, slots=True)
class Found:
    """A model on this machine."""

    name: str
    directory: Path
    origin: Origin
    pieces: tuple[Path, ...] = ()  # of its weights, if they are not joined yet

    def size(self) -> int:
        """Return the bytes of all its files."""
        other_pieces = [piece for piece in self.pieces if piece.parent != self.directory]
        return files.size(self.directory) + sum(piece.stat().st_size for piece in other_pieces)

    def faults(self) -> list[str]:
        """Return what is wrong with its files, as sentences."""
        sums = self.expected_sums()
        if not self.pieces:
            return files.faults(self.directory, sums)
        is_sound = files.sha256(*self.pieces) == sums.pop(files.WEIGHTS)
        problems = [] if is_sound else [f"the pieces of {files.WEIGHTS} are not what they were (SHA-256 differs)"]
        return problems + files.changed(self.directory, sums)

    def refusal(self, problems: Sequence[str]) -> SetupError:
        """Return the error that keeps it from being used, with the remedy."""
        return SetupError(
            f"Whisper model '{self.name}' in {self.directory} is damaged: {'; '.join(problems)}. "
            f"Remove it with 'sederunt models rm {self.name}' and pull it, or reinstall its package."
        )

    def expected_sums(self) -> dict[str, str]:
        """Return the expected sums of its files, if any are known."""
        if sums := self.known_sums():
            return sums
        manifest = files.read_manifest(self.directory)
        return manifest.sums if manifest else {}

    def known_sums(self) -> dict[str, str]:
        """Return the pinned sums of a copy from a package or folder; empty for all others."""
        pinned_files = PINNED.get(self.name, {}) if self.origin in ("package", "folder") else {}
        return {file: pinned.sha256 for file, pinned in pinned_files.items()}


def cache_directory(settings: WhisperSettings, data: Path) -> Path:
    """Return the directory of downloaded models."""
    return settings.cache or data / "models"


def resolve(settings: WhisperSettings, data: Path, model: str | None = None) -> Found:
    """Return the model to use; `model` overrides the setting. Joins a model's pieces if necessary.

    Raises SetupError, with the remedies, if it is not on this machine, or no copy is intact.
    """
    name = model or settings.model
    if settings.path and model is None:
        return _given(settings.path, settings.path.name)
    if _is_path(name):
        return _given(Path(name).expanduser(), Path(name).name)
    refusals: list[str] = []
    for candidate in AUTO if name == AUTO_NAME else (name,):
        for copy in _copies(settings, data, candidate):
            if isinstance(copy, Found):
                return copy
            refusals.append(str(copy))
    if refusals:
        raise SetupError(" ".join(refusals))
    raise SetupError(remedies(name, offline=settings.offline))


def find(settings: WhisperSettings, data: Path, name: str) -> Found | None:
    """Return a model by its name, if an intact copy is on this machine."""
    return next((copy for copy in _copies(settings, data, name) if isinstance(copy, Found)), None)


def _copies(settings: WhisperSettings, data: Path, name: str) -> Iterator[Found | SetupError]:
    """Yield a model from each place that has it, in order: the copy, or why it is not used."""
    cache = cache_directory(settings, data)
    if files.is_model(cache / folder(name)):
        yield Found(name, cache / folder(name), "cache")
    for source in (*settings.sources, None):
        try:
            copy = _from_source(source, name, cache) if source else _gathered(name, settings, cache)
            if copy and (problems := files.changed(copy.directory, copy.known_sums(), files.remembered_sha256)):
                raise copy.refusal(problems)
        except SetupError as refusal:
            logger.warning("A copy of a speech model is not used.", action="model_refused", why=str(refusal))
            yield refusal
        else:
            if copy:
                yield copy


def _from_source(source: str, name: str, cache: Path) -> Found | None:
    """Return the model from one of the settings' sources. Raises SetupError if its pieces are not the known ones."""
    if source == sources.PACKAGES:
        directory = packages.find(name, cache)
        return Found(name, directory, "package") if directory and files.is_model(directory) else None
    directory = sources.whole(name, [source])
    return Found(name, directory, "folder") if directory else None


def _gathered(name: str, settings: WhisperSettings, cache: Path) -> Found | None:
    directory = sources.gather(name, settings.sources, cache)
    return Found(name, directory, "folder") if directory else None


def is_present(settings: WhisperSettings, data: Path, model: str | None = None) -> bool:
    """Return whether `resolve` would succeed, judged by which files exist."""
    name = model or settings.model
    if settings.path and model is None:
        return files.is_model(settings.path)
    if _is_path(name):
        return files.is_model(Path(name).expanduser())
    cache = cache_directory(settings, data)
    return any(
        files.is_model(cache / folder(candidate)) or _is_offered(settings, candidate)
        for candidate in (AUTO if name == AUTO_NAME else (name,))
    )


def writes_live(settings: WhisperSettings, data: Path) -> bool:
    """Return whether the model of the settings can transcribe live; networks in the ONNX format cannot."""
    name = settings.model
    directory = Path(name).expanduser() if _is_path(name) else cache_directory(settings, data) / folder(name)
    if not directory.is_dir():
        directory = sources.whole(name, settings.sources) or directory
    return files.onnx_kind(settings.path or directory) is None


def _is_offered(settings: WhisperSettings, name: str) -> bool:
    in_packages = sources.PACKAGES in settings.sources and packages.is_installed(name)
    return in_packages or sources.is_offered(name, settings.sources)


def present(settings: WhisperSettings, data: Path) -> list[Found]:
    """Return every model on this machine, without joining pieces."""
    cache = cache_directory(settings, data)
    cached_models = [
        Found(path.name.replace("--", "/"), path, "cache")
        for path in sorted(cache.iterdir() if cache.is_dir() else ())
        if files.is_model(path) and not path.name.endswith(("-joined", "-gathered"))
    ]
    package_models = [
        model
        for name in (packages.names() if sources.PACKAGES in settings.sources else ())
        if not files.is_model(cache / folder(name)) and (model := _brought(settings, data, name, cache))
    ]
    names = {model.name for model in (*cached_models, *package_models)}
    package_models += [model for model in _in_folders(settings, cache) if model.name not in names]
    path_models = [_given(settings.path, settings.path.name)] if settings.path else []
    return path_models + cached_models + package_models


def _in_folders(settings: WhisperSettings, cache: Path) -> list[Found]:
    """Return the models that are complete in one folder of the settings, and those gathered from several."""
    directories = [path for root in sources.roots(settings.sources) for path in sorted(root.iterdir())]
    folder_models = [
        Found(path.name.replace("--", "/"), path, "folder") for path in directories if files.is_model(path)
    ]
    gathered_models = [Found(name, sources.gathered(name, cache), "folder") for name in PINNED]
    return folder_models + [model for model in gathered_models if files.is_model(model.directory)]


def _brought(settings: WhisperSettings, data: Path, name: str, cache: Path) -> Found | None:
    """Return a model of packages: still in pieces, or the copy in use, or an unused one."""
    return _unjoined(name, cache) or find(settings, data, name) or _from_source(sources.PACKAGES, name, cache)


def _unjoined(name: str, cache: Path) -> Found | None:
    """Return a model of packages whose weights are still in pieces; None for any other."""
    pieces = () if files.is_model(packages.joined(name, cache)) else packages.pieces(name)
    return Found(name, pieces[0].parent, "package", pieces) if pieces else None


def remedies(name: str, *, offline: bool) -> str:
    """Return what to do about a missing model."""
    subject = "No Whisper model" if name == AUTO_NAME else f"Whisper model '{name}'"
    example = "base" if name == AUTO_NAME else name
    sentences = [f"{subject} is on this machine." if name == AUTO_NAME else f"{subject} is not on this machine."]
    if repository(example) is None:
        sentences.append(
            f"It is no name we know ({', '.join((*HUB, *ONNX))}) and no hub id like 'owner/name': choose another,"
        )
    elif offline:
        sentences.append(f"Unset SEDERUNT_WHISPER__OFFLINE and run 'sederunt models pull {example}',")
    else:
        sentences.append(f"Run 'sederunt models pull {example}',")
    if name == AUTO_NAME or name in PINNED:
        sentences.append("or 'pip install sederunt[models]' (tiny.en and base),")
    sentences.append("or set SEDERUNT_WHISPER__PATH to a directory with a CTranslate2 model.")
    return " ".join(sentences)


def _is_path(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~"))


def _given(path: Path, name: str) -> Found:
    missing_files = files.missing(path)
    if missing_files:
        raise SetupError(
            f"{path} is no speech model that we read (Whisper in the CTranslate2 format, or NeMo's in ONNX): it lacks "
            f"{', '.join(missing_files)}. "
            "Point SEDERUNT_WHISPER__PATH at a complete directory, or unset it."
        )
    return Found(name, path, "path")
