"""Browser windows on a host in which people sign meeting accounts in, from wherever they sit.

A window belongs to its opener: each request names the account and the requester, and other requesters are told that
there is no window. It ends when it is kept, when it is closed, when nobody looks for a while, or after a quarter of an
hour.
"""

import asyncio
import base64
import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sederunt import log
from sederunt.accounts.meeting_accounts import MeetingAccounts, SignIn, no_accounts
from sederunt.browser.remote_window import RemoteWindow, remote_window
from sederunt.bus.streams import window_subject, windows_subject
from sederunt.bus.tasks import end
from sederunt.errors import PageStuck, SetupError
from sederunt.jobs.context import WorkerContext
from sederunt.model.bot import Service
from sederunt.model.window_input import MOST_INPUTS
from sederunt.platforms.registry import platform_of, services_taking
from sederunt.platforms.sign_in_pages import AccountKind

MOST = 3  # concurrent windows of one host; each has its own browser, which paints
BUDGET = "sign_in_windows"
UNSEEN_S = 45.0  # a page that somebody looks at asks every few seconds
LONGEST_S = 900.0
LOOK_S = 4.0

logger = log.get(component="jobs")
Answer = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowWish:
    """A request for a window: who opens it, for which account at a service."""

    window_id: str
    account_id: str
    opened_by: str  # a person, or a key
    service: Service
    email: str = field(repr=False)

    def is_of(self, request: Mapping[str, Any]) -> bool:
        """Return whether a request comes from the window's opener."""
        return (request.get("account_id"), request.get("opened_by")) == (self.account_id, self.opened_by)


