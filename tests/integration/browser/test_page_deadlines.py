"""A page that hangs, dies or hides what is asked for: every call ends, and the bot can always leave."""

import asyncio
import contextlib

import pytest

from harness.browser_room import LOADED, OpenPage, Site
from sederunt.browser.pool import BrowserPool
from sederunt.errors import PageCrashed, PageError, PageStuck

pytestmark = pytest.mark.chromium

HANG = "() => { setTimeout(() => { for (;;); }, 0); }"


async def test_a_wedged_page_answers_no_call_and_every_call_ends(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    await page.goto(site.page(body="<input><button>b</button>"))
    await page.evaluate(HANG)
    calls = [
        page.evaluate("() => 1", deadline_s=0.5),
        page.evaluate_everywhere("() => 1", deadline_s=0.5),
        page.click(["button"], deadline_s=0.5),
        page.type_text(["input"], "text", deadline_s=0.5),
        page.press_in(["input"], "Enter", deadline_s=0.5),
    ]
    async with asyncio.timeout(60):
        for call in calls:
            with contextlib.suppress(PageStuck):
                assert await call is None  # nothing was found in a page that does not answer
    assert not page.gone.is_set()


async def test_a_wedged_page_can_be_closed_and_its_browser_goes_on(
    open_page: OpenPage, site: Site, pool: BrowserPool
) -> None:
    wedged, healthy = (await open_page()).page, (await open_page()).page
    assert pool.browsers() == 1
    for page in (wedged, healthy):
        await page.goto(site.page())
    await wedged.evaluate(HANG)
    with pytest.raises(PageStuck):
        await wedged.evaluate("() => 1", deadline_s=0.3)
    async with asyncio.timeout(60):
        await wedged.close()
    assert await healthy.evaluate("() => 1 + 1") == 2
    assert pool.bots() == 1


async def test_a_renderer_that_dies_is_told_at_once(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    await page.goto(site.page())
    waiting = asyncio.ensure_future(page.evaluate("() => new Promise(() => undefined)", deadline_s=120))
    with contextlib.suppress(PageError):
        await page.goto("chrome://crash", deadline_s=5)
    async with asyncio.timeout(60):
        await page.gone.wait()
    with pytest.raises(PageCrashed):
        await waiting
    with pytest.raises(PageCrashed):
        await page.evaluate("() => 1")
    await page.close()


async def test_closing_twice_is_closing_once(open_page: OpenPage, pool: BrowserPool) -> None:
    page = (await open_page()).page
    await asyncio.gather(page.close(), page.close())
    await page.close()
    assert pool.bots() == 0


async def test_an_address_nobody_answers_at_is_a_page_error_soon(open_page: OpenPage) -> None:
    page = (await open_page()).page
    with pytest.raises(PageError, match="ERR_CONNECTION_REFUSED"):
        await page.goto(await address_of_nobody())


async def address_of_nobody() -> str:
    """An address that was listened at a moment ago."""
    site = Site()
    await site.start()
    origin = site.origin
    await site.stop()
    return origin


async def test_a_page_that_never_finishes_loading_counts_once_its_host_was_reached(
    open_page: OpenPage, site: Site
) -> None:
    page = (await open_page()).page
    asked = asyncio.Event()

    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()  # until the browser gives it up
        writer.close()

    async with await asyncio.start_server(never_answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        await page.goto(site.page(body=f"<script src=http://127.0.0.1:{port}/></script>"), deadline_s=10)
        assert asked.is_set()
        assert page.url.startswith(site.origin)
        assert await page.evaluate("() => document.readyState") == "loading"
        await page.close()


async def test_an_address_opened_again_is_loaded_again_though_only_its_fragment_differs(
    open_page: OpenPage, site: Site
) -> None:
    page = (await open_page()).page
    address = site.page("window.seen = (window.seen || 0) + 1")
    await page.goto(f"{address}#/first")
    await page.evaluate("() => { window.seen = 7; }")
    await page.goto(f"{address}#/second")
    assert await page.evaluate("() => window.seen") == 1


async def test_the_pointer_is_tried_first_and_a_covered_button_is_clicked_anyway(
    open_page: OpenPage, site: Site
) -> None:
    page = (await open_page()).page
    await page.goto(
        site.page(
            "window.clicks = []; for (const b of document.querySelectorAll('button'))"
            "  b.addEventListener('click', (event) => window.clicks.push([b.id, event.isTrusted]));",
            body="<button id=free>free</button>"
            "<div style='position:relative'><button id=covered>covered</button>"
            "<div style='position:absolute;inset:0;background:white'></div></div>"
            "<button id=hidden style='display:none'>hidden</button>",
        )
    )
    assert await page.click(["#nowhere", "#free"]) == "#free"
    assert await page.click(["#covered"]) == "#covered"
    assert await page.click(["#hidden"]) == "#hidden"
    assert await page.click(["#nowhere"]) is None
    assert await page.evaluate("() => window.clicks") == [["free", True], ["covered", False], ["hidden", False]]


async def test_a_button_in_another_frame_is_found(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    inner = site.page(body="<button onclick='this.textContent = \"done\"'>inner</button>", path="/inner")
    await page.goto(site.page(body=f"<iframe src='{inner}'></iframe>"))
    await page.evaluate(LOADED, deadline_s=60)
    assert await page.click(["button"]) == "button"
    assert "done" in await page.text()


@pytest.mark.parametrize("field", ["<input value=old>", "<textarea>old</textarea>", "<div contenteditable>old</div>"])
@pytest.mark.parametrize("text", ["Ada Lovelace", "Zoë 😀 日本語", "two\nlines"])
async def test_text_replaces_what_a_field_held(open_page: OpenPage, site: Site, field: str, text: str) -> None:
    if "\n" in text and "input" in field:
        pytest.skip("an input has one line")
    page = (await open_page()).page
    await page.goto(site.page(body=field))
    selector = "input, textarea, [contenteditable]"
    assert await page.type_text([selector], text) == selector
    held = await page.evaluate(
        "() => { const f = document.body.firstElementChild; return 'value' in f ? f.value : f.innerText; }"
    )
    assert held.split() == text.split()


async def test_short_text_comes_as_key_presses(
    open_page: OpenPage, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sederunt.browser.page.SLOW_KEYS_S", 60)  # a slow machine is none of this
    page = (await open_page()).page
    listener = "(event) => event.isTrusted && window.keys.push(event.key)"
    script = f"window.keys = []; document.querySelector('input').addEventListener('keydown', {listener});"
    await page.goto(site.page(script, body="<input>"))
    await page.type_text(["input"], "Ada", deadline_s=60)
    assert (await page.evaluate("() => window.keys"))[-3:] == ["A", "d", "a"]


async def test_a_page_that_is_slow_to_take_keys_gets_one(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    busy = "window.keys = 0; addEventListener('keydown', () => { keys += 1; const t = Date.now() + 300;"
    await page.goto(site.page(f"{busy} while (Date.now() < t); }});", body="<input>"))
    await page.type_text(["input"], "Minutes of the meeting", deadline_s=60)
    assert await page.evaluate("() => document.querySelector('input').value") == "Minutes of the meeting"
    assert await page.evaluate("() => keys") == len(("Control", "A", "Delete", "g"))


async def test_a_field_that_refuses_text_is_a_page_error(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    await page.goto(
        site.page(
            "const f = document.querySelector('input'); f.addEventListener('input', () => f.value = 'no');",
            body="<input>",
        )
    )
    with pytest.raises(PageError, match="does not hold"):
        await page.type_text(["input"], "yes")


async def test_a_question_survives_a_navigation(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    second = site.page(path="/second")
    await page.goto(site.page(f"setTimeout(() => location.assign('{second}'), 100)"))
    answer = await page.evaluate(
        "() => new Promise((r) => setTimeout(() => r(location.pathname), location.pathname === '/second' ? 0 : 5000))"
    )
    assert answer == "/second"


async def test_evidence_can_be_taken(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    await page.goto(site.page(body="<h1>You were removed</h1>"))
    assert (await page.screenshot()).startswith(b"\x89PNG")
    assert "You were removed" in await page.text()


async def test_a_kept_question_is_answered_anew_each_time_in_every_frame(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    address = site.page(body="<p>one</p><iframe srcdoc='<p>inner</p>'></iframe>")
    ask = "(selector) => document.querySelector(selector).textContent"
    await page.goto(address)
    await page.evaluate(LOADED, deadline_s=60)
    assert await page.evaluate_everywhere(ask, "p", keep=True) == ["one", "inner"]
    await page.evaluate("() => { document.querySelector('p').textContent = 'two'; }")
    assert await page.evaluate_everywhere(ask, "p", keep=True) == ["two", "inner"]
    assert await page.evaluate_everywhere(ask, "body > p", keep=True) == ["two", "inner"]
    await page.goto(address)  # a new document keeps nothing of the old one
    await page.evaluate(LOADED, deadline_s=60)
    assert await page.evaluate_everywhere(ask, "p", keep=True) == ["one", "inner"]


async def test_a_kept_question_that_throws_tells_so_each_time(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    await page.goto(site.page())
    for _ in range(2):
        with pytest.raises(PageError, match="nothing of the sort"):
            await page.evaluate_everywhere("() => { throw new Error('nothing of the sort'); }", keep=True)
