"""One process that joins bots to practice meetings and does nothing else, so that its cost can be measured.

Run by `sederunt bench capture` as `python -m sederunt.bench.host_process '<plan as JSON>'`. Writes one JSON line when
all bots hear something, waits for a line on standard input, writes one JSON line with what was captured, and ends. The
bots here are the product's own pages, scripts, adapters and timeline; only the database is missing.
"""

import asyncio
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

from sederunt import log
from sederunt.browser.page import MeetingPage
from sederunt.browser.page_request import PageRequest
from sederunt.browser.pool import BrowserPool
from sederunt.clock import SYSTEM_CLOCK
from sederunt.media.timeline import Timeline
from sederunt.media.video import ALL_VIDEO
from sederunt.meetings.session.watcher import READ_EVERY_S
from sederunt.model.audio import CapturedFrame
from sederunt.model.bot import Service
from sederunt.platforms.admission import join
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.page_state import PageState
from sederunt.platforms.platform import Platform
from sederunt.platforms.registry import platform_of
from sederunt.settings import BrowserSettings


@dataclass(frozen=True, kw_only=True)
class SeatPlan:
    """What to measure."""

    urls: list[str]  # one bot per address
    host_rules: str
    service: str = "gmeet"
    bots_per_browser: int = 1
    mode: Literal["shell", "headless", "headful"] = "shell"
    backend: Literal["encoded", "worklet"] = "encoded"
    forward: bool = False
    video: bool = False
    batch_ms: int = 500  # as the settings have it for bots without sockets
    keep: bool = False  # keep the frames, for comparison with what was sent


@dataclass
class SeatedBot:
    """One bot, and what it heard."""

    opened_at: float = field(default_factory=time.monotonic)
    first_audio_s: float | None = None
    frames: list[CapturedFrame] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    timeline: Timeline = field(default_factory=lambda: Timeline(time.time() * 1000))
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    page: MeetingPage | None = None
    keep: bool = False

    def take(self, frames: Sequence[CapturedFrame]) -> None:
        for frame in frames:
            self.counts["video" if frame.codec in ALL_VIDEO else "audio"] += 1
        audio = [frame for frame in frames if frame.codec not in ALL_VIDEO]
        self.timeline.add(audio)
        if audio and self.first_audio_s is None:
            self.first_audio_s = time.monotonic() - self.opened_at
            self.heard.set()
        if self.keep:
            self.frames.extend(audio)


async def seat_all(plan: SeatPlan) -> None:
    """Open, join, report; wait for the word; report what was captured; close."""
    settings = BrowserSettings(
        host_rules=plan.host_rules, ignore_certificate_errors=True, bots_per_browser=plan.bots_per_browser, warm=0
    )
    platform = platform_of(Service(plan.service))
    async with BrowserPool(settings) as pool:
        bots = [await seat(plan, pool, platform, url) for url in plan.urls]
        await asyncio.wait_for(asyncio.gather(*(bot.heard.wait() for bot in bots)), 60)
        say({"event": "seated", "first_audio_s": [bot.first_audio_s for bot in bots]})
        looking = [asyncio.create_task(look_again(bot, platform)) for bot in bots]
        await asyncio.to_thread(sys.stdin.readline)
        for task in looking:
            task.cancel()
        say({"event": "captured", "bots": [await facts_of(bot) for bot in bots]})
        for bot in bots:
            if bot.page is not None:
                await bot.page.close()


async def seat(plan: SeatPlan, pool: BrowserPool, platform: Platform, url: str) -> SeatedBot:
    bot = SeatedBot(keep=plan.keep)
    bot.page = await pool.open(
        PageRequest(
            bot_id=uuid4(),
            mode=plan.mode,
            backend=plan.backend,
            forward=plan.forward,
            batch_ms=plan.batch_ms,
            video=plan.video,
            watch=platform.watch_plan(),
            hosts=platform.origins,
        ),
        on_frames=bot.take,
        on_signal=lambda signal: None,
    )
    admission = await join(
        platform,
        bot.page,
        platform.parse_link(url),
        name="Bench",
        limits=EntryLimits(SYSTEM_CLOCK, 30),
        clock=SYSTEM_CLOCK,
        on_state=lambda reading: None,
    )
    if admission.reading.state is not PageState.IN_CALL:
        raise SystemExit(f"not let in: {admission.reading}")
    await platform.settle(bot.page, roster_heard=True)  # Zoom plays nothing before its sound was joined
    return bot


async def look_again(bot: SeatedBot, platform: Platform) -> None:
    """Read the page's standing as often as a stay does: that is a part of what a bot costs."""
    assert bot.page is not None
    while True:
        await platform.read(bot.page, joined=True)
        await asyncio.sleep(READ_EVERY_S)


async def facts_of(bot: SeatedBot) -> dict[str, Any]:
    assert bot.page is not None
    bot.timeline.flush()
    return {
        "counts": dict(bot.counts),
        "timeline": dict(bot.timeline.facts()),
        "page": dict(await bot.page.capture_state()),
        "frames": [
            [f.ssrc, f.sequence, f.timestamp, list(f.csrcs), hashlib.sha256(f.payload).hexdigest()]
            for f in bot.frames
            if f.payload
        ],
    }


def say(message: dict[str, Any]) -> None:
    print(json.dumps(message, default=str), flush=True)


if __name__ == "__main__":
    log.configure("lines", "warning")
    asyncio.run(seat_all(SeatPlan(**json.loads(sys.argv[1]))))
