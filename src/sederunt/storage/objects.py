"""Objects under keys, in a folder or in a bucket (S3, Google, Azure), by one client.

A key is a path of plain names ("bots/<id>/recording.webm"). An object exists whole or not at all: nobody sees one that
is being written, and an unfinished one leaves nothing behind. (A process killed in the middle of a large upload cannot
clean up: give a bucket a rule that ends incomplete multipart uploads after a day.)
"""

import asyncio
import re
import shutil
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import obstore
from obstore.exceptions import BaseError, GenericError, JoinError, PermissionDeniedError, UnauthenticatedError
from obstore.store import AzureStore, GCSStore, LocalStore, ObjectStore, S3Store, from_url

from sederunt import log
from sederunt.errors import BadAnswer, ObjectMissing, SetupError, StorageMissing
from sederunt.settings import Settings
from sederunt.storage.writer import CHUNK_BYTES, Writer, missing_nothing_but_the_bucket

if TYPE_CHECKING:
    from obstore import ObjectMeta

READ_BYTES = 512 * 1024  # the least that `stream` yields at a time, except at the end
LONGEST_KEY = 1_024  # S3's limit
DELETE_PASSES = 5  # a writer may finish an object while its neighbours are being deleted

# For browsers that are redirected to the bucket. Folders keep no types; the API sets its own.
CONTENT_TYPES: Mapping[str, str] = {
    ".webm": "video/webm",
    ".mka": "audio/x-matroska",
    ".json": "application/json",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".txt": "text/plain; charset=utf-8",
}

# Options that obstore takes apart from the store's own (object_store::ClientOptions).
CLIENT_OPTIONS = frozenset(
    {
        "allow_http",
        "allow_invalid_certificates",
        "connect_timeout",
        "pool_idle_timeout",
        "pool_max_idle_per_host",
        "proxy_ca_certificate",
        "proxy_excludes",
        "proxy_url",
        "timeout",
        "user_agent",
    }
)
_TIMEOUTS = {"connect_timeout": "10s", "timeout": "120s"}
_RETRY_TIME = timedelta(seconds=60)
_SEGMENT = re.compile(r"[A-Za-z0-9_.-]+")
_AWAY = (GenericError, JoinError, PermissionDeniedError, UnauthenticatedError, BadAnswer, StorageMissing)

logger = log.get(component="storage")


def open_objects(settings: Settings, *, most_retries: int = 4) -> "Objects":
    """Open the store that the settings name; without an address, the folder `objects` in the data directory.

    Raises SetupError for an unknown kind of address. Contacts nothing yet: see `Objects.check`.

    Args:
        most_retries: how often a failing request is tried again, within a minute.
    """
    folder = folder_of(settings)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SetupError(f"The storage folder {folder} cannot be made: {error.strerror}.") from error
        return Objects(LocalStore(folder, automatic_cleanup=True, mkdir=True), folder=folder)
    url = settings.storage.url or ""
    options = settings.storage.options | {
        name: secret.get_secret_value() for name, secret in settings.storage.secret_options.items()
    }
    client = (
        _TIMEOUTS | _by_plain_http(options) | {name: value for name, value in options.items() if name in CLIENT_OPTIONS}
    )
    config: Any = {name: value for name, value in options.items() if name not in CLIENT_OPTIONS}
    retries: Any = {"max_retries": most_retries, "retry_timeout": _RETRY_TIME}
    try:
        store = from_url(url, config=config, client_options=_typed(client), retry_config=retries)
    except (BaseError, ValueError) as error:
        raise SetupError(f"SEDERUNT_STORAGE__URL or its options are not usable: {error}") from error
    return Objects(store)


def folder_of(settings: Settings) -> Path | None:
    """Return the folder that holds the objects; None if they are in a bucket."""
    url = settings.storage.url
    if url is not None:
        return Path(url.removeprefix("file://")) if url.startswith("file://") else None
    folder = (settings.data / "objects").absolute()
    # Until 2026-11, if the data directory's path had a space, they lay beside it under the URL-encoded path.
    old_folder = Path(folder.as_uri().removeprefix("file://"))
    return old_folder if old_folder.is_dir() and not folder.exists() else folder


