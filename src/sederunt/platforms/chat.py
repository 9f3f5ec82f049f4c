"""Sends to a meeting's chat through the site's own panel: parts, one after another, each read back."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from sederunt import log
from sederunt.errors import PageChanged, PageCrashed, PageError, PageStuck
from sederunt.platforms.call_controls import ChatPanel
from sederunt.platforms.evidence import normalised
from sederunt.platforms.survey import Tally, press, survey
from sederunt.platforms.targets import FoundControl
from sederunt.platforms.text import parts

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage

OPENING_S = 6.0  # elements may come five seconds late
SENDING_S = 4.0
TYPING_S = 15.0
ALL_S = 26.0  # for the whole message: who sent it is told within the deadline of the API
BETWEEN_LOOKS_S = 0.2

logger = log.get(component="platforms")


async def send(page: MeetingPage, panel: ChatPanel, text: str, *, limit: int) -> None:
    """Send to everyone, in parts of at most `limit` units.

    Raises PageChanged where the panel does not obey, and where it took more than 26 s: its sentence says why.
    """
    told = parts(text, limit)
    sent = 0
    try:
        async with asyncio.timeout(ALL_S):
            for part in told:
                await _send_part(page, panel, part)
                sent += 1
    except TimeoutError:
        raise PageChanged(f"The chat took {sent} of {len(told)} parts of the message within {ALL_S:g} s.") from None


async def _send_part(page: MeetingPage, panel: ChatPanel, part: str) -> None:
    composer, before, button = await _prepare(page, panel, part)
    with contextlib.suppress(PageStuck):  # it may have been sent all the same: that is read back
        if button is not None:
            await press(page, button)
        else:
            await page.press_in([composer.handle, *panel.composer.selectors], "Enter")
    await _read_back(page, panel, part, before)


async def _prepare(page: MeetingPage, panel: ChatPanel, part: str) -> tuple[FoundControl, int, FoundControl | None]:
    """Have the field hold the part; returns it, how often the part is shown already, and the button that sends it.

    A page that is too busy to answer is asked again for as long as the message has: until here nothing is sent.
    """
    while True:
        try:
            composer = await _composer(page, panel)
            before = await _times_shown(page, panel, part)
            await _type(page, panel, composer, part)
            _, found = await survey(page, targets=[panel.send])
            return composer, before, found.get(panel.send.id)
        except PageStuck as error:
            logger.info("chat not ready", action="chat_waits", why=str(error))
            await asyncio.sleep(BETWEEN_LOOKS_S)


async def _composer(page: MeetingPage, panel: ChatPanel) -> FoundControl:
    """Return the text field; opens the panel where it is closed."""
    deadline = asyncio.get_running_loop().time() + OPENING_S
    next_press = 0.0
    while True:
        snapshot, found = await survey(page, rows=panel.disabled, targets=[panel.open, panel.composer])
        if (composer := found.get(panel.composer.id)) is not None:
            return composer
        now = asyncio.get_running_loop().time()
        if now >= deadline:
            why = "chat is switched off in this meeting" if snapshot.matches else "its text field did not appear"
            raise PageChanged(f"The message was not sent: {why}.")
        # A toggle pressed twice closes again, so it is given time in between.
        if panel.open.id in found and now >= next_press:
            with contextlib.suppress(PageStuck):  # whether it opened, the next look tells
                await press(page, found[panel.open.id])
            next_press = now + OPENING_S / 2
        await asyncio.sleep(BETWEEN_LOOKS_S)


async def _type(page: MeetingPage, panel: ChatPanel, composer: FoundControl, part: str) -> None:
    try:
        taken = await page.type_text([composer.handle, *panel.composer.selectors], part, deadline_s=TYPING_S)
    except (PageCrashed, PageStuck):
        raise
    except PageError as error:
        raise PageChanged(f"The chat's text field did not take the message: {error}.") from error
    if taken is None:
        raise PageChanged("The chat's text field went away before it took the message.")


async def _read_back(page: MeetingPage, panel: ChatPanel, part: str, before: int) -> None:
    """Wait until the field is empty again; press Enter once where the button did nothing."""
    deadline = asyncio.get_running_loop().time() + SENDING_S
    insisted, emptied = False, True
    while True:
        with contextlib.suppress(PageStuck):
            _, found = await survey(page, targets=[panel.composer])
            composer = found.get(panel.composer.id)
            emptied = composer is None or normalised(composer.value) != normalised(part)
            if emptied and await _times_shown(page, panel, part) > before:
                return
        now = asyncio.get_running_loop().time()
        if now >= deadline:
            if not emptied:
                raise PageChanged("The message stayed in the chat's text field.")
            logger.warning("message left the field but was not seen", action="chat_unverified")
            return
        if not emptied and not insisted and now >= deadline - SENDING_S / 2:
            with contextlib.suppress(PageStuck):
                await page.press_in(panel.composer.selectors, "Enter")
            insisted = True
        await asyncio.sleep(BETWEEN_LOOKS_S)


async def _times_shown(page: MeetingPage, panel: ChatPanel, part: str) -> int:
    """Count the shown messages that hold the part's beginning."""
    snapshot, _ = await survey(page, tally=Tally(selectors=panel.messages, phrase=part[:80]))
    return snapshot.tally
