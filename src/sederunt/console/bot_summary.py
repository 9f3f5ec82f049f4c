"""Explain in one sentence what happened to a bot, and what decided it. Pure."""

from dataclasses import dataclass
from datetime import datetime

from sederunt.database.bot_view import BotView
from sederunt.model.bot import Verdict
from sederunt.model.explanations import TROUBLES, VERDICTS, why
from sederunt.model.history import PAGE_TROUBLE, STATUS_UPDATE, deciding_row
from sederunt.model.minutes import seconds_of
from sederunt.model.status import BotStatus

MOST_TROUBLES = 5  # the latest of them are shown


@dataclass(frozen=True, slots=True)
class SummaryStep:
    """One status, its beginning and its cause; or a trouble of the page."""

    status: str
    at: datetime
    cause: str | None
    evidence: str | None  # the row that decided
    is_now: bool
    seen: str | None = None  # what was seen of a trouble, as a sentence


@dataclass(frozen=True, slots=True)
class BotSummary:
    """The story of a bot."""

    sentence: str
    advice: str | None  # what to do differently next time
    steps: tuple[SummaryStep, ...]


def summary_of(view: BotView) -> BotSummary:
    """Return the story of a bot so far."""
    changes = [event for event in view.events if event.event == STATUS_UPDATE]
    first = changes[0].data["old_status"] if changes else view.bot.status.value
    steps = [SummaryStep(str(first), view.bot.created_at, None, None, is_now=not changes)]
    troubles = [event for event in view.events if event.event == PAGE_TROUBLE][-MOST_TROUBLES:]
    for event in view.events:
        if event in troubles:
            description = TROUBLES.get(event.data["cause"], event.data["seen"])
            steps.append(SummaryStep(PAGE_TROUBLE, event.created_at, None, None, is_now=False, seen=description))
        if event.event != STATUS_UPDATE:
            continue
        data = event.data
        evidence = data.get("evidence")
        steps.append(
            SummaryStep(
                str(data["new_status"]),
                event.created_at,
                data.get("cause") or data.get("stop_reason"),
                deciding_row(evidence),
                is_now=event is changes[-1],
            )
        )
    sentence, advice = _told(view)
    return BotSummary(sentence, advice, tuple(steps))


def _told(view: BotView) -> tuple[str, str | None]:
    """Return the sentence, and advice."""
    bot = view.bot
    last = next((e.data for e in reversed(view.events) if e.event == STATUS_UPDATE), {})
    sentence, advice = why(bot.status, bot.stop_reason, cause=last.get("cause"), message=last.get("message"))
    if bot.status is BotStatus.FINISHED:
        advice = None if bot.verdict in (None, Verdict.HEALTHY) else advice  # success needs no advice
        people = len(view.participants)
        company = f"with {people} {'person' if people == 1 else 'people'}" if people else "alone"
        sentence = f"Recorded {_minutes(view)} {company}. {sentence}"
    # A good verdict, or one that repeats the sentence, is left out.
    verdict = bot.verdict if bot.verdict not in (None, Verdict.HEALTHY, Verdict.NEVER_ADMITTED) else None
    return f"{sentence} {VERDICTS[verdict]}" if verdict else sentence, advice


def _minutes(view: BotView) -> str:
    length_s = seconds_of(view.bot)
    if length_s is None:
        return "nothing"
    seconds = round(length_s)
    return f"{seconds} seconds" if seconds < 90 else f"{round(seconds / 60)} minutes"
