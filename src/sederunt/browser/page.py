"""One tab of one bot. Every call has a deadline, because a stuck page answers no call and raises no error.

Waiting is bounded by the wall clock here, never by the page: the driver's own time limits depend on the page's renderer
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
BLAMED_S = 10.0  # a page that ends this soon after a trouble of its browser ended because of it
EVIDENCE_S = 12.0
OTHER_FRAMES_S = 1.0  # how much longer than the top frame the others may take to answer
LATE_S = 1.0  # if a deadline is noticed later than this, our own loop was blocked
MOST_TEXT = 20_000
LONG_TEXT = 80  # characters; each key costs two calls
SLOW_KEYS_S = 0.5  # if two keys take this long, page or machine is too busy to type a name by keys
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
            on_trouble: called for a trouble of the browser that did not end the page.
        """
        self._page, self._context, self._line, self._world, self._on_close = page, context, line, world, on_close
        self._on_trouble = on_trouble
        self.cost: Callable[[], Awaitable[CostShare]] | None = None  # this tab's costs so far
        # (within_s, answered_s) → CPU-seconds of the renderer that may be its own, see `RendererCpu.most_s`.
        self.renderer_cpu_s: Callable[[float, float], float] = lambda within_s, answered_s: 0.0
        self._closing = False
        self._blamed: tuple[float, PageTrouble] | None = None  # the trouble that may end it, and when it was reported
        self.gone = asyncio.Event()
        page.on("crash", lambda _page: self.end(PAGE_CRASHED))
        self.documents = 0  # loaded so far; another one during the call ends all taps
        page.on("domcontentloaded", self._count_document)
        page.on("close", lambda _page: self.end(BROWSER_DIED))

    def _count_document(self, _page: Page) -> None:
        self.documents += 1

    def hear(self, trouble: PageTrouble) -> None:
        """Take a trouble of the browser: keep it as the possible cause of this page's end, or pass it on."""
        if trouble.recovery in (Recovery.FRESH_PAGE, Recovery.FRESH_BROWSER):
            self._blamed = self._blamed if self._is_blamed() else (time.monotonic(), trouble)
        else:
            self._on_trouble(trouble)

    def end(self, otherwise: PageTrouble) -> None:
        """Mark the page as gone: because of a trouble of its browser just before, otherwise of this one."""
        if self.gone.is_set():
            return
        if not self._is_blamed():
            self._blamed = (time.monotonic(), otherwise)
        self.gone.set()

    def _is_blamed(self) -> bool:
        return self._blamed is not None and time.monotonic() - self._blamed[0] < BLAMED_S

    @property
    def gone_by(self) -> PageTrouble:
        """Return the trouble that ended the page."""
        return self._blamed[1] if self._blamed is not None else PAGE_CRASHED

    @property
    def url(self) -> str:
        return self._page.url

    def has_origin(self, origin: str) -> bool:
        """Return whether one of the tab's frames has this origin. Documents without their own origin say "null"."""
        if origin in ("", "null"):
            return True
        return any(_origin(frame.url) == origin for frame in self._page.frames)

    # --- looking -------------------------------------------------------------------------------------------------

    async def goto(self, url: str, *, deadline_s: float = 60) -> None:
        """Open an address and wait until its document is there. It may be slow once the host was reached.

        An address that is open already is loaded again, even if only its fragment differs. Raises PageError when it
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
            # A page that redirects while it loads ends the first navigation only.
            if "interrupted by another navigation" not in str(error) and "ERR_ABORTED" not in str(error):
                raise

    async def evaluate(self, script: str, argument: object = None, *, deadline_s: float = 5) -> Any:
        """Evaluate a function among the top frame's own scripts, which can read it and its answer; repeat it if a
        navigation interrupts it.
        """
        question = _through_navigations(lambda: self._page.main_frame.evaluate(script, argument))
        return await self._bounded(question, deadline_s, "answer a question")

    async def evaluate_everywhere(
        self, script: str, argument: object = None, *, deadline_s: float = 5, keep: bool = False
    ) -> list[Any]:
        """Evaluate a function in our own world of each frame that answers; the top frame's answer comes first and is
        required. No page can see the function, or answer it.

        `keep`: the function, which answers at once, stays with its argument in the frames where our scripts run, and is
        called there by a short name from then on. For long functions that are called often.
        """
        ask = _ask_kept if keep else _ask
        places = await self._bounded(_through_navigations(self._world.others), deadline_s, "name its frames")
        tasks = [asyncio.ensure_future(ask(place, script, argument)) for place in places]
        top = _through_navigations(lambda: ask(self._world.ask_top, script, argument))
        try:
            answers = [await self._bounded(top, deadline_s, "answer a question")]
            if tasks:
                await asyncio.wait(tasks, timeout=OTHER_FRAMES_S)
            return answers + [task.result() for task in tasks if task.done() and task.exception() is None]
        finally:
            for task in tasks:
                _abandon(task)

    async def text(self) -> str:
        """Return the page's readable text, for evidence; its length is bounded."""
        texts = await self.evaluate_everywhere(_TEXT, MOST_TEXT)
        return "\n".join(str(text) for text in texts if text)[:MOST_TEXT]

    async def screenshot(self) -> bytes:
        """Return the visible page as PNG, with empty password fields."""
        await self.evaluate_everywhere(_EMPTY_PASSWORDS)
        return await self._bounded(
            self._page.screenshot(type="png", animations="allow", caret="initial", timeout=EVIDENCE_S * 1000),
            EVIDENCE_S,
            "give a picture",
        )

    async def storage_state(self) -> Mapping[str, Any]:
        """Return cookies and local storage of the tab's context, which suffice to be signed in again."""
        return await self._bounded(self._context.storage_state(), EVIDENCE_S, "give its state")

    # --- acting --------------------------------------------------------------------------------------------------

    async def click(self, selectors: Sequence[str], *, deadline_s: float = 5) -> str | None:
        """Click the first of these that is present, in any frame; return its selector, or None.

        The click is made with the pointer, like a person's; by force if something restrains it; at last by a DOM click.
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
        """Replace a field's content, by real keys and only while it has the focus; return its selector.

        Returns None if no field is there. Raises PageError when the field does not contain the text afterwards.
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
        """Press keys such as "Enter" in a field; return its selector, None if no field is there.

        Raises PageError if another element has the focus and keeps it.
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
        with contextlib.suppress(DriverTimeout):  # a busy page; only the focus matters, which is checked below
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
            # The driver has no keys for characters beyond the first plane. In a long text, or on a slow page, only the
            # last character is typed by a key: a busy page takes minutes for thousands, and one key is enough for a
            # site that waits for keys.
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
        """Return the state of the capture: backend, received and tapped packets per track, and what arrived here."""
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
        """Use "encoded" frames or the "worklet" to capture from now on, in all frames."""
        if backend not in ("encoded", "worklet"):
            raise ValueError(f"expected 'encoded' or 'worklet', found {backend!r}")
        await self._ask("useBackend(argument)", backend)

    async def flush(self, *, deadline_s: float = 2) -> None:
        """Have everything captured so far passed on; return once it has arrived."""
        await self._bounded(self._flush(), deadline_s, "hand on what it captured")

    async def _flush(self) -> None:
        for realm, batches in batches_of(await self._ask("flush()")):
            await self._line.until_came(realm, batches)

    async def show_picture(self, picture: bytes) -> bool:
        """Show this from now on as the bot's camera. False if no frame can show a picture, or none can decode it."""
        answers = await self._ask("showPicture(argument)", base64.b64encode(picture).decode())
        return any(answer is not None for answer in answers)

    async def shows_picture(self) -> bool:
        """Return whether the site has asked for the bot's camera."""
        return any(await self._ask("showsPicture()"))

    async def _ask(self, act: str, argument: object = None) -> list[Any]:
        return await self.evaluate_everywhere(gate_call(act), argument)

    # --- ending --------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Close the tab and its context, whatever their state. Never raises, never hangs."""
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
        # Returns the result of a call to the driver, or raises one of our errors, at the deadline at the latest.
        if self.gone.is_set():
            act.close()
            raise PageCrashed(f"The page is gone; it was asked to {what}.")
        task = asyncio.ensure_future(act)
        gone_task = asyncio.ensure_future(self.gone.wait())
        now = asyncio.get_running_loop().time
        deadline = now() + deadline_s
        try:
            await asyncio.wait({task, gone_task}, timeout=deadline_s, return_when=asyncio.FIRST_COMPLETED)
            if now() > deadline + LATE_S:  # our loop was late, not the page: its answer may be waiting here
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


