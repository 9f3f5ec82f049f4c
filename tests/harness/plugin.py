"""Install a package of this repository into a folder, as a user would install one, without a network."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PLUGIN = Path(__file__).parent.parent / "plugin"
PYTHON_CLIENT = Path(__file__).parents[2] / "clients" / "python"


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
