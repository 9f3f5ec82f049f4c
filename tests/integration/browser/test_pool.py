"""Browsers shared by bots: who sits where, what a death means, and that nothing is left behind."""

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
from playwright.async_api import Browser

from harness.browser_room import Ear
from sederunt.browser import chromium, fleet, kept_driver
from sederunt.browser import pool as pool_module
from sederunt.browser.browser_user import OWN_NUMBER
from sederunt.browser.chromium import Chromium
from sederunt.browser.driver import BrowserDriver, running_driver
from sederunt.browser.launch import Mode, find_executable
from sederunt.browser.page import MeetingPage
from sederunt.browser.page_request import PageRequest
from sederunt.browser.pool import BrowserPool
from sederunt.browser.processes import is_alive, owner_mark, sweep_orphans, when_ended
from sederunt.browser.stopped_processes import kind_of
from sederunt.errors import PageCrashed, PageStuck, SetupError
from sederunt.settings import BrowserSettings

pytestmark = pytest.mark.chromium


@asynccontextmanager
async def pool_of(**settings: Any) -> AsyncIterator[BrowserPool]:
    async with BrowserPool(BrowserSettings(**{"warm": 0, "mode": "shell", **settings})) as pool:
        yield pool


async def open_one(pool: BrowserPool, **request: Any) -> MeetingPage:
    ear = Ear()
    wishes = {"mode": "shell", "watch": {}, "hosts": (), **request}
    return await pool.open(PageRequest(bot_id=uuid4(), **wishes), on_frames=ear.take, on_signal=ear.hear)


async def test_bots_share_a_browser_until_it_is_full() -> None:
    async with pool_of(bots_per_browser=2) as pool:
        pages = await asyncio.gather(*(open_one(pool) for _ in range(3)))
        assert (pool.bots(), pool.browsers()) == (3, 2)
        for page in pages:
            await page.close()
        assert (pool.bots(), pool.browsers()) == (0, 0)


async def test_a_host_says_that_its_browser_is_missing_or_does_not_start_and_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "browser"
    async with pool_of(shell_executable=program, mode="shell") as pool:
        assert pool.state() == "missing"
        program.symlink_to("/bin/false")
        assert pool.state() == "ok", "nobody has tried it"
        with pytest.raises(SetupError):
            await open_one(pool)
        assert pool.state() == "does not start"
    program.unlink()
    program.symlink_to("/bin/false")
    async with pool_of(shell_executable=program, mode="shell", warm=1) as pool:
        while pool.browsers():  # noqa: ASYNC110  # the warm one, which does not start
            await asyncio.sleep(0.05)
        assert pool.state() == "does not start"
        program.unlink()
        program.symlink_to(find_executable(BrowserSettings(), "shell"))
        monkeypatch.setattr(fleet, "TRY_AGAIN_S", 0.0)
        async with asyncio.timeout(60):
            while pool.state() != "ok":  # noqa: ASYNC110
                await asyncio.sleep(0.1)


