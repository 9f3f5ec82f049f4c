"""Start a program that is killed when its parent dies, however the parent dies.

Run as `python die_with_parent.py PARENT_PID PROGRAM ARGUMENT…`. It is a program of its own because the child itself has
to ask the kernel (PR_SET_PDEATHSIG) between fork and exec, where a threaded parent must not run Python. It imports the
standard library only, so it starts in some 15 ms; the setting outlives the exec.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def tied(command: "list[str]") -> "list[str]":
    """Return the command line that runs a program for as long as this process lives."""
    return [sys.executable, "-I", "-S", os.path.abspath(__file__), str(os.getpid()), *command]  # noqa: PTH100


def main() -> None:
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        # SIGKILL, because a draining child would still hold files and ports that the next start needs.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before prctl
        sys.exit(1)
    os.execvp(command[0], command)  # noqa: S606  # the supervisor's own command


if __name__ == "__main__":
    main()
