"""Checks the processes of the browsers with bots once a second, and acts on those that are stopped.

A stopped process is ended, because an end is noticed at once: a renderer takes its page with it, the network service
or the main process the browser, and the browser restarts a GPU process.

The end of a zygote is the exception. Chromium's main process goes on without it, and every new page waits for ever for
a process: the whole browser is ended then.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sederunt import log
from sederunt.browser.chromium import NETWORK_SERVICE, Chromium
from sederunt.browser.cpu_budgets import CpuBudgets, give_way
from sederunt.browser.memory_budget import beyond_memory
from sederunt.browser.processes import kill
from sederunt.browser.renderer_cpu import RendererCpu
from sederunt.browser.stopped_processes import LOOKS_IN_A_ROW, ProcessState, SessionProcesses, StoppedProcesses, kind_of
from sederunt.model.trouble import PageTrouble, Recovery

LOOK_EVERY_S = 1.0
GPU, RENDERER, ZYGOTE = "gpu-process", "renderer", "zygote"
FILLING_S = 10.0  # the renderer that ran most for this long filled the browser's own process
FREED_S = 5.0  # after a renderer was ended, for the browser to free its page's memory
PAGE_CPU_SPENT = PageTrouble(
    cause="page_cpu_spent",
    seen="The page took more CPU than a meeting needs; it was ended.",
    recovery=Recovery.FRESH_PAGE,
)

PAGE_MEMORY_SPENT = PageTrouble(
    cause="page_memory_spent",
    seen="The page, or what it stored, took more memory than a meeting needs; it was ended.",
    recovery=Recovery.FRESH_PAGE,
)

ZYGOTE_DIED = PageTrouble(
    cause="zygote_died",
    seen="The process from which the browser forks the processes of pages ended; the browser was ended, too.",
    recovery=Recovery.FRESH_BROWSER,
)

# The name of each kind of process, and the recovery after its end; any other is a helper, which the browser restarts.
_KINDS: Mapping[str, tuple[str, Recovery]] = MappingProxyType(
    {
        "browser": ("browser", Recovery.FRESH_BROWSER),
        ZYGOTE: ("zygote", Recovery.FRESH_BROWSER),
        "display": ("display", Recovery.FRESH_BROWSER),
        "driver": ("driver", Recovery.FRESH_BROWSER),
        NETWORK_SERVICE: ("network_service", Recovery.FRESH_BROWSER),
        RENDERER: ("renderer", Recovery.FRESH_PAGE),
        GPU: ("gpu_process", Recovery.BY_BROWSER),
    }
)

logger = log.get(component="browser")


def stopped(kind: str) -> PageTrouble:
    """Return the trouble that a stopped process of this kind causes to the pages of its browser."""
    name, recovery = _KINDS.get(kind, (kind.rpartition(".")[2] or "process", Recovery.BY_BROWSER))
    seconds = (LOOKS_IN_A_ROW - 1) * LOOK_EVERY_S
    description = f"The {name.replace('_', ' ')} stood still for {seconds:g} s, stopped by a signal; it was ended."
    return PageTrouble(cause=f"{name}_stopped", seen=description, recovery=recovery)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Zygote:
    browser: int  # its main process
    looks: int  # at which it was a zygote

    @property
    def is_sure(self) -> bool:
        return self.looks >= LOOKS_IN_A_ROW


class ProcessWatch:
    """The watch over all browsers of a pool.

    Args:
        page_memory_mb: what one page may take; 0 for no limit.
    """

    def __init__(
        self, browsers: Callable[[], Iterable[Chromium]], budgets: CpuBudgets, page_memory_mb: float = 0
    ) -> None:
        self._browsers, self._budgets, self._page_memory_mb = browsers, budgets, page_memory_mb
        self._processes, self._stopped = SessionProcesses(), StoppedProcesses()
        self._kinds: dict[tuple[int, int], str] = {}  # of each process of these browsers
        self._gpu: dict[int, int] = {}  # the GPU process of each browser
        self._zygotes: dict[tuple[int, int], _Zygote] = {}
        self._freeing: dict[int, float] = {}  # browsers that are freeing an ended page's memory → until when
        self.renderer_cpu = RendererCpu()

    async def run(self) -> None:
        """Look once a second, for ever."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                await self._look()
            except Exception:
                logger.exception("processes not looked at", action="process_watch_failed")

    async def _look(self) -> None:
        browsers = {browser.pid: browser for browser in self._browsers() if browser.pid and browser.seats}
        if not browsers:
            return
        outside = {pid: browser for browser in browsers.values() for pid in (browser.display_pid, browser.driver_pid)}
        states = list((await asyncio.to_thread(self._processes.look, browsers, outside)).values())
        self._look_at_gpu(browsers, states)
        renderers = self._renderers(browsers, states)
        self._look_at_zygotes(browsers, states)
        self.renderer_cpu.look(renderers)
        mains_mb = {state.pid: state.memory_mb for state in states if state.pid in browsers}
        self._look_at_hogs(browsers, renderers, mains_mb)
        for state in self._stopped.look(states):
            if state.session in browsers:
                _end(browsers[state.session], state, kind_of(state.pid))
                self._gpu = {browser: gpu for browser, gpu in self._gpu.items() if gpu != state.pid}  # told already
            else:
                browser = outside[state.pid]
                _end(browser, state, "display" if state.pid == browser.display_pid else "driver")

    def _renderers(self, browsers: Mapping[int, Chromium], states: Iterable[ProcessState]) -> list[ProcessState]:
        # Returns the processes of pages. The kind of each is read only once; a renderer is a zygote at first.
        kinds = {process: kind for process, kind in self._kinds.items() if kind != ZYGOTE}
        self._kinds = {
            (state.pid, state.started): kinds.get((state.pid, state.started)) or kind_of(state.pid) for state in states
        }
        return [
            state for state in states if self._kinds[state.pid, state.started] == RENDERER and state.session in browsers
        ]

    def _look_at_zygotes(self, browsers: Mapping[int, Chromium], states: Sequence[ProcessState]) -> None:
        # Ends the browsers that go on without a zygote. A process that was one in few looks was becoming a renderer.
        previous, self._zygotes = self._zygotes, {}
        for state in states:
            process = (state.pid, state.started)
            if self._kinds[process] == ZYGOTE and state.session in browsers:
                looks = previous[process].looks if process in previous else 0
                self._zygotes[process] = _Zygote(browser=state.session, looks=looks + 1)
        alive_pids = {state.pid for state in states}
        processes = {(state.pid, state.started) for state in states}
        lost_pids = {
            zygote.browser for process, zygote in previous.items() if process not in processes and zygote.is_sure
        }
        for pid in lost_pids & alive_pids & browsers.keys():
            logger.error(ZYGOTE_DIED.seen, action=ZYGOTE_DIED.cause, browser=pid)
            browsers[pid].tell(ZYGOTE_DIED)
            browsers[pid].kill()

    def _look_at_hogs(
        self, browsers: Mapping[int, Chromium], renderers: Sequence[ProcessState], mains_mb: Mapping[int, float]
    ) -> None:
        # Pages that take too much CPU give way to others; they are ended if they go on, or take too much memory.
        now = time.monotonic()
        verdict = self._budgets.look(renderers, now)
        for state in verdict.give_way:
            logger.warning("a page takes much CPU and gives way", action="page_gives_way", pid=state.pid)
            give_way(state.pid)
        bots = {session: browser.seats for session, browser in browsers.items()}
        self._freeing = {session: until for session, until in self._freeing.items() if until > now}
        candidates = [state for state in renderers if state.session not in self._freeing]
        oversized = beyond_memory(
            candidates, mains_mb, bots, self._page_memory_mb, lambda state: self.renderer_cpu.used_s(state, FILLING_S)
        )
        self._freeing |= {state.session: now + FREED_S for state in oversized}
        for trouble, culprits in ((PAGE_CPU_SPENT, verdict.end), (PAGE_MEMORY_SPENT, oversized)):
            for state in culprits:
                logger.error(trouble.seen, action=trouble.cause, pid=state.pid)
                browsers[state.session].tell(trouble)
                kill(state.pid)

    def _look_at_gpu(self, browsers: Mapping[int, Chromium], states: Iterable[ProcessState]) -> None:
        # Tells the pages of a browser that its GPU process is gone: the browser starts another.
        alive_pids = {state.pid for state in states}
        for pid, gpu in list(self._gpu.items()):
            if gpu not in alive_pids:
                del self._gpu[pid]
                if pid in browsers and pid in alive_pids:
                    description = "The GPU process ended; the browser starts another."
                    browsers[pid].tell(
                        PageTrouble(cause="gpu_process_died", seen=description, recovery=Recovery.BY_BROWSER)
                    )
        for state in states:
            if state.session in browsers and state.session not in self._gpu and kind_of(state.pid) == GPU:
                self._gpu[state.session] = state.pid


def _end(browser: Chromium, state: ProcessState, kind: str) -> None:
    trouble = stopped(kind)
    logger.warning(trouble.seen, action="process_stopped", kind=kind, pid=state.pid)
    browser.tell(trouble)
    kill(state.pid)
    if trouble.recovery is Recovery.FRESH_BROWSER:
        browser.kill()
