"""One suite over a real folder and a real S3 server."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx2
import pytest

from sederunt.errors import BadAnswer, SetupError
from sederunt.settings import Settings, StorageSettings
from sederunt.storage.objects import Objects, open_objects
from sederunt.storage.writer import CHUNK_BYTES

BIG = bytes(range(256)) * (CHUNK_BYTES // 256) * 2 + b"the end"


async def test_what_was_put_is_got_sized_listed_and_deleted(objects: Objects) -> None:
    await objects.put("bots/1/recording.webm", b"sound")
    await objects.put("bots/1/recording.webm", b"more sound")
    assert await objects.get("bots/1/recording.webm") == b"more sound"
    assert await objects.size("bots/1/recording.webm") == 10
    assert await objects.keys("bots/1") == ["bots/1/recording.webm"]
    await objects.delete("bots/1/recording.webm")
    await objects.delete("bots/1/recording.webm")
    assert await objects.size("bots/1/recording.webm") is None
    with pytest.raises(FileNotFoundError):
        await objects.get("bots/1/recording.webm")


async def test_an_empty_object_is_an_object(objects: Objects) -> None:
    async with objects.writer("a/empty"):
        pass
    assert await objects.size("a/empty") == 0
    assert await objects.get("a/empty") == b""
    assert await _all(objects.stream("a/empty")) == b""


async def test_a_folder_is_no_object(objects: Objects) -> None:
    await objects.put("bots/1/piece", b"x")
    assert await objects.size("bots/1") is None
    with pytest.raises(FileNotFoundError):
        await objects.get("bots/1")


async def test_files_go_in_and_come_out_whole(objects: Objects, tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(BIG)
    await objects.put_file("bots/1/tracks/0.mka", source)
    await objects.get_file("bots/1/tracks/0.mka", target)
    assert target.read_bytes() == BIG
    assert source.exists()
    with pytest.raises(FileNotFoundError):
        await objects.get_file("bots/1/nothing", tmp_path / "none")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["in", "out"]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(0, 4, b"abcd"), (2, 5, b"cde"), (24, 100, b"yz"), (25, 26, b"z"), (26, 30, b""), (100, 200, b""), (3, 3, b"")],
)
async def test_ranges_are_exact_and_end_with_the_object(
    objects: Objects, start: int, end: int, expected: bytes
) -> None:
    await objects.put("alphabet", b"abcdefghijklmnopqrstuvwxyz")
    assert await objects.read_range("alphabet", start, end) == expected
    assert await _all(objects.stream("alphabet", start, end)) == expected


async def test_less_than_there_is_is_no_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that ends its answer early, and says so with a length of its own, would make a damaged file of it."""
    objects = open_objects(Settings(data=tmp_path))
    await objects.put("alphabet", b"abcdefghijklmnopqrstuvwxyz")

    async def twice_as_long(_: Objects, key: str) -> int:
        return 52

    monkeypatch.setattr(Objects, "size", twice_as_long)
    with pytest.raises(BadAnswer, match="26 of 52 bytes"):
        await objects.get_file("alphabet", tmp_path / "target")
    assert not (tmp_path / "target").exists()


async def test_a_stream_comes_in_bounded_parts(objects: Objects) -> None:
    async with objects.writer("big") as file:
        await file.write(BIG)
    parts = [len(part) async for part in objects.stream("big", 5)]
    assert sum(parts) == len(BIG) - 5
    assert max(parts) < CHUNK_BYTES
    with pytest.raises(FileNotFoundError):
        await _all(objects.stream("nothing"))


async def test_a_prefix_ends_at_a_slash(objects: Objects) -> None:
    for key in ("bots/1/a", "bots/1/b/c", "bots/12/a", "recordings/1/a"):
        await objects.put(key, b"x")
    assert await objects.keys("bots/1") == await objects.keys("bots/1/") == ["bots/1/a", "bots/1/b/c"]
    assert await objects.delete_prefix("bots/1/") == 2
    assert await objects.keys("") == ["bots/12/a", "recordings/1/a"]
    assert await objects.delete_prefix("bots/1/") == 0


async def test_deleting_a_prefix_takes_more_than_one_page_of_keys(objects: Objects) -> None:
    await asyncio.gather(*(objects.put(f"bots/1/pieces/{n:06d}.mka", b"x") for n in range(1_100)))
    assert await objects.delete_prefix("bots/1") == 1_100
    assert await objects.keys("bots") == []


@pytest.mark.parametrize("prefix", ["", "/"])
async def test_the_whole_store_is_never_deleted(objects: Objects, prefix: str) -> None:
    with pytest.raises(ValueError, match="whole store"):
        await objects.delete_prefix(prefix)


async def test_a_writer_of_many_small_parts_writes_them_all(objects: Objects) -> None:
    async with objects.writer("recordings/1/source") as file:
        for at in range(0, len(BIG), 300_000):
            await file.write(BIG[at : at + 300_000])
        assert file.size == len(BIG)
        assert await objects.size("recordings/1/source") is None
    assert await objects.get("recordings/1/source") == BIG


