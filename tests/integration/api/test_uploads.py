"""Files on their way in: judged by content, streamed to storage, and gone when anything is wrong."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.api_room import PREFIX, ApiRoom, api_room, on_a_socket
from harness.fake_clock import FakeClock
from sederunt.settings import BusSettings

TONE = ("-f", "lavfi", "-i", "sine=440:duration=2")
ENCRYPTION = (
    "-encryption_key",
    "76a6c65c5ea762046bd749a2e632ccbb",
    "-encryption_kid",
    "a7e61c373e219033c21091fa607bf3b8",
)
BOUNDARY = "7f3a"
Make = Callable[..., bytes]


@pytest.fixture
def make_file(tmp_path: Path) -> Make:
    def make(name: str, *arguments: str) -> bytes:
        path = tmp_path / name
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *arguments, str(path)], check=True, timeout=60)
        return path.read_bytes()

    return make


def form(data: bytes, **fields: str) -> bytes:
    """A multipart body; the file comes last."""
    parts = [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n' for n, v in fields.items()]
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="recording_file"; filename="a"\r\n\r\n'
    return "".join(parts).encode() + head.encode() + data + f"\r\n--{BOUNDARY}--\r\n".encode()


async def send(room: ApiRoom, body: bytes | AsyncIterator[bytes]) -> httpx2.Response:
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    return await room.client.post("/recording", content=body, headers=headers)


async def nothing_is_left(room: ApiRoom) -> bool:
    """Neither an object nor a half-written file, nor a row, nor a receipt for what would have been left."""
    rows = (await room.client.get("/recording")).json()["data"] + await room.receipts()
    files = [path for path in (room.settings.data / "objects").rglob("*") if path.is_file()]
    return not rows and not files and not await room.objects.keys("recordings")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.mp3", "audio/mpeg"),
        ("a.wav", "audio/wav"),
        ("a.mp4", "video/mp4"),
        ("a.m4a", "audio/mp4"),
        ("a.webm", "video/webm"),
        ("a.flac", "audio/flac"),
        ("a.ogg", "audio/ogg"),
    ],
)
async def test_every_listed_format_is_taken_whatever_it_is_called(
    room: ApiRoom, make_file: Make, name: str, kind: str
) -> None:
    data = make_file(name, *TONE)
    made = await room.recording(data)
    assert (made["status"], made["transcription_model"]) == ("transcribing", "whisper")
    assert not await room.receipts()
    async with room.client_of(None) as anyone:
        answer = await anyone.get(made["recording_url"])
    assert (answer.content, answer.headers["content-type"]) == (data, kind)


async def test_a_file_that_is_no_recording_is_refused_with_a_sentence_and_not_kept(
    room: ApiRoom, make_file: Make, wav: bytes
) -> None:
    picture = make_file("a.png", "-f", "lavfi", "-i", "color=red:size=16x16", "-frames:v", "1")
    silent_film = make_file("b.mp4", "-f", "lavfi", "-i", "testsrc=duration=1:size=64x64:rate=5")
    bad = {
        "empty": b"",
        "text": b"Dear Sir or Madam, " * 50,
        "picture": picture,
        "no sound": silent_film,
        "encrypted": make_file("d.mp4", *TONE, "-c:a", "aac", "-encryption_scheme", "cenc-aes-ctr", *ENCRYPTION),
        "picture called mp3": picture,
        "cut short": make_file("c.m4a", *TONE)[:-6000],
        "header only": wav[:44],
        "noise": os.urandom(50_000),
    }
    for what, data in bad.items():
        answer = await room.upload(data)
        assert answer.status_code == 400, what
        assert list(answer.json()["errors"]) == ["recording_file"], what
        assert answer.json()["message"].endswith("."), what
    assert await nothing_is_left(room)


async def test_a_recording_that_is_too_long_is_refused_with_its_length(
    tmp_path: Path, bus_settings: BusSettings, clock: FakeClock, wav: bytes
) -> None:
    limits = {"max_recording_hours": 0.5 / 3600}
    async with api_room(tmp_path / "short", bus_settings, clock, api=limits) as room:
        answer = await room.upload(wav)
        assert (answer.status_code, list(answer.json()["errors"])) == (400, ["recording_file"])
        assert "long" in answer.json()["message"]
        assert await nothing_is_left(room)


async def test_a_file_beside_a_fault_in_another_field_is_not_kept(room: ApiRoom, wav: bytes) -> None:
    answer = await room.upload(wav, transcription_model="vendor2-v3", lang="english")
    assert list(answer.json()["errors"]) == ["transcription_model", "lang"]
    assert await nothing_is_left(room)


async def test_a_file_of_the_largest_size_is_taken_and_one_byte_more_is_not(room: ApiRoom, wav: bytes) -> None:
    most = room.settings.api.max_upload_bytes
    data = wav + bytes(most - len(wav))
    assert (await room.upload(data)).status_code == 200
    await _clear(room)
    refused = await room.upload(data + b"\x00")
    assert refused.status_code == 413
    assert f"{most:,}" in refused.json()["message"]
    assert await nothing_is_left(room)


async def test_a_file_that_is_too_large_is_refused_while_it_comes(room: ApiRoom, wav: bytes) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield form(wav, transcription_model="whisper")[: -len(BOUNDARY) - 10]
        while True:
            sent += 100_000
            yield bytes(100_000)

    answer = await asyncio.wait_for(send(room, endless()), 60)
    assert answer.status_code == 413
    assert sent <= room.settings.api.max_upload_bytes + 2_000_000
    assert await nothing_is_left(room)


async def test_a_body_that_says_it_is_too_large_is_not_read(room: ApiRoom) -> None:
    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("read")
        yield b""

    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Content-Length": str(10**12)}
    answer = await room.client.post("/recording", content=never(), headers=headers)
    assert answer.status_code == 413


async def test_fields_beside_the_file_are_bounded_together(room: ApiRoom, wav: bytes) -> None:
    answer = await send(room, form(wav, **{f"note{n}": "x" * 100_000 for n in range(6)}))
    assert answer.status_code == 400
    assert await nothing_is_left(room)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no form at all",
        f"--{BOUNDARY}\r\n".encode(),
        f"--{BOUNDARY}\r\n\r\n\r\n--{BOUNDARY}--\r\n".encode(),
        form(b"RIFF")[:-4],
        form(b"RIFF")[:40],
        form(b"x").replace(b"form-data", b"attachment"),
        form(b"x", **{f"n{n}": "" for n in range(3000)}),
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{"x" * 9000}"\r\n\r\n\r\n--{BOUNDARY}--'.encode(),
        form(b"x", lang="en").replace(b"en\r\n", b"\xff\r\n"),
        form(b"x").replace(b"form-data", b"form-data\xff"),
    ],
)  # fmt: skip
async def test_a_broken_form_is_refused_and_leaves_nothing(room: ApiRoom, body: bytes) -> None:
    answer = await send(room, body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["errors"]
    assert "form: (" not in answer.json()["message"]  # a library's own tuple
    assert await nothing_is_left(room)


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=", 'multipart/form-data; boundary="']
)
async def test_a_form_without_a_boundary_is_refused(room: ApiRoom, kind: str) -> None:
    answer = await room.client.post("/recording", content=b"--x", headers={"Content-Type": kind})
    assert answer.status_code == 400


async def test_two_files_are_one_too_many(room: ApiRoom, wav: bytes) -> None:
    files = [("recording_file", ("a.wav", wav)), ("recording_file", ("b.wav", wav))]
    answer = await room.client.post("/recording", data={"transcription_model": "whisper"}, files=files)
    assert answer.json()["errors"] == {"recording_file": ["recording_file must be given once."]}
    assert await nothing_is_left(room)


async def test_a_file_under_another_name_is_told_where_it_belongs(room: ApiRoom) -> None:
    files = {"file": ("a.mp3", b"ID3\xff\xfb")}
    answer = await room.client.post("/recording", data={"transcription_model": "whisper"}, files=files)
    sentence = "The file must be sent as recording_file; the form has it as file."
    assert answer.json() == {"message": sentence, "errors": {"recording_file": [sentence]}}


async def test_a_caller_who_hangs_up_leaves_nothing(room: ApiRoom, wav: bytes) -> None:
    async with on_a_socket(room.app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        half = form(wav + bytes(2_000_000), transcription_model="whisper")
        head = (
            f"POST {PREFIX}/recording HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {room.key}\r\n"
            f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: {len(half)}\r\n\r\n"
        )
        writer.write(head.encode() + half[:1_500_000])
        await writer.drain()
        await _until(lambda: "sederunt_uploads 1.0" in metrics(room))
        writer.close()
        await writer.wait_closed()
        await _until(lambda: "sederunt_uploads 0.0" in metrics(room))
        assert reader.at_eof()
    assert await nothing_is_left(room)


async def test_an_account_has_so_many_uploads_on_their_way_and_others_have_theirs(
    tmp_path: Path, bus_settings: BusSettings, clock: FakeClock, wav: bytes
) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()
    whole = form(wav, transcription_model="whisper")

    async def halting() -> AsyncIterator[bytes]:
        yield whole[:-100]
        begun.set()
        await may_end.wait()
        yield whole[-100:]

    async with api_room(tmp_path / "few", bus_settings, clock, limits={"uploads": 1}) as room:
        first = asyncio.create_task(send(room, halting()))
        await asyncio.wait_for(begun.wait(), 60)
        refused = await room.upload(wav)
        assert (refused.status_code, refused.json()["budget"], refused.headers["retry-after"]) == (429, "uploads", "5")
        async with await room.other_account() as neighbour:
            files = {"recording_file": ("a.wav", wav)}
            theirs = await neighbour.post("/recording", data={"transcription_model": "whisper"}, files=files)
            assert theirs.status_code == 200
        may_end.set()
        assert (await first).status_code == 200
        assert (await room.upload(wav)).status_code == 200


async def test_a_key_that_is_revoked_while_its_file_comes_makes_no_recording(room: ApiRoom, wav: bytes) -> None:
    text, leaked = await room.keys.create(room.account_id, "leaked")
    whole = form(wav, transcription_model="whisper")

    async def slowly() -> AsyncIterator[bytes]:
        yield whole[:-100]
        await room.keys.revoke(room.account_id, leaked.id)
        yield whole[-100:]

    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    async with room.client_of(text) as client:
        refused = await client.post("/recording", content=slowly(), headers=headers)
    assert (refused.status_code, refused.json()) == (401, {"message": "Unauthenticated."})
    assert await nothing_is_left(room)


def metrics(room: ApiRoom) -> str:
    app: Any = room.app
    text: bytes = app._metrics.text()
    return text.decode()


async def _until(question: Callable[[], bool]) -> None:
    """The server's side of a socket has no event that a test could wait for."""
    async with asyncio.timeout(60):
        while not question():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def _clear(room: ApiRoom) -> None:
    for made in (await room.client.get("/recording")).json()["data"]:
        await room.objects.delete_prefix(f"recordings/{made['id']}")
    async with room.database.begin() as connection:
        await connection.exec_driver_sql("DELETE FROM recordings")
