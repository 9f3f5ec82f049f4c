"""Whether Chromium's own sandbox can run here, which confines a page that breaks its renderer."""

import os
import shutil
import stat
import subprocess
from functools import cache
from pathlib import Path

from sederunt.browser.browser_user import OtherUser
from sederunt.settings import BrowserSettings

HELPER = "chrome-sandbox"  # beside the program; Debian's package chromium-sandbox installs it setuid root
PROBE_S = 5.0


def wants_sandbox(settings: BrowserSettings, executable: Path, user: OtherUser | None) -> bool:
    """Return whether this program is started with its sandbox as this user: as configured, else whenever it can run."""
    return obstacle(executable, user) is None if settings.sandbox == "auto" else settings.sandbox


@cache
def obstacle(executable: Path, user: OtherUser | None) -> str | None:
    """Return why the sandbox cannot run here as this user, as a sentence with the remedy; None if it can.

    Args:
        user: as `browser_user_of` returns it; None for our own.
    """
    if os.geteuid() == 0 and user is None:
        return (
            "Chromium's sandbox is off, since it refuses to run as root, and SEDERUNT_BROWSER__USER says root or names "
            f"somebody who cannot start {executable}: a page that breaks out of its renderer owns this machine. Run "
            "the service as a user of its own."
        )
    if _is_setuid_root(executable.resolve().parent / HELPER) or _may_make_namespaces(user):
        return None
    return (
        "Chromium's sandbox is off: this kernel gives ordinary users no user namespaces. Install the package "
        "chromium-sandbox, or set kernel.unprivileged_userns_clone=1 (a container: a seccomp profile with them)."
    )


def _is_setuid_root(path: Path) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return status.st_uid == 0 and bool(status.st_mode & stat.S_ISUID)


def _may_make_namespaces(user: OtherUser | None) -> bool:
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    try:
        trial = (unshare, "--user", "--net", "--pid", "--fork", "true")
        result = subprocess.run(user.tied(trial) if user else trial, capture_output=True, timeout=PROBE_S, cwd="/")
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0