async def test_an_idle_host_proves_that_its_browser_opens_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that runs and gives no page is no use; one that gives a page again is fine at once."""
    monkeypatch.setattr(pool_module, "PROVE_EVERY_S", 0.05)
    monkeypatch.setattr(pool_module, "TRY_AGAIN_S", 0.05)
    opens = BrowserPool._open_page

    async def opens_none(*_: Any) -> MeetingPage:
        raise PageStuck("no page")

    async with asyncio.timeout(120), pool_of(warm=1) as pool:
        for found, word in ((opens_none, "does not start"), (opens, "ok")):
            monkeypatch.setattr(BrowserPool, "_open_page", found)
            while pool.state() != word:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert pool.bots() <= 1


async def test_bots_of_two_accounts_share_no_browser_unless_that_is_allowed() -> None:
    ours, theirs = uuid4(), uuid4()
    async with pool_of() as pool:
        pages = [await open_one(pool, account_id=account) for account in (ours, theirs, ours, theirs)]
        assert (pool.bots(), pool.browsers()) == (4, 2)
        await asyncio.gather(*(page.close() for page in pages))
    async with pool_of(share_between_accounts=True) as pool:
        pages = [await open_one(pool, account_id=account) for account in (ours, theirs)]
        assert (pool.bots(), pool.browsers()) == (2, 1)
        await asyncio.gather(*(page.close() for page in pages))


async def test_a_warm_browser_that_had_one_accounts_bots_takes_no_others() -> None:
    ours, theirs = uuid4(), uuid4()
    async with pool_of(warm=1) as pool:
        first = await open_one(pool, account_id=ours)
        (process,) = pool.processes()
        await first.close()
        second = await open_one(pool, account_id=theirs)
        assert len(pool.processes()) == 2
        third = await open_one(pool, account_id=ours)
        assert process in pool.processes()
        assert len(pool.processes()) == 2
        await asyncio.gather(second.close(), third.close())


async def test_an_empty_browser_is_kept_warm_where_one_is_wanted() -> None:
    async with pool_of(warm=1) as pool:
        first = await open_one(pool)
        (process,) = pool.processes()
        await first.close()
        assert pool.processes() == [process]
        second = await open_one(pool)
        assert pool.processes() == [process]
        await second.close()


async def test_a_signed_in_bot_has_a_browser_and_its_cookies_to_itself() -> None:
    cookie = {"name": "SID", "value": "x", "domain": "example.com", "path": "/", "expires": -1}
    state = {"cookies": [cookie], "origins": []}
    async with pool_of(warm=1) as pool:
        guest, member = await open_one(pool), await open_one(pool, storage_state=state)
        assert pool.browsers() == 2
        kept = await member.storage_state()
        assert [(one["name"], one["value"]) for one in kept["cookies"]] == [("SID", "x")]
        await member.close()
        assert pool.browsers() == 1
        await guest.close()


async def test_a_program_that_is_no_browser_is_told_with_a_remedy() -> None:
    async with pool_of(shell_executable=Path("/bin/false")) as pool:
        with pytest.raises(SetupError, match="does not start"):
            await open_one(pool)


async def test_a_browser_that_dies_takes_its_bots_and_no_others() -> None:
    async with pool_of(bots_per_browser=1) as pool:
        doomed, other = await open_one(pool), await open_one(pool)
        os.kill(pool.processes()[0], signal.SIGKILL)
        async with asyncio.timeout(60):
            await doomed.gone.wait()
        with pytest.raises(PageCrashed):
            await doomed.evaluate("() => 1")
        assert await other.evaluate("() => 1") == 1
        await doomed.close()
        third = await open_one(pool)
        assert await third.evaluate("() => 3") == 3
        for page in (other, third):
            await page.close()


def network_service_of(browser: int) -> int:
    """Return the process in which a browser keeps the sockets of its pages."""
    children = psutil.Process(browser).children(recursive=True)
    return next(p.pid for p in children if any("network.mojom.NetworkService" in word for word in p.cmdline()))


async def test_a_killed_browser_is_reported_as_dead_although_its_network_service_ends_first() -> None:
    async with pool_of() as pool:
        page = await open_one(pool)
        (browser,) = pool.processes()
        driver, network_ended = psutil.Process(browser).parent(), asyncio.Event()
        assert driver is not None
        end_watch = when_ended(network_service_of(browser), network_ended.set)
        driver.suspend()  # it reports the end of the browser after that of the network service was seen
        try:
            os.kill(browser, signal.SIGKILL)
            async with asyncio.timeout(60):
                await network_ended.wait()
        finally:
            end_watch()
            driver.resume()
        async with asyncio.timeout(60):
            await page.gone.wait()
        assert page.gone_by.cause == "browser_died"


@pytest.mark.parametrize("mode", ["shell", "headless"])
async def test_a_browser_whose_network_service_dies_takes_its_bots_and_no_others(mode: str) -> None:
    async with pool_of(mode=mode, bots_per_browser=2) as pool:
        doomed = [await open_one(pool, mode=mode), await open_one(pool, mode=mode)]
        other = await open_one(pool, mode=mode)
        os.kill(network_service_of(pool.processes()[0]), signal.SIGKILL)
        async with asyncio.timeout(60):
            for page in doomed:
                await page.gone.wait()
        assert {page.gone_by.cause for page in doomed} == {"network_service_died"}
        assert await other.evaluate("() => 1") == 1
        for page in (*doomed, other):
            await page.close()


async def test_a_warm_browser_whose_network_service_died_is_given_to_nobody() -> None:
    async with pool_of(warm=1) as pool:
        first = await open_one(pool)
        (process,) = pool.processes()
        await first.close()
        os.kill(network_service_of(process), signal.SIGKILL)
        await asyncio.to_thread(psutil.Process(process).wait, 60)
        async with asyncio.timeout(60):
            while pool.processes():  # noqa: ASYNC110 - the driver's word of it has no event
                await asyncio.sleep(0.05)
        second = await open_one(pool)
        assert pool.processes() != [process]
        await second.close()


async def test_leaving_the_pool_ends_every_browser_with_pages_in_it() -> None:
    async with pool_of() as pool:
        page = await open_one(pool)
        (process,) = pool.processes()
    assert not psutil.pid_exists(process)
    assert page.gone.is_set()


@pytest.mark.parametrize("mode", ["shell", "headful"])
async def test_each_page_has_a_renderer_and_its_window_none(mode: Mode) -> None:
    """Lists below the address bar are pages of the browser's own: two for each window, unless they are turned off."""
    async with pool_of(mode=mode) as pool:
        pages = [await open_one(pool, mode=mode) for _ in range(3)]
        for page in pages:
            await page.goto("data:text/html,<p>hello")
        (browser,) = pool.processes()
        kinds = Counter(kind_of(process.pid) for process in psutil.Process(browser).children(recursive=True))
        assert kinds["renderer"] == len(pages)
        for page in pages:
            await page.close()


