"""A page that is busy when something is to be said in its chat."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from sederunt.errors import PageStuck
from sederunt.model.bot import Service
from sederunt.platforms import chat
from sederunt.platforms.evidence import PageSnapshot
from sederunt.platforms.registry import platform_of
from sederunt.platforms.site import Site
from sederunt.platforms.targets import FoundControl, Target


class BusyPage:
    """A chat whose page does not answer these questions, counted from the first."""

    def __init__(self, stuck_at: Sequence[int]) -> None:
        self._stuck_at, self._asked = stuck_at, 0
        self.field, self.sent = "", list[str]()

    def _answer(self) -> None:
        self._asked += 1
        if self._asked in self._stuck_at:
            raise PageStuck("The page did not answer a question within 5 s.")

    async def survey(
        self, _page: object, *, rows: object = (), targets: Sequence[Target] = (), tally: Any = None
    ) -> tuple[PageSnapshot, Mapping[str, FoundControl]]:
        self._answer()
        shown = sum(tally.phrase in each for each in self.sent) if tally else 0
        return PageSnapshot(tally=shown), {
            target.id: FoundControl(id=target.id, handle="x", label="", value=self.field, disabled=False)
            for target in targets
        }

    async def type_text(self, selectors: object, text: str, *, deadline_s: float) -> str:
        self._answer()
        self.field = text
        return "x"

    async def press(self, _page: object, found: object) -> bool:
        self.sent.append(self.field)
        self.field = ""
        self._answer()
        return True


@pytest.mark.parametrize("stuck_at", [*((n,) for n in range(1, 9)), (1, 2, 3), (3, 5)])
async def test_a_message_to_a_page_that_is_busy_for_a_moment_is_sent_once(
    monkeypatch: pytest.MonkeyPatch, stuck_at: Sequence[int]
) -> None:
    """A greeting was lost where the page did not answer for five seconds just then."""
    page = BusyPage(stuck_at)
    monkeypatch.setattr(chat, "survey", page.survey)
    monkeypatch.setattr(chat, "press", page.press)
    monkeypatch.setattr(chat, "BETWEEN_LOOKS_S", 0)
    site = platform_of(Service("gmeet"))
    assert isinstance(site, Site)
    assert site.controls.chat is not None
    await chat.send(cast("Any", page), site.controls.chat, "Good morning", limit=500)
    assert page.sent == ["Good morning"]
