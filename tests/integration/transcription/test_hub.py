"""Pulling a model from a hub on the loopback: resumed, checked, put in place whole."""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sederunt.errors import SetupError
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import files, hub
from sederunt.transcription.whisper.catalog import Pinned

REVISION = "a" * 40
REPOSITORY = "Systran/faster-whisper-small"


class Hub(ThreadingHTTPServer):
    """Serves one repository as the real hub does: metadata with sums, files with ranges."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = {
            "model.bin": bytes(range(256)) * 80_000,
            "config.json": b"{}",
            "tokenizer.json": b"{}",
            "vocabulary.txt": b"a\nb\n",
            "README.md": b"not wanted",
        }
        self.told_sum: str | None = None  # a lie about the weights
        self.break_after: int | None = None  # bytes of the weights after which the line drops, once
        self.ranges: list[str] = []
        self.asked: list[str] = []  # files that were transferred
        self.released = threading.Event()  # the weights wait for it
        self.released.set()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def sum_of(self, name: str) -> str:
        return self.told_sum or hashlib.sha256(self.files[name]).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        if self.path.startswith(f"/api/models/{REPOSITORY}"):
            self._metadata()
        elif match := re.fullmatch(rf"/{REPOSITORY}/resolve/{REVISION}/(.+)", self.path):
            self._file(match[1])
        else:
            self.send_error(404)

    def _metadata(self) -> None:
        siblings = [
            {
                "rfilename": name,
                "size": len(data),
                "blobId": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest(),
                **(
                    {"lfs": {"sha256": self.server.sum_of(name), "size": len(data), "pointerSize": 134}}
                    if name == "model.bin"
                    else {}
                ),
            }
            for name, data in self.server.files.items()
        ]
        self._answer(200, json.dumps({"id": REPOSITORY, "sha": REVISION, "siblings": siblings}).encode(), {})

    def _file(self, name: str) -> None:
        data = self.server.files[name]
        if self.command == "GET":
            self.server.asked.append(name)
            self.server.released.wait(20 if name == "model.bin" else 0)
        headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": REVISION}
        asked = self.headers.get("Range")
        if asked and (match := re.fullmatch(r"bytes=(\d+)-(\d*)", asked)) and self.command == "GET":
            self.server.ranges.append(asked)
            start = int(match[1])
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            self._answer(206, data[start:], headers)
        else:
            self._answer(200, data, headers, name == "model.bin")

    def _answer(self, status: int, body: bytes, headers: dict[str, str], may_break: bool = False) -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if may_break and self.server.break_after is not None:
            self.wfile.write(body[: self.server.break_after])
            self.server.break_after = None
            self.close_connection = True
            return
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Hub]:
    with Hub() as hub_server:
        thread = threading.Thread(target=hub_server.serve_forever)
        thread.start()
        yield hub_server
        hub_server.shutdown()
        thread.join()


def test_a_model_is_pulled_whole_and_known_afterwards(server: Hub, tmp_path: Path) -> None:
    settings = WhisperSettings()
    offer = hub.look(settings, "small", endpoint=server.address)
    assert offer.total == sum(len(data) for name, data in server.files.items() if name != "README.md")
    told: list[int] = []
    directory = hub.pull(settings, tmp_path, offer, on_bytes=told.append, endpoint=server.address)
    assert directory == tmp_path / "models" / "small"
    assert (directory / "model.bin").read_bytes() == server.files["model.bin"]
    assert not (directory / "README.md").exists()
    assert sum(told) == offer.total
    manifest = files.read_manifest(directory)
    assert manifest is not None
    assert files.faults(directory, manifest.sums) == []
    assert left(tmp_path) == ["small"]


def left(data: Path) -> list[str]:
    """What is in the cache, but for the locks."""
    return sorted(path.name for path in (data / "models").iterdir() if path.suffix != ".lock")


_CHILD = """
import sys
from pathlib import Path
from sederunt import log
from sederunt.settings import WhisperSettings
from sederunt.transcription.whisper import hub

log.configure("lines", "warning")
address, data = sys.argv[1:]
offer = hub.look(WhisperSettings(), "small", endpoint=address)
told = []
print(hub.pull(WhisperSettings(), Path(data), offer, on_bytes=told.append, endpoint=address), sum(told) == offer.total)
"""


def test_of_two_who_pull_one_model_the_second_waits_and_finds_it(server: Hub, tmp_path: Path) -> None:
    """The weights come only once one of the two has said that it waits for the other."""
    server.released.clear()
    reading, writing = os.pipe()
    command = [sys.executable, "-c", _CHILD, server.address, str(tmp_path)]
    pulling = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=writing, text=True) for _ in range(2)]
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as said:
        waited = any("being downloaded by another process" in line for line in said)
        server.released.set()
        rest = said.read()
    target = tmp_path / "models" / "small"
    assert [process.communicate(timeout=60)[0] for process in pulling] == [f"{target} True\n"] * 2, rest
    assert waited
    assert server.asked.count("model.bin") == 1
    manifest = files.read_manifest(target)
    assert manifest is not None
    assert files.faults(target, manifest.sums) == []
    assert left(tmp_path) == ["small"]


def test_what_came_right_before_something_wrong_is_not_fetched_again(server: Hub, tmp_path: Path) -> None:
    server.told_sum = "0" * 64
    offer = hub.look(WhisperSettings(), "small", endpoint=server.address)
    with pytest.raises(SetupError, match=r"not what it should be: model\.bin .* Pull again"):
        hub.pull(WhisperSettings(), tmp_path, offer, endpoint=server.address)
    server.told_sum = None
    server.asked.clear()
    offer = hub.look(WhisperSettings(), "small", endpoint=server.address)
    hub.pull(WhisperSettings(), tmp_path, offer, endpoint=server.address)
    assert "config.json" not in server.asked
    assert server.asked.count("model.bin") == 1


@pytest.mark.parametrize("came", [b"<html>too many requests</html>", b"[]"])
def test_a_small_file_that_is_not_what_was_offered_is_not_put_in_place(
    server: Hub, tmp_path: Path, came: bytes
) -> None:
    """The hub tells no SHA-256 for it, but its size and git's sum."""
    offer = hub.look(WhisperSettings(), "small", endpoint=server.address)
    server.files["tokenizer.json"] = came
    with pytest.raises(SetupError, match=r"not what it should be: tokenizer\.json .* Pull again"):
        hub.pull(WhisperSettings(), tmp_path, offer, endpoint=server.address)
    assert left(tmp_path) == [".small.part"]
    server.files["tokenizer.json"] = b"{}"
    server.asked.clear()
    assert files.is_model(hub.pull(WhisperSettings(), tmp_path, offer, endpoint=server.address))
    assert "model.bin" not in server.asked
    assert server.asked.count("tokenizer.json") == 1


