"""Puts the in-page scripts together: one text per bot, run before the page's own in each document of its tab."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

# In this order; each adds to one namespace, `capture`.
ORDER = (
    "natives.js",
    "line.js",
    "taps.js",
    "elements.js",
    "graphs.js",
    "worklet.js",
    "resignal.js",
    "watchdog.js",
    "receivers.js",
    "contributors.js",
    "negotiation.js",
    "disable_painting.js",
    "avatar.js",
    "channels.js",
    "shadow_roots.js",
    "readings.js",
    "observers.js",
    "control.js",
)
# Texts that the scripts start elsewhere: in the worker, and on the audio thread.
WORKER = ("packing.js", "tap_worker.js")
PCM_WORKLET = ("pcm_worklet.js",)

# Run twice, or where there is no window to speak of, the scripts do nothing. Nothing may ever throw into the site,
# and a script that fails must not take the others with it.
_FRAME = """(() => {
"use strict";
const config = %(config)s;
const key = Symbol.for(config.name);
if (window[key]) return;
const sources = %(sources)s;
const capture = {};
%(scripts)s
Object.defineProperty(window, key, { value: capture.control, configurable: false, enumerable: false });
})();"""
_SCRIPT = "try {\n%s\n} catch (error) { (capture.faults || []).push(String(error)); }\n"


def page_scripts(config: Mapping[str, Any]) -> str:
    """Return the text for one bot. `config` needs name, address, backend, forward, batchMs, video, watch, avatar."""
    return _FRAME % {
        "config": _embedded(config),
        "sources": _embedded({"worker": _text(*WORKER), "pcmWorklet": _text(*PCM_WORKLET)}),
        "scripts": _scripts(),
    }


def control_call(name: str, act: str) -> str:
    """Return an expression for evaluate: calls one of control.js' functions, null where our scripts do not run."""
    named = f"window[Symbol.for({json.dumps(name)})]"
    return f"(argument) => {{ const capture = {named}; return capture ? capture.{act} : null; }}"


@cache
def _text(*names: str) -> str:
    folder = files("sederunt.browser") / "js"
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


@cache
def _scripts() -> str:
    return "".join(_SCRIPT % _text(name) for name in ORDER)


def _embedded(value: object) -> str:
    """Return JSON that is also JavaScript, wherever it stands."""
    return json.dumps(value).replace("</", "<\\/")
