"""What is told of faults that are nobody's wish."""

import asyncio
import errno
import json
import sqlite3

import pytest
from sqlalchemy.exc import DBAPIError

from sederunt.api.failures import answer_to
from sederunt.errors import StorageMissing
from sederunt.media.reader_processes import ReaderLost
from sederunt.settings import Settings, StorageSettings
from sederunt.storage.objects import open_objects


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


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EMFILE, "Too many open files"),
        wrapped(OSError(errno.ENOMEM, "Cannot allocate memory")),
        RuntimeError("can't start new thread"),
        ReaderLost("The process that read the file was killed."),
    ],
)
def test_a_machine_that_is_exhausted_is_no_fault_of_the_request(error: Exception) -> None:
    answer = answer_to(error)
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert "has no files, memory or processes left" in json.loads(bytes(answer.body))["message"]


def sqlite_error(name: str) -> sqlite3.Error:
    error = sqlite3.OperationalError("said by SQLite")
    error.sqlite_errorcode = getattr(sqlite3, name)
    return error


class PostgresError(Exception):
    """As both drivers tell it: by the code of the standard."""

    def __init__(self, sqlstate: str) -> None:
        super().__init__("s3cret")
        self.sqlstate = sqlstate


def locked() -> Exception:
    """Return what a transaction raises that waited in vain for another process to finish."""
    with sqlite3.connect("file:locked?mode=memory&cache=shared", uri=True, isolation_level=None) as one:
        one.execute("BEGIN EXCLUSIVE")
        other = sqlite3.connect("file:locked?mode=memory&cache=shared", uri=True, timeout=0)
        try:
            other.execute("CREATE TABLE t (x)")
        except sqlite3.Error as error:
            return DBAPIError.instance("INSERT", {}, error, sqlite3.Error)
        finally:
            other.close()
    raise AssertionError("the database was not locked")


def from_a_store_that_is_away() -> Exception:
    """Return what the object store's client raises when nobody listens."""
    options = {"endpoint": "http://127.0.0.1:1", "region": "x", "access_key_id": "x", "secret_access_key": "x"}
    settings = Settings(storage=StorageSettings(url="s3://bucket", options=options))
    try:
        asyncio.run(open_objects(settings, most_retries=0).get("a"))
    except Exception as error:
        return error
    raise AssertionError("somebody listens on port 1")


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (wrapped(sqlite_error("SQLITE_BUSY")), "database"),
        (sqlite_error("SQLITE_READONLY_DBMOVED"), "database"),
        (wrapped(sqlite_error("SQLITE_IOERR_SHORT_READ")), "database"),
        (locked(), "database"),
        (wrapped(PostgresError("08006")), "database"),
        (PostgresError("57P01"), "database"),
        (PostgresError("53300"), "database"),
        (from_a_store_that_is_away(), "storage"),
        (StorageMissing("no such bucket"), "storage"),
        (wrapped(ConnectionRefusedError(errno.ECONNREFUSED, "s3cret")), "database or storage"),
        (TimeoutError(), "database or storage"),
    ],
)
def test_a_part_that_is_away_is_named_and_may_be_tried_again(error: Exception, part: str) -> None:
    answer = answer_to(error)
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert f"cannot reach its {part} right now" in json.loads(bytes(answer.body))["message"]
    assert b"s3cret" not in bytes(answer.body)


@pytest.mark.parametrize("error", [sqlite_error("SQLITE_CONSTRAINT"), PostgresError("23505"), KeyError("x")])
def test_a_fault_of_the_program_is_no_part_that_is_away(error: Exception) -> None:
    assert answer_to(error).status_code == 500


def test_another_fault_of_ours_shows_nothing_of_itself() -> None:
    answer = answer_to(wrapped(ValueError("s3cret")))
    assert (answer.status_code, b"s3cret" in bytes(answer.body)) == (500, False)
