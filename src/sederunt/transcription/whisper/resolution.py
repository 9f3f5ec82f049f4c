"""Which directory a Whisper model's name stands for: a path, the cache, an installed package. Never the network.

First hit wins; copies of the models that we know by heart are hits only where their files are the known ones. A model
that is nowhere is a SetupError that names every remedy; downloading is `hub.pull`, by hand.
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
    pieces: tuple[Path, ...] = ()  # of its weights, where they were not joined yet

    def size(self) -> int:
        """Return bytes of all its files."""
        elsewhere = [piece for piece in self.pieces if piece.parent != self.directory]
        return files.size(self.directory) + sum(piece.stat().st_size for piece in elsewhere)

    def faults(self) -> list[str]:
        """Return what is wrong with its files, as sentences."""
        sums = self.expected_sums()
        if not self.pieces:
            return files.faults(self.directory, sums)
        sound = files.sha256(*self.pieces) == sums.pop(files.WEIGHTS)
        wrong = [] if sound else [f"the pieces of {files.WEIGHTS} are not what they were (SHA-256 differs)"]
        return wrong + files.changed(self.directory, sums)

    def refusal(self, wrong: Sequence[str]) -> SetupError:
        """Return what to raise, so that it is not used, with what to do about it."""
        return SetupError(
            f"Whisper model '{self.name}' in {self.directory} is damaged: {'; '.join(wrong)}. "
            f"Remove it with 'sederunt models rm {self.name}' and pull it, or reinstall its package."
        )

    def expected_sums(self) -> dict[str, str]:
        """Return what its files should add up to, as far as anyone told us."""
        if sums := self.known_sums():
            return sums
        manifest = files.read_manifest(self.directory)
        return manifest.sums if manifest else {}

    def known_sums(self) -> dict[str, str]:
        """Return the sums that we know by heart of a copy that anybody may have brought; empty for all others."""
        known = PINNED.get(self.name, {}) if self.origin in ("package", "folder") else {}
        return {file: pinned.sha256 for file, pinned in known.items()}


def cache_directory(settings: WhisperSettings, data: Path) -> Path:
    """Return where models are kept."""
    return settings.cache or data / "models"


def resolve(settings: WhisperSettings, data: Path, model: str | None = None) -> Found:
    """Return the model to use; `model` overrides the setting. Joins a model's pieces where that is all there is to do.

    Raises SetupError, with the remedies, where it is not on this machine, or no copy is what it should be.
    """
    name = model or settings.model
    if settings.path and model is None:
        return _given(settings.path, settings.path.name)
    if _is_path(name):
        return _given(Path(name).expanduser(), Path(name).name)
    refusals: list[str] = []
    for candidate in AUTO if name == AUTO_NAME else (name,):
        for found in _copies(settings, data, candidate):
            if isinstance(found, Found):
                return found
            refusals.append(str(found))
    if refusals:
        raise SetupError(" ".join(refusals))
    raise SetupError(remedies(name, offline=settings.offline))


def find(settings: WhisperSettings, data: Path, name: str) -> Found | None:
    """Return a model by its name, if it is on this machine as it should be."""
    return next((found for found in _copies(settings, data, name) if isinstance(found, Found)), None)


def _copies(settings: WhisperSettings, data: Path, name: str) -> Iterator[Found | SetupError]:
    """Yield a model from each place that has it, in their order: itself, or why that copy is not used."""
    cache = cache_directory(settings, data)
    if files.is_model(cache / folder(name)):
        yield Found(name, cache / folder(name), "cache")
    for source in (*settings.sources, None):
        try:
            found = _from_source(source, name, cache) if source else _gathered(name, settings, cache)
            if found and (wrong := files.changed(found.directory, found.known_sums(), files.remembered_sha256)):
                raise found.refusal(wrong)
        except SetupError as refusal:
            logger.warning("A copy of a speech model is not used.", action="model_refused", why=str(refusal))
            yield refusal
        else:
            if found:
                yield found


def _from_source(source: str, name: str, cache: Path) -> Found | None:
    """Return the model of one entry of the settings' sources. Raises SetupError where its pieces are not the known."""
    if source == sources.PACKAGES:
        directory = packages.find(name, cache)
        return Found(name, directory, "package") if directory and files.is_model(directory) else None
    directory = sources.whole(name, [source])
    return Found(name, directory, "folder") if directory else None


