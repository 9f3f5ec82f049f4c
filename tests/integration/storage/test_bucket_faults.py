"""A bucket that is missing, or may not be listed, is a storage that is away: no object of it is missing."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from harness.faulty_bucket import FaultyBucket, faulty_bucket
from sederunt.errors import ObjectMissing, SetupError, StorageMissing
from sederunt.settings import Settings
from sederunt.storage.objects import Objects, is_away, open_objects
from sederunt.storage.writer import CHUNK_BYTES


@pytest.fixture
def bucket() -> Iterator[FaultyBucket]:
    with faulty_bucket() as bucket:
        yield bucket


@pytest.fixture
def faulty(bucket: FaultyBucket) -> Objects:
    return open_objects(Settings(storage=bucket.settings), most_retries=0)


async def _write(objects: Objects, size: int) -> None:
    async with objects.writer("a/b") as file:
        await file.write(bytes(size))


async def _read(objects: Objects) -> None:
    async for _ in objects.stream("a/b"):
        pass


ACTS: dict[str, Callable[[Objects], Awaitable[object]]] = {
    "put": lambda objects: objects.put("a/b", b"x"),
    "write little": lambda objects: _write(objects, 1),
    "write in parts": lambda objects: _write(objects, CHUNK_BYTES + 1),
    "get": lambda objects: objects.get("a/b"),
    "stream": _read,
    "size": lambda objects: objects.size("a/b"),
    "keys": lambda objects: objects.keys("a"),
    "stored_bytes": lambda objects: objects.stored_bytes("a"),
    "delete": lambda objects: objects.delete("a/b"),
    "delete_prefix": lambda objects: objects.delete_prefix("a"),
}


@pytest.mark.parametrize("act", ACTS)
async def test_a_missing_bucket_is_away_whatever_is_asked_of_it(
    bucket: FaultyBucket, faulty: Objects, act: str
) -> None:
    bucket.exists = False
    with pytest.raises(Exception) as raised:
        await ACTS[act](faulty)
    assert is_away(raised.value)
    assert not isinstance(raised.value, FileNotFoundError)


@pytest.mark.parametrize("act", ["get", "size", "stream"])
async def test_in_a_real_server_too(s3_settings: Settings, act: str) -> None:
    gone = s3_settings.storage.model_copy(update={"url": "s3://never-made/prefix"})
    with pytest.raises(Exception) as raised:
        await ACTS[act](open_objects(Settings(storage=gone), most_retries=0))
    assert is_away(raised.value)


async def test_a_missing_object_costs_one_request_more_and_a_found_one_none(
    bucket: FaultyBucket, faulty: Objects
) -> None:
    with pytest.raises(ObjectMissing):
        await faulty.get("a/b")
    assert await faulty.size("a/b") is None
    assert [asked.split("?")[0].rstrip("/") for asked in bucket.asked] == [
        *("GET /bucket/a/b", "GET /bucket", "HEAD /bucket/a/b", "GET /bucket")
    ]
    await faulty.put("a/b", b"x")
    bucket.asked.clear()
    assert (await faulty.get("a/b"), await faulty.size("a/b")) == (b"x", 1)
    assert len(bucket.asked) == 2


async def test_a_check_passes_where_all_is_well_and_leaves_nothing(bucket: FaultyBucket, faulty: Objects) -> None:
    await faulty.check()
    assert bucket.objects == {}


@pytest.mark.parametrize(
    ("flaw", "sentence"), [("exists", "no such bucket"), ("lists", "list"), ("shows", "need the right to list")]
)
async def test_a_check_finds_what_is_wrong_and_leaves_nothing(
    bucket: FaultyBucket, faulty: Objects, flaw: str, sentence: str
) -> None:
    setattr(bucket, flaw, False)
    with pytest.raises(SetupError, match=sentence):
        await faulty.check()
    assert bucket.objects == {}


async def test_a_folder_that_lacks_a_file_lacks_that_alone(tmp_path: Path) -> None:
    objects = open_objects(Settings(data=tmp_path))
    with pytest.raises(ObjectMissing):
        await objects.get("a/b")
    assert not issubclass(StorageMissing, FileNotFoundError)
