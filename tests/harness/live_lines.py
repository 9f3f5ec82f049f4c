"""What a listener was told of a live transcript, as a client shows it, and whether that is what was said."""

from typing import Any

from harness.listener import Listener
from sederunt.bench.words import word_error_rate
from sederunt.practice.script import Script

MOST_WORD_ERRORS = 0.2  # of what one person said
WITH_HOLES = 0.7


def lines(listener: Listener) -> list[dict[str, Any]]:
    """The lines as a client shows them at the end: the last state of each, by time."""
    told = [message["data"] for message in listener.heard if message["type"] in ("ts", "ts-revised")]
    last = {line["segment_id"]: line for line in told}
    return sorted(last.values(), key=lambda line: (line["start"], line["end"]))


def shown(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line[name] for name in ("start", "end", "speaker", "speaker_name", "confidence", "transcript"))


def came_whole(bot: dict[str, Any]) -> bool:
    """Whether a finished bot was sent the meeting's sound whole, and in time. Beside a machine full of other work the
    practice server sends late, and its packets are lost on the way: then speech has holes before anybody hears it."""
    return not (bot["capture"]["lost"] or bot["capture"]["anchored_again"])


def assert_said(
    script: Script, told: list[dict[str, Any]], about: str = "", *, most_word_errors: float = MOST_WORD_ERRORS
) -> None:
    """Each person's words under their own name, and nobody else's."""
    said: dict[str, list[str]] = {}
    for who, text in script.reference():
        said.setdefault(who, []).append(text)
    for who, texts in said.items():
        heard = " ".join(line["transcript"] for line in told if line["speaker_name"] == who)
        assert word_error_rate(" ".join(texts), heard) <= most_word_errors, (about, who, heard)
    assert {line["speaker_name"] for line in told} == set(said), about
