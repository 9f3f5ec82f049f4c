"""One look at a page: passes the evidence rows and targets to survey.js in every frame and collects the results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from sederunt.platforms.evidence import EvidenceRow, Kind, PageSnapshot, normalised
from sederunt.platforms.targets import FoundControl, Target

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage

IN_PAGE = frozenset({Kind.SELECTOR, Kind.TEXT, Kind.BUTTON, Kind.STEM})
MARK = "data-seat"  # the attribute by which a found target is clicked
BUTTONS = "button,[role=button],[role=menuitem],[role=radio],a[href],a[role],input[type=submit],input[type=button]"
# Elements whose text is the name of an icon, not a word for people.
ICONS = ("i", ".google-symbols", "[class*='material-icons']", "[class*='material-symbols']")


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """Count the elements that contain a phrase."""

    selectors: tuple[str, ...]
    phrase: str


async def survey(
    page: MeetingPage,
    *,
    rows: Sequence[EvidenceRow] = (),
    targets: Sequence[Target] = (),
    never: Sequence[str] = (),
    tally: Tally | None = None,
) -> tuple[PageSnapshot, Mapping[str, FoundControl]]:
    """Return what the page shows now. `never` are subtrees that people fill: their text and buttons do not count.

    Raises PageStuck past the deadline, PageCrashed when the renderer is gone.
    """
    plan = _plan(tuple(rows), tuple(targets), tuple(never), tally)
    answers = [
        answer
        for answer in await page.evaluate_everywhere(_script("survey.js"), plan, keep=True)
        if isinstance(answer, dict)
    ]
    return _snapshot(answers, page.url), _controls(answers)


async def press(
    page: MeetingPage, control: FoundControl, *, by_pointer: bool | None = None, deadline_s: float = 3.0
) -> bool:
    """Press a control with the pointer, like a person, or without; by default with it if it can reach the control."""
    if control.takes_pointer if by_pointer is None else by_pointer:
        return await page.click([control.handle], deadline_s=deadline_s) is not None
    return any(await page.evaluate_everywhere(_script("press.js"), control.handle))


@cache
def _script(name: str) -> str:
    return files("sederunt.platforms").joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=256)
def _plan(
    rows: tuple[EvidenceRow, ...], targets: tuple[Target, ...], never: tuple[str, ...], tally: Tally | None
) -> str:
    # Returns the input of survey.js; cached, because the same few questions repeat.
    return json.dumps(
        {
            "rows": [_row(row) for row in rows if row.kind in IN_PAGE],
            "targets": [
                {
                    "id": target.id,
                    "selectors": list(target.selectors),
                    "names": [normalised(name) for name in target.names],
                    "butNot": [normalised(name) for name in target.but_not],
                    "backstops": list(target.backstops),
                    "within": list(target.within),
                    "holding": [normalised(phrase) for phrase in target.holding],
                    "lacking": [normalised(phrase) for phrase in target.lacking],
                    "showing": target.showing.value,
                    "disabledToo": target.disabled_too,
                }
                for target in targets
            ],
            "never": list(never),
            "icons": list(ICONS),
            "buttons": BUTTONS,
            "mark": MARK,
            "tally": {"selectors": list(tally.selectors), "phrase": normalised(tally.phrase)} if tally else None,
        }
    )


def _row(row: EvidenceRow) -> dict[str, Any]:
    patterns = (
        row.patterns if row.kind in (Kind.SELECTOR, Kind.STEM) else [normalised(pattern) for pattern in row.patterns]
    )
    return {
        "id": row.id,
        "kind": row.kind.value,
        "patterns": list(patterns),
        "within": list(row.within),
        "whole": row.whole,
        "showing": row.showing.value,
        "leastPx": list(row.least_px),
    }


def _snapshot(answers: Iterable[Mapping[str, Any]], url: str) -> PageSnapshot:
    title, status, tally = "", 0, 0
    matches: dict[str, set[str]] = {}
    for answer in answers:
        if answer.get("top"):
            title, status = str(answer.get("title", "")), int(answer.get("status") or 0)
        tally += int(answer.get("tally") or 0)
        for row, patterns in answer.get("matches", {}).items():
            matches.setdefault(row, set()).update(patterns)
    return PageSnapshot(url=url, title=title, status=status, matches=matches, tally=tally)


def _controls(answers: Iterable[Mapping[str, Any]]) -> dict[str, FoundControl]:
    controls: dict[str, FoundControl] = {}
    for answer in answers:
        for entry in answer.get("found", []):
            controls.setdefault(
                entry["id"],
                FoundControl(
                    id=entry["id"],
                    handle=entry["handle"],
                    label=entry["label"],
                    value=entry["value"],
                    disabled=entry["disabled"],
                    covered=entry["covered"],
                    boxless=entry["boxless"],
                ),
            )
    return controls
