"""What a listener was told of a live transcript, as a client shows it, and whether that is what was said."""

from typing import Any

from harness.listener import Listener
from sederunt.bench.words import word_error_rate
from sederunt.practice.script import Script


def lines(listener: Listener) -> list[dict[str, Any]]:
    """The lines as a client shows them at the end: the last state of each, by time."""
    told = [message["data"] for message in listener.heard if message["type"] in ("ts", "ts-revised")]
    last = {line["segment_id"]: line for line in told}
    return sorted(last.values(), key=lambda line: (line["start"], line["end"]))


def shown(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line[name] for name in ("start", "end", "speaker", "speaker_name", "confidence", "transcript"))


def assert_said(script: Script, told: list[dict[str, Any]], about: str = "") -> None:
    """Each person's words under their own name, and nobody else's."""
    said: dict[str, list[str]] = {}
    for who, text in script.reference():
        said.setdefault(who, []).append(text)
    for who, texts in said.items():
        heard = " ".join(line["transcript"] for line in told if line["speaker_name"] == who)
        assert word_error_rate(" ".join(texts), heard) <= 0.2, (about, who, heard)
    assert {line["speaker_name"] for line in told} == set(said), about
