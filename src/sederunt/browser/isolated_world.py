"""An isolated world in each frame of a tab: our scripts share the page's document and none of its objects.

Questions are evaluated there. The driver itself evaluates among the page's scripts, by the page's `eval`, so the page
could read and answer its questions. Frames of other sites may have their own process, and then their own session.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Frame, Page
from playwright.async_api import Error as DriverError

from sederunt.browser.document_origins import Places

Place = Callable[[str, object], Awaitable[Any]]  # calls a function with its argument in one frame
WORLD = "sederunt"
SWEPT_WORDS = ("Cannot find context", "Execution context was destroyed", "No frame for given id", "Frame was detached")


class ScriptFault(Exception):
    """The evaluated script threw an exception."""


class IsolatedWorld:
    """The worlds of one tab's frames, and the way to ask in them."""

    def __init__(self, context: BrowserContext, page: Page, script: str, places: Places) -> None:
        """`script` runs first in each of the worlds."""
        self._context, self._page, self._script, self._places = context, page, script, places
        self._top: _Frames | None = None
        self._apart: dict[Frame, _Frames] = {}  # frames of other sites, which have their own processes
        self._tasks: set[asyncio.Task[None]] = set()

    async def prepare(self) -> None:
        """Have the script run in every future document. Raises the driver's errors."""
        self._top = await _Frames.of(self._context, self._page, self._script)
        self._page.on("framenavigated", self._frame_changed)
        self._page.on("framedetached", self._frame_gone)

    def sent(self, url: str) -> None:
        """Note that we send the tab to this address."""
        self._places.sent(url)

    def _frame_changed(self, frame: Frame) -> None:
        frames = self._apart.get(frame)
        if frame is self._page.main_frame or (frames is not None and not frames.is_over):
            return
        task = asyncio.create_task(self._follow(frame))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _frame_gone(self, frame: Frame) -> None:
        self._apart.pop(frame, None)

    async def _follow(self, frame: Frame) -> None:
        # Enters a frame that has its own process. Most have none: the driver refuses them a session.
        with contextlib.suppress(DriverError):
            frames = await _Frames.of(self._context, frame, self._script)
            if not frame.is_detached():
                self._apart[frame] = frames
                await frames.enter()

    async def ask_top(self, script: str, argument: object) -> Any:
        """Return a function's result in the top frame. Raises the driver's errors, and ScriptFault."""
        assert self._top is not None
        return await self._top.ask(await self._top.root(), script, argument)

    async def others(self) -> list[Place]:
        """Return the other places that can be asked: every frame but the top one. Raises the driver's errors."""
        assert self._top is not None
        places: list[Place] = [partial(self._top.ask, name) for name in (await self._top.names())[1:]]
        for frames in [group for group in self._apart.values() if not group.is_over]:
            with contextlib.suppress(DriverError):
                places += [partial(frames.ask, name) for name in await frames.names()]
        return places


class _Frames:
    """The frames of one process, by their names in it, and our world's context in each."""

    def __init__(self, session: CDPSession, script: str) -> None:
        self._session, self._script = session, script
        self._contexts: dict[str, int] = {}
        self._tree: list[str] | None = None
        self.is_over = False
        for event in ("Page.frameAttached", "Page.frameDetached", "Page.frameNavigated"):
            session.on(event, self._changed)
        session.on("close", self._close)

    @classmethod
    async def of(cls, context: BrowserContext, place: "Page | Frame", script: str) -> "_Frames":
        """Return the frames of a tab, or of a frame that has its own process. Raises the driver's errors."""
        frames = cls(await context.new_cdp_session(place), script)
        await frames._session.send("Page.enable")
        await frames._session.send("Page.addScriptToEvaluateOnNewDocument", {"source": script, "worldName": WORLD})
        return frames

    async def enter(self) -> None:
        """Run the script in the documents that are already loaded."""
        for name in await self.names():
            await self.ask(name, f"() => {{ {self._script} }}", None)

    def _changed(self, event: Mapping[str, Any]) -> None:
        name = event.get("frameId") or event.get("frame", {}).get("id")
        self._contexts.pop(str(name), None)
        self._tree = None

    def _close(self, _: object = None) -> None:
        self.is_over = True

    async def root(self) -> str:
        return (await self.names())[0]

    async def names(self) -> list[str]:
        """Return the present frames, the outermost first."""
        if self._tree is None:
            tree = (await self._session.send("Page.getFrameTree"))["frameTree"]
            self._tree = _names(tree)
        return list(self._tree)

    async def ask(self, name: str, script: str, argument: object) -> Any:
        """Return a function's result in a frame. Raises the driver's errors, and ScriptFault."""
        context = self._contexts.get(name)
        if context is None:
            world = await self._session.send("Page.createIsolatedWorld", {"frameId": name, "worldName": WORLD})
            context = self._contexts[name] = int(world["executionContextId"])
        try:
            answer = await self._session.send(
                "Runtime.callFunctionOn",
                {
                    "functionDeclaration": script,
                    "executionContextId": context,
                    "arguments": [{"value": argument}] if argument is not None else [],
                    "returnByValue": True,
                    "awaitPromise": True,
                },
            )
        except DriverError as error:
            if any(word in error.message for word in SWEPT_WORDS):
                self._contexts.pop(name, None)
                self._tree = None
            raise
        if "exceptionDetails" in answer:
            raise ScriptFault(_told(answer["exceptionDetails"]))
        return answer["result"].get("value")


def _names(tree: Mapping[str, Any]) -> list[str]:
    return [str(tree["frame"]["id"]), *(name for child in tree.get("childFrames", ()) for name in _names(child))]


def _told(details: Mapping[str, Any]) -> str:
    exception = details.get("exception", {})
    return str(exception.get("description") or exception.get("value") or details.get("text", "an error")).splitlines()[
        0
    ]
