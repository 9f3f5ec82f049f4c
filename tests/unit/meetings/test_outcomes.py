"""What a page's fault is called: it ends up in the row's history, and in gaps."""

import pytest

from sederunt.errors import PageChanged, PageCrashed, PageError, PageStuck
from sederunt.meetings.outcomes import broken


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (PageCrashed("The page is gone."), "page_crashed"),
        (PageStuck("The page did not answer a question within 5 s."), "page_stuck"),
        (PageChanged("no chat"), "page_changed"),
        (PageError("The page could not answer a question: undefined"), "page_changed"),
        (PageError("The page could not open …: Page.goto: net::ERR_INTERNET_DISCONNECTED at …"), "connection_lost"),
        (PageError("The page could not open …: Page.goto: net::ERR_NAME_NOT_RESOLVED at …"), "connection_lost"),
    ],
)
def test_a_fault_has_its_cause(error: PageError, cause: str) -> None:
    assert broken(error).cause == cause