async def test_a_headful_browser_has_a_display_of_its_own_that_ends_with_it() -> None:
    async with pool_of(mode="headful") as pool:
        page = await open_one(pool, mode="headful")
        assert "Headless" not in await page.evaluate("() => navigator.userAgent")
        assert await page.evaluate("() => navigator.webdriver") is False
        assert await page.evaluate("() => [innerWidth, innerHeight]") == [1280, 720]
        displays = [p.pid for p in psutil.Process().children(recursive=True) if p.name() == "Xvfb"]
        assert len(displays) == 1
    assert not psutil.pid_exists(displays[0])


HOLDER = """
import asyncio, sys
from uuid import uuid4
from sederunt.browser.page_request import PageRequest
from sederunt.browser.pool import BrowserPool
from sederunt.settings import BrowserSettings

async def hold():
    async with BrowserPool(BrowserSettings(warm=0)) as pool:
        for mode in sys.argv[1].split(","):
            request = PageRequest(bot_id=uuid4(), mode=mode, watch={}, hosts=())
            await pool.open(request, on_frames=lambda frames: None, on_signal=lambda signal: None)
        print("held", flush=True)
        await asyncio.Event().wait()

asyncio.run(hold())
"""


@asynccontextmanager
async def held(modes: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, list[psutil.Process]]]:
    """A process that holds a pool, and everything that it started."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, modes, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            while await process.stdout.readline() != b"held\n":
                assert process.returncode is None
        yield process, psutil.Process(process.pid).children(recursive=True)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def all_gone(processes: list[psutil.Process]) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(60):
            while any(map(runs, processes)):  # noqa: ASYNC110  # nobody is told the end of another's children
                await asyncio.sleep(0.05)
    assert not list(filter(runs, processes))


def runs(process: psutil.Process) -> bool:
    """Whether it is more than remains that its parent has not cleared away."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_killed_process_leaves_no_browser_and_no_display() -> None:
    async with held("shell,headful") as (process, children):
        assert len(children) > 4
        process.kill()
        await all_gone(children)


async def test_what_a_killed_process_could_not_end_is_swept_by_the_next_one() -> None:
    async with held("shell") as (process, children):
        driver = next(child for child in children if child.name().startswith("node"))
        driver.suspend()  # a driver that hangs does not end its browsers
        try:
            process.kill()
            await process.wait()
            sweep_orphans()  # not how many: a pool beside us, of another test, may have been quicker
            await all_gone([child for child in children if child != driver])
        finally:
            driver.kill()
        await all_gone([driver])


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files of the test's own. A short path: Chromium makes a socket below it."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


async def test_what_a_killed_process_left_on_disk_is_removed_by_the_next_one(temporary: Path) -> None:
    async with held("shell,headless") as (process, children):
        (folder,) = temporary.iterdir()
        left = {entry.name.partition("-")[0].partition(".")[0] for entry in folder.iterdir()}
        assert left >= {"playwright_chromiumdev_profile", "org"}, "profiles, and Chromium's own"
        process.kill()
        await process.wait()
        await all_gone(children)
        assert list(temporary.iterdir()) == [folder]
        async with pool_of():
            assert not folder.exists()
            assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []


async def test_the_folder_of_a_process_that_lives_is_left_alone(temporary: Path) -> None:
    async with held("shell"):
        (folder,) = temporary.iterdir()
        async with pool_of() as pool:
            page = await open_one(pool)
            assert len(list(temporary.iterdir())) == 2
            await page.close()
        assert list(temporary.iterdir()) == [folder]


