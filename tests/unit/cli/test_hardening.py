"""What other users of the machine may do: nothing."""

import os
import resource
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from sederunt.cli.hardening import harden, keep_private
from sederunt.errors import SetupError


@pytest.fixture
def own_limits() -> Iterator[None]:
    umask, limits = os.umask(0o022), resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    os.umask(umask)
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.usefixtures("own_limits")
def test_what_we_write_is_read_by_nobody_else(tmp_path: Path) -> None:
    harden()
    (tmp_path / "secret").write_text("hush")
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


@pytest.mark.usefixtures("own_limits")
def test_the_soft_limit_of_open_files_is_raised_as_far_as_the_hard_one_lets_us() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    harden()
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == (min(65_536, hard) if hard >= 0 else 65_536)


def test_a_data_directory_that_was_open_is_closed_and_told(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    data.chmod(0o755)
    assert "mode 755" in (keep_private(data) or "")
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert keep_private(data) is None


def test_a_data_directory_that_is_a_file_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(SetupError, match="cannot be used as data directory"):
        keep_private(tmp_path / "data")


def test_a_volume_that_is_its_nodes_is_used_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kubernetes' own: root's, and open to the pod's group. Every pod of the chart ended at once."""
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o777)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(SetupError):  # ours, and not to be closed: a file system that knows no modes
        keep_private(data)
    monkeypatch.setattr(os, "geteuid", lambda: data.stat().st_uid + 1)
    assert f"it belongs to user {data.stat().st_uid}" in (keep_private(data) or "")
