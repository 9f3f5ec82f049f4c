"""A page whose script speaks our own channel: it costs its own bot, and the host little."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Callable
from uuid import uuid4

import psutil
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidStatus

from harness.browser_room import ACTS, CALL, CAST, Ear, OpenPage, Site, SitIn, Stay
from sederunt.browser import process_watch
from sederunt.browser.loopback import Loopback, PageChannel
from sederunt.browser.page_request import PageRequest
from sederunt.browser.pool import BrowserPool
from sederunt.browser.remote_window import remote_window
from sederunt.browser.signals import Signal
from sederunt.errors import PageError, PageStuck
from sederunt.platforms.survey import survey
from sederunt.platforms.targets import Target
from sederunt.practice.script import Script, Variant
from sederunt.practice.server import PracticeServer
from sederunt.settings import BrowserSettings

NOW_MS = round(time.time() * 1000)
CHAT = {"id": "x" * 60_000, "sender": "a", "text": "x" * 20_000}
FLOOD = json.dumps({"kind": "chat", "data": CHAT, "at_ms": NOW_MS})


@pytest_asyncio.fixture(loop_scope="module")
async def loopback() -> AsyncIterator[Loopback]:
    async with Loopback() as loopback:
        yield loopback


def open_line(loopback: Loopback, on_signal: Callable[[Signal], None], dropped: asyncio.Event) -> PageChannel:
    return loopback.open_line(
        on_frames=lambda _: None, on_signal=on_signal, may_knock=lambda _: True, on_overrun=dropped.set
    )


async def flood(address: str) -> None:
    async with connect(f"{address}/signals?realm=a") as connection:
        for _ in range(100_000):
            await connection.send(FLOOD)


async def test_a_page_that_floods_is_dropped_and_the_next_bot_is_heard(loopback: Loopback) -> None:
    heard: asyncio.Queue[Signal] = asyncio.Queue()
    dropped = asyncio.Event()
    hostile = open_line(loopback, lambda _: None, dropped)
    neighbour = open_line(loopback, heard.put_nowait, asyncio.Event())
    before = psutil.Process().memory_info().rss
    async with connect(f"{loopback.address(neighbour)}/signals?realm=a") as quiet:
        with pytest.raises(ConnectionClosed):
            await flood(loopback.address(hostile))
        await asyncio.wait_for(dropped.wait(), 30)
        with pytest.raises(InvalidStatus):
            await connect(f"{loopback.address(hostile)}/signals?realm=b")
        await quiet.send(json.dumps({"kind": "chat", "data": {"id": "2"}, "at_ms": NOW_MS}))
        assert (await asyncio.wait_for(heard.get(), 30)).data == {"id": "2"}
    assert psutil.Process().memory_info().rss - before < 100e6


async def test_a_page_has_few_connections(loopback: Loopback) -> None:
    line = open_line(loopback, lambda _: None, asyncio.Event())
    address = f"{loopback.address(line)}/signals?realm=a"
    connections = [await connect(address) for _ in range(32)]
    with pytest.raises(InvalidStatus):
        await connect(address)
    for connection in connections:
        await connection.close()


# Replaces what our scripts could have looked up later, before any other script of the page, and keeps what passes by.
THIEF = """
  const loot = { texts: Object.create(null), ports: 0, workers: 0, controls: [] };
  let busy = false;
  const isA = (value, kind) => Object.prototype.isPrototypeOf.call(kind.prototype, value);
  const look = (value, deep = 2) => {
    if (typeof value === "string") loot.texts[value.slice(0, 4000)] = 1;
    else if (typeof value === "function") loot.texts[native.toString(value).slice(0, 4000)] = 1;
    else if (typeof value !== "object" || value === null) return;
    else if (isA(value, MessagePort)) loot.ports += 1;
    else if (isA(value, Worker)) loot.workers += 1;
    else if (deep) for (const name of Object.getOwnPropertyNames(value).slice(0, 50)) {
      const found = Object.getOwnPropertyDescriptor(value, name);
      if (found && "value" in found) look(found.value, deep - 1);
    }
  };
  const native = { apply: Reflect.apply, construct: Reflect.construct, toString: (f) => native.apply(source, f, []) };
  const source = Function.prototype.toString;
  const noted = (self, values) => { // by index: a spread would pass the iterator that is spied on
    if (busy) return;
    busy = true;
    try { look(self); for (let at = 0; at < values.length; at += 1) look(values[at]); } catch {}
    busy = false;
  };
  const spy = (owner, name) => {
    const found = owner && Object.getOwnPropertyDescriptor(owner, name);
    if (!found || !found.configurable) return;
    const changed = { ...found };
    for (const part of ["value", "get", "set"]) {
      const original = found[part];
      if (typeof original !== "function") continue;
      changed[part] = function (...args) {
        noted(this, args);
        const given = new.target ? native.construct(original, args) : native.apply(original, this, args);
        noted(given, []);
        return given;
      };
      changed[part].prototype = original.prototype;
    }
    Object.defineProperty(owner, name, changed);
  };
  const kinds = [MessagePort, MessageEvent, Worker, WebSocket, EventTarget, Event, Blob, Map, WeakMap, Promise];
  for (const { prototype } of kinds) {
    for (const name of Reflect.ownKeys(prototype)) if (name !== "constructor") spy(prototype, name);
  }
  for (const name of ["Worker", "WebSocket", "Blob", "MessageChannel", "MessageEvent", "eval"]) spy(window, name);
  for (const name of ["createObjectURL", "revokeObjectURL"]) spy(URL, name);
  for (const name of ["for", "keyFor"]) spy(Symbol, name);
  for (const name of ["stringify", "parse"]) spy(JSON, name);
  for (const name of ["push", "shift", "map", "slice", Symbol.iterator]) spy(Array.prototype, name);
  for (const name of ["call", "apply", "bind"]) spy(Function.prototype, name);
  for (const name of ["apply", "construct", "get", "set"]) spy(Reflect, name);
  for (const name of ["resolve", "all"]) spy(Promise, name);
  for (const name of ["assign", "freeze", "keys", "defineProperties", "defineProperty"]) spy(Object, name);
  for (const name of ["address", "line", "workerLine", "tell", "gate", "order"]) {
    Object.defineProperty(Object.prototype, name, { configurable: true, set(value) { noted(this, [value]);
      Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true }); } });
  }
  window.search = () => {
    busy = true;
    for (const name of Reflect.ownKeys(window)) {
      const value = (() => { try { return window[name]; } catch {} })();
      const names = value && typeof value === "object" && value !== window ? Object.getOwnPropertyNames(value) : [];
      const isControl = typeof name === "symbol" || names.includes("flush") || names.includes("useBackend");
      if (isControl) loot.controls.push(String(name));
    }
    const entries = performance.getEntries().map((entry) => entry.name);
    return { ...loot, texts: [...Object.keys(loot.texts), ...entries].join(" ") };
  };
