"""Pages written by hand name the statuses of a bot, and the jobs that bring it on, as the tables of the code do."""

import re
from itertools import pairwise
from pathlib import Path

from sederunt.jobs.follow_ups import FOLLOW_UPS, KINDS
from sederunt.model.status import ENDINGS, TRANSITIONS, BotStatus

ROOT = Path(__file__).parents[2]
WORD = re.compile(r"`(\w+)`")


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def after_the_meeting() -> set[BotStatus]:
    """The statuses in which a bot that has left is not at its end yet."""
    found: set[BotStatus] = set()
    frontier = [BotStatus.LEAVING]
    while frontier:
        following = set(TRANSITIONS[frontier.pop()].values()) - ENDINGS - found
        found |= following
        frontier += following
    return found


def test_the_way_that_the_readme_tells_is_one_of_the_table() -> None:
    (way,) = re.findall(r"`(\w+(?: → \w+)+)`", page("README.md"))
    statuses = [BotStatus(word) for word in way.split(" → ")]
    assert (statuses[0], statuses[-1]) == (BotStatus.BOOTING, BotStatus.FINISHED)
    missing = [f"{old} → {new}" for old, new in pairwise(statuses) if new not in TRANSITIONS[old].values()]
    assert missing == [], "README.md: nothing leads from the one to the other"


def test_sockets_are_said_to_stay_open_in_all_that_follows_the_meeting() -> None:
    (sentence,) = re.findall(r"The sockets stay open through (.+), and close", page("docs/realtime.md"))
    assert set(WORD.findall(sentence)) == after_the_meeting(), "docs/realtime.md, How it ends"


def test_who_comes_from_elsewhere_finds_all_that_follows_the_meeting() -> None:
    sections = [section for section in page("docs/moving.md").split("\n## ") if "`leaving`" in section]
    assert sections
    for section in sections:
        missing = after_the_meeting() - set(WORD.findall(section))
        assert missing == set(), f"docs/moving.md, {section.splitlines()[0]}"


def test_the_architecture_names_every_job_and_the_status_that_starts_it() -> None:
    text = page("docs/architecture.md")
    started = re.findall(r"(\w+) → (\w+) +\((?:host|worker)\b", text)
    assert {status: f"job.{kind}" for status, kind in started} == FOLLOW_UPS, "docs/architecture.md, The life of a bot"
    rows = set(re.findall(r"^\| `(\w+)` \| (?:host|worker)s \|", text, re.MULTILINE))
    assert set(KINDS) - rows == set(), "docs/architecture.md, the table of jobs"
