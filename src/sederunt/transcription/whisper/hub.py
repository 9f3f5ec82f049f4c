"""Downloads from the model hub: resumed after interruptions, checked against the hub's sums, then put in place."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sederunt import log
from sederunt.errors import SetupError
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import files, resolution, sources
from sederunt.transcription.whisper.catalog import PINNED, folder, repository

logger = log.get(component="transcription")

# The files of a repository that a model needs; everything else (other formats, pictures) is not downloaded.
_WANTED = frozenset(
    {"model.bin", "config.json", "tokenizer.json", "vocabulary.txt", "vocabulary.json", "preprocessor_config.json"}
)


@dataclass(frozen=True, slots=True)
class Offer:
    """A model on the hub, before it is fetched."""

    name: str
    repository: str
    revision: str
    sizes: dict[str, int]
    sums: dict[str, str]  # SHA-256 of the files for which the hub gives it (the weights), and of pinned files
    blobs: dict[str, str]  # git's SHA-1 of the others

    @property
    def total(self) -> int:
        return sum(self.sizes.values())


def look(settings: WhisperSettings, name: str, *, endpoint: str | None = None) -> Offer:
    """Ask the hub for a model's files. Raises SetupError if offline, unknown, unreachable, or not a usable model."""
    repo = repository(name)
    if settings.offline or repo is None:
        raise SetupError(resolution.remedies(name, offline=settings.offline))
    sources.refuse_without_hub(name, settings.sources)
    from huggingface_hub import HfApi

    try:
        info = HfApi(endpoint=endpoint).model_info(repo, files_metadata=True, timeout=20)
    except Exception as fault:
        raise SetupError(f"The hub did not answer for '{repo}': {_first_line(fault)}") from fault
    siblings = info.siblings or []
    names = wanted_of({file.rfilename for file in siblings})
    if lacking := files.lacking(names, files.likely_kind(names)):
        raise _unreadable(repo, f"it lacks {', '.join(lacking)}")
    needed_files = [file for file in siblings if file.rfilename in names]
    return Offer(
        name=name,
        repository=repo,
        revision=info.sha or "main",
        sizes={file.rfilename: file.size or 0 for file in needed_files},
        sums={
            **{file.rfilename: file.lfs.sha256 for file in needed_files if file.lfs},
            **{file: pinned.sha256 for file, pinned in PINNED.get(name, {}).items() if file in names},
        },
        blobs={file.rfilename: file.blob_id for file in needed_files if file.blob_id and not file.lfs},
    )


def wanted_of(file_names: Set[str]) -> Set[str]:
    """Return the files of a repository to download: of ONNX networks those in 8 bits, if they are complete."""
    kind = files.likely_kind(file_names)
    if kind is None:
        return _WANTED & file_names
    config_files = {files.CONFIG, files.ONNX_VOCABULARY} & file_names
    eight_bits = {name for name in file_names if name.endswith(".int8.onnx")}
    if files.in_8_bits(file_names, kind):
        return config_files | eight_bits
    return config_files | {name for name in file_names - eight_bits if name.endswith((".onnx", ".onnx.data"))}


def _unreadable(repo: str, why: str) -> SetupError:
    return SetupError(f"{repo} holds no model in the CTranslate2 or NeMo-ONNX format: {why}.")


def pull(
    settings: WhisperSettings,
    data: Path,
    offer: Offer,
    *,
    on_bytes: Callable[[int], None] = lambda _count: None,
    endpoint: str | None = None,
) -> Path:
    """Fetch an offered model into the cache and return its directory. Blocks; resumes an earlier try.

    If another process fetches the same model, waits for it and uses its result.
    Raises SetupError if the hub fails, or a file differs from what was offered or pinned.
    """
    cache = resolution.cache_directory(settings, data)
    target = cache / folder(offer.name)
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache / f".{folder(offer.name)}.lock", offer.name) as has_waited:
        if has_waited and _is_there(target, offer):
            on_bytes(offer.total)
        else:
            _fetch(offer, cache / f".{folder(offer.name)}.part", target, on_bytes, endpoint)
    return target