"""


async def test_a_page_that_replaces_what_scripts_use_finds_no_way_to_the_host(
    open_page: OpenPage, site: Site, pool: BrowserPool
) -> None:
    stay = await open_page(watch={"own": ["someone"], "roster": {"row": "li", "id": "id", "name": "b"}})
    await stay.page.goto(site.page(f"(() => {{{THIEF}}})();{CALL}", body="<li id=a><b>Ada</b></li>"))
    await stay.page.evaluate("async () => { await call(); }", deadline_s=60)
    await stay.ear.until(lambda ear: len(ear.packets()) > 40 and ear.of("roster"))
    assert (await stay.page.capture_state())["faults"] == []
    await stay.page.flush()
    await stay.page.evaluate_everywhere("(text) => text", "planned", keep=True)
    loot = await stay.page.evaluate("() => window.search()", deadline_s=30)
    seen = loot["texts"]
    assert "search()" in seen  # what the driver evaluates passes by the thief
    address = pool._loopback.address(next(iter(pool._loopback._lines.values())))
    for secret in (address, address.rpartition("/")[2], f":{pool._loopback.port}", "callKept", "planned"):
        assert secret not in seen
    assert (loot["ports"], loot["workers"], loot["controls"]) == (0, 0, [])


class Neighbour:
    """A service on this machine that is none of a page's business; `asked` counts who said a word."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.was_asked = asyncio.Event()

    @property
    def asked(self) -> int:
        return len(self.heard)

    async def hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not (
            said := await reader.read(100)
        ):  # the browser looks where a name leads by connecting, and goes away again
            writer.close()
            return
        self.heard.append(said)
        self.was_asked.set()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret")
        await writer.drain()
        writer.close()


