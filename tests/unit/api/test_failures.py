"""What is told of faults that are nobody's wish."""

import errno
import json
import sqlite3

import pytest

from sederunt.api.failures import answer_to


def wrapped(error: Exception) -> Exception:
    try:
        try:
            raise error
        except Exception as cause:
            raise RuntimeError("the transaction was undone") from cause
    except RuntimeError as outer:
        return outer


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError("Unable to copy data to file: No space left on device (os error 28)"),  # as the object store says it
        wrapped(sqlite3.OperationalError("database or disk is full")),
    ],
)
def test_a_full_disk_is_told_as_one_and_may_be_tried_again(error: Exception) -> None:
    answer = answer_to(error)
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert "no room left" in json.loads(bytes(answer.body))["message"]


def test_another_fault_of_ours_shows_nothing_of_itself() -> None:
    answer = answer_to(wrapped(ValueError("s3cret")))
    assert (answer.status_code, b"s3cret" in bytes(answer.body)) == (500, False)
