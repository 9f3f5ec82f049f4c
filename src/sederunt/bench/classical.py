"""The bot that everybody builds first, to measure against: a visible browser, a sound card, a screen grab.

Xvfb shows Chromium, PulseAudio takes its sound, one ffmpeg grabs screen and sound into an mp4. It sits in the same
practice meeting as ours, joined by the same clicks.
"""

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Page, async_playwright

SCREEN = "1280x720"
FRAMES_PER_S = 30


@dataclass(frozen=True, kw_only=True)
class ClassicalBot:
    """A running bot: the processes to measure, and the file it writes."""

    roots: tuple[int, ...]
    file: Path


@asynccontextmanager
async def classical_bot(meeting_url: str, host_rules: str, name: str = "Classic") -> AsyncIterator[ClassicalBot]:
    """Join a practice meeting (Meet shape, open entry) the classical way and record until the context ends."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sederunt-classical-")))
        display, xvfb = await _screen(stack)
        sink, pulse = await _sound(stack, folder)
        environment: dict[str, str | float | bool] = {**os.environ, "DISPLAY": display, "PULSE_SERVER": f"unix:{sink}"}
        page = await _browser(stack, environment, host_rules)
        await page.goto(meeting_url, wait_until="domcontentloaded")
        await page.get_by_label("Your name").fill(name)
        await page.get_by_role("button", name="Join now").or_(page.get_by_role("button", name="Ask to join")).click()
        await page.get_by_role("button", name="Leave call").wait_for(timeout=30_000)
        file = folder / "recording.mp4"
        ffmpeg = await _grab(stack, environment, display, file)
        # Playwright's driver and the browser are children of this process: the bench runs this in one of its own.
        yield ClassicalBot(roots=(os.getpid(), xvfb, pulse, ffmpeg), file=file)


async def _screen(stack: AsyncExitStack) -> tuple[str, int]:
    read, write = os.pipe()
    process = await asyncio.create_subprocess_exec(
        "Xvfb", "-displayfd", str(write), "-screen", "0", f"{SCREEN}x24", "-nolisten", "tcp",
        pass_fds=(write,), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    os.close(write)
    stack.push_async_callback(_end, process)
    with os.fdopen(read) as pipe:
        number = await asyncio.to_thread(pipe.readline)
    return f":{number.strip()}", process.pid


async def _sound(stack: AsyncExitStack, folder: Path) -> tuple[Path, int]:
    socket = folder / "pulse.sock"
    process = await asyncio.create_subprocess_exec(
        "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes",
        "-L", f"module-native-protocol-unix socket={socket} auth-anonymous=1",
        "-L", "module-null-sink sink_name=meeting",
        env={**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "DBUS_SESSION_BUS_ADDRESS": ""},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    stack.push_async_callback(_end, process)
    async with asyncio.timeout(20):
        while not socket.exists():  # noqa: ASYNC110  # a file has no event
            await asyncio.sleep(0.05)
    return socket, process.pid


async def _browser(stack: AsyncExitStack, environment: dict[str, str | float | bool], host_rules: str) -> Page:
    playwright = await stack.enter_async_context(async_playwright())
    browser = await playwright.chromium.launch(
        executable_path="/usr/bin/chromium",
        headless=False,
        env=environment,
        ignore_default_args=["--mute-audio"],
        args=[
            "--no-sandbox",
            "--test-type",
            "--autoplay-policy=no-user-gesture-required",
            "--use-fake-ui-for-media-stream",
            f"--host-resolver-rules={host_rules}",
            f"--window-size={SCREEN.replace('x', ',')}",
            "--start-fullscreen",
            "--disable-background-networking",
        ],
    )
    stack.push_async_callback(browser.close)
    context = await browser.new_context(
        ignore_https_errors=True, viewport={"width": 1280, "height": 720}, locale="en-US"
    )
    return await context.new_page()


async def _grab(stack: AsyncExitStack, environment: dict[str, str | float | bool], display: str, file: Path) -> int:
    process = await asyncio.create_subprocess_exec(
        "ffmpeg", "-loglevel", "error", "-y",
        "-f", "x11grab", "-framerate", str(FRAMES_PER_S), "-video_size", SCREEN, "-i", display,
        "-f", "pulse", "-i", "meeting.monitor",
        "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-c:a", "aac", str(file),
        env={name: str(value) for name, value in environment.items()},
        stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    stack.push_async_callback(_end, process)
    return process.pid


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.send_signal(signal.SIGINT)
        try:
            await asyncio.wait_for(process.wait(), 10)
        except TimeoutError:
            process.kill()
            await process.wait()
