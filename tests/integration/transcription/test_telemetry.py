"""Libraries of others that speak, at work: whether they tell their makers about it."""

import os
import subprocess
import sys
from pathlib import Path

# The voice finder of faster-whisper runs in ONNX Runtime, which keeps what it would send in the cache of its user.
LISTENS = "import sederunt; from faster_whisper.vad import get_vad_model; get_vad_model()"


def test_onnx_runtime_keeps_nothing_to_tell_its_maker(tmp_path: Path) -> None:
    folders = {name: str(tmp_path) for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    given = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", LISTENS], env={**given, **folders}, check=True, timeout=300)
    assert [path.name for path in tmp_path.rglob("*")] == []
