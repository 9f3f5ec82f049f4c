"""Install a package of this repository into a folder, as a user would install one, without a network."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLUGIN = Path(__file__).parent.parent / "plugin"
PYTHON_CLIENT = ROOT / "clients" / "python"


def install(folder: Path, package: Path = PLUGIN) -> Path:
    """Build and install it; the folder belongs on the path for imports."""
    source = folder / "source"
    shutil.copytree(package, source)
    target = folder / "installed"
    quiet = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation")
    subprocess.run([sys.executable, "-m", "pip", "install", *quiet, "--target", target, source], check=True)
    return target


def on_path(target: Path) -> dict[str, str]:
    """Make the environment with which another process finds it."""
    known = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": f"{target}{os.pathsep}{known}" if known else str(target)}


def empty_environment(folder: Path, package: Path, *, extras: str = "") -> Path:
    """Build a wheel, install it into an environment with nothing else in it, and return where its programs are."""
    wheels, environment = folder / "wheels", folder / "environment"
    built = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
    subprocess.run(built, cwd=package, check=True, capture_output=True, timeout=120)
    (wheel,) = wheels.glob("*.whl")
    name = wheel.name.partition("-")[0].replace("_", "-")
    uv, python = Path(sys.executable).parent / "uv", environment / "bin" / "python"
    # The versions are those that are tested; the packages come from where the project's own came from.
    wanted = ["--constraint", ROOT / "requirements.lock", f"{name}{extras} @ {wheel.as_uri()}"]
    for step in (
        [uv, "venv", "-q", "--python", sys.executable, environment],
        [uv, "pip", "install", "-q", "--python", python, *wanted],
    ):
        done = subprocess.run([str(part) for part in step], capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
    return python.parent