def _gathered(name: str, settings: WhisperSettings, cache: Path) -> Found | None:
    directory = sources.gather(name, settings.sources, cache)
    return Found(name, directory, "folder") if directory else None


def is_present(settings: WhisperSettings, data: Path, model: str | None = None) -> bool:
    """Return whether `resolve` would succeed, by a look at the disk alone."""
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
    """Return whether the model of the settings can write while people speak; networks in the ONNX format cannot."""
    name = settings.model
    named = Path(name).expanduser() if _is_path(name) else cache_directory(settings, data) / folder(name)
    if not named.is_dir():
        named = sources.whole(name, settings.sources) or named
    return files.onnx_kind(settings.path or named) is None


def _is_offered(settings: WhisperSettings, name: str) -> bool:
    in_packages = sources.PACKAGES in settings.sources and packages.is_installed(name)
    return in_packages or sources.is_offered(name, settings.sources)


def present(settings: WhisperSettings, data: Path) -> list[Found]:
    """Return every model on this machine; nothing is joined for that."""
    cache = cache_directory(settings, data)
    kept = [
        Found(path.name.replace("--", "/"), path, "cache")
        for path in sorted(cache.iterdir() if cache.is_dir() else ())
        if files.is_model(path) and not path.name.endswith(("-joined", "-gathered"))
    ]
    brought = [
        found
        for name in (packages.names() if sources.PACKAGES in settings.sources else ())
        if not files.is_model(cache / folder(name)) and (found := _brought(settings, data, name, cache))
    ]
    known = {found.name for found in (*kept, *brought)}
    brought += [found for found in _in_folders(settings, cache) if found.name not in known]
    given = [_given(settings.path, settings.path.name)] if settings.path else []
    return given + kept + brought


def _in_folders(settings: WhisperSettings, cache: Path) -> list[Found]:
    """Return the models that lie whole in a folder of the settings, and those that were put together from several."""
    directories = [path for root in sources.roots(settings.sources) for path in sorted(root.iterdir())]
    whole = [Found(path.name.replace("--", "/"), path, "folder") for path in directories if files.is_model(path)]
    gathered = [Found(name, sources.gathered(name, cache), "folder") for name in PINNED]
    return whole + [found for found in gathered if files.is_model(found.directory)]


def _brought(settings: WhisperSettings, data: Path, name: str, cache: Path) -> Found | None:
    """Return a model of packages: in pieces still, or the copy that is used, or the one that is not."""
    return _unjoined(name, cache) or find(settings, data, name) or _from_source(sources.PACKAGES, name, cache)


def _unjoined(name: str, cache: Path) -> Found | None:
    """Return a model of packages whose weights lie in pieces still; None for every other."""
    pieces = () if files.is_model(packages.joined(name, cache)) else packages.pieces(name)
    return Found(name, pieces[0].parent, "package", pieces) if pieces else None


def remedies(name: str, *, offline: bool) -> str:
    """Return what a reader can do about a model that is not here."""
    what = "No Whisper model" if name == AUTO_NAME else f"Whisper model '{name}'"
    example = "base" if name == AUTO_NAME else name
    sentences = [f"{what} is on this machine." if name == AUTO_NAME else f"{what} is not on this machine."]
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
    lacking = files.missing(path)
    if lacking:
        raise SetupError(
            f"{path} is no speech model that we read (Whisper in the CTranslate2 format, or NeMo's in ONNX): it lacks "
            f"{', '.join(lacking)}. "
            "Point SEDERUNT_WHISPER__PATH at a complete directory, or unset it."
        )
    return Found(name, path, "path")