async def test_a_writer_that_fails_leaves_nothing(objects: Objects, request: pytest.FixtureRequest) -> None:
    await objects.put("recordings/0/source", b"x")

    async def fail_after(written: bytes) -> None:
        async with objects.writer("recordings/1/source") as file:
            await file.write(written)
            raise RuntimeError("the caller went away")

    for written in (b"little", BIG + BIG):
        with pytest.raises(RuntimeError, match="the caller went away"):
            await fail_after(written)
    assert await objects.keys("recordings") == ["recordings/0/source"]
    _assert_nothing_is_left(objects, request, "recordings/1")


async def test_a_cancelled_writer_leaves_nothing(objects: Objects, request: pytest.FixtureRequest) -> None:
    begun = asyncio.Event()

    async def write_for_ever() -> None:
        async with objects.writer("recordings/2/source") as file:
            await file.write(BIG + BIG)
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write_for_ever())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await objects.keys("recordings") == []
    _assert_nothing_is_left(objects, request, "recordings/2")


async def test_a_file_whose_storing_is_cancelled_leaves_nothing(
    objects: Objects, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    (tmp_path / "large").write_bytes(BIG * 4)
    task = asyncio.create_task(objects.put_file("recordings/3/source", tmp_path / "large"))
    await _until_begun(task)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await objects.keys("recordings") == []
    _assert_nothing_is_left(objects, request, "recordings/3")


async def test_an_aborted_writer_may_be_aborted_again(objects: Objects) -> None:
    file = objects.writer("x/y")
    await file.write(BIG)
    await file.abort()
    await file.abort()
    assert await objects.size("x/y") is None


async def test_the_store_can_be_checked(objects: Objects) -> None:
    await objects.check()
    assert await objects.keys("checks") == []


async def test_presigned_addresses_read_one_object_with_ranges_and_its_type(s3_settings: Settings) -> None:
    objects = open_objects(s3_settings)
    await objects.put("bots/1/recording.webm", b"0123456789")
    address = await objects.presigned("bots/1/recording.webm", 60)
    assert address is not None
    async with httpx2.AsyncClient() as client:
        whole = await client.get(address)
        part = await client.get(address, headers={"Range": "bytes=2-4"})
        forged = await client.get(address.replace("recording.webm", "recording.webn"))
    assert (whole.status_code, whole.content, whole.headers["content-type"]) == (200, b"0123456789", "video/webm")
    assert (part.status_code, part.content) == (206, b"234")
    assert forged.status_code == 403


async def test_folders_have_no_addresses_of_their_own(tmp_path: Path) -> None:
    assert await open_objects(Settings(data=tmp_path)).presigned("bots/1/recording.webm", 60) is None


async def test_deleting_takes_emptied_folders_along_and_half_written_files(tmp_path: Path) -> None:
    objects = open_objects(Settings(data=tmp_path))
    root = tmp_path / "objects"
    await objects.put("bots/1/pieces/000001-000001.mka", b"x")
    await objects.put("bots/2/recording.webm", b"x")
    await objects.delete("bots/1/pieces/000001-000001.mka")
    assert not (root / "bots/1").exists()
    await objects.put("bots/1/tracks/0.mka", b"x")
    (root / "bots/1/tracks/1.mka#1").write_bytes(b"a killed process was writing this")
    await objects.delete_prefix("bots/1/")
    assert sorted(path.name for path in (root / "bots").iterdir()) == ["2"]
    await objects.delete_prefix("bots/2/")
    assert list(root.iterdir()) == []


async def test_a_killed_writer_shows_no_object(tmp_path: Path) -> None:
    script = f"""
import asyncio, os
from sederunt.settings import Settings
from sederunt.storage.objects import open_objects
async def main():
    file = open_objects(Settings(data={str(tmp_path)!r})).writer("bots/1/recording.webm")
    for _ in range(4):
        await file.write(bytes({CHUNK_BYTES}))
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script])
    assert killed.returncode == -9
    objects = open_objects(Settings(data=tmp_path))
    assert await objects.size("bots/1/recording.webm") is None
    assert await objects.keys("") == []
    async with objects.writer("bots/1/recording.webm") as file:
        await file.write(b"again")
    assert await objects.get("bots/1/recording.webm") == b"again"


async def test_a_store_that_is_not_there_is_told_in_a_sentence() -> None:
    settings = Settings(
        storage=StorageSettings(
            url="s3://recordings/x",
            options={
                "endpoint": "http://127.0.0.1:1",
                "region": "x",
                "access_key_id": "a",
                "secret_access_key": "b",
                "connect_timeout": "1s",
            },
        )
    )
    with pytest.raises(SetupError, match="SEDERUNT_STORAGE__URL"):
        await open_objects(settings, most_retries=0).check()


async def _until_begun(task: "asyncio.Task[None]") -> None:
    """Let the task run until an upload of its own runs beside it."""
    before = asyncio.all_tasks()
    while asyncio.all_tasks() <= before and not task.done():  # noqa: ASYNC110 (the store tells nobody that it began)
        await asyncio.sleep(0)


def _assert_nothing_is_left(objects: Objects, request: pytest.FixtureRequest, path: str) -> None:
    if "tmp_path" in request.fixturenames and (request.getfixturevalue("tmp_path") / "objects").exists():
        root: Path = request.getfixturevalue("tmp_path") / "objects"
        assert not (root / path).exists()
    else:
        ask: Callable[[], list[str]] = request.getfixturevalue("unfinished_uploads")
        assert [key for key in ask() if path in key] == []


async def _all(stream: AsyncIterator[bytes]) -> bytes:
    return b"".join([part async for part in stream])
