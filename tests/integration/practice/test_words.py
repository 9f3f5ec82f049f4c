"""Any text and label of the sites can be replaced, so that bots are tried on words they were not written against."""

import pytest
from playwright.async_api import expect

from harness.practice_room import OpenRoom


@pytest.mark.parametrize("service", ["gmeet", "teams", "zoom"])
async def test_a_replaced_text_is_shown_instead(open_room: OpenRoom, service: str) -> None:
    originals = {
        "gmeet": "Check your meeting code",
        "teams": "Looks like the meeting URL is incorrect. Please check the URL and try again.",
        "zoom": "This meeting link is invalid (3,001)",
    }
    room = await open_room(
        service, entry="invalid", launcher=False, curly=True, words={originals[service]: "We couldn't find that"}
    )
    await expect(room.page.get_by_text("We couldn't find that")).to_be_visible()
    await expect(room.page.get_by_text(originals[service])).to_have_count(0)