def test_a_model_that_is_known_by_heart_has_to_be_that(
    server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the hub tells of it."""
    pinned = {"vocabulary.txt": Pinned(4, hashlib.sha256(b"a\nc\n").hexdigest())}
    monkeypatch.setattr(hub, "PINNED", {"small": pinned})
    offer = hub.look(WhisperSettings(), "small", endpoint=server.address)
    with pytest.raises(SetupError, match=r"vocabulary\.txt .*SHA-256"):
        hub.pull(WhisperSettings(), tmp_path, offer, endpoint=server.address)
    pinned["vocabulary.txt"] = Pinned(4, hashlib.sha256(b"a\nb\n").hexdigest())
    offer = hub.look(WhisperSettings(), "small", endpoint=server.address)
    assert files.is_model(hub.pull(WhisperSettings(), tmp_path, offer, endpoint=server.address))


LACKING = [
    (("model.bin", "config.json", "vocabulary.txt"), "tokenizer.json"),
    (("model.safetensors", "config.json", "tokenizer.json", "vocab.json"), "model.bin, vocabulary.txt"),
    (("config.json", "vocab.txt", "encoder-model.onnx"), "decoder_joint-model.onnx"),
    (("vocab.txt", "model.int8.onnx"), "config.json"),
]


@pytest.mark.parametrize(("there", "lacking"), LACKING)
def test_a_repository_without_such_a_model_is_refused_before_anything_is_fetched(
    server: Hub, there: tuple[str, ...], lacking: str
) -> None:
    server.files = dict.fromkeys(there, b"{}")
    with pytest.raises(SetupError) as caught:
        hub.look(WhisperSettings(), "small", endpoint=server.address)
    assert str(caught.value) == (
        f"{REPOSITORY} holds no model in the CTranslate2 or NeMo-ONNX format: it lacks {lacking}."
    )
    assert server.asked == []


def test_a_network_that_nobody_reads_is_refused_by_its_config_before_its_weights(server: Hub, tmp_path: Path) -> None:
    server.files = {
        "vocab.txt": b"a 0\n",
        "encoder-model.onnx": b"weights",
        "decoder_joint-model.onnx": b"weights",
        "config.json": b'{"model_type": "nemo-conformer-aed"}',
    }
    offer = hub.look(WhisperSettings(), "small", endpoint=server.address)
    with pytest.raises(SetupError, match="holds no model in the CTranslate2 or NeMo-ONNX format"):
        hub.pull(WhisperSettings(), tmp_path, offer, endpoint=server.address)
    assert server.asked == ["config.json"]
    assert left(tmp_path) == []


def test_networks_come_in_8_bits_only_where_all_of_them_do() -> None:
    half = {"config.json", "vocab.txt", "encoder-model.onnx", "encoder-model.onnx.data", "decoder_joint-model.onnx"}
    assert hub.wanted_of({*half, "encoder-model.int8.onnx", "README.md"}) == half
    eight_bits = {"config.json", "vocab.txt", "encoder-model.int8.onnx", "decoder_joint-model.int8.onnx"}
    assert hub.wanted_of({*half, *eight_bits}) == eight_bits


def test_a_download_that_broke_off_goes_on(server: Hub, tmp_path: Path) -> None:
    server.break_after = 15_000_000  # the client keeps whole blocks of 10 MiB
    offer = hub.look(WhisperSettings(), "small", endpoint=server.address)
    hub.pull(WhisperSettings(), tmp_path, offer, endpoint=server.address)
    assert server.ranges == ["bytes=10485760-"]
    assert (tmp_path / "models" / "small" / "model.bin").read_bytes() == server.files["model.bin"]


def test_offline_nothing_is_asked(server: Hub) -> None:
    with pytest.raises(SetupError, match="SEDERUNT_WHISPER__OFFLINE"):
        hub.look(WhisperSettings(offline=True), "small", endpoint=server.address)


def test_a_hub_without_the_model_is_told_in_a_sentence(server: Hub) -> None:
    with pytest.raises(SetupError, match="hub did not answer"):
        hub.look(WhisperSettings(), "medium", endpoint=server.address)
