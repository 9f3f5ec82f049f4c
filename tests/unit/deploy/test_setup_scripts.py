"""What `make demo` does on other machines: without apt, without sudo, with snaps. Played with a fake apt.

And what it installs: what is locked, with its digest, and nothing else.
"""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
INSTALL = ROOT / "scripts" / "install-packages"

# Answers as Debian's or Ubuntu's would: a version per package, and a list of what was installed.
POLICY = """#!/bin/sh
case "$2" in
  xvfb) echo "  Candidate: 2:21.1.7" ;;
  chromium) echo "  Candidate: $CHROMIUM" ;;
  *) echo "  Candidate: (none)" ;;
esac
"""
GET = '#!/bin/sh\necho "$@" >>"$CALLS"\n'
SUDO = '#!/bin/sh\nexec "$@"\n'


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Provide a directory of programs that stands for a machine; `calls` in it lists what was asked of apt-get."""
    for name, text in {"apt-cache": POLICY, "apt-get": GET, "sudo": SUDO}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    for name in ("bash", "sh", "env", "id", "sed", "echo"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    return tmp_path


def install(machine: Path, *packages: str, chromium: str = "155.0") -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(machine), "CALLS": str(machine / "calls"), "CHROMIUM": chromium}
    return subprocess.run(
        ["/bin/bash", INSTALL, *packages], env=environment, capture_output=True, text=True, check=False
    )


def asked(machine: Path) -> str:
    return (machine / "calls").read_text() if (machine / "calls").exists() else ""


def test_what_is_missing_is_installed(machine: Path) -> None:
    answer = install(machine, "xvfb", "chromium")
    assert answer.returncode == 0, answer.stderr
    assert asked(machine).splitlines()[-1].split()[-2:] == ["xvfb", "chromium"]


def test_a_snap_is_told_with_a_remedy_and_nothing_is_installed(machine: Path) -> None:
    answer = install(machine, "xvfb", "chromium", chromium="2:1snap1-0ubuntu2")
    assert answer.returncode == 1
    assert "SEDERUNT_BROWSER__EXECUTABLE" in answer.stderr
    assert "install" not in asked(machine)


def test_the_headless_shell_is_done_without(machine: Path) -> None:
    answer = install(machine, "chromium-headless-shell", "xvfb")
    assert answer.returncode == 0
    assert "Chromium itself" in answer.stderr
    assert asked(machine).splitlines()[-1].split()[-1] == "xvfb"


def test_without_apt_the_packages_are_named(machine: Path) -> None:
    (machine / "apt-get").unlink()
    answer = install(machine, "xvfb")
    assert answer.returncode == 1
    assert "Missing: xvfb" in answer.stderr


def test_without_root_and_sudo_the_command_is_told(machine: Path) -> None:
    (machine / "sudo").unlink()
    (machine / "id").unlink()
    (machine / "id").write_text("#!/bin/sh\necho 1000\n")
    (machine / "id").chmod(0o755)
    answer = install(machine, "xvfb")
    assert answer.returncode == 1
    assert "apt-get install xvfb" in answer.stderr


@pytest.mark.parametrize("recipe", ["scripts/setup", "scripts/oracle", "deploy/Dockerfile"])
def test_whatever_is_installed_has_a_digest(recipe: str) -> None:
    """This package itself is built by what is installed already: pip's own way would fetch a builder without one."""
    installs = re.findall(r"\bpip install (.*?)(?:\\\n|\|\||\n)", (ROOT / recipe).read_text())
    assert installs
    for install in installs:
        is_own = "--no-deps" in install and ("--no-build-isolation -e ." in install or "wheels/*.whl" in install)
        assert is_own or "--require-hashes -r " in install, install


def test_this_package_is_built_by_the_locked_builder() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        [builder] = tomllib.load(file)["build-system"]["requires"]
    for lock in ("setup.lock", "requirements-dev.lock"):
        assert f"{builder} \\\n    --hash=sha256:" in (ROOT / lock).read_text()
