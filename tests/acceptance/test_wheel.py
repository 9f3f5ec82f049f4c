"""The wheel as its users install it: in an empty environment outside the repository, with nothing of ours around it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sederunt.practice.script import demo

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Build the wheel and provide the programs of an environment into which `sederunt[all]` was installed."""
    built = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(built, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    environment = tmp_path / "environment"
    # The versions are those that are tested; the packages come from where the project's own came from.
    steps = (
        [PROGRAMS / "uv", "venv", "-q", "--python", sys.executable, environment],
        [PROGRAMS / "uv", "pip", "install", "-q", "--python", environment / "bin" / "python",
         "--constraint", ROOT / "requirements.lock", f"sederunt[all] @ {wheel.as_uri()}"],
    )  # fmt: skip
    for step in steps:
        done = subprocess.run([str(part) for part in step], capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
    return environment / "bin"


def test_the_demo_runs_from_an_installed_wheel(installed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    bare = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
    bare |= {name: os.environ[name] for name in ("TMPDIR",) if name in os.environ}
    done = subprocess.run(
        [installed / "sederunt", "demo"], env=bare, cwd=home, capture_output=True, text=True, timeout=380, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Word error rate" in done.stdout
    assert all(person.name.split()[0] in done.stdout for person in demo().cast)
    # It was the installed package that ran, not the source beside this test.
    where = subprocess.run(
        [installed / "python", "-c", "import sederunt; print(sederunt.__file__)"],
        env=bare, cwd=home, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert where.stdout.startswith(str(installed.parent))
