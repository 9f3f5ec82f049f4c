"""The matrix of platforms: one cell is one bot, a variant of a site, what happens there, and how it must end.

All cells run against one service and one practice server, a few at a time; bots are cheap.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any

import httpx2
import pytest

from harness.journeys import ENDINGS, look, send_bot, told_of, unhurried
from harness.receiver import Receiver
from sederunt.bench.words import as_counted, word_error_rate
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.practice.quirks import disagreeing
from sederunt.practice.script import Service, Variant, demo

SEATED_S = 2.0
# What is waited for before a deed: a word of the practice meeting's own events, "status:<new status>", or LISTED.
LISTED = "listed"  # the service tells of participants
Deed = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One row of the table."""

    service: Service
    name: str
    variant: Mapping[str, Any] = field(default_factory=dict)
    deeds: Sequence[Deed] = ()
    status: str = "finished"
    reason: str | None = "meeting_ended"
    turns: int = 1  # turns of the demonstration; the host ends the meeting after the last
    ends: bool = True  # or does not end it
    words: bool = False  # transcribe, and compare words and names
    backend: str | None = None  # what must have heard it
    tries: int = 1  # how often the status is reported, where the bot tries again
    fields: Mapping[str, Any] = field(default_factory=dict)  # of POST /bot
    long: bool = False  # takes a minute or more; begun first
    mode: str = ""  # which browser; empty for the one of practice sites
    account: str | None = None  # the value of the session that the bot's account brings along
    disagrees: int | None = None  # the seed of a site that disagrees with itself

    @property
    def id(self) -> str:
        return f"{self.service}-{self.name}"

    @property
    def gets_in(self) -> bool:
        return self.status == "finished"

    @property
    def is_to_hear(self) -> bool:
        """Whether somebody speaks while the bot is there for sure."""
        return self.gets_in and self.turns > 0 and not any(event == "status:recording" for event, _ in self.deeds)

    @property
    def patience_s(self) -> float:
        """How long one of its steps may take on a busy machine."""
        return 600 if self.long else 200


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of a cell."""

    cell: Cell
    seconds: float
    status: str = ""
    tries: int = 0
    bot: Mapping[str, Any] = field(default_factory=dict)  # as GET /bot/{id} tells it
    reference: Sequence[tuple[str, str]] = ()
    fault: str = ""  # why the cell could not be played to its end
    states: Sequence[Mapping[str, Any]] = ()  # the practice meeting's bots

    @property
    def reason(self) -> str | None:
        found: str | None = self.bot.get("stop_reason")
        return found

    @property
    def backend(self) -> str:
        """What heard the meeting; empty where nothing did."""
        capture = self.bot.get("capture") or {}
        return str(capture.get("backend")) if capture.get("packets") else ""

    @property
    def evidence(self) -> str:
        """The row that decided, where the event tells one."""
        told = [event["data"].get("evidence") or event["data"].get("cause") for event in self.bot.get("events", ())]
        return next((str(word) for word in reversed(told) if word), "")

    @property
    def speakers(self) -> set[str | None]:
        return {segment["speaker_name"] for segment in self.bot.get("transcript", ())}

    def named_right(self) -> float | None:
        """The share of named words in segments that are more this person's words than anybody else's."""
        said: dict[str, str] = {}
        for who, text in self.reference:
            said[who] = f"{said.get(who, '')} {as_counted(text)}"
        named = right = 0
        for segment in self.bot.get("transcript", ()):
            words = as_counted(segment["transcript"]).split()
            if segment["speaker_name"] is not None:
                common = {who: _in_common(words, text.split()) for who, text in said.items()}
                named += len(words)
                right += len(words) if common.get(segment["speaker_name"], -1) == max(common.values()) else 0
        return right / named if named else None

    def word_errors(self) -> float:
        """The worst word error rate of one person's own words, by name."""
        heard: dict[str, list[str]] = {}
        for segment in self.bot.get("transcript", ()):
            heard.setdefault(segment["speaker_name"], []).append(segment["transcript"])
        said: dict[str, list[str]] = {}
        for who, text in self.reference:
            said.setdefault(who, []).append(text)
        return max(word_error_rate(" ".join(said[who]), " ".join(heard.get(who, ()))) for who in said)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What cells are played with."""

    service_url: str
    key: str
    control_url: str
    receiver: Receiver
    account: Callable[[str, str], str] | None = None  # keeps an account of a site with such a session; gives its id

    def api(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=self.service_url, headers={"Authorization": f"Bearer {self.key}"}, timeout=120, trust_env=False
        )


async def play_all(
    cells: Sequence[Cell], stage: Stage, *, at_once: int = 6, long_at_once: int = 16
) -> dict[str, Result]:
    """Play the cells, the long ones first, and one person's cells beside another's; results by id."""
    # Every cell waits in a thread of its own; the loop's usual few would let one cell's waiting look like another's.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(len(cells) + 8))
    # Cells that only wait for a minute to pass cost nothing meanwhile; but all of their browsers at once would.
    turnstiles = {False: asyncio.Semaphore(at_once), True: asyncio.Semaphore(long_at_once)}
    results: dict[str, Result] = {}

    async with stage.api() as api, PracticeClient(stage.control_url) as meetings:

        async def through(cell: Cell) -> None:
            async with turnstiles[cell.long]:
                results[cell.id] = await play(await _with_account(cell, stage), api, meetings, stage.receiver)

        await asyncio.gather(*(through(cell) for cell in sorted(cells, key=_turn)))
    return results


def _turn(cell: Cell) -> tuple[int, bool]:
    """The longest first, by the minutes its bot is told to wait for, at least one for a long cell.

    Last, when no browser starts any more, those whose words are compared: speech comes broken from a practice server
    that cannot keep up. Seen beside thirty starting browsers: its clock fell behind by a tenth.
    """
    told: Mapping[str, int] = cell.fields.get("stop_options", {})
    return -max([int(cell.long), *told.values()]), cell.words


async def _with_account(cell: Cell, stage: Stage) -> Cell:
    """The cell, its bot with the account it asks for; on Zoom a token stands for one."""
    if cell.account is None:
        return cell
    if cell.service == "zoom":
        authentication = {"zoom_zak_token": cell.account}
    else:
        assert stage.account is not None, "a cell with an account needs a stage that keeps one"
        authentication = {"account_id": await asyncio.to_thread(stage.account, cell.service, cell.account)}
    return replace(cell, fields={**cell.fields, "authentication": authentication})


async def play(cell: Cell, api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver) -> Result:
    """One bot from POST to its ending. Never raises: what went wrong is the result's fault."""
    began = time.monotonic()
    script = demo(Variant(**cell.variant), service=cell.service, turns=cell.turns, first_at_s=SEATED_S)
    if cell.disagrees is not None:
        script = disagreeing(script, cell.disagrees)
    script = unhurried(script, begins=not cell.gets_in, ends=cell.ends)
    result: dict[str, Any] = {}
    meeting: MeetingHandle | None = None
    bot: dict[str, Any] = {}
    try:
        meeting = await meetings.open_meeting(script)
        options = {"silence_detection": 0} | dict(cell.fields.get("stop_options", {}))
        bot = await send_bot(
            api,
            meeting.url,
            receiver,
            **{
                "service": cell.service,
                "transcription_model": "whisper" if cell.words else "none",
                **cell.fields,
                "stop_options": options,
            },
        )
        await asyncio.gather(_begin(cell, meeting, bot, receiver), _do_all(cell, meeting, api, bot, receiver))
        await _ended(cell, bot, receiver)
    except Exception as error:
        result["fault"] = f"{type(error).__name__}: {error}"[:600]
    if bot:
        reported = receiver.statuses(bot["id"])
        ending = next((status for status in reversed(reported) if status in ENDINGS), "")
        result |= {"status": ending, "tries": reported.count(cell.status), "bot": await look(api, bot)}
    if meeting is not None:
        result["states"] = (await meeting.state())["bots"]
        await meeting.close()
    return Result(cell=cell, seconds=time.monotonic() - began, reference=script.reference(), **result)


