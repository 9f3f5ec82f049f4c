"""`sederunt practice`: what it says of files that it cannot use."""

from pathlib import Path

import pytest
import typer

from sederunt import log
from sederunt.cli.practice import serve


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            'loop_s = 0\n[[acts]]\nat_s = 0\ndo = "mute"\nwho = "Adda"\n',
            ["acts.0.who: Adda is not of the cast", "loop_s: A script starts over"],
        ),
        ("cast = nobody", ["script: The file is no TOML: Invalid value (at line 1, column 8)"]),
    ],
)
def test_every_fault_of_a_meetings_file_is_told_with_file_and_field(
    content: str, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "configure", lambda *_: None)
    scene = tmp_path / "scene.toml"
    scene.write_text(content)
    with pytest.raises(typer.BadParameter) as refused:
        serve(port=0, control_port=0, meeting=[scene], demo=False, speech=[])
    assert refused.value.param_hint == "--meeting"
    assert [sentence for sentence in (str(scene), *told) if sentence not in refused.value.message] == []
