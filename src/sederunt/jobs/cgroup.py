"""What the kernel allows this process and its children: memory and cores of their control groups (Linux, v2).

A container sees the memory and the cores of its whole machine. A process that relies on those is killed at its limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


@dataclass(frozen=True, kw_only=True, slots=True)
class AllowedCores:
    """A share of the machine's cores, and its use since the group began."""

    cores: float
    busy_s: float


def memory_left_mb(root: Path = ROOT, own: Path = OWN) -> float | None:
    """Return how many MB may still be used; None if there is no limit."""
    rooms_mb = [room_mb for group in _groups(root, own) if (room_mb := _room_mb(group)) is not None]
    return min(rooms_mb, default=None)


def cores_allowed(root: Path = ROOT, own: Path = OWN) -> AllowedCores | None:
    """Return the narrowest limit of cores; None if there is none."""
    limits = [limit for group in _groups(root, own) if (limit := _cores(group)) is not None]
    return min(limits, key=lambda limit: limit.cores, default=None)


def _groups(root: Path, own: Path) -> Iterator[Path]:
    """Yield this process's group and its ancestors."""
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
    maximum = _words(group / "memory.max")
    if not maximum or not maximum[0].isdigit():
        return None
    used_bytes = int((_words(group / "memory.current") or ["0"])[0])
    idle_bytes = _fact(group / "memory.stat", "inactive_file")  # page cache, which the kernel reclaims
    return (int(maximum[0]) - used_bytes + idle_bytes) / 1e6


def _cores(group: Path) -> AllowedCores | None:
    limit = _words(group / "cpu.max")
    if len(limit) != 2 or not limit[0].isdigit():
        return None
    return AllowedCores(cores=int(limit[0]) / int(limit[1]), busy_s=_fact(group / "cpu.stat", "usage_usec") / 1e6)


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:  # the root has no such files; without a mount there is no limit
        return []


def _fact(file: Path, name: str) -> int:
    words = _words(file)
    return int(words[words.index(name) + 1]) if name in words else 0
