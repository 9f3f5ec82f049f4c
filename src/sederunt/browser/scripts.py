"""Assembles the in-page scripts: two texts per bot, run before the page's own in each document of its tab.

One runs among the page's own scripts, because the page's connections can be tapped only there; it knows no secret. The
other runs in its own world, which shares only the document with the page: it has the connection to Python.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

# In this order; each adds to one namespace, `capture`.
PAGE = (
    "natives.js",
    "bridge.js",
    "taps.js",
    "elements.js",
    "graphs.js",
    "worklet.js",
    "files.js",
    "resignal.js",
    "liveness.js",
    "watchdog.js",
    "receivers.js",
    "contributors.js",
    "negotiation.js",
    "disable_painting.js",
    "microphone.js",
    "avatar.js",
    "channels.js",
    "shadow_roots.js",
    "readings.js",
    "observers.js",
    "control.js",
)
OWN_WORLD = ("natives.js", "line.js", "gate.js")
# Texts that the scripts start in the worker, and on the audio thread.
WORKER = ("packing.js", "tap_worker.js")
PCM_WORKLET = ("pcm_worklet.js",)

# A second run does nothing, and a page can find no mark of the scripts. Nothing may ever throw into the site, and a
# script that fails must not prevent the others.
_PAGE = """(() => {
"use strict";
const config = %(config)s;
if (!dispatchEvent(new Event(config.name + "!", { cancelable: true }))) return;
addEventListener(config.name + "!", (event) => event.preventDefault());
const sources = %(sources)s;
const capture = {};
%(scripts)s
})();"""
_OWN_WORLD = """(() => {
"use strict";
const config = %(config)s;
if (globalThis.gate) return;
const capture = {};
%(scripts)s
})();"""
_SCRIPT = "try {\n%s\n} catch (error) { (capture.faults || []).push(String(error)); }\n"


def page_scripts(config: Mapping[str, Any]) -> str:
    """Return the text that runs among a bot's page's own scripts.

    `config` needs name (of the event by which the worlds find each other), backend, forward, batchMs, video, watch,
    avatar.
    """
    return _PAGE % {
        "config": _embedded(config),
        "sources": _embedded({"worker": _text(*WORKER), "pcmWorklet": _text(*PCM_WORKLET)}),
        "scripts": _scripts(PAGE),
    }


def isolated_world_scripts(name: str, address: str) -> str:
    """Return the text that runs in our own world; `address` is that of the loopback line."""
    config = _embedded({"name": name, "address": address})
    return _OWN_WORLD % {"config": config, "scripts": _scripts(OWN_WORLD)}


def gate_call(act: str) -> str:
    """Return a function, as text, that calls one of gate.js' functions; it gives null if our scripts do not run."""
    return f"(argument) => {{ const gate = globalThis.gate; return gate ? gate.{act} : null; }}"


@cache
def _text(*names: str) -> str:
    folder = files("sederunt.browser") / "js"
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


@cache
def _scripts(names: tuple[str, ...]) -> str:
    return "".join(_SCRIPT % _text(name) for name in names)


def _embedded(value: object) -> str:
    # Returns JSON that is valid JavaScript in any place.
    return json.dumps(value).replace("</", "<\\/")
