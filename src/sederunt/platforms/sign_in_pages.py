"""Describe the pages on which an account signs in with its password, as tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from sederunt.platforms.evidence import EvidenceRow, PageSnapshot, decide
from sederunt.platforms.page_state import Reading
from sederunt.platforms.survey import survey
from sederunt.platforms.targets import FoundControl, Journey, Target

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage

ACCOUNT = "{account}"  # in a target: the account's address
# Words for rows of kind `signal`: the progress of signing in.
NOTHING_SENT, PASSWORD_DUE = "nothing_sent", "password_due"


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInPages:
    """The sign-in pages of one site."""

    entry_urls: tuple[str, ...]  # addresses where signing in begins; the next is tried if one shows nothing we know
    hosts: str  # regular expression: addresses on which the bot types and presses
    rows: tuple[EvidenceRow, ...]
    journey: Journey
    cookies: tuple[str, ...]  # any of them means signed in, whatever page is shown

    def owns(self, url: str) -> bool:
        return re.search(self.hosts, url, re.IGNORECASE) is not None

    async def survey(
        self, page: MeetingPage, targets: Sequence[Target] = ()
    ) -> tuple[PageSnapshot, Mapping[str, FoundControl]]:
        return await survey(page, rows=self.rows, targets=targets)

    def judge(self, snapshot: PageSnapshot, *, joined: bool, noted: Collection[str] = ()) -> Reading:
        return decide(self.rows, snapshot, joined=joined, noted=noted)


def for_account(pages: SignInPages, email: str) -> SignInPages:
    """Write the account's address into the targets that name it."""
    quoted = email.replace("\\", "\\\\").replace('"', '\\"')
    steps = tuple(
        replace(
            step,
            target=replace(
                step.target,
                selectors=tuple(selector.replace(ACCOUNT, quoted) for selector in step.target.selectors),
                names=tuple(name.replace(ACCOUNT, email) for name in step.target.names),
                holding=tuple(phrase.replace(ACCOUNT, email) for phrase in step.target.holding),
            ),
        )
        for step in pages.journey.steps
    )
    return replace(pages, journey=replace(pages.journey, steps=steps))


class AccountKind(StrEnum):
    """How a bot may enter a site other than as a guest."""

    NONE = "none"
    SESSION = "session"  # a meeting account that is stored here: its browser state, its password, or both
    TOKEN = "token"  # noqa: S105 – a token of the site that the caller sends with the bot


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountUse:
    """How a site takes accounts."""

    kind: AccountKind = AccountKind.NONE
    sign_in_url: str = ""  # SESSION: where a person begins to sign in by hand
    pages: SignInPages | None = None  # SESSION: where an account signs in with its password
    entry_parameter: str = ""  # TOKEN: the parameter of the meeting's address that takes it


GUESTS_ONLY = AccountUse()
