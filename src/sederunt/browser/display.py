"""A display for headful browsers: our own Xvfb, one per browser, which ends with it.

Anyone who knows its cookie sees the screen and can press keys, so the cookie's file is readable by this user only.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import struct
import tempfile
from pathlib import Path
from types import TracebackType

from sederunt.browser.browser_user import OtherUser
from sederunt.browser.launch import child_environment
from sederunt.errors import SetupError

START_S = 30.0
SCREEN = "1280x863x24"  # the window of the launch profile, exactly


class Display:
    """Run an Xvfb for as long as the block lasts.

    `name` is the value of DISPLAY, such as ":99", `authority` the value of XAUTHORITY, without which nobody gets in.

    Args:
        user: the owner of the browser, if not our user; the display runs as that user too.
        temporary: where that user may write.
    """

    def __init__(self, user: OtherUser | None = None, temporary: Path | None = None) -> None:
        self.name = ""
        self._user, self._temporary = user, temporary or Path(tempfile.gettempdir())
        self.authority = _cookie_file(user, self._temporary)
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        """Return its process; 0 if it does not run."""
        return self._process.pid if self._process is not None else 0

    async def __aenter__(self) -> "Display":
        program = shutil.which("Xvfb")
        if program is None:
            self.authority.unlink(missing_ok=True)
            raise SetupError("Xvfb was not found, and headful browsers need a display. Install the package xvfb.")
        read_end, write_end = os.pipe()
        try:
            command = (
                *_dying_with_parent(),
                program,
                *("-displayfd", str(write_end), "-screen", "0", SCREEN, "-nolisten", "tcp", "-noreset"),
                *("-auth", str(self.authority)),
            )
            self._process = await asyncio.create_subprocess_exec(
                *(self._user.tied(command) if self._user else command),
                pass_fds=(write_end,),
                env=child_environment(self._user, self._temporary),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            os.close(write_end)
            write_end = -1
            self.name = f":{await asyncio.wait_for(asyncio.to_thread(_first_line, read_end), START_S)}"
        except TimeoutError:
            await self.__aexit__(None, None, None)
            raise SetupError(f"Xvfb did not start within {START_S:g} s. Start it by hand to see why.") from None
        finally:
            for descriptor in (read_end, write_end):
                if descriptor >= 0:
                    os.close(descriptor)
        if self.name == ":":
            await self.__aexit__(None, None, None)
            raise SetupError("Xvfb ended at once. Start it by hand to see why.")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.authority.unlink(missing_ok=True)
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 3)
        except TimeoutError:
            process.kill()
            await process.wait()


def _cookie_file(user: OtherUser | None, folder: Path) -> Path:
    # Writes a fresh cookie that is valid for any display of this machine, in libXau's format.
    descriptor, name = tempfile.mkstemp(prefix="sederunt-display-", dir=folder)  # 0600
    if user is not None:
        os.fchown(descriptor, user.uid, user.gid)
    any_address, any_number = b"", b""
    parts = (any_address, any_number, b"MIT-MAGIC-COOKIE-1", secrets.token_bytes(16))
    with os.fdopen(descriptor, "wb") as file:
        file.write(struct.pack(">H", 0xFFFF) + b"".join(struct.pack(">H", len(part)) + part for part in parts))
    return Path(name)


def _dying_with_parent() -> tuple[str, ...]:
    # Returns the command that has the kernel end the display when we are killed, if util-linux is installed.
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "TERM", "--") if setpriv else ()


def _first_line(descriptor: int) -> str:
    text = b""
    while not text.endswith(b"\n"):
        chunk = os.read(descriptor, 64)
        if not chunk:
            break
        text += chunk
    return text.decode("ascii").strip()
