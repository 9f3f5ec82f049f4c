"""One tab of one bot. Every call has a deadline, because a wedged page answers no call and raises no error.

Waiting is bounded by the wall clock here, never by the page: the driver's own time limits end in the page's renderer
and a renderer in an endless loop keeps none of them.
"""

import asyncio
import base64
import contextlib
import hashlib
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import urldefrag, urlsplit

from playwright.async_api import BrowserContext, Frame, Locator, Page
from playwright.async_api import Error as DriverError
from playwright.async_api import TimeoutError as DriverTimeout

from sederunt.browser.costs import CostShare
from sederunt.browser.isolated_world import IsolatedWorld, Place, ScriptFault
from sederunt.browser.loopback import PageChannel
from sederunt.browser.page_answers import batches_of, states_of
from sederunt.browser.scripts import gate_call
from sederunt.browser.signals import Signal
from sederunt.errors import PageCrashed, PageError, PageStuck
from sederunt.model.trouble import PageTrouble, Recovery

__all__ = ["MeetingPage", "Signal"]

T = TypeVar("T")

CLOSE_S = 5.0
BLAMED_S = 10.0  # a page that ends so soon after a trouble of its browser ended by it
EVIDENCE_S = 12.0
OTHER_FRAMES_S = 1.0  # how much longer than the top frame the others may take to answer
LATE_S = 1.0  # how late a deadline may be noticed before it is our own loop that stood still
MOST_TEXT = 20_000
LONG_TEXT = 80  # characters; each key costs two calls
SLOW_KEYS_S = 0.5  # two keys took so long: the page, or the machine, is too busy for a name by keys
PAGE_CRASHED = PageTrouble(cause="page_crashed", seen="The page's renderer ended.", recovery=Recovery.FRESH_PAGE)
BROWSER_DIED = PageTrouble(cause="browser_died", seen="The browser ended.", recovery=Recovery.FRESH_BROWSER)
GONE_WORDS = (
    "Target crashed",
    "Page crashed",
    "has been closed",
    "Target closed",
    "Browser closed",
    "Connection closed",
)
PASSING_WORDS = (
    "Execution context was destroyed",
    "Cannot find context",
    "Frame was detached",
    "frame got detached",
    "No frame for given id",
)