class SignInWindows:
    """The windows of one host."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._accounts = MeetingAccounts(context.database, context.sealer)
        self._open: dict[str, asyncio.Task[None]] = {}

    async def answer(self, request: Mapping[str, Any]) -> Answer:
        """Open a window. Answers once it can be looked at, or with the reason why it cannot."""
        wish = WindowWish(**{**request, "service": Service(request["service"])})
        if wish.service not in services_taking(AccountKind.SESSION):
            return {"ok": False, "message": no_accounts(wish.service)}
        if len(self._open) >= MOST:
            return {"ok": False, "message": "Other people are signing in on this host: try again in a few minutes."}
        ledger = self._context.ledger
        if not ledger.has_room(BUDGET, wish.account_id):
            most = ledger.share(BUDGET, wish.account_id)
            return {"ok": False, "message": f"Your account has {most:g} sign-in windows open: close one of them first."}
        ledger.take(BUDGET, wish.account_id)
        opening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(wish, opening), name="sign-in window")
        self._open[wish.window_id] = task
        task.add_done_callback(lambda _task: self._ended(wish))
        try:
            await opening
        except SetupError as error:
            return {"ok": False, "message": str(error)}
        return {"ok": True}

    def _ended(self, wish: WindowWish) -> None:
        del self._open[wish.window_id]
        self._context.ledger.give_back(BUDGET, wish.account_id)

    async def close(self) -> None:
        """End all windows."""
        for task in list(self._open.values()):
            await end(task)

    async def _run(self, wish: WindowWish, opening: "asyncio.Future[None]") -> None:
        settings, bus = self._context.settings, self._context.bus
        try:
            async with (
                remote_window(settings.browser, allow_private=settings.allow_private_addresses) as window,
                contextlib.AsyncExitStack() as stack,
            ):
                stay = _Stay(wish, window, self._accounts)
                for operation, answer in (("look", stay.look), ("act", stay.act), ("end", stay.end)):
                    subscription = await bus.serve(window_subject(wish.window_id, operation), answer)
                    stack.push_async_callback(subscription.close)
                logger.info("a window was opened", action="window_opened", window=wish.window_id, service=wish.service)
                navigation = asyncio.create_task(window.go(platform_of(wish.service).accounts.sign_in_url))
                opening.set_result(None)
                why = await stay.until_over()
                logger.info("a window was closed", action="window_closed", window=wish.window_id, why=why)
                await end(navigation)
        except Exception as error:
            if opening.done():
                logger.exception("a window failed", action="window_failed", window=wish.window_id)
            else:
                opening.set_exception(error if isinstance(error, SetupError) else SetupError(str(error)))
        finally:
            if not opening.done():
                opening.set_exception(SetupError("This host is about to stop."))


class _Stay:
    """One window while it is open."""

    def __init__(self, wish: WindowWish, window: RemoteWindow, accounts: MeetingAccounts) -> None:
        self._wish, self._window, self._accounts = wish, window, accounts
        self._seen_at = time.monotonic()
        self._over = asyncio.Event()

    async def until_over(self) -> str:
        """Wait until the window is to be closed. Returns the reason."""
        began_at = time.monotonic()
        while not (self._over.is_set() or self._window.gone.is_set()):
            now = time.monotonic()
            if now - self._seen_at > UNSEEN_S or now - began_at > LONGEST_S:
                return "nobody looked" if now - self._seen_at > UNSEEN_S else "too long"
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), 1)
        return "closed" if self._over.is_set() else "gone"

    async def look(self, request: Mapping[str, Any]) -> Answer:
        """Return the next picture, or none if nothing changed for a while."""
        if not self._admits(request):
            return _NOBODY
        view = await self._window.look(int(request.get("after", 0)), LOOK_S)
        if view is None:
            return {"ok": True}
        jpeg = base64.b64encode(view.jpeg).decode()
        return {"ok": True, "number": view.number, "page": view.page, "jpeg": jpeg, "url": view.url}

    async def act(self, request: Mapping[str, Any]) -> Answer:
        """Pass on the person's input."""
        if not self._admits(request):
            return _NOBODY
        inputs: Sequence[Any] = request.get("inputs") or []
        try:
            valid_inputs = [entry for entry in inputs[:MOST_INPUTS] if isinstance(entry, list) and entry]
            await self._window.act(valid_inputs, request.get("page"))
        except PageStuck as error:
            return {"ok": False, "message": str(error)}
        return {"ok": True, "email": self._wish.email}

    async def end(self, request: Mapping[str, Any]) -> Answer:
        """Close the window; with `keep`, its browser state becomes the meeting account, sealed."""
        if not self._admits(request):
            return _NOBODY
        if not request.get("keep"):
            self._over.set()
            return {"ok": True}
        try:
            state = await self._window.state()
        except PageStuck as error:
            return {"ok": False, "message": str(error)}
        if not (request.get("anyway") or self._is_signed_in(state)):
            return {
                "ok": False,
                "doubt": True,
                "message": "The site has not signed anybody in yet, as far as can be seen.",
            }
        sign_in = SignIn(service=self._wish.service, email=self._wish.email, state=state)
        account = await self._accounts.keep_state(UUID(self._wish.account_id), sign_in)
        self._over.set()
        return {"ok": True, "id": str(account.id)}

    def _admits(self, request: Mapping[str, Any]) -> bool:
        """Return whether this is the window's opener, and note their presence."""
        if not self._wish.is_of(request):
            return False
        self._seen_at = time.monotonic()
        return True

    def _is_signed_in(self, state: Mapping[str, Any]) -> bool:
        pages = platform_of(self._wish.service).accounts.pages
        cookie_names = {cookie["name"] for cookie in state["cookies"]}
        return bool(cookie_names & set(pages.cookies) if pages is not None else cookie_names)


_NOBODY: Answer = {"ok": False, "gone": True}


@asynccontextmanager
async def serving_windows(context: WorkerContext) -> AsyncIterator[None]:
    """Open windows for people while the block runs."""
    windows = SignInWindows(context)
    subscription = await context.bus.serve(windows_subject(context.name), windows.answer)
    try:
        yield
    finally:
        await subscription.close()
        await windows.close()
