"""The in-page scripts as text."""

import json
import re
from importlib.resources import files

from sederunt.browser.scripts import ORDER, PCM_WORKLET, WORKER, page_scripts

FOLDER = files("sederunt.browser") / "js"
CONFIG = {
    "name": "n",
    "address": "ws://127.0.0.1:1/t",
    "backend": "encoded",
    "forward": False,
    "batchMs": 200,
    "video": False,
    "watch": {"roster": {"row": "</script>'\u2028"}},
}


def test_every_script_is_put_in_once() -> None:
    written = {entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".js")}
    assert written == {*ORDER, *WORKER, *PCM_WORKLET}
    assert len(ORDER) == len(set(ORDER))


def test_the_watch_plan_stands_in_the_text_as_data() -> None:
    text = page_scripts(CONFIG)
    assert "</script>" not in text
    assert json.dumps("ws://127.0.0.1:1/t") in text


def test_no_script_writes_markup_or_looks_for_a_selector_of_its_own() -> None:
    for name in (*ORDER, *WORKER, *PCM_WORKLET):
        text = FOLDER.joinpath(name).read_text(encoding="utf-8")
        assert "innerHTML" not in text
        assert not re.search(r"(querySelector(All)?|matches|closest)\(\s*[\"'`]", text), name