class MeetingPage:
    """A bot's page. Calls raise PageStuck past their deadline, PageCrashed when renderer or browser are gone."""

    def __init__(
        self,
        page: Page,
        context: BrowserContext,
        line: PageChannel,
        world: IsolatedWorld,
        on_close: Callable[[bool], Awaitable[None]],
        on_trouble: Callable[[PageTrouble], None] = lambda trouble: None,
    ) -> None:
        """Take over a tab.

        Args:
            on_close: awaited once, with whether the context could be closed.
            on_trouble: told of what befell the browser and did not end the page.
        """
        self._page, self._context, self._line, self._world, self._on_close = page, context, line, world, on_close
        self._on_trouble = on_trouble
        self.cost: Callable[[], Awaitable[CostShare]] | None = None  # what this tab has cost until now
        # The CPU-seconds of what may be its renderer in the last so many seconds, where it answered so long ago.
        self.renderer_cpu_s: Callable[[float, float], float] = lambda within_s, answered_s: 0.0
        self._closing = False
        self._blamed: tuple[float, PageTrouble] | None = None  # what may end it, and when that was heard
        self.gone = asyncio.Event()
        page.on("crash", lambda _page: self.end(PAGE_CRASHED))
        self.documents = 0  # loaded so far; one more, in the call, is the end of what was tapped
        page.on("domcontentloaded", self._count_document)
        page.on("close", lambda _page: self.end(BROWSER_DIED))

    def _count_document(self, _page: Page) -> None:
        self.documents += 1

    def hear(self, trouble: PageTrouble) -> None:
        """Take a trouble of the browser: it may explain why this page ends, or is passed on."""
        if trouble.recovery in (Recovery.FRESH_PAGE, Recovery.FRESH_BROWSER):
            self._blamed = self._blamed if self._is_blamed() else (time.monotonic(), trouble)
        else:
            self._on_trouble(trouble)

    def end(self, otherwise: PageTrouble) -> None:
        """Let the page be gone: by what befell its browser just before, otherwise by this."""
        if self.gone.is_set():
            return
        if not self._is_blamed():
            self._blamed = (time.monotonic(), otherwise)
        self.gone.set()

    def _is_blamed(self) -> bool:
        return self._blamed is not None and time.monotonic() - self._blamed[0] < BLAMED_S

    @property
    def gone_by(self) -> PageTrouble:
        """Return what ended the page."""
        return self._blamed[1] if self._blamed is not None else PAGE_CRASHED

    @property
    def url(self) -> str:
        return self._page.url

    def has_origin(self, origin: str) -> bool:
        """Return whether one of the tab's frames is of this origin. Documents without one of their own say "null"."""
        if origin in ("", "null"):
            return True
        return any(_origin(frame.url) == origin for frame in self._page.frames)

    # --- looking -------------------------------------------------------------------------------------------------

    async def goto(self, url: str, *, deadline_s: float = 60) -> None:
        """Open an address, until its document stands. Slow is fine once the host was reached.

        Opened again it is loaded again, also where its fragment would let the document stay. Raises PageError when it
        cannot be reached at all.
        """
        self._world.sent(url)
        if "#" in url and urldefrag(self._page.url).url == urldefrag(url).url:
            await self._bounded(self._page.goto("about:blank"), CLOSE_S, "leave the page before")
        try:
            await self._bounded(
                self._page.goto(url, wait_until="domcontentloaded", timeout=deadline_s * 1000),
                deadline_s + 1,
                "open the meeting's address",
            )
        except PageStuck:
            if urlsplit(self._page.url).hostname != urlsplit(url).hostname:
                raise
        except PageError as error:
            # A page that leads elsewhere while it loads ends the first navigation, not the journey.
            if "interrupted by another navigation" not in str(error) and "ERR_ABORTED" not in str(error):
                raise

    async def evaluate(self, script: str, argument: object = None, *, deadline_s: float = 5) -> Any:
        """Evaluate a function among the top frame's own scripts, which can read it and its answer; asked again when a
        navigation swept it away.
        """
        question = _through_navigations(lambda: self._page.main_frame.evaluate(script, argument))
        return await self._bounded(question, deadline_s, "answer a question")

    async def evaluate_everywhere(
        self, script: str, argument: object = None, *, deadline_s: float = 5, keep: bool = False
    ) -> list[Any]:
        """Evaluate a function in our own world of each frame that answers; the top frame's answer is first and must
        come. No page can see what is asked, or answer it.

        `keep`: the function, which answers at once, stays with its argument in the frames where our scripts run, and is
        called there by a short name from then on. For what is long and asked often.
        """
        ask = _ask_kept if keep else _ask
        places = await self._bounded(_through_navigations(self._world.others), deadline_s, "name its frames")
        others = [asyncio.ensure_future(ask(place, script, argument)) for place in places]
        top = _through_navigations(lambda: ask(self._world.ask_top, script, argument))
        try:
            answers = [await self._bounded(top, deadline_s, "answer a question")]
            if others:
                await asyncio.wait(others, timeout=OTHER_FRAMES_S)
            return answers + [task.result() for task in others if task.done() and task.exception() is None]
        finally:
            for task in others:
                _abandon(task)

    async def text(self) -> str:
        """Return what a person could read on the page, for evidence; bounded."""
        texts = await self.evaluate_everywhere(_TEXT, MOST_TEXT)
        return "\n".join(str(text) for text in texts if text)[:MOST_TEXT]

    async def screenshot(self) -> bytes:
        """Return the visible page as PNG, without what stands in its password fields."""
        await self.evaluate_everywhere(_EMPTY_PASSWORDS)
        return await self._bounded(
            self._page.screenshot(type="png", animations="allow", caret="initial", timeout=EVIDENCE_S * 1000),
            EVIDENCE_S,
            "give a picture",
        )

    async def storage_state(self) -> Mapping[str, Any]:
        """Return cookies and local storage of the tab's context: what it takes to be signed in again."""
        return await self._bounded(self._context.storage_state(), EVIDENCE_S, "give its state")

    # --- acting --------------------------------------------------------------------------------------------------

    async def click(self, selectors: Sequence[str], *, deadline_s: float = 5) -> str | None:
        """Click the first of these that is there, in any frame; returns its selector, None where none is.

        With the pointer like a person; where something covers it, by force; at last by a DOM click.
        """

        async def act() -> str | None:
            match = await self._find(selectors)
            if match is None:
                return None
            selector, target = match
            await _press(target, deadline_s)
            return selector

        return await self._bounded(act(), deadline_s, "take a click")

    async def type_text(self, selectors: Sequence[str], text: str, *, deadline_s: float = 10) -> str | None:
        """Replace what a field holds, by real keys and only while it has the focus; returns its selector.

        None where no field is there.

        Raises PageError when the field does not hold the text afterwards.
        """

        async def act() -> str | None:
            match = await self._find(selectors)
            if match is None:
                return None
            selector, field = match
            why = "the field does not hold what was typed into it"
            for attempt in (self._type_by_keys, _fill):
                try:
                    await attempt(field, text)
                except _FocusElsewhere as error:
                    why = str(error)
                    await field.evaluate(_SET, text)
                if await field.evaluate(_HOLDS, text) is True:
                    return selector
            raise PageError(why)

        return await self._bounded(act(), deadline_s, "take text")

    async def press_in(self, selectors: Sequence[str], keys: str, *, deadline_s: float = 5) -> str | None:
        """Press keys such as "Enter" in a field; returns its selector, None where no field is there.

        Raises PageError where something else has the focus and keeps it.
        """

        async def act() -> str | None:
            match = await self._find(selectors)
            if match is None:
                return None
            selector, field = match
            await _insist_on_focus(field)
            await self._page.keyboard.press(keys)
            return selector

        return await self._bounded(act(), deadline_s, "take a key")

    async def _type_by_keys(self, field: Locator, text: str) -> None:
        with contextlib.suppress(DriverTimeout):  # a busy page; what matters is the focus, and that is insisted on
            await _press(field, 2)
        await _insist_on_focus(field)
        now = asyncio.get_running_loop().time
        started_at = now()
        await self._page.keyboard.press("Control+A")
        await self._page.keyboard.press("Delete")
        is_slow = now() - started_at > SLOW_KEYS_S
        for number, part in enumerate(text.split("\n")):
            await _insist_on_focus(field)
            if number:
                await self._page.keyboard.press("Shift+Enter")
            # The driver has no keys for characters beyond the first plane. Of a long text, or on a page that is slow to
            # take keys, only the last character is one: a busy page takes minutes for thousands, and one is enough for
            # a site that waits for some.
            if any(ord(character) > 0xFFFF for character in part):
                await self._page.keyboard.insert_text(part)
            elif len(part) < LONG_TEXT and not is_slow:
                await self._page.keyboard.type(part, delay=8)
            else:
                await self._page.keyboard.insert_text(part[:-1])
                await self._page.keyboard.type(part[-1:])

    async def _find(self, selectors: Sequence[str]) -> tuple[str, Locator] | None:
        for selector in selectors:
            top_frame = self._page.main_frame
            results = await asyncio.gather(
                *(
                    _matches(frame, selector, None if frame is top_frame else OTHER_FRAMES_S)
                    for frame in self._page.frames
                )
            )
            for must_be_visible in (True, False):  # a visible one, in any frame, before one that only exists
                for locator, is_visible in results:
                    if locator is not None and is_visible is must_be_visible:
                        return selector, locator
        return None

    # --- capture -------------------------------------------------------------------------------------------------

    async def capture_state(self) -> Mapping[str, Any]:
        """Return how the page is heard: backend, per track what came and what was tapped, and what arrived here."""
        realms = list(states_of(await self._ask("state()")))
        tracks = [
            {**track, "track": self._line.track(realm["realm"], track["track"])}
            for realm in realms
            for track in realm["tracks"]
        ]
        audio = {track.get("backend") for track in tracks if track.get("kind") != "video"}
        return {
            "backend": "worklet"
            if audio == {"worklet"}
            else (realms[0]["backend"] if realms and not audio else "encoded"),
            "tracks": tracks,
            "faults": [fault for realm in realms for fault in realm["faults"]],
            "graphs": sum(realm["graphs"] for realm in realms),
            "frames": self._line.frames,
            "batches": self._line.batches,
            "gaps": self._line.gaps,
            "broken": self._line.broken,
        }

    async def use_backend(self, backend: str) -> None:
        """Hear by "encoded" frames or by the "worklet" from now on, in all frames."""
        if backend not in ("encoded", "worklet"):
            raise ValueError(f"expected 'encoded' or 'worklet', found {backend!r}")
        await self._ask("useBackend(argument)", backend)

    async def flush(self, *, deadline_s: float = 2) -> None:
        """Have what was captured so far handed on; returns when it was."""
        await self._bounded(self._flush(), deadline_s, "hand on what it captured")

    async def _flush(self) -> None:
        for realm, batches in batches_of(await self._ask("flush()")):
            await self._line.until_came(realm, batches)

    async def show_picture(self, picture: bytes) -> bool:
        """Show this from now on as the bot's camera. False where no frame can show any, or none decodes the picture."""
        answers = await self._ask("showPicture(argument)", base64.b64encode(picture).decode())
        return any(answer is not None for answer in answers)

    async def shows_picture(self) -> bool:
        """Return whether the site has asked for the bot's camera."""
        return any(await self._ask("showsPicture()"))

    async def _ask(self, act: str, argument: object = None) -> list[Any]:
        return await self.evaluate_everywhere(gate_call(act), argument)

    # --- ending --------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Close the tab and all it held, whatever state it is in. Never raises, never hangs."""
        if self._closing:
            return
        self._closing = True
        is_closed = True
        task = asyncio.ensure_future(self._context.close())
        try:
            await asyncio.wait({task}, timeout=CLOSE_S)
            is_closed = task.done()
        finally:
            _abandon(task)
            self.gone.set()
            await self._on_close(is_closed)

    async def _bounded(self, act: Coroutine[Any, Any, T], deadline_s: float, what: str) -> T:
        """Return the result of a call to the driver, or one of our errors, at the deadline at the latest."""
        if self.gone.is_set():
            act.close()
            raise PageCrashed(f"The page is gone; it was asked to {what}.")
        task = asyncio.ensure_future(act)
        gone_task = asyncio.ensure_future(self.gone.wait())
        now = asyncio.get_running_loop().time
        deadline = now() + deadline_s
        try:
            await asyncio.wait({task, gone_task}, timeout=deadline_s, return_when=asyncio.FIRST_COMPLETED)
            if now() > deadline + LATE_S:  # it was not the page: its answer may lie here unread
                await asyncio.wait({task, gone_task}, timeout=LATE_S, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if self.gone.is_set():
                raise PageCrashed(f"The page went away while it was asked to {what}.")
            raise PageStuck(f"The page did not {what} within {deadline_s:g} s.")
        except ScriptFault as error:
            raise PageError(f"The page could not {what}: {str(error)[:300]}") from error
        except DriverTimeout as error:
            raise PageStuck(f"The page did not {what} within {deadline_s:g} s.") from error
        except DriverError as error:
            if self.gone.is_set() or any(word in error.message for word in GONE_WORDS):
                raise PageCrashed(f"The page went away while it was asked to {what}.") from error
            raise PageError(f"The page could not {what}: {error.message.splitlines()[0][:300]}") from error
        finally:
            gone_task.cancel()
            _abandon(task)


# Cut where it lies: a page may hold a gigabyte.
_TEXT = "(most) => (document.body ? document.body.innerText.slice(0, most) : '')"
# Pictures are kept for people to look at; also the number of dots in a field is nobody's business.
_EMPTY_PASSWORDS = """() => {
  const roots = [document];
  for (let at = 0; at < roots.length && roots.length < 200; at += 1) {
    for (const element of roots[at].querySelectorAll("*")) if (element.shadowRoot) roots.push(element.shadowRoot);
  }
  const secret = "input[type=password],input[autocomplete~=current-password],input[name=passwd i],"
    + "input[autocomplete~=one-time-code]";
  for (const root of roots) for (const field of root.querySelectorAll(secret)) field.value = "";
}"""
# The page can forge the answer, but not make it long.
_HOLDS = """(field, text) => {
  const words = (value) => String(value).split(/\\s+/).filter((word) => word !== "").join(" ");
  return words("value" in field ? field.value : field.innerText) === words(text) ? true : false;
}"""


async def _ask(place: Place, script: str, argument: object) -> Any:
    return await place(script, argument)


@lru_cache(maxsize=256, typed=True)
def _kept_key(script: str, argument: object) -> str:
    return hashlib.sha256(repr((script, argument)).encode()).hexdigest()[:16]


async def _ask_kept(place: Place, script: str, argument: object) -> Any:
    key = _kept_key(script, argument)
    answer = await place(_CALL_KEPT, key)
    if answer is None:
        answer = await place(_KEEP % script, [key, argument])
    return answer["answer"]


# A document that lets none of our scripts run keeps nothing, and is asked in full each time.
_KEEP = """([key, argument]) => {
  const act = %s;
  if (globalThis.gate) globalThis.gate.keep(key, () => act(argument));
  return { answer: act(argument) };
}"""
_CALL_KEPT = gate_call("callKept(argument)")


async def _matches(frame: Frame, selector: str, within_s: float | None) -> tuple[Locator | None, bool]:
    """Return what a selector finds in a frame, and whether it can be seen; one that does not answer in time has
    nothing.
    """
    try:
        async with asyncio.timeout(within_s):
            visible_locator = frame.locator(f"{selector} >> visible=true")
            if await visible_locator.count():
                return visible_locator.first, True
            locator = frame.locator(selector)
            return (locator.first, False) if await locator.count() else (None, False)
    except (DriverError, TimeoutError):
        return None, False


# Whether a click at the middle of an element would reach it.
_UNCOVERED = """(element) => {
  const box = element.getBoundingClientRect();
  const hit = element.getRootNode().elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return element.contains(hit);
}"""


async def _press(target: Locator, deadline_s: float) -> None:
    """Click like a person; by force where the driver finds it too restless or faint; from inside where it is
    covered.
    """
    patience_ms = max(300, min(2000, deadline_s * 400))
    try:
        await target.click(timeout=patience_ms)
    except DriverError as error:
        if _was_made(error):
            return
        try:
            if not await target.evaluate(_UNCOVERED, timeout=patience_ms):
                raise DriverError("covered")
            await target.click(force=True, timeout=patience_ms / 2)
        except DriverError:
            await target.evaluate("(element) => element.click()", timeout=patience_ms)


def _was_made(error: DriverError) -> bool:
    """Return whether a click was made and only its answer is late: made again, it would switch a toggle back."""
    _, click_log, log_end = error.message.rpartition("performing click action")
    return bool(click_log) and "retrying" not in log_end and "intercepts pointer events" not in log_end


class _FocusElsewhere(PageError):
    """Keys would go to something else than the field that was meant."""


_HAS_FOCUS = """(field) => {
  const at = field.getRootNode().activeElement;
  return Boolean(at) && (at === field || field.contains(at)) && (window === window.top || document.hasFocus());
}"""
# What lies over a field, in its own words.
_OVER = """(field) => {
  const box = field.getBoundingClientRect();
  const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  if (!hit || field.contains(hit) || hit.contains(field)) return "";
  const over = hit.closest("[role=dialog],[role=alertdialog],dialog,[aria-modal=true]") || hit;
  return (over.getAttribute("aria-label") || over.innerText || "").replace(/\\s+/g, " ").trim().slice(0, 120);
}"""


async def _insist_on_focus(field: Locator) -> None:
    """Have the field take the keys. Raises _FocusElsewhere where something else keeps the focus."""
    if await field.evaluate(_HAS_FOCUS):
        return
    with contextlib.suppress(DriverError):
        await field.focus(timeout=1000)
    if not await field.evaluate(_HAS_FOCUS):
        obstacle = str(await field.evaluate(_OVER))[:120]
        raise _FocusElsewhere(
            f"'{obstacle}' lies over the field" if obstacle else "something else on the page has the focus"
        )


# For a field that cannot have the focus; a page that listens hears of it all the same.
_SET = """(field, text) => {
  const kind = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  if ("value" in field) Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(field, text);
  else field.innerText = text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true, data: text, inputType: "insertText" }));
}"""


async def _fill(field: Locator, text: str) -> None:
    await _insist_on_focus(field)  # the driver fills what has the focus
    with contextlib.suppress(DriverError):
        await field.fill(text, timeout=2000)


async def _through_navigations(ask: Callable[[], Awaitable[Any]]) -> Any:
    while True:
        try:
            return await ask()
        except DriverError as error:
            if not any(word in error.message for word in PASSING_WORDS):
                raise
            await asyncio.sleep(0.05)


def _abandon(task: "asyncio.Future[Any]") -> None:
    """Abandon a call: a late answer or error is ignored."""
    if not task.done():
        task.cancel()
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
