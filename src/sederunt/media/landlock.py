"""Restrict what a process that reads callers' data sees of the disk: only its own program and that data.

With the kernel's Landlock a process gives up its access for good, without any privilege. It binds root as well.
"""

import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path

# syscall(2), the same on every architecture; linux/landlock.h
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_BENEATH_PATH = 1
_READ_FILE, _READ_FOLDER, _EVERYTHING = 1 << 2, 1 << 3, (1 << 13) - 1  # of the first version; all kernels know it
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/sys/devices/system/cpu", "/dev/null")


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def see_only(*readable: Path) -> bool:
    """Limit access to reading these paths and what Python needs; returns False if the kernel cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    rules = _Ruleset(_EVERYTHING)
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.sizeof(rules), 0)
    if ruleset < 0:
        return False
    try:
        for path in {*readable, *_own_places()}:
            _allow(libc, ruleset, path)
        return libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0  # type: ignore[no-any-return]
    finally:
        os.close(ruleset)


def _own_places() -> Iterable[Path]:
    """Yield the paths of Python and its imports, without the working directory, whose data it must not see."""
    working_directory = Path.cwd().resolve()
    for place in (*_SYSTEM, sys.prefix, sys.base_prefix, *sys.path):
        path = Path(place)
        if place and path.exists() and path.resolve() != working_directory:
            yield path


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        access = _READ_FILE | _READ_FOLDER if path.is_dir() else _READ_FILE
        rule = _Beneath(access, descriptor)
        libc.syscall(_ADD_RULE, ruleset, _BENEATH_PATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)
