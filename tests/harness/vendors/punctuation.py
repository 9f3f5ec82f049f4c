"""Words and their punctuation apart, as vendors with items of both kinds have them."""

from collections.abc import Iterator
from dataclasses import replace

from harness.vendors.recognition import SpokenWord

MARKS = ".,?!;:"


def parted(word: SpokenWord) -> Iterator[tuple[SpokenWord, str]]:
    """(the bare word, "") and then ("its end", mark) for each mark behind it."""
    bare = word.text.rstrip(MARKS)
    if bare:
        yield replace(word, text=bare), ""
    for mark in word.text[len(bare) :]:
        yield replace(word, text="", start=word.end), mark


def ends_sentence(mark: str) -> bool:
    return mark in ".?!"
