"""`sederunt bench speakers`: who said what in composed meetings of three and of ten people, with overlap.

Each kind of media that the real sites have, through the whole service: a bot sent by HTTP to a practice meeting, its
transcript fetched. The words and the speakers are the script's own, so that every figure is exact. Beside it, what ten
people cost a bot against three.
"""

import asyncio
import json
import os
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sederunt.bench.attribution import Scores, score
from sederunt.bench.capture import SETTLE_S, window
from sederunt.bench.capture_cases import CaptureCase
from sederunt.bench.host_process import SeatPlan
from sederunt.bench.meter import TreeMeter
from sederunt.bench.processes import child, practice_process, said
from sederunt.bench.served import ending, served
from sederunt.practice import clips
from sederunt.practice import script as scripts
from sederunt.practice.client import PracticeClient
from sederunt.practice.quirks import Quirks

MOST_CP_WORD_ERRORS, MOST_CPU_RATIO = 0.20, 1.3
PEOPLE = (3, 10)
TURNS = 12
OVERLAP_S = 1.0  # every other turn begins so long before the one before it has ended
PAUSE_S = 0.6  # and the others so long after
TRANSCRIBED_S = 240  # what the end of a meeting and its transcript may take

NAMES = (
    "Ada Lovelace",
    "Charles Babbage",
    "Mary Somerville",
    "Grace Hopper",
    "Alan Turing",
    "Emmy Noether",
    "George Boole",
    "Hedy Lamarr",
    "Konrad Zuse",
    "Sofja Kowalewskaja",
)
# In an order that puts different voices beside each other.
CLIPS = (
    "cities_times",
    "jfk",
    "librivox_0870",
    "cities_epoch",
    "superlative",
    "librivox_0890",
    "cities_hope",
    "concord",
    "librivox_0880",
    "cities_short",
)

console = Console(stderr=True)


@dataclass(frozen=True, kw_only=True)
class Media:
    """One way in which sites carry voices."""

    name: str
    title: str
    service: scripts.Service
    least_named_right: float  # share of the words with a name
    variant: Mapping[str, Any] = field(default_factory=dict)