# Cut inside the page: it may contain a gigabyte.
_TEXT = "(most) => (document.body ? document.body.innerText.slice(0, most) : '')"
# Screenshots are kept for people to look at; even the number of dots in a password field is private.
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


# A document in which none of our scripts run keeps nothing, and gets the whole function each time.
_KEEP = """([key, argument]) => {
  const act = %s;
  if (globalThis.gate) globalThis.gate.keep(key, () => act(argument));
  return { answer: act(argument) };
}"""
_CALL_KEPT = gate_call("callKept(argument)")


async def _matches(frame: Frame, selector: str, within_s: float | None) -> tuple[Locator | None, bool]:
    # Returns a selector's match in a frame, and whether it is visible; a frame that does not answer in time has none.
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
    # Clicks like a person; by force if the driver considers the element too unstable or faint; from inside the page if
    # it is covered.
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
    # Returns whether a click was made and only its answer is late: a second click would switch a toggle back.
    _, click_log, log_end = error.message.rpartition("performing click action")
    return bool(click_log) and "retrying" not in log_end and "intercepts pointer events" not in log_end


class _FocusElsewhere(PageError):
    """Keys would go to another element than the intended field."""


_HAS_FOCUS = """(field) => {
  const at = field.getRootNode().activeElement;
  return Boolean(at) && (at === field || field.contains(at)) && (window === window.top || document.hasFocus());
}"""
# The text of the element that lies over a field.
_OVER = """(field) => {
  const box = field.getBoundingClientRect();
  const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  if (!hit || field.contains(hit) || hit.contains(field)) return "";
  const over = hit.closest("[role=dialog],[role=alertdialog],dialog,[aria-modal=true]") || hit;
  return (over.getAttribute("aria-label") || over.innerText || "").replace(/\\s+/g, " ").trim().slice(0, 120);
}"""


async def _insist_on_focus(field: Locator) -> None:
    # Gives the field the focus. Raises _FocusElsewhere if another element keeps it.
    if await field.evaluate(_HAS_FOCUS):
        return
    with contextlib.suppress(DriverError):
        await field.focus(timeout=1000)
    if not await field.evaluate(_HAS_FOCUS):
        obstacle = str(await field.evaluate(_OVER))[:120]
        raise _FocusElsewhere(
            f"'{obstacle}' lies over the field" if obstacle else "something else on the page has the focus"
        )


# For a field that cannot have the focus; the page still gets the input event.
_SET = """(field, text) => {
  const kind = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  if ("value" in field) Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(field, text);
  else field.innerText = text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true, data: text, inputType: "insertText" }));
}"""


async def _fill(field: Locator, text: str) -> None:
    await _insist_on_focus(field)  # the driver fills the focused element
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
    # Ignores a late answer or error of a call.
    if not task.done():
        task.cancel()
    task.add_done_callback(lambda future: future.cancelled() or future.exception())


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