# Each of the ways gives how it ended.
WAYS_OUT = """async (port) => {
  const ways = {
    fetch: (host) => fetch(`http://${host}:${port}/`, { mode: "no-cors" }),
    image: (host) => new Promise((onload, onerror) => {
      Object.assign(new Image(), { onload, onerror, src: `http://${host}:${port}/` });
    }),
    socket: (host) => new Promise((onopen, onerror) => {
      Object.assign(new WebSocket(`ws://${host}:${port}/`), { onopen, onerror });
    }),
    worker: (host) => new Promise((good, bad) => {
      const asks = `fetch("http://${host}:${port}/", { mode: "no-cors" })`;
      const text = `${asks}.then(() => postMessage(1), () => postMessage(0))`;
      new Worker(URL.createObjectURL(new Blob([text]))).onmessage = ({ data }) => (data ? good() : bad());
    }),
    frame: (host) => new Promise((good, bad) => {
      const frame = Object.assign(document.createElement("iframe"), { onload: bad, src: `http://${host}:${port}/` });
      document.body.append(frame);
    }),
    beacon: (host) => (navigator.sendBeacon(`http://${host}:${port}/`), Promise.reject()),
    window: (host) => (window.open(`http://${host}:${port}/`), Promise.reject()),
    windowLater: (host) => ((window.open("about:blank") || {}).location = `http://${host}:${port}/`, Promise.reject()),
    form: (host) => {
      const form = Object.assign(document.createElement("form"), { method: "POST", target: "_blank" });
      form.action = `http://${host}:${port}/`;
      document.body.append(form);
      form.submit();
      return Promise.reject();
    },
  };
  const late = () => new Promise((_, bad) => setTimeout(bad, 3000));
  const reached = [];
  for (const host of ["127.0.0.1", "localhost", "0.0.0.0"]) {
    for (const [name, way] of Object.entries(ways)) {
      await Promise.race([way(host), late()]).then(() => reached.push(`${name} ${host}`), () => undefined);
    }
  }
  return reached;
}"""


async def test_a_page_cannot_take_all_of_the_machines_memory(open_page: OpenPage, site: Site) -> None:
    stay = await open_page()
    await stay.page.goto(site.page())
    taken_mb = await stay.page.evaluate(
        """() => {
          const held = [];
          try { for (; held.length < 200;) held.push(new Uint8Array(64e6)); } catch { return held.length * 64; }
          return held.length * 64;
        }""",
        deadline_s=60,
    )
    assert 500 < taken_mb < 1.5 * BrowserSettings().page_memory_mb


STORES = """async () => {
  window.stored = [];
  for (let n = 0; n < 150; n++) {
    window.stored.push(new Blob([crypto.getRandomValues(new Uint8Array(65536)), new Uint8Array(16e6)]));
    await new Promise((on) => setTimeout(on, 5));
  }
}"""