# In speaker view somebody who is silent, or speaks later, is shown large before anybody spoke, and stays so.
LARGE = Quirks(large=NAMES[1], pinned=NAMES[2])
KINDS: Sequence[Media] = (
    Media(name="tracks", title="a slot per speaker, one CSRC (Meet)", service="gmeet", least_named_right=0.98),
    Media(name="sources", title="one mixed track, CSRC lists (Teams)", service="teams", least_named_right=0.95),
    Media(
        name="events",
        title="one mixed track, speaking events, speaker view (Zoom)",
        service="zoom",
        least_named_right=0.95,
        variant={"quirks": LARGE},
    ),
    Media(
        name="gallery",
        title="one mixed track, speaking events, gallery (Zoom)",
        service="zoom",
        least_named_right=0.95,
        variant={"layout": "gallery"},
    ),
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One meeting."""

    kind: str
    people: int
    words: int
    cp_word_errors: float
    named: int
    named_right: float
    unnamed: int  # words without a name


@dataclass(frozen=True, kw_only=True)
class Transcriber:
    """What transcribes the meetings."""

    whisper: str  # the size of the model in the box
    model: str = "whisper"  # as a caller names it; a vendor's key and address come from the environment

    def settings(self) -> dict[str, str]:
        """Return what the service under test is told of it."""
        given = {name: value for name, value in os.environ.items() if name.startswith("SEDERUNT_PROVIDERS__")}
        return {"SEDERUNT_WHISPER__MODEL": self.whisper, **given}


async def bench_speakers(kinds: Sequence[str], transcriber: Transcriber, *, cpu: bool, repeats: int) -> int:
    """Play all meetings at once, then measure the cost; JSON lines on standard output, tables on standard error.

    Returns 1 where a target is missed.
    """
    chosen = [kind for kind in KINDS if not kinds or kind.name in kinds]
    async with practice_process() as practice:
        outcomes = await _play_all(chosen, practice, transcriber)
        for outcome in outcomes:
            print(json.dumps(asdict(outcome)), flush=True)
        missed = report(outcomes)
        if cpu:
            missed |= await report_cost(chosen, practice, repeats)
    return int(missed)


# --- meetings --------------------------------------------------------------------------------------------------------


def compose(kind: Media, people: int) -> scripts.Script:
    """Compose a meeting in which everybody speaks, every other time into the last words of the one before."""
    acts: list[scripts.ScriptedAct] = []
    at_s = 1.0
    for turn in range(max(TURNS, people)):
        clip = CLIPS[turn % len(CLIPS)]
        acts.append(scripts.ScriptedAct(at_s=round(at_s, 2), do="say", who=NAMES[turn % people], clip=clip))
        at_s += clips.load(clip).duration_s + (PAUSE_S if turn % 2 else -OVERLAP_S)
    acts.append(scripts.ScriptedAct(at_s=round(at_s + OVERLAP_S + 1, 2), do="end"))
    return scripts.Script(
        service=kind.service,
        title="Everybody speaks",
        cast=tuple(scripts.CastMember(name=name, host=name == NAMES[0]) for name in NAMES[:people]),
        acts=tuple(acts),
        variant=scripts.Variant(**kind.variant),
    )


async def _play_all(kinds: Sequence[Media], practice: PracticeClient, transcriber: Transcriber) -> list[Outcome]:
    settings = {**transcriber.settings(), "SEDERUNT_HOST__MAX_LOAD": "9"}
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-", ignore_cleanup_errors=True) as data:
        async with served(Path(data), await practice.host_rules(), settings) as client:
            with Progress(console=console, transient=True) as progress:
                progress.add_task(f"{len(kinds) * len(PEOPLE)} meetings at once", total=None)
                plays = [
                    _play(kind, people, practice, client, transcriber.model) for people in PEOPLE for kind in kinds
                ]
                return list(await asyncio.gather(*plays))


async def _play(kind: Media, people: int, practice: PracticeClient, client: httpx2.AsyncClient, model: str) -> Outcome:
    script = compose(kind, people)
    meeting = await practice.open_meeting(script)
    answer = await client.post(
        "/bot",
        json={
            "service": kind.service,
            "meeting_url": meeting.url,
            "bot_name": "Bench",
            "transcription_model": model,
            "lang": "en",
        },
    )
    answer.raise_for_status()
    bot = await ending(client, answer.json()["id"], within_s=script.duration_s() + TRANSCRIBED_S)
    if bot["status"] != "finished":
        raise SystemExit(f"{kind.title}: the bot ended as {bot['status']}, {bot['events'][-1]['data']}")
    await meeting.close()
    found: Scores = score(script.reference(), bot["transcript"])
    total = sum(len(segment["transcript"].split()) for segment in bot["transcript"])
    return Outcome(
        kind=kind.name,
        people=people,
        words=found.words,
        cp_word_errors=round(found.cp_word_errors, 4),
        named=found.named,
        named_right=round(found.named_right, 4),
        unnamed=max(0, total - found.named),
    )


def report(outcomes: Sequence[Outcome]) -> bool:
    """Print the table; returns True where a target is missed."""
    titles = {kind.name: kind.title for kind in KINDS}
    table = Table(title="Who said what", title_justify="left")
    for heading in ("media", "people", "words", "cpWER", "words with a name", "named right", "targets"):
        table.add_column(heading, justify="left" if heading in ("media", "targets") else "right")
    for outcome in outcomes:
        faults = faults_of(outcome)
        table.add_row(
            titles[outcome.kind],
            str(outcome.people),
            str(outcome.words),
            f"{100 * outcome.cp_word_errors:.1f} %",
            str(outcome.named),
            f"{100 * outcome.named_right:.1f} %",
            ", ".join(faults) or "met",
        )
    console.print(table)
    return any(faults_of(outcome) for outcome in outcomes)


def faults_of(outcome: Outcome) -> list[str]:
    faults = []
    if outcome.cp_word_errors > MOST_CP_WORD_ERRORS:
        faults.append(f"cpWER over {MOST_CP_WORD_ERRORS:.0%}")
    least = next(kind.least_named_right for kind in KINDS if kind.name == outcome.kind)
    if outcome.named_right < least:
        faults.append(f"named right under {least:.0%}")
    return faults


# --- cost ------------------------------------------------------------------------------------------------------------


async def report_cost(kinds: Sequence[Media], practice: PracticeClient, repeats: int) -> bool:
    """Measure ten people against three, by turns, so that other load falls on both; True where it is too much."""
    missed = False
    for kind in kinds:
        spent: dict[int, list[float]] = {people: [] for people in PEOPLE}
        for _ in range(repeats):
            for people in PEOPLE:
                spent[people].append(await _cost(practice, kind, people))
        few, many = (statistics.median(spent[people]) for people in PEOPLE)
        print(json.dumps({"kind": kind.name, "cpu_percent": dict(zip(PEOPLE, (few, many), strict=True))}), flush=True)
        verdict = "met" if many <= MOST_CPU_RATIO * few else f"over {MOST_CPU_RATIO}"
        missed |= many > MOST_CPU_RATIO * few
        console.print(
            f"{kind.title}: {few:.1f} % of a core with {PEOPLE[0]} people, {many:.1f} % with {PEOPLE[1]}: "
            f"{many / few:.2f} times as much ({verdict})"
        )
    return missed


async def _cost(practice: PracticeClient, kind: Media, people: int) -> float:
    """Return percent of a core that one bot takes in a meeting of so many."""
    meeting = await practice.open_meeting(talk(kind, people))
    plan = SeatPlan(urls=[meeting.url], host_rules=await practice.host_rules(), service=kind.service)
    async with child("sederunt.bench.host_process", json.dumps(asdict(plan))) as process:
        meter = TreeMeter([process.pid])
        await said(process)
        await asyncio.sleep(SETTLE_S)
        percent = await window(meter, CaptureCase(name=kind.name, title=kind.title))
        assert process.stdin is not None
        process.stdin.write(b"tell\n")
        await said(process)
    await meeting.close()
    return percent


def talk(kind: Media, people: int) -> scripts.Script:
    """Return the composed meeting without its end, over and over."""
    script = compose(kind, people)
    acts = tuple(act for act in script.acts if act.do != "end")
    # The measured bots only sit: nobody there presses the button that joins the sound.
    variant = scripts.Variant(**{**kind.variant, "join_audio": False})
    return scripts.Script(
        service=script.service,
        title=script.title,
        cast=script.cast,
        acts=acts,
        loop_s=script.duration_s() + PAUSE_S,
        variant=variant,
    )
