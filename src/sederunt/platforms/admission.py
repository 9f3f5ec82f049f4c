"""The way into a meeting, the same for every site: open the page, answer what it asks, knock, wait, believe.

One loop looks at the page, lets the evidence table say where the bot stands, and takes the next step of the site's
journey. Everything that differs between sites is in their tables; what one try has seen and done is in `flow`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sederunt.clock import Clock
from sederunt.model.status import StopReason
from sederunt.platforms.flow import LOOK_EVERY_S, OUR_LIMIT, PageFlow
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.links import MeetingLink, names_no_meeting, place_of
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.platform import Platform
from sederunt.platforms.targets import Act, FoundControl
from sederunt.platforms.text import cut

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage

WAITING_LOOK_EVERY_S = 0.5
LED_AWAY_S = 10.0  # a page that is none we know may stand so long in the lobby's place
PASSCODE_S = 8.0  # a field for a passcode may stand there for a moment before the address fills it


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """How one try to get in ended: IN_CALL, or the standing that ended it."""

    reading: Reading


async def join(
    platform: Platform,
    page: MeetingPage,
    link: MeetingLink,
    *,
    name: str,
    limits: EntryLimits,
    clock: Clock,
    on_state: Callable[[Reading], None],
    noted: Callable[[], Collection[str]] = tuple,
    signed_in: bool = False,
) -> Admission:
    """Enter the meeting as `name`; the name is cut to what the site takes.

    `on_standing` hears of every change of standing; `noted` is the decoder's word on signals. With `signed_in` a
    question for a name, or for signing in, means that the stored session is void. Raises PageStuck when the page
    answers nothing for 10 s, PageCrashed when its renderer is gone.
    """
    # The other door is for guests: it knows neither token nor account.
    entry_urls = (link.url,) if signed_in or link.fallback_url is None else (link.url, link.fallback_url)
    flow = PageFlow(
        pages=platform,
        page=page,
        entry_urls=entry_urls,
        answers={Act.FILL_NAME: cut(name, platform.name_limit), Act.FILL_PASSCODE: link.passcode},
        clock=clock,
        limits=limits,
    )
    await flow.open(link.url)
    while True:
        reading, controls = await flow.look(noted())
        if flow.is_news(reading):
            on_state(reading)
        if signed_in and (rejected := _void_session(flow, reading, controls)) is not None:
            return Admission(reading=rejected)
        if await flow.load_again_if_premature(reading) or await flow.ask_again_if_unanswered(reading):
            continue
        if (
            ended := _led_away(flow, platform, reading)
            or flow.ending(reading)
            or _lacking_passcode(flow, link, reading, controls)
        ):
            if ended.reason is StopReason.WAITING_ROOM_TIMEOUT and ended.row == OUR_LIMIT:
                await platform.leave(page)
            return Admission(reading=ended)
        stepped = await flow.step(reading, controls)
        if not stepped:
            await flow.load_again_if_stalled(reading)
            await clock.sleep(WAITING_LOOK_EVERY_S if reading.state is PageState.LOBBY else LOOK_EVERY_S)


def _led_away(flow: PageFlow, platform: Platform, reading: Reading) -> Reading | None:
    """The site put a page that is no meeting's into the lobby's place: to who waited there it means that they were not
    let in. What it puts there while it lets somebody in becomes a call."""
    waited_at = flow.seen.waited_at
    if reading.state is not PageState.LOADING or not waited_at or place_of(reading.url) == waited_at:
        return None
    if flow.clock.monotonic() - flow.seen.state_since < LED_AWAY_S or not names_no_meeting(
        platform.parse_link, reading.url
    ):
        return None
    return Reading(state=PageState.REFUSED, reason=StopReason.REQUEST_DENIED, row="admission.led_away", url=reading.url)


def _lacking_passcode(
    flow: PageFlow, link: MeetingLink, reading: Reading, controls: Mapping[str, FoundControl]
) -> Reading | None:
    """The site wants a passcode that neither the link nor the caller's text had."""
    asked = [step for step in flow.pages.journey.steps if step.act is Act.FILL_PASSCODE and step.id in controls]
    if not asked or link.passcode is not None or controls[asked[0].id].value:
        return None
    if flow.clock.monotonic() - flow.seen.shown_since[asked[0].id] < PASSCODE_S:
        return None
    return Reading(
        state=PageState.REFUSED,
        reason=StopReason.INVALID_MEETING_URL,
        row="admission.passcode_unknown",
        url=reading.url,
        seen=asked[0].id,
    )


def _void_session(flow: PageFlow, reading: Reading, controls: Mapping[str, FoundControl]) -> Reading | None:
    """A signed-in browser that is asked for a name, or to sign in, is signed in no more."""
    asked = reading.state is PageState.SIGN_IN_NEEDED and flow.ending(reading) is not None
    named = flow.pages.journey.name_means_guest and any(
        step.act is Act.FILL_NAME and step.id in controls for step in flow.pages.journey.steps
    )
    if not (asked or named):
        return None
    return Reading(state=PageState.SIGN_IN_REJECTED, row="admission.void_session", url=reading.url, seen=reading.seen)
