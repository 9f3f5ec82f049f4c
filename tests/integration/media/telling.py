"""A reader that tells what it was given: for the test that this is nothing."""

import json
import os
import sys
from typing import BinaryIO


def preload() -> None:
    """Load nothing."""


def main(answer: BinaryIO) -> None:
    """Write which descriptors are open, and the environment."""
    descriptors = [number for number in range(256) if _is_open(number)]
    sys.stdout.write("said aside")
    answer.write(json.dumps({"descriptors": descriptors, "environment": dict(os.environ)}).encode())


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
