"""The console in a real Chromium, beside a service of its own with two accounts in it."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, async_playwright, expect

expect.set_options(timeout=60_000)  # a busy machine is slow; what is waited for comes at once on a quiet one
AXE = Path(__file__).parent / "vendored/axe.min.js"
_SERIOUS = ("serious", "critical")
_CONTEXT = "{exclude: [['#reference']]}"  # the requests there are drawn by Swagger UI, whose contrasts are its own


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Debian's browser, as the service has it."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def signed_in(browser: Browser, link: str, **options: Any) -> AsyncIterator["Reader"]:
    """Somebody who came by a link."""
    context = await browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    page = await context.new_page()
    reader = Reader(context, page, link.partition("/welcome")[0])
    try:
        await page.goto(link)
        await page.get_by_role("button", name="Sign in").click()
        await page.get_by_role("heading", name="Start here").wait_for()
        await page.wait_for_load_state()  # its modules listen by then
        yield reader
    finally:
        await context.close()


class Reader:
    """A person at a browser; `complaints` are what the browser wrote to its console."""

    def __init__(self, context: BrowserContext, page: Page, base: str) -> None:
        self.context, self.page, self.base = context, page, base
        self.complaints: list[str] = []
        page.on("console", lambda said: self.complaints.append(_told(said)) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    async def go(self, path: str) -> int:
        """Open a page; its status."""
        answer = await self.page.goto(self.base + path)
        assert answer is not None
        return answer.status

    async def findings(self) -> list[str]:
        """What axe finds serious on the page as it is."""
        # Evaluated through the debugger: the page's own policy would let no foreign script in, and must not.
        # It need not read style sheets itself: for that it makes style elements, which the policy refuses, too.
        found = await self.page.evaluate(f"{AXE.read_text(encoding='utf-8')}; axe.run({_CONTEXT}, {{preload: false}})")
        return [
            f"{violation['id']}: {node['html'][:160]}"
            for violation in found["violations"]
            if violation["impact"] in _SERIOUS
            for node in violation["nodes"]
        ]


def _told(said: ConsoleMessage) -> str:
    return f"{said.text} ({said.location['url']}:{said.location['lineNumber']})"