def _typed(client: Mapping[str, str]) -> Any:  # obstore's own type, which cannot be imported at run time

    booleans: Mapping[str, Any] = {"true": True, "false": False}
    return {name: booleans.get(value.lower(), value) for name, value in client.items()}


def _by_plain_http(options: Mapping[str, str]) -> dict[str, str]:
    """Allow plain HTTP if an endpoint begins with http://; requiring a second option would be a trap."""
    endpoints = [value for name, value in options.items() if name.lower().endswith("endpoint")]
    return {"allow_http": "true"} if any(value.startswith("http://") for value in endpoints) else {}


class Objects:
    """The objects of one store.

    Every method raises ValueError for a key that is no path of plain names, ObjectMissing if there is no such object
    (unless it says otherwise), StorageMissing if the bucket itself is missing, and obstore's own errors if the store
    fails several times.
    """

    def __init__(self, store: ObjectStore, *, folder: Path | None = None) -> None:
        self._store, self._folder = store, folder

    def local_path(self, key: str) -> Path | None:
        """Return an object's path on this machine, for readers that need a file; None for a bucket."""
        return self._folder / checked(key) if self._folder is not None else None

    async def put(self, key: str, data: bytes) -> None:
        """Store these bytes in place of any earlier object."""
        with missing_nothing_but_the_bucket():
            await obstore.put_async(self._store, checked(key), data, attributes=self._attributes(key))

    async def put_file(self, key: str, path: Path) -> None:
        """Store a local file, which stays. Leaves nothing if cancelled."""
        async with self.writer(key) as target:
            with path.open("rb") as file:
                while data := await asyncio.to_thread(file.read, CHUNK_BYTES):
                    await target.write(data)

    def writer(self, key: str) -> Writer:
        """Return a writer for an object of unknown length: `async with objects.writer(key) as f: await f.write(…)`

        The object appears when the block ends; an exception in the block, or `abort`, leaves nothing.
        """
        return Writer(self._store, checked(key), self._attributes(key), lambda: self._tidy(key))

    async def get(self, key: str) -> bytes:
        """Return the whole object."""
        try:
            result = await obstore.get_async(self._store, checked(key))
        except FileNotFoundError as error:
            await self._look_for_the_bucket(key)
            raise _missing(key) from error
        return bytes(await result.bytes_async())

    async def get_file(self, key: str, path: Path) -> None:
        """Copy an object into a local file, which appears once it is complete."""
        part = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        try:
            with part.open("wb") as file:
                async for data in self.stream(key):
                    file.write(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    async def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return the bytes from `start` up to, not including, `end`; fewer where the object ends before."""
        return b"".join([data async for data in self.stream(key, start, end)])

    async def stream(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` up to, not including, `end` (or to the last), some at a time."""
        size = await self.size(key)
        if size is None:
            raise _missing(key)
        end = size if end is None else min(end, size)
        if start < 0 or start >= end:
            return
        result, bytes_left = (
            await obstore.get_async(self._store, checked(key), options={"range": (start, end)}),
            end - start,
        )
        async for data in result.stream(min_chunk_size=READ_BYTES):
            bytes_left -= len(data)
            yield bytes(data)
        if bytes_left:
            raise BadAnswer(f"The storage gave {end - start - bytes_left} of {end - start} bytes of {key}.")

    async def size(self, key: str) -> int | None:
        """Return the size of an object in bytes; None if there is no such object."""
        try:
            return int((await obstore.head_async(self._store, checked(key)))["size"])
        except FileNotFoundError:
            await self._look_for_the_bucket(key)
            return None

    async def stored_bytes(self, prefix: str) -> int:
        """Return the total size in bytes of all objects below a path."""
        return sum([int(entry["size"]) async for batch in self._listed(prefix) for entry in batch])

    async def keys(self, prefix: str) -> list[str]:
        """Return all keys below a path, sorted: "bots/1" covers "bots/1/…", not "bots/12/…"."""
        return sorted([str(entry["path"]) async for batch in self._listed(prefix) for entry in batch])

    async def delete(self, key: str) -> None:
        """Remove an object, if it exists."""
        try:
            await obstore.delete_async(self._store, checked(key))
        except FileNotFoundError:
            await self._look_for_the_bucket(key)

    async def delete_prefix(self, prefix: str) -> int:
        """Remove everything below a path, including unfinished files; returns the number of removed objects."""
        if not prefix.strip("/"):
            raise ValueError("Expected a path to delete below; an empty one would delete the whole store.")
        removed_count = 0
        for _ in range(DELETE_PASSES):
            keys = await self.keys(prefix)
            if not keys:
                break
            await obstore.delete_async(self._store, keys)
            removed_count += len(keys)
        if self._folder is not None:
            shutil.rmtree(self._folder / checked_prefix(prefix), ignore_errors=True)
        self._tidy(prefix.rstrip("/"))
        if removed_count:
            logger.info("objects deleted", action="objects_deleted", prefix=prefix, count=removed_count)
        return removed_count

    async def presigned(self, key: str, expires_s: float) -> str | None:
        """Return a temporary address in the store itself that reads this object; None for folders."""
        if not isinstance(self._store, (S3Store, GCSStore, AzureStore)):
            return None
        return await obstore.sign_async(self._store, "GET", checked(key), timedelta(seconds=expires_s))

    async def check(self) -> None:
        """Check the store: write, read, list and remove an object. Raises SetupError with the store's own message."""
        key, content = f"checks/{uuid.uuid4().hex}", b"sederunt"
        try:
            stored_content, keys = await self._tried(key, content)
        except (BaseError, OSError, StorageMissing) as error:
            sentence = str(error).split("\n", 1)[0].rstrip(".")
            raise SetupError(f"The storage cannot be used: {sentence}. Look at SEDERUNT_STORAGE__URL.") from error
        if stored_content != content:
            raise SetupError("The storage gave back something else than was written.")
        if key not in keys:
            raise SetupError("The storage does not list what was written: its credentials need the right to list.")

    async def _listed(self, prefix: str) -> "AsyncIterator[Sequence[ObjectMeta]]":
        with missing_nothing_but_the_bucket():
            async for batch in obstore.list(self._store, checked_prefix(prefix)):
                yield batch

    async def _tried(self, key: str, content: bytes) -> tuple[bytes, list[str]]:
        """Write, read and delete an object; return its content and the keys listed beside it."""
        await self.put(key, content)
        try:
            return await self.get(key), await self.keys(key.split("/", 1)[0])
        finally:
            await self.delete(key)

    async def _look_for_the_bucket(self, key: str) -> None:
        """Raise StorageMissing if the bucket is missing rather than the object: servers answer 404 to both."""
        if self._folder is None:
            await self.keys(key)

    def _attributes(self, key: str) -> dict[str, str] | None:
        if self._folder is not None:
            return None
        content_type = CONTENT_TYPES.get(Path(key).suffix)
        return {"Content-Type": content_type} if content_type else None

    def _tidy(self, key: str) -> None:
        """Remove the empty folders above a removed key."""
        if self._folder is None:
            return
        for folder in Path(key).parents:
            if folder == Path():
                return
            try:
                (self._folder / folder).rmdir()
            except OSError:  # not empty, or already gone
                if (self._folder / folder).exists():
                    return


def _missing(key: str) -> ObjectMissing:
    return ObjectMissing(f"There is no {key} in the storage.")


def checked(key: str) -> str:
    """Return the key itself. Raises ValueError unless it is a path of plain names that stays inside the store."""
    names = key.split("/")
    if len(key) > LONGEST_KEY or not all(_SEGMENT.fullmatch(name) and name.strip(".") for name in names):
        raise ValueError(f"Expected a key of letters, digits, dots, dashes and slashes, found {key[:80]!r}.")
    return key


def checked_prefix(prefix: str) -> str:
    """Return a prefix without its last slash; an empty prefix means everything."""
    return checked(prefix.removesuffix("/")) if prefix else ""


def is_away(error: BaseException) -> bool:
    """Return whether an error means that the store is out of reach, or refuses access, for now."""
    return isinstance(error, _AWAY)
