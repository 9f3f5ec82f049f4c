"""The cases of `sederunt bench capture` and the limits of each: a target to stay within, an alarm not to pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sederunt.practice import script as scripts


@dataclass(frozen=True)
class CaptureLimit:
    """What a figure is to stay within, and what it must not pass."""

    target: float
    alarm: float


@dataclass(frozen=True, kw_only=True)
class CaptureCase:
    """One row of the table."""

    name: str
    title: str
    service: scripts.Service = "gmeet"
    bots: int = 1
    seconds: float = 20
    plan: Mapping[str, Any] = field(default_factory=dict)
    variant: Mapping[str, Any] = field(default_factory=dict)
    busy_loops: int = 0
    limits: Mapping[str, CaptureLimit] = field(default_factory=dict)  # of fields of Result, of their medians


# Percent of a core per bot, and CPU-seconds to start one.
ALONE = {"cpu_percent": CaptureLimit(6, 9)}
SHARED = {"cpu_percent": CaptureLimit(4, 6)}
NOTHING_LOST = {"lost": CaptureLimit(0, 0), "missing": CaptureLimit(0, 0)}
# The memory limits are of the browsers alone, as the plan's figures are: those were measured without a driver.
# What is asked of the capture (rows of the capture plan's benchmark list), lightest first.
CASES: Sequence[CaptureCase] = (
    CaptureCase(
        name="encoded", title="encoded, own browser (shell)", limits={**ALONE, "start_cpu_s": CaptureLimit(2, 4)}
    ),
    CaptureCase(
        name="shared",
        title="encoded, 8 bots in one browser (shell)",
        bots=8,
        plan={"bots_per_browser": 8},
        limits={**SHARED, "browsers_mib": CaptureLimit(70, 87.5), "start_cpu_s": CaptureLimit(1.2, 2.4)},
    ),
    CaptureCase(
        name="self-playing",
        title="encoded, Meet's page takes the frames and plays them",
        variant={"transform": "streams"},
        limits=ALONE,
    ),
    CaptureCase(name="cameras", title="encoded, three cameras on (not received)", variant={"video": 3}, limits=ALONE),
    CaptureCase(
        name="separate",
        title="encoded, 8 browsers (shell)",
        bots=8,
        limits={**ALONE, "browsers_mib": CaptureLimit(115, 143.75)},
    ),
    CaptureCase(
        name="worklet",
        title="worklet, own browser (shell)",
        plan={"backend": "worklet"},
        limits={"cpu_percent": CaptureLimit(11, 15)},
    ),
    CaptureCase(
        name="chromium-shared",
        title="encoded, 8 bots in one chromium",
        bots=8,
        plan={"bots_per_browser": 8, "mode": "headless"},
        limits={**SHARED, "browsers_mib": CaptureLimit(140, 175)},
    ),
    # How the real services are joined: a browser with a window, on a display of its own.
    CaptureCase(name="headful", title="encoded, own browser (headful)", plan={"mode": "headful"}, limits=ALONE),
    CaptureCase(
        name="headful-shared",
        title="encoded, 8 bots in one browser (headful)",
        bots=8,
        plan={"bots_per_browser": 8, "mode": "headful"},
        limits={**SHARED, "browsers_mib": CaptureLimit(90, 150)},
    ),
    CaptureCase(
        name="video",
        title="encoded audio and 3 videos",
        plan={"video": True},
        variant={"video": 3},
        limits={"cpu_percent": CaptureLimit(12, 18), "pli_per_minute": CaptureLimit(20, 20)},
    ),
    CaptureCase(name="teams", title="Teams, own browser (shell)", service="teams", limits=ALONE),
    CaptureCase(
        name="teams-shared",
        title="Teams, 8 bots in one browser (shell)",
        service="teams",
        bots=8,
        plan={"bots_per_browser": 8},
        limits=SHARED,
    ),
    CaptureCase(name="zoom", title="Zoom, own browser (shell)", service="zoom", limits=ALONE),
    CaptureCase(
        name="zoom-shared",
        title="Zoom, 8 bots in one browser (shell)",
        service="zoom",
        bots=8,
        plan={"bots_per_browser": 8},
        limits=SHARED,
    ),
    # No receiver, no encoded frame: the client's own decoding is in it, and nothing of that is ours to save.
    CaptureCase(
        name="zoom-channel", title="Zoom, sound over a data channel", service="zoom", variant={"audio": "webaudio"}
    ),
    CaptureCase(
        name="minute", title="60 s, every packet compared", seconds=60, plan={"keep": True}, limits=NOTHING_LOST
    ),
    CaptureCase(
        name="busy", title="3 bots beside 4 busy loops", bots=3, busy_loops=4, plan={"keep": True}, limits=NOTHING_LOST
    ),
)


# What a limit is of → how it is told.
TOLD: Mapping[str, str] = {
    "cpu_percent": "% of a core per bot",
    "browsers_mib": "browsers' PSS MiB per bot",
    "start_cpu_s": "CPU-s to start a bot",
    "lost": "packets lost",
    "missing": "share not captured bit by bit",
    "pli_per_minute": "PLIs per track and minute",
}

# The classical bot's rows: (title, meeting). Our rows are held against the one of the same meeting.
CLASSICAL: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "classical": ("classical bot", {}),
    "classical-cameras": ("classical bot, three cameras on", {"video": 3}),
}
