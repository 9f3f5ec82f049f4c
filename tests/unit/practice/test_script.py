"""Meeting scripts: reading, refusing, and what they say is said."""

from pathlib import Path

import pytest

from sederunt.errors import InvalidConfig
from sederunt.practice import script
from sederunt.practice.script import CastMember, Script, ScriptedAct, Variant
from sederunt.practice.timeline import ScriptTimeline


def test_the_demonstration_lasts_between_60_and_75_seconds_and_ends_the_meeting() -> None:
    demo = script.demo()
    assert 60 <= demo.duration_s() <= 75
    assert demo.acts[-1].do == "end"


def test_the_reference_is_what_the_people_say_in_order() -> None:
    reference = script.demo(turns=2).reference()
    assert [speaker for speaker, _ in reference] == ["Mary Somerville", "Charles Babbage"]
    assert reference[1][1].startswith("And so, my fellow Americans")


def test_a_script_survives_the_way_through_json() -> None:
    made = script.demo(Variant(entry="knock", loss=0.05))
    assert script.parse(script.to_data(made)) == made


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"service": "skype"}, "service"),
        ({"variant": {"entry": "ajar"}}, "variant.entry"),
        ({"variant": {"slow": 3}}, "variant.slow"),
        ({"acts": [{"at_s": 0, "do": "say", "who": "Ada", "clip": "no such clip"}]}, "acts.0.clip"),
        ({"cast": [{"name": "Ada"}], "acts": [{"at_s": 0, "do": "mute", "who": "Adda"}]}, "acts.0.who"),
        ({"acts": [{"at_s": 0, "do": "end"}, {"at_s": 1, "do": "join"}]}, "acts.1.who"),
        ({"loop_s": 0}, "loop_s"),
        ({"cast": [{"name": "Ada", "joins_at_s": 3, "leaves_at_s": 2}]}, "cast.0.leaves_at_s"),
    ],
)
def test_a_faulty_script_is_refused_with_the_name_of_the_field(data: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        script.parse(data)
    assert field in refused.value.fields


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("scene.json", b'{"title": "A",\n "cast": [}', "The file is no JSON: .*line 2 column 11"),
        ("scene.toml", b'title = "A"\ncast = [', "The file is no TOML: .*at end of document"),
        ("scene.json", b"\xff\xfe", "The file is no text in UTF-8: .*position 0"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_place(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidConfig, match=told):
        script.read(tmp_path / name)


def test_acts_may_name_who_joins_by_an_act_and_who_is_renamed() -> None:
    acts = [
        {"at_s": 1, "do": "join", "who": "Mary"},
        {"at_s": 2, "do": "rename", "who": "Mary", "text": "Mary Somerville"},
        {"at_s": 3, "do": "chat", "who": "Mary Somerville", "text": "Good morning."},
    ]
    assert len(script.parse({"acts": acts}).acts) == 3


def test_acts_fall_due_once_and_late_people_come_by_themselves() -> None:
    cast = (CastMember(name="Ada", leaves_at_s=3), CastMember(name="Mary", joins_at_s=1))
    timeline = ScriptTimeline(Script(cast=cast, acts=(ScriptedAct(at_s=2, do="say", who="Ada", clip="jfk"),)))
    assert timeline.due(0) == []
    assert [act.do for act in timeline.due(2.5)] == ["join", "say"]
    assert [act.do for act in timeline.due(9)] == ["leave"]
    assert timeline.is_over


def test_a_looping_script_begins_again() -> None:
    timeline = ScriptTimeline(Script(acts=(ScriptedAct(at_s=1, do="say", who="Ada", clip="jfk"),), loop_s=10))
    assert [act.at_s for act in timeline.due(1)] == [1]
    assert [act.at_s for act in timeline.due(11)] == [11]
    assert [act.at_s for act in timeline.due(21.5)] == [21]
