"""Language tags, and several windows' odds as one guess."""

import pytest

from sederunt.transcription.languages import primary_tag
from sederunt.transcription.whisper.engine import pooled


@pytest.mark.parametrize(
    ("tag", "primary"),
    [("en", "en"), ("en-US", "en"), ("PT_br", "pt"), ("zh-Hans", "zh"), ("auto", None), ("multi", None), ("", None)],
)
def test_the_primary_tag_is_what_models_know(tag: str, primary: str | None) -> None:
    assert primary_tag(tag) == primary
    assert primary_tag(None) is None


def test_windows_that_agree_are_sure() -> None:
    guess = pooled([{"en": 0.9, "de": 0.1}, {"en": 0.8, "de": 0.2}])
    assert guess.tag == "en"
    assert guess.sure


def test_windows_that_disagree_are_not() -> None:
    assert not pooled([{"en": 0.6, "de": 0.4}, {"en": 0.35, "de": 0.65}]).sure


def test_one_odd_window_does_not_decide() -> None:
    assert pooled([{"en": 0.9, "cy": 0.1}] * 4 + [{"en": 0.3, "cy": 0.7}]).tag == "en"
