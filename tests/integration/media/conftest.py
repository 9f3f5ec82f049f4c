"""Recordings as people send them, made on the fly by the command-line ffmpeg, a build of its own."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Make = Callable[..., Path]


@pytest.fixture
def make_file(tmp_path: Path) -> Make:
    """Run ffmpeg with these arguments; returns the file it wrote."""

    def make(name: str, *arguments: str) -> Path:
        path = tmp_path / name
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *arguments, str(path)], check=True, timeout=60)
        return path

    return make
