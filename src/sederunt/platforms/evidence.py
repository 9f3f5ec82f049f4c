"""Evidence: ordered rows that say what a sign on a page means, and the pure function that reads them.

survey.js looks in every frame of the page for rows of kind `selector`, `text` or `button`; rows about the address, the
title, the document's HTTP status and the decoder's signals are judged here. The first row that matches, in this bot's
phase and without a veto, decides. Selectors and texts live in these rows and nowhere else.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sederunt.model.status import StopReason
from sederunt.platforms.page_state import PageState, Reading

# Whatever lies over a page: the site's own dialogs or others'.
DIALOGS = ('[role="dialog"]', '[role="alertdialog"]', '[aria-modal="true"]', "dialog")
READ = "2026-08"  # when most sources were read; rows seen at another time say so


class Kind(StrEnum):
    """The kinds of patterns that a row may have."""

    SIGNAL = "signal"  # words the decoder noted, exact or up to a final "*"
    STATUS = "status"  # regular expressions on the HTTP status of the document
    ADDRESS = "address"  # regular expressions on the top frame's address
    TITLE = "title"  # phrases in the top frame's title
    SELECTOR = "selector"  # CSS; each pattern counts once, so a pattern may list alternatives with commas
    TEXT = "text"  # phrases in the meeting's own interface, compared after normalisation
    BUTTON = "button"  # whole labels of buttons
    STEM = "stem"  # regular expressions on a normalised line of the interface: its meaning, however it is worded


class Phase(StrEnum):
    BEFORE = "before"  # on the way in
    AFTER = "after"  # once in the call
    ANY = "any"


class Showing(StrEnum):
    """How visible an element must be."""

    PRESENT = "present"  # in the DOM; toolbars hide themselves
    LAID_OUT = "laid_out"  # takes part in layout: no template copy, though perhaps transparent
    VISIBLE = "visible"  # a person would see it


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceRow:
    """One sign, and what it means. With `state` None it only serves other rows (`unless`, `beside`)."""

    id: str
    kind: Kind
    patterns: tuple[str, ...]
    state: PageState | None = None
    reason: StopReason | None = None
    cause: str = ""  # reported besides the reason
    phase: Phase = Phase.ANY
    within: tuple[str, ...] = ()  # selectors; a text or button counts only inside one of them
    whole: bool = False  # the phrase must begin its line, with little after it but further sentences
    showing: Showing = Showing.VISIBLE
    at_least: int = 1  # how many patterns must be found
    least_px: tuple[int, int] = (0, 0)  # width and height below which an element does not count
    unless: tuple[str, ...] = ()  # ids of rows whose match vetoes this one
    beside: tuple[str, ...] = ()  # ids of rows, one of which must match too
    settle_s: float = 0.4  # how long it must be seen before it is believed
    source: str = ""  # where it was seen: tags of docs/platforms.md
    seen: str = READ  # when, as year-month


@dataclass(frozen=True, kw_only=True, slots=True)
class PageSnapshot:
    """The findings of one survey of a page, all frames together."""

    url: str = ""
    title: str = ""
    status: int = 0  # HTTP status of the top document; 0 unknown
    matches: Mapping[str, Collection[str]] = field(default_factory=dict)  # row id → patterns found
    tally: int = 0  # messages that contain a phrase, if the survey asked for it


def normalised(text: str) -> str:
    """Return the form in which texts are compared; survey.js does the same."""
    text = text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"').replace("…", "...")
    text = re.sub(r"[\u00ad\u200b-\u200f\u2060\ufeff]", "", text)
    return re.sub(r"\s+", " ", text).strip().lower()


def decide(
    rows: Sequence[EvidenceRow], snapshot: PageSnapshot, *, joined: bool, noted: Collection[str] = ()
) -> Reading:
    """Return what a snapshot means; LOADING if no row matches."""
    matches = {row.id: match for row in rows if (match := _found(row, snapshot, noted))}
    phase = Phase.AFTER if joined else Phase.BEFORE
    for row in rows:
        if (
            row.state is not None
            and row.id in matches
            and row.phase in (phase, Phase.ANY)
            and not any(veto in matches for veto in row.unless)
            and (not row.beside or any(other in matches for other in row.beside))
        ):
            return Reading(
                state=row.state,
                reason=row.reason,
                cause=row.cause,
                row=row.id,
                url=snapshot.url,
                seen=matches[row.id],
                settle_s=row.settle_s,
            )
    return Reading(state=PageState.LOADING, url=snapshot.url)


def _found(row: EvidenceRow, snapshot: PageSnapshot, noted: Collection[str]) -> str:
    # Returns the row's matches as text; empty if there are fewer than the row needs.
    match row.kind:
        case Kind.SIGNAL:
            matches = [word for word in noted if any(_signal_fits(pattern, word) for pattern in row.patterns)]
        case Kind.STATUS:
            matches = [
                pattern for pattern in row.patterns if snapshot.status and re.fullmatch(pattern, str(snapshot.status))
            ]
        case Kind.ADDRESS:
            matches = [
                pattern for pattern in row.patterns if snapshot.url and re.search(pattern, snapshot.url, re.IGNORECASE)
            ]
        case Kind.TITLE:
            title = normalised(snapshot.title)
            matches = [pattern for pattern in row.patterns if normalised(pattern) in title]
        case _:
            matches = sorted(snapshot.matches.get(row.id, ()))
    return ", ".join(matches) if len(matches) >= row.at_least else ""


def _signal_fits(pattern: str, word: str) -> bool:
    return word.startswith(pattern[:-1]) if pattern.endswith("*") else word == pattern
