"""Any text and label of the sites can be replaced, so that bots are tried on words they were not written against."""

import pytest
from playwright.async_api import expect

from harness.practice_room import OpenRoom
from sederunt.model.bot import Service
from sederunt.platforms.registry import platform_of
from sederunt.platforms.site import Site
from sederunt.practice.sites import SITES


@pytest.mark.parametrize("service", SITES)
async def test_a_replaced_text_is_shown_instead(open_room: OpenRoom, service: str) -> None:
    site = platform_of(Service(service))
    assert isinstance(site, Site)
    known = next(row for row in site.rows if row.id == f"{service}.invalid")
    room = await open_room(service, entry="invalid", launcher=False)
    original = await room.page.get_by_text(known.patterns[0]).inner_text()
    words = {original: "We couldn't find that"}
    room = await open_room(service, entry="invalid", launcher=False, curly=True, words=words)
    await expect(room.page.get_by_text("We couldn't find that")).to_be_visible()
    await expect(room.page.get_by_text(original)).to_have_count(0)
