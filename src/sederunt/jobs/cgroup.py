"""What the kernel allows this process and its children: memory and cores of their control groups (Linux, v2).

A container sees the memory and the cores of its whole machine. Who goes by those is killed at its limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


@dataclass(frozen=True, kw_only=True, slots=True)
class AllowedCores:
    """A share of the machine's cores, and what of it was used since the group began."""

    cores: float
    busy_s: float


def memory_left_mb(root: Path = ROOT, own: Path = OWN) -> float | None:
    """Return how many MB may still be used; None where nothing limits it."""
    left = [room for group in _groups(root, own) if (room := _room_mb(group)) is not None]
    return min(left, default=None)


def cores_allowed(root: Path = ROOT, own: Path = OWN) -> AllowedCores | None:
    """Return the narrowest limit of cores; None where there is none."""
    found = [limit for group in _groups(root, own) if (limit := _cores(group)) is not None]
    return min(found, key=lambda limit: limit.cores, default=None)


def _groups(root: Path, own: Path) -> Iterator[Path]:
    """Yield this process's group, and those around it."""
    try:
        line = next((line for line in own.read_text().splitlines() if line.startswith("0::")), None)
    except OSError:
        return
    if line is None:  # version 1
        return
    group = root / line.removeprefix("0::").strip().lstrip("/")
    while group.is_relative_to(root):
        yield group
        group = group.parent


def _room_mb(group: Path) -> float | None:
    most = _words(group / "memory.max")
    if not most or not most[0].isdigit():
        return None
    used = int((_words(group / "memory.current") or ["0"])[0])
    idle = _fact(group / "memory.stat", "inactive_file")  # the page cache gives way
    return (int(most[0]) - used + idle) / 1e6


def _cores(group: Path) -> AllowedCores | None:
    limit = _words(group / "cpu.max")
    if len(limit) != 2 or not limit[0].isdigit():
        return None
    return AllowedCores(cores=int(limit[0]) / int(limit[1]), busy_s=_fact(group / "cpu.stat", "usage_usec") / 1e6)


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:  # the root has none of them; what is not mounted has no limit
        return []


def _fact(file: Path, name: str) -> int:
    words = _words(file)
    return int(words[words.index(name) + 1]) if name in words else 0
