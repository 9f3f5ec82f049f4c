"""The in-page scripts as text."""

import json
import re
from importlib.resources import files

from sederunt.browser.scripts import OWN_WORLD, PAGE, PCM_WORKLET, WORKER, isolated_world_scripts, page_scripts

FOLDER = files("sederunt.browser") / "js"
CONFIG = {
    "name": "n",
    "backend": "encoded",
    "forward": False,
    "batchMs": 200,
    "video": False,
    "watch": {"roster": {"row": "</script>'\u2028"}},
}


def test_every_script_is_put_in_once() -> None:
    written = {entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".js")}
    assert written == {*PAGE, *OWN_WORLD, *WORKER, *PCM_WORKLET}
    assert len(PAGE) == len(set(PAGE))


def test_the_watch_plan_stands_in_the_text_as_data() -> None:
    text = page_scripts(CONFIG)
    assert "</script>" not in text
    assert "\\u2028" in text


def test_the_way_to_the_host_is_known_in_our_own_world_alone() -> None:
    assert json.dumps("ws://127.0.0.1:1/t") in isolated_world_scripts("n", "ws://127.0.0.1:1/t")
    assert "address" not in json.loads(page_scripts(CONFIG).partition("const config = ")[2].partition(";\n")[0])


def test_no_script_writes_markup_or_looks_for_a_selector_of_its_own() -> None:
    for name in (*PAGE, *OWN_WORLD, *WORKER, *PCM_WORKLET):
        text = FOLDER.joinpath(name).read_text(encoding="utf-8")
        assert "innerHTML" not in text
        assert not re.search(r"(querySelector(All)?|matches|closest)\(\s*[\"'`]", text), name
