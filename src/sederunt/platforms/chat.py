"""Sends messages to a meeting's chat through the site's own panel, part by part, and reads each part back."""

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
ALL_S = 26.0  # for the whole message: its sender gets an answer within the API's deadline
BETWEEN_LOOKS_S = 0.2

logger = log.get(component="platforms")


async def send(page: MeetingPage, panel: ChatPanel, text: str, *, limit: int) -> None:
    """Send to everyone, in parts of at most `limit` units.

    Raises PageChanged, with the reason, if the panel does not work or takes more than 26 s.
    """
    text_parts = parts(text, limit)
    sent_count = 0
    try:
        async with asyncio.timeout(ALL_S):
            for part in text_parts:
                await _send_part(page, panel, part)
                sent_count += 1
    except TimeoutError:
        raise PageChanged(
            f"The chat took {sent_count} of {len(text_parts)} parts of the message within {ALL_S:g} s."
        ) from None


async def _send_part(page: MeetingPage, panel: ChatPanel, part: str) -> None:
    composer, shown_before, button = await _prepare(page, panel, part)
    with contextlib.suppress(PageStuck):  # the part may have been sent all the same: read back below
        if button is not None:
            await press(page, button)
        else:
            await page.press_in([composer.handle, *panel.composer.selectors], "Enter")
    await _read_back(page, panel, part, shown_before)


async def _prepare(page: MeetingPage, panel: ChatPanel, part: str) -> tuple[FoundControl, int, FoundControl | None]:
    # Returns the filled field, how often the part is shown already, and the button that sends it. A page that is too
    # busy to answer is asked again until the message's deadline: nothing has been sent so far.
    while True:
        try:
            composer = await _composer(page, panel)
            shown_before = await _times_shown(page, panel, part)
            await _type(page, panel, composer, part)
            _, controls = await survey(page, targets=[panel.send])
            return composer, shown_before, controls.get(panel.send.id)
        except PageStuck as error:
            logger.info("chat not ready", action="chat_waits", why=str(error))
            await asyncio.sleep(BETWEEN_LOOKS_S)


async def _composer(page: MeetingPage, panel: ChatPanel) -> FoundControl:
    # Returns the text field; opens the panel if it is closed.
    deadline = asyncio.get_running_loop().time() + OPENING_S
    next_press = 0.0
    while True:
        snapshot, controls = await survey(page, rows=panel.disabled, targets=[panel.open, panel.composer])
        if (composer := controls.get(panel.composer.id)) is not None:
            return composer
        now = asyncio.get_running_loop().time()
        if now >= deadline:
            why = "chat is switched off in this meeting" if snapshot.matches else "its text field did not appear"
            raise PageChanged(f"The message was not sent: {why}.")
        # A toggle that is pressed twice closes again, so wait between presses.
        if panel.open.id in controls and now >= next_press:
            with contextlib.suppress(PageStuck):  # the next look shows whether it opened
                await press(page, controls[panel.open.id])
            next_press = now + OPENING_S / 2
        await asyncio.sleep(BETWEEN_LOOKS_S)


async def _type(page: MeetingPage, panel: ChatPanel, composer: FoundControl, part: str) -> None:
    try:
        filled_selector = await page.type_text([composer.handle, *panel.composer.selectors], part, deadline_s=TYPING_S)
    except (PageCrashed, PageStuck):
        raise
    except PageError as error:
        raise PageChanged(f"The chat's text field did not take the message: {error}.") from error
    if filled_selector is None:
        raise PageChanged("The chat's text field went away before it took the message.")


async def _read_back(page: MeetingPage, panel: ChatPanel, part: str, shown_before: int) -> None:
    # Waits until the field is empty again; presses Enter once if the button had no effect.
    deadline = asyncio.get_running_loop().time() + SENDING_S
    has_pressed_enter, is_empty = False, True
    while True:
        with contextlib.suppress(PageStuck):
            _, controls = await survey(page, targets=[panel.composer])
            composer = controls.get(panel.composer.id)
            is_empty = composer is None or normalised(composer.value) != normalised(part)
            if is_empty and await _times_shown(page, panel, part) > shown_before:
                return
        now = asyncio.get_running_loop().time()
        if now >= deadline:
            if not is_empty:
                raise PageChanged("The message stayed in the chat's text field.")
            logger.warning("message left the field but was not seen", action="chat_unverified")
            return
        if not is_empty and not has_pressed_enter and now >= deadline - SENDING_S / 2:
            with contextlib.suppress(PageStuck):
                await page.press_in(panel.composer.selectors, "Enter")
            has_pressed_enter = True
        await asyncio.sleep(BETWEEN_LOOKS_S)


async def _times_shown(page: MeetingPage, panel: ChatPanel, part: str) -> int:
    # Counts the shown messages that contain the part's beginning.
    snapshot, _ = await survey(page, tally=Tally(selectors=panel.messages, phrase=part[:80]))
    return snapshot.tally
