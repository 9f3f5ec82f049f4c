"""The first minutes of somebody new: the link that serve prints, a practice meeting, live captions, the player."""

import re
from collections.abc import Callable

import pytest
from playwright.async_api import expect

from harness.console_browser import chromium, signed_in
from harness.service import Service

pytestmark = pytest.mark.chromium

PATIENCE_MS = 120_000  # a busy machine is slow; what is waited for comes within seconds on a quiet one


async def test_the_link_leads_to_a_bot_at_work_and_to_its_player(start_service: Callable[..., Service]) -> None:
    # Nothing in this service's settings leads to practice sites: the bot alone is told how to reach them.
    service = start_service(SEDERUNT_BROWSER__HOST_RULES="", SEDERUNT_BROWSER__IGNORE_CERTIFICATE_ERRORS="false")
    async with chromium() as browser, signed_in(browser, service.console_link) as reader:
        page = reader.page
        page.on("dialog", lambda dialog: dialog.accept())
        await page.get_by_role("button", name="Open a practice meeting").click()
        await page.wait_for_url("**/bots/0*", timeout=PATIENCE_MS)
        await expect(page.locator(".caption:not(.draft)").first).to_be_visible(timeout=PATIENCE_MS)
        assert re.match(r"(Mary|Charles|Ada) ", await page.locator(".caption .by").first.inner_text())
        await expect(page.locator(".people li")).to_have_count(3, timeout=PATIENCE_MS)
        await expect(page.locator("[data-picture]")).to_be_visible(timeout=PATIENCE_MS)
        await page.get_by_label("Message").fill("hello from the console")
        await page.keyboard.press("Enter")
        await expect(page.locator(".chat")).to_contain_text("hello from the console", timeout=PATIENCE_MS)
        await page.get_by_role("button", name="Stop").click()
        await expect(page.locator("[data-player] .segment").first).to_be_visible(timeout=PATIENCE_MS)
        await expect(page.locator(".sentence")).to_contain_text("It was asked to leave")
        await expect(page.locator(".wave .waiting")).to_have_count(0, timeout=PATIENCE_MS)
        assert await reader.findings() == []
        assert reader.complaints == []
