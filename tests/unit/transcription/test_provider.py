"""Parts that survive storage, and providers that are not there."""

import json
from dataclasses import replace

import pytest

from sederunt.errors import SetupError
from sederunt.model.transcript import Doubt, Utterance, Word
from sederunt.transcription.plugins import is_installed, provider
from sederunt.transcription.provider import FinishedPart


def test_a_part_comes_back_from_storage_as_it_was() -> None:
    word = Word(word="héllo", start=1.234, end=2.0, confidence=0.87, speaker=2)
    utterance = Utterance(
        start=1.234, end=2.0, speaker=2, confidence=0.87, transcript="héllo", words=(word,), lang="de"
    )
    part = FinishedPart(start=0.0, end=17.3, utterances=(utterance,), doubts=(Doubt(start=3.0, end=5.5, why="x"),))
    old = {name: value for name, value in part.to_json().items() if name not in ("doubts", "langs")}
    assert FinishedPart.from_json(old) == replace(part, doubts=(), utterances=(replace(utterance, lang=None),))
    assert "lang" not in part.to_json()["utterances"][0], "a worker of the release before refuses what it does not know"
    assert FinishedPart.from_json(json.loads(json.dumps(part.to_json()))) == part


def test_whisper_introduces_itself() -> None:
    assert provider("whisper").row.name == "whisper"
    assert is_installed("whisper")


def test_a_provider_that_is_not_installed_is_named_as_people_write_it() -> None:
    with pytest.raises(SetupError, match="vendorx is not part"):
        provider("vendorx")
