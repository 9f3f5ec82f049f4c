"""Enter a meeting, the same way on every site: open the page, answer its questions, knock, and wait.

One loop looks at the page, reads the bot's state from the evidence table, and takes the next step of the site's
journey. Everything that differs between sites is in their tables; `flow` remembers what one attempt has seen and done.
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
LED_AWAY_S = 10.0  # an unknown page may replace the lobby for this long
PASSCODE_S = 8.0  # a passcode field may show for a moment before the address fills it


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """How one attempt to enter ended: IN_CALL, or the state that ended it."""

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

    `on_state` is called at every change of state; `noted` returns the decoder's words on signals. With `signed_in`,
    a page that asks for a name, or to sign in, means that the stored session is void. Raises PageStuck when the page
    answers nothing for 10 s, PageCrashed when its renderer is gone.
    """
    # The fallback address is for guests: it takes neither token nor account.
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
        if signed_in and (rejection := _void_session(flow, reading, controls)) is not None:
            return Admission(reading=rejection)
        if await flow.load_again_if_premature(reading) or await flow.ask_again_if_unanswered(reading):
            continue
        if (
            ending := _led_away(flow, platform, reading)
            or flow.ending(reading)
            or _lacking_passcode(flow, link, reading, controls)
        ):
            if ending.reason is StopReason.WAITING_ROOM_TIMEOUT and ending.row == OUR_LIMIT:
                await platform.leave(page)
            return Admission(reading=ending)
        is_step_taken = await flow.step(reading, controls)
        if not is_step_taken:
            await flow.load_again_if_stalled(reading)
            await clock.sleep(WAITING_LOOK_EVERY_S if reading.state is PageState.LOBBY else LOOK_EVERY_S)


def _led_away(flow: PageFlow, platform: Platform, reading: Reading) -> Reading | None:
    # The site replaced the lobby by a page that belongs to no meeting: the bot was not let in. A page that the site
    # shows while it lets somebody in becomes a call.
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
    # The site wants a passcode that neither the link nor the caller's text contained.
    passcode_steps = [
        step for step in flow.pages.journey.steps if step.act is Act.FILL_PASSCODE and step.id in controls
    ]
    if not passcode_steps or link.passcode is not None or controls[passcode_steps[0].id].value:
        return None
    if flow.clock.monotonic() - flow.seen.shown_since[passcode_steps[0].id] < PASSCODE_S:
        return None
    return Reading(
        state=PageState.REFUSED,
        reason=StopReason.INVALID_MEETING_URL,
        row="admission.passcode_unknown",
        url=reading.url,
        seen=passcode_steps[0].id,
    )


def _void_session(flow: PageFlow, reading: Reading, controls: Mapping[str, FoundControl]) -> Reading | None:
    # A signed-in browser that is asked for a name, or to sign in, is no longer signed in.
    is_sign_in_wanted = reading.state is PageState.SIGN_IN_NEEDED and flow.ending(reading) is not None
    is_name_wanted = flow.pages.journey.name_means_guest and any(
        step.act is Act.FILL_NAME and step.id in controls for step in flow.pages.journey.steps
    )
    if not (is_sign_in_wanted or is_name_wanted):
        return None
    return Reading(state=PageState.SIGN_IN_REJECTED, row="admission.void_session", url=reading.url, seen=reading.seen)
