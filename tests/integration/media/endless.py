"""A reader that never comes to an end: for the test of its limits."""

from typing import BinaryIO

from sederunt.media.sandboxed_reader_child import give_up_rights


def preload() -> None:
    """Load nothing."""


def main(_answer: BinaryIO, _act: str, _path: str, cpu_s: str, *_more: str) -> None:
    """Work until the limit."""
    give_up_rights(int(cpu_s))
    while True:
        pass