async def _begin(cell: Cell, meeting: MeetingHandle, bot: Mapping[str, Any], receiver: Receiver) -> None:
    """Words count from the first, so nobody speaks before the bot says that it records, and before it can hear: on a
    busy machine it is a while in the call before it knows, and before a site's question about sound is answered."""
    if cell.gets_in:
        await asyncio.to_thread(receiver.wait, bot["id"], "recording", *ENDINGS, timeout_s=cell.patience_s)
        if cell.is_to_hear:
            await meeting.wait_for("media_connected", timeout_s=cell.patience_s)
        await meeting.do("start")


async def _ended(cell: Cell, bot: Mapping[str, Any], receiver: Receiver) -> None:
    """Wait for the ending, whichever it is; for the last of several where the bot tries again."""
    if cell.tries > 1:
        await asyncio.to_thread(receiver.wait_count, bot["id"], cell.status, cell.tries, 200)
    else:
        await asyncio.to_thread(receiver.wait, bot["id"], *ENDINGS, timeout_s=cell.patience_s)


async def _do_all(
    cell: Cell, meeting: MeetingHandle, api: httpx2.AsyncClient, bot: Mapping[str, Any], receiver: Receiver
) -> None:
    seen: dict[str, int] = {}  # event → number of the last one waited for, so that a deed may be repeated
    for event, deed in cell.deeds:
        if event.startswith("status:"):
            status = event.removeprefix("status:")
            await asyncio.to_thread(receiver.wait, bot["id"], status, *ENDINGS, timeout_s=cell.patience_s)
        elif event == LISTED:
            # Who leaves before they are listed was never there, and the bot not left alone.
            await told_of(api, dict(bot), "participants")
        elif event:
            found = await meeting.wait_for(event, after=seen.get(event, 0), timeout_s=cell.patience_s)
            seen[event] = found["number"]
        if deed == "stop":
            answer = await api.post(f"/bot/{bot['id']}/stop")
            assert answer.status_code == 200, answer.text
        elif deed == "everyone leaves":
            for person in (await meeting.state())["people"]:
                if not person["bot"]:
                    await meeting.do("leave", who=person["name"])
        elif deed in ("crash", "freeze"):
            await meeting.do("command", command=deed)
        elif deed in ("lost", "back"):
            await meeting.do("network", state=deed)
        elif deed:
            await meeting.do(deed)


def _in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words stand in both in one order."""
    return sum(block.size for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks())


def table(results: Mapping[str, Result]) -> str:
    """The results as Markdown, in the order of the cells' ids."""
    lines = [
        "| platform | what happens | ended as | reason | decided by | heard by | word errors | named right | s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for result in results.values():
        cell = result.cell
        errors = f"{100 * result.word_errors():.0f} %" if cell.words and result.bot.get("transcript") else ""
        share = result.named_right() if cell.words else None
        named = "" if share is None else f"{100 * share:.0f} %"
        status = result.status + (f" ×{result.tries}" if cell.tries > 1 else "")
        lines.append(
            f"| {cell.service} | {cell.name} | {status} | {result.reason or ''} | {result.evidence} "
            f"| {result.backend} | {errors} | {named} | {result.seconds:.0f} |"
        )
    return "\n".join(lines)


def show(config: pytest.Config, text: str) -> None:
    """Print past pytest's capturing: the table is a result, not an output of one test."""
    capturing = config.pluginmanager.getplugin("capturemanager")
    reporter = config.pluginmanager.getplugin("terminalreporter")
    assert capturing is not None
    assert reporter is not None
    with capturing.global_and_fixture_disabled():
        reporter.write_line(f"\n{text}")