@contextmanager
def _locked(path: Path, name: str) -> Iterator[bool]:
    """Exclude other downloads of a model, which would write to the same draft; yields whether it waited for one.

    The file stays, because a lock on a removed file would exclude nobody.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        has_waited = False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            has_waited = True
            logger.warning(
                "The model is being downloaded by another process; this one waits.", action="model_awaited", model=name
            )
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield has_waited
    finally:
        os.close(descriptor)


def _is_there(target: Path, offer: Offer) -> bool:
    """Return whether a directory holds the offered model, according to its manifest."""
    manifest = files.read_manifest(target) if files.is_model(target) else None
    return manifest is not None and (manifest.repository, manifest.revision) == (offer.repository, offer.revision)


def _fetch(offer: Offer, draft: Path, target: Path, on_bytes: Callable[[int], None], endpoint: str | None) -> None:
    """Fetch a model into a draft, then put it in place; the draft's fixed name lets a later try resume."""
    from huggingface_hub import hf_hub_download

    draft.mkdir(exist_ok=True)
    sums: dict[str, str] = {}
    # The config comes first: it may show that the rest is unusable.
    for file in sorted(offer.sizes, key=lambda name: name != files.CONFIG):
        try:
            hf_hub_download(
                offer.repository,
                file,
                revision=offer.revision,
                local_dir=draft,
                endpoint=endpoint,
                tqdm_class=_telling(on_bytes),
            )
        except Exception as fault:
            raise SetupError(
                f"Downloading '{offer.name}' broke off: {_first_line(fault)}. Run the same command again to go on."
            ) from fault
        sums[file] = _checked(offer, draft, file)
        if file == files.CONFIG:
            _refuse_unread(offer, draft)
    files.write_manifest(draft, files.Manifest(offer.repository, offer.revision, sums))
    shutil.rmtree(draft / ".cache", ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)
    draft.replace(target)
    logger.info("A model was downloaded.", action="model_pulled", model=offer.name, bytes=offer.total)


def _checked(offer: Offer, draft: Path, file: str) -> str:
    """Return the SHA-256 of a downloaded file. Removes it and raises SetupError if it is not the offered one."""
    path = draft / file
    size, digest = path.stat().st_size, files.sha256(path)
    if size != (offer.sizes[file] or size):
        why = f"{size} bytes in place of {offer.sizes[file]}"
    elif digest != offer.sums.get(file, digest):
        why = "its SHA-256 differs"
    elif file in offer.blobs and files.git_sum(path) != offer.blobs[file]:
        why = "its sum differs"
    else:
        return digest
    path.unlink()  # the others stay for the next try
    raise SetupError(
        f"What came for '{offer.name}' is not what it should be: {file} ({why}). "
        "Pull again: what came right is not fetched once more."
    )


def _refuse_unread(offer: Offer, draft: Path) -> None:
    """Raise SetupError if the downloaded config is of a network that we do not read, or needs other files."""
    kind = files.onnx_kind(draft)
    lacking = files.lacking(offer.sizes.keys(), kind)
    if not lacking:
        return
    shutil.rmtree(draft)
    if kind is None and files.WEIGHTS not in offer.sizes:
        raise _unreadable(offer.repository, f"its {files.CONFIG} names none of {', '.join(files.ONNX_PARTS)}")
    raise _unreadable(offer.repository, f"it lacks {', '.join(lacking)}")


def _telling(on_bytes: Callable[[int], None]) -> Any:
    """Return a stand-in for the progress bars of the hub's client that draws nothing and reports the bytes."""

    class Telling:
        def __init__(
            self, *_args: object, initial: int = 0, total: int | None = None, desc: str = "", **_: object
        ) -> None:
            # A deduplicated transfer has two bars: one counts bytes on disk, the other bytes over the network.
            self.counts = not desc.endswith("downloading bytes")
            self.n, self.total = 0, total
            self.update(initial)

        def update(self, n: float | None = 1) -> None:
            self.n += int(n or 0)
            if self.counts and n:
                on_bytes(int(n))

        def __enter__(self) -> "Telling":
            return self

        def __exit__(self, *_exit: object) -> None:
            pass

        def __getattr__(self, _name: str) -> Callable[..., None]:
            return lambda *_args, **_options: None

    return Telling


def _first_line(fault: Exception) -> str:
    return (str(fault).strip() or type(fault).__name__).splitlines()[0][:300]