async def test_what_a_page_stores_in_the_browsers_own_process_counts_as_its_memory(pool: BrowserPool) -> None:
    settings = pool._settings.model_copy(update={"page_memory_mb": 1000, "warm": 0})
    async with BrowserPool(settings) as strict:
        request = PageRequest(bot_id=uuid4(), mode="shell", watch={}, hosts=())
        greedy, quiet = [
            await strict.open(request, on_frames=lambda _: None, on_signal=lambda _: None) for _ in range(2)
        ]
        storing = asyncio.create_task(greedy.evaluate(STORES, deadline_s=120))
        await asyncio.wait_for(greedy.gone.wait(), 300)
        assert greedy.gone_by.cause == "page_memory_spent"
        await asyncio.gather(storing, return_exceptions=True)
        assert await quiet.evaluate("() => 7", deadline_s=60) == 7


LOOPS = """() => {
  const text = URL.createObjectURL(new Blob(["for (;;);"]));
  window.loops = [1, 2, 3].map(() => new Worker(text));
}"""


async def test_a_page_that_takes_the_processors_costs_its_own_bot(
    pool: BrowserPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its calls are answered all the while: nothing but its use of CPU tells."""
    gave_way: list[int] = []
    monkeypatch.setattr(process_watch, "give_way", gave_way.append)  # it would never spend the rest on a busy machine
    settings = pool._settings.model_copy(update={"page_cpu_s": 4.0, "page_cpu": 0.001, "warm": 0})
    async with BrowserPool(settings) as strict:
        request = PageRequest(bot_id=uuid4(), mode="shell", watch={}, hosts=())
        greedy, quiet = [
            await strict.open(request, on_frames=lambda _: None, on_signal=lambda _: None) for _ in range(2)
        ]
        await greedy.evaluate(LOOPS, deadline_s=60)
        await asyncio.wait_for(greedy.gone.wait(), 300)
        assert greedy.gone_by.cause == "page_cpu_spent"
        assert len(gave_way) == 1
        assert await quiet.evaluate("() => 7", deadline_s=60) == 7
        assert not quiet.gone.is_set()
        await asyncio.gather(greedy.close(), quiet.close())


POPUPS = "() => { setInterval(() => window.open('about:blank'), 20); }"


@pytest.mark.parametrize(
    ("script", "limits"),
    [(STORES, {"page_memory_mb": 1000}), (LOOPS, {"page_cpu_s": 4.0, "page_cpu": 0.001}), (POPUPS, {})],
    ids=["memory", "processors", "windows"],
)
async def test_a_sign_in_windows_page_has_what_a_bots_page_has(script: str, limits: dict[str, float]) -> None:
    settings = BrowserSettings(mode="shell").model_copy(update=limits)
    async with remote_window(settings, allow_private=True) as window:
        await window.go("data:text/html,<h1>Sign in</h1>")
        # A click first: windows that nobody asked for are the browser's to refuse.
        await window.act([["move", 0.5, 0.5], ["down", 0, 1], ["up", 0, 1]])
        acting = asyncio.create_task(window._page.evaluate(script))
        await asyncio.wait_for(window.gone.wait(), 300)
        await asyncio.gather(acting, return_exceptions=True)


async def test_a_page_of_a_meeting_reaches_nothing_else_on_this_machine(sit_in: SitIn) -> None:
    sitting = await sit_in()
    neighbour = Neighbour()
    async with await asyncio.start_server(neighbour.hear, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert await sitting.page.evaluate(WAYS_OUT, port, deadline_s=120) == []
    assert neighbour.asked == 0
    await sitting.ear.until(lambda ear: len(ear.packets()) > 40)  # its own meeting goes on


# Ways that end with nothing a page could see: each is gone, and one looks who was asked.
BLIND_WAYS = """async ([port, names]) => {
  const add = (tag, more, to = document.head) => to.append(Object.assign(document.createElement(tag), more));
  const fetches = (place) => `fetch("${place}", { mode: "no-cors" })`;
  for (const host of ["127.0.0.1", "localhost", "any.localhost", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]"]) {
    const place = `http://${host}:${port}/`, secure = `https://${host}:${port}/`;
    const rules = (what, more) => add("script", { type: "speculationrules", textContent: JSON.stringify(
      { [what]: [{ source: "list", urls: [place + what], eagerness: "immediate", ...more }] }) });
    const link = (rel, more = {}) => add("link", { rel, href: place, ...more });
    const ways = {
      prefetch: () => rules("prefetch"),
      prefetchAnonymous: () => rules("prefetch", { requires: ["anonymous-client-ip-when-cross-origin"] }),
      prerender: () => rules("prerender"),
      prerenderUntilScript: () => rules("prerender_until_script"),
      links: () => ["prefetch", "preload", "modulepreload", "stylesheet", "manifest", "icon", "dns-prefetch",
        "preconnect", "prerender", "compression-dictionary"].forEach((rel) => link(rel, { as: "image" })),
      eventSource: () => new EventSource(place),
      webTransport: () => new WebTransport(secure).ready.catch(() => 0),
      keepalive: () => fetch(place, { mode: "no-cors", keepalive: true }).catch(() => 0),
      fetchLater: () => window.fetchLater && fetchLater(secure, { activateAfter: 0 }),
      secure: () => fetch(secure, { mode: "no-cors" }).catch(() => 0),
      beacon: () => navigator.sendBeacon(place, "x"),
      script: () => add("script", { src: place }),
      module: () => import(place).catch(() => 0),
      styles: () => add("style", { textContent:
        `@import "${place}i"; @font-face { font-family: f; src: url(${place}f) } body { font: 9px f }` }),
      media: () => add("video", { src: place, autoplay: true, poster: place }, document.body),
      plugin: () => ["object", "embed"].forEach((tag) => add(tag, { data: place, src: place }, document.body)),
      ping: () => {
        add("a", { href: "#x", ping: place, id: host }, document.body);
        document.getElementById(host).click();
      },
      sharedWorker: () => new SharedWorker(URL.createObjectURL(new Blob([fetches(place)]))),
      serviceWorker: () => navigator.serviceWorker.register(place).catch(() => 0),
    };
    for (const name of names || Object.keys(ways)) {
      try { await Promise.race([ways[name](), new Promise((later) => setTimeout(later, 500))]); } catch {}
    }
  }
}"""


def _loopbacks() -> list[str]:
    """The addresses that this machine calls itself by; some have no second one."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as trial:
        trial.bind(("::1", 0))
        return ["127.0.0.1", "::1"]
    return ["127.0.0.1"]


async def test_nothing_that_a_page_asks_for_blindly_arrives_on_this_machine(
    practice: PracticeServer, pool: BrowserPool, sit_in: SitIn
) -> None:
    """Not even what is fetched beforehand, which the browser does not judge; where this machine may hold meetings, it
    arrives, so that the test is known to ask rightly.
    """
    meeting = await practice.open_meeting(Script(cast=CAST, acts=ACTS, variant=Variant(csp="off")))
    request = PageRequest(bot_id=uuid4(), mode="shell", watch={}, hosts=("https://meet.google.com",))
    closed, open_one, ear = Neighbour(), Neighbour(), Ear()
    async with (
        BrowserPool(pool._settings, allow_private=False) as strict,
        await asyncio.start_server(closed.hear, _loopbacks(), 0) as server,
        await asyncio.start_server(open_one.hear, "127.0.0.1", 0) as reachable,
    ):
        page = await strict.open(request, on_frames=ear.take, on_signal=ear.hear)
        await page.goto(meeting.url)
        for listener in server.sockets:
            await page.evaluate(BLIND_WAYS, [listener.getsockname()[1], None], deadline_s=240)
        await page.evaluate(BLIND_WAYS, [server.sockets[0].getsockname()[1], ["prefetch"]], deadline_s=60)
        seen = await sit_in()
        await seen.page.evaluate(BLIND_WAYS, [reachable.sockets[0].getsockname()[1], ["prefetch"]], deadline_s=60)
        await asyncio.wait_for(open_one.was_asked.wait(), 60)
        assert closed.heard == []
        await page.evaluate(f"async () => {{ {CALL} await call(); }}", deadline_s=60)
        await ear.until(lambda ear: len(ear.packets()) > 40)  # our own socket is found
        await page.close()
    await practice.close_meeting(meeting.code)


async def test_a_page_gets_no_download_no_window_and_no_device_for_others(sit_in: SitIn) -> None:
    sitting = await sit_in()
    context = sitting.page._context
    asked = await sitting.page.evaluate(
        """async () => {
          const save = Object.assign(document.createElement("a"), { download: "big.bin" });
          save.href = URL.createObjectURL(new Blob([new Uint8Array(50_000_000)]));
          save.click();
          for (let n = 0; n < 10; n += 1) window.open("about:blank");
          const states = {};
          for (const name of ["microphone", "geolocation", "notifications", "clipboard-read", "persistent-storage"]) {
            states[name] = (await navigator.permissions.query({ name })).state;
          }
          return states;
        }"""
    )
    assert asked.pop("microphone") == "granted"
    assert set(asked.values()) == {"denied"}
    await sitting.ear.until(lambda ear: len(ear.packets()) > 40)
    while len(context.pages) > 1:  # each is closed as it comes
        await context.pages[-1].wait_for_event("close")


async def test_a_page_that_opens_windows_without_end_is_dropped(open_page: OpenPage, site: Site) -> None:
    stay = await open_page()
    await stay.page.goto(site.page("setInterval(() => window.open('about:blank'), 20)"))
    await asyncio.wait_for(stay.page.gone.wait(), 60)


async def test_a_page_that_changes_its_address_without_end_is_told_of_a_few_times(
    open_page: OpenPage, site: Site
) -> None:
    """Each change goes through the driver, by which the bots of all browsers get their answers."""
    stay = await open_page()
    await stay.page.goto(site.page(""))
    told: list[str] = []
    stay.page._page.on("framenavigated", lambda frame: told.append(frame.url))
    change = """() => { for (let n = 0; n < 3000; n += 1) { location.hash = n; history.pushState(0, "", "?" + n); } }"""
    await stay.page.evaluate(change)
    await stay.page.evaluate("() => new Promise((on) => setTimeout(on))")
    assert 0 < len(told) <= 500  # Chromium lets pass 200 of each kind in ten seconds


async def test_a_page_cannot_lead_the_bot_to_another_service_on_this_machine(sit_in: SitIn) -> None:
    sitting = await sit_in()
    neighbour = Neighbour()
    async with await asyncio.start_server(neighbour.hear, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
            await sitting.page.evaluate("(url) => { location.href = url; }", f"http://{host}:{port}/")
            await sitting.page.evaluate("() => new Promise((on) => setTimeout(on, 300))")
    assert neighbour.asked == 0
    assert sitting.page.url.startswith("https://meet.google.com/")


SAYS_MUCH = """const much = () => "\\x01".repeat(9e7);"""  # six bytes each on their way: more than Node has in one text
DRIVER_ENDS: dict[str, str] = {
    "a text": f"{SAYS_MUCH} console.log(much()); done();",
    "a text in a worker": f"""
      const text = `{SAYS_MUCH} console.log(much()); postMessage(1);`;
      new Worker(URL.createObjectURL(new Blob([text]))).onmessage = done;""",
    "an error": f"{SAYS_MUCH} setTimeout(() => {{ throw much(); }}); setTimeout(done, 2000);",
}


@pytest.mark.parametrize("script", DRIVER_ENDS.values(), ids=DRIVER_ENDS)
async def test_what_a_page_says_to_its_console_ends_no_driver(
    pool: BrowserPool, open_page: OpenPage, site: Site, script: str
) -> None:
    hostile, neighbour = [await open_page() for _ in range(2)]
    driver = pool._fleet.driver.running
    await hostile.page.goto(site.page())
    saying = hostile.page.evaluate(f"() => new Promise((done) => {{ {script} }})", deadline_s=240)
    await _answers_while(neighbour, asyncio.create_task(saying))
    assert pool._fleet.driver.running is driver
    assert not driver.gone.is_set()


TEXTS = """async () => {
  for (let n = 0; n < 30; n += 1) {
    console.log(n + "x".repeat(24e6));
    await new Promise((on) => setTimeout(on));
  }
}"""


async def test_what_a_page_says_to_its_console_is_kept_nowhere(
    pool: BrowserPool, open_page: OpenPage, site: Site
) -> None:
    """The driver would keep the last 200 texts of each page."""
    stay = await open_page()
    await stay.page.goto(site.page())
    driver = psutil.Process(pool._fleet.driver.running.pid)
    before = driver.memory_info().rss
    await stay.page.evaluate(TEXTS, deadline_s=240)
    assert driver.memory_info().rss - before < 300e6


async def _answers_while(neighbour: Stay, lasting: "asyncio.Task[object]") -> None:
    """Ask a page until a task is done, and once more. The task's own page may come to its end."""
    while not lasting.done():
        assert await neighbour.page.evaluate("() => 7", deadline_s=60) == 7
        await asyncio.sleep(0.1)
    await asyncio.gather(lasting, return_exceptions=True)
    assert await neighbour.page.evaluate("() => 7", deadline_s=60) == 7
    assert not neighbour.page.gone.is_set()


SENDS = """(address) => new Promise((done) => {
  const socket = new WebSocket(address);
  const data = new Uint8Array(32e6);
  setInterval(() => { if (socket.readyState === 1 && !socket.bufferedAmount) socket.send(data); }, 10);
  socket.onmessage = done;
})"""


async def test_what_a_page_sends_to_others_does_not_pass_by_the_host(open_page: OpenPage, site: Site) -> None:
    """The driver would hand on each frame whole: 0.4 s of the host's event loop for 32 MB."""
    hostile, neighbour = [await open_page() for _ in range(2)]
    told: list[object] = []
    hostile.page._page.on("websocket", lambda socket: told.append(socket))

    async def count(connection: ServerConnection) -> None:
        for _ in range(20):
            assert len(await connection.recv()) == 32e6
        await connection.send(bytes(32_000_000))
        await connection.wait_closed()

    async with serve(count, "127.0.0.1", 0, max_size=None, compression=None) as server:
        await hostile.page.goto(site.page())
        address = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        sending = asyncio.create_task(hostile.page.evaluate(SENDS, address, deadline_s=240))
        await _answers_while(neighbour, sending)
        assert sending.exception() is None
    assert told == []


async def test_an_answer_that_is_too_large_is_an_error_at_once(open_page: OpenPage, site: Site) -> None:
    stay = await open_page()
    await stay.page.goto(site.page())
    with pytest.raises(PageError) as refused:
        await stay.page.evaluate("""() => "x".repeat(100e6)""", deadline_s=100)
    assert not isinstance(refused.value, PageStuck)
    assert len(await stay.page.evaluate("""() => "x".repeat(20e6)""", deadline_s=60)) == 20e6


async def test_a_look_at_a_page_tells_little_of_what_it_wrote(open_page: OpenPage, site: Site) -> None:
    stay = await open_page()
    await stay.page.goto(site.page(body="<input id=name>"))
    await stay.page.evaluate(
        """() => {
      const much = "x".repeat(1e6), field = document.querySelector("input");
      document.title = field.value = much;
      field.setAttribute("data-seat", much);
      history.replaceState(0, "", "#" + "x".repeat(1e6));
    }""",
        deadline_s=60,
    )
    snapshot, found = await survey(stay.page, targets=[Target(id="name", selectors=("#name",))])
    assert (len(snapshot.title), len(found["name"].value)) == (1000, 8000)
    assert len(found["name"].handle) < 50
