"""What tests lend a bot instead of a host's browsers, listeners and accounts."""

from collections.abc import Mapping
from typing import Any, NoReturn
from uuid import UUID

from sederunt.browser.page import MeetingPage
from sederunt.browser.page_request import PageRequest
from sederunt.errors import NotFound


class NoListeners:
    """A feed that nobody hears; `told` keeps what was put."""

    def __init__(self) -> None:
        self.told: list[Mapping[str, Any]] = []

    def put(self, bot_id: UUID, event: Mapping[str, Any], message_id: str | None = None) -> None:
        self.told.append(event)

    async def draft(self, bot_id: UUID, message: Mapping[str, Any]) -> None: ...

    async def audio(self, bot_id: UUID, pcm: bytes) -> None: ...


class NoBrowser:
    """A host without browsers: whoever asks for a page has done what the test says nobody does."""

    async def open(self, request: PageRequest, **_: Any) -> MeetingPage:
        raise AssertionError("nobody opens a page here")


class NoAccounts:
    """Meeting accounts of somebody who has none."""

    async def open(self, meeting_account_id: UUID, account_id: UUID) -> NoReturn:
        raise NotFound("There is no such meeting account.")

    async def renew_state(self, meeting_account_id: UUID, account_id: UUID, state: Mapping[str, Any]) -> None:
        raise NotFound("There is no such meeting account.")
