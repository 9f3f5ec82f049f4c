"""Describe the pages on which an account signs in with its password, as tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sederunt.platforms.evidence import EvidenceRow, Kind, PageSnapshot, decide
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.survey import survey
from sederunt.platforms.targets import FoundControl, Journey, Target

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage

# Words for rows of kind `signal`: how far signing in has come.
NOTHING_SENT, PASSWORD_DUE = "nothing_sent", "password_due"


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInPages:
    """The sign-in pages of one site."""

    entry_urls: tuple[str, ...]  # addresses where signing in begins; the next one where one shows nothing we know
    hosts: str  # regular expression: addresses on which we type and press
    rows: tuple[EvidenceRow, ...]
    journey: Journey
    cookies: tuple[str, ...]  # any of them: signed in, whatever page is shown

    def owns(self, url: str) -> bool:
        return re.search(self.hosts, url, re.IGNORECASE) is not None

    async def survey(
        self, page: MeetingPage, targets: Sequence[Target] = ()
    ) -> tuple[PageSnapshot, Mapping[str, FoundControl]]:
        return await survey(page, rows=self.rows, targets=targets)

    def judge(self, snapshot: PageSnapshot, *, joined: bool, noted: Collection[str] = ()) -> Reading:
        return decide(self.rows, snapshot, joined=joined, noted=noted)


def rows_of_every_site(site: str, password: Target, *, seen: str) -> tuple[EvidenceRow, ...]:
    """What every site's table begins with: how far we are, and pages that did not come."""
    begin = f"{site}.sign_in"
    return (
        EvidenceRow(id=f"{begin}.unsent", kind=Kind.SIGNAL, patterns=(NOTHING_SENT,), source="own", seen=seen),
        EvidenceRow(id=f"{begin}.due", kind=Kind.SIGNAL, patterns=(PASSWORD_DUE,), source="own", seen=seen),
        EvidenceRow(
            id=f"{begin}.password_field",
            kind=Kind.SELECTOR,
            patterns=password.selectors,
            source=password.source,
            seen=seen,
        ),
        EvidenceRow(
            id=f"{begin}.broken",
            kind=Kind.ADDRESS,
            patterns=(r"^chrome-error:",),
            state=PageState.TROUBLE,
            settle_s=5.0,
            source="own",
            seen=seen,
        ),
        EvidenceRow(
            id=f"{begin}.server",
            kind=Kind.STATUS,
            patterns=("5..",),
            state=PageState.TROUBLE,
            settle_s=5.0,
            source="B2",
        ),
    )
