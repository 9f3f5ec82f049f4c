"""The unprivileged user of the browsers if the service runs as root.

Chromium's sandbox does not run as root; and a page that leaves the sandbox has the browser's user, who must not be the
owner of the recordings and the keys.
"""

import os
import pwd
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sederunt.errors import SetupError
from sederunt.settings import BrowserSettings

OWN_NAME = "sederunt-browser"
OWN_NUMBER = 65_530  # assigned by no distribution, nor by systemd; within the numbers that containers map
TRIAL_S = 10.0

# The driver makes a profile owned by root and starts this script, which gives profile and browser to the other user.
_GIVE_AWAY = """for argument; do
  case "$argument" in --user-data-dir=*) chown {uid}:{gid} "${{argument#*=}}" ;; esac
done
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherUser:
    """A user and a group of this machine, by their numbers."""

    uid: int
    gid: int

    def tied(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """Return a command that runs another one as this user, in no group but its own."""
        return ("setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups", "--", *command)


def browser_user_of(settings: BrowserSettings, executable: Path) -> OtherUser | None:
    """Return the user that starts this program; None for our own, because we are not root, or no other user can start
    it, or the setting says root.

    Raises SetupError if the setting names an unknown user.
    """
    if os.geteuid() != 0 or settings.user == "root":
        return None
    user = _named(settings.user)
    return user if _can_start(user, executable, tempfile.gettempdir()) else None


def folder_for(user: OtherUser | None, folder: Path) -> Path:
    """Return where browsers of this user write, within the driver's folder; make it if it is missing."""
    if user is None:
        return folder
    folder.chmod(0o711)  # can be entered, not listed
    subfolder = folder / "browsers"
    subfolder.mkdir(mode=0o700, exist_ok=True)
    os.chown(subfolder, user.uid, user.gid)
    return subfolder


def program_for(user: OtherUser | None, folder: Path, executable: Path, most_mb: int) -> Path:
    """Return the script that the driver starts to run this program as the user, with a limit for each of its processes.

    Args:
        folder: the driver's; no browser may write there, since root starts the files in it.
        most_mb: memory of a process; 0 for no limit.
    """
    script = folder / f"start-{executable.name}-{most_mb}"
    if not script.exists():
        command = (str(executable),)
        draft = script.with_suffix(f".{os.getpid()}")
        draft.write_text(
            "#!/bin/sh\n"
            + (f"ulimit -d {most_mb * 1_000_000 // 1024}\n" if most_mb else "")
            + (_GIVE_AWAY.format(uid=user.uid, gid=user.gid) if user else "")
            + f'exec {shlex.join(user.tied(command) if user else command)} "$@"\n',
            encoding="utf-8",
        )
        draft.chmod(0o700)
        draft.replace(script)  # atomically: another browser may be starting with it
    return script


def _named(name: str) -> OtherUser:
    if name == "auto":
        try:
            entry = pwd.getpwnam(OWN_NAME)
        except KeyError:
            return OtherUser(uid=OWN_NUMBER, gid=OWN_NUMBER)
        return OtherUser(uid=entry.pw_uid, gid=entry.pw_gid)
    if name.isdigit() and int(name):
        return OtherUser(uid=int(name), gid=int(name))
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise SetupError(
            f"SEDERUNT_BROWSER__USER is {name!r}, and this machine has no such user. Add it (useradd --system {name}), "
            "or leave the setting out."
        ) from None
    return OtherUser(uid=entry.pw_uid, gid=entry.pw_gid)


@cache
def _can_start(user: OtherUser, executable: Path, temporary: str) -> bool:
    # Returns whether the user has access to the program and the folder of temporary files.
    if shutil.which("setpriv") is None:
        return False
    access_test = ("sh", "-c", 'test -x "$1" && test -x "$2"', "sh", str(executable), temporary)
    try:
        return subprocess.run(user.tied(access_test), capture_output=True, timeout=TRIAL_S, cwd="/").returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
