"""Chat that two pages of one bot heard."""

from typing import Any

from sederunt.claims.changes import PersonWrote
from sederunt.meetings.journal import unheard
from sederunt.model.events import ChatReceived


def wrote(*texts: str) -> list[Any]:
    return [PersonWrote(message=ChatReceived(username="Ada", content=text, at_ms=0)) for text in texts]


def test_chat_that_both_pages_heard_is_told_once_and_what_was_written_twice_is_told_twice() -> None:
    history = [{"username": "Ada", "content": "one"}, {"old_status": "x"}, {"username": "Ada", "content": "two"}]
    new = unheard(history, wrote("two", "two", "three"))
    assert new == wrote("two", "three")