def test_a_process_knows_its_own_mark_and_no_other() -> None:
    assert is_alive(owner_mark())
    assert not is_alive("1:1")
    assert not is_alive(f"{os.getpid()}:1")
    assert not is_alive("nonsense")


async def test_a_browser_that_starts_and_never_answers_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(self: Browser) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Browser, "new_browser_cdp_session", never)
    monkeypatch.setattr(Browser, "close", never)
    monkeypatch.setattr(chromium, "CLOSE_S", 0.1)
    async with running_driver() as driver:
        browser = Chromium(driver, BrowserSettings(), "shell")
        launched, answer_s = browser._start.launch, 0.1

        async def and_then_hurry() -> Browser:
            running = await launched()
            monkeypatch.setattr(chromium, "START_S", answer_s)
            assert _browsers_of(driver)
            return running

        monkeypatch.setattr(browser._start, "launch", and_then_hurry)
        with pytest.raises(SetupError, match="did not answer"):
            await browser.__aenter__()
        await all_gone(_browsers_of(driver))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("mode", ["shell", "headful"])
async def test_of_root_no_browser_runs_as_root_and_each_has_its_sandbox(mode: Mode) -> None:
    async with running_driver() as driver, Chromium(driver, BrowserSettings(), mode) as browser:
        tab = await (await browser.new_context({})).new_page()
        await tab.goto("data:text/html,<p>hello")
        running = [psutil.Process(browser.pid), *psutil.Process(browser.pid).children(recursive=True)]
        renderers = 0
        for process in running:
            with contextlib.suppress(psutil.NoSuchProcess, FileNotFoundError):  # a helper of the browser that ends now
                command = " ".join(process.cmdline())
                assert process.uids().real == OWN_NUMBER, command
                assert "--no-sandbox" not in command
                if "--type=renderer" in command:
                    # Its filter of system calls.
                    assert "Seccomp:\t2" in Path(f"/proc/{process.pid}/status").read_text()
                    renderers += 1
        assert renderers
        folder = driver.folder / "browsers"
        assert (folder.stat().st_uid, folder.stat().st_mode & 0o777) == (OWN_NUMBER, 0o700)
        profiles = [path.stat() for path in driver.folder.glob("playwright_chromiumdev_profile-*")]
        assert [(profile.st_uid, profile.st_mode & 0o777) for profile in profiles] == [(OWN_NUMBER, 0o700)]
        if mode == "headful":
            assert browser._start.authority is not None
            assert browser._start.authority.stat().st_uid == OWN_NUMBER
    assert not driver.folder.exists()


def _browsers_of(driver: BrowserDriver) -> list[psutil.Process]:
    """The processes of this driver's browsers: other tests of this process have browsers of their own."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if (
                "chrom" in process.name()
                and process.environ().get("TMPDIR", "").startswith(str(driver.folder))
                and runs(process)
            ):
                found.append(process)
    return found


async def test_a_pool_that_nobody_wants_rests_and_the_next_page_wakes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither browser nor driver is left; asked for, or told that a bot is due, both are there again."""
    monkeypatch.setattr(kept_driver, "LOOK_EVERY_S", 0.05)
    others = _children()  # of other tests of this process: a message server, say
    async with asyncio.timeout(120), pool_of(warm=1, idle_minutes=0.001) as pool:
        page = await open_one(pool)
        await asyncio.sleep(0.2)  # longer than the idle time: whoever sits keeps everything
        assert not pool.is_resting()
        assert await page.evaluate("() => 2") == 2
        await page.close()
        await _resting(pool, others)
        assert (pool.browsers(), pool.state()) == (0, "ok")
        assert not _children() - others, "browsers, display and driver are gone"
        again = await open_one(pool)
        assert await again.evaluate("() => 3") == 3
        await again.close()
        await _resting(pool, others)
        pool.wake()
        while not pool.browsers():  # noqa: ASYNC110  # the warm one, with no page asked for
            await asyncio.sleep(0.02)


async def _resting(pool: BrowserPool, others: set[psutil.Process]) -> None:
    while not pool.is_resting() or _children() - others:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


def _children() -> set[psutil.Process]:
    """Return the processes that this one started and that live."""
    found = set()
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.status() != psutil.STATUS_ZOMBIE:
                found.add(child)
    return found
