"""Finals of a stream that several people share: cut where another voice goes on."""

import numpy as np
import pytest

from sederunt.errors import SetupError
from sederunt.model.transcript import Word
from sederunt.transcription.diarization.diarizer import VoiceSpan
from sederunt.transcription.sessions import Said
from sederunt.transcription.whisper.live.detector import NOTHING
from sederunt.transcription.whisper.live.track import OpenUtterance
from sederunt.transcription.whisper.live.voices import SharedStream, labelled


def said(text: str) -> Said:
    words = tuple(Word(word=w, start=5.0 + n, end=5.8 + n, confidence=0.9) for n, w in enumerate(text.split()))
    return Said(key="7", start=4.9, end=words[-1].end + 0.1, transcript=text, confidence=0.9, words=words)


def test_a_final_is_cut_where_another_voice_goes_on() -> None:
    spans = [VoiceSpan(start=4.9, end=6.9, voice=3), VoiceSpan(start=6.9, end=9.0, voice=0)]
    first, second = labelled(said("is it? yes indeed"), spans)
    assert (first.key, first.label, first.transcript, first.start) == ("7", "3", "is it?", 4.9)
    assert (second.key, second.label, second.transcript) == ("7.2", "0", "yes indeed")
    assert second.end == said("is it? yes indeed").end
    assert {word.speaker for part in (first, second) for word in part.words} == {0}


def test_one_voice_stays_whole_and_no_voice_has_no_label() -> None:
    whole = said("good morning")
    assert labelled(whole, []) == [whole]
    (one,) = labelled(whole, [VoiceSpan(start=0.0, end=9.0, voice=2)])
    assert (one.key, one.label, one.transcript) == ("7", "2", "good morning")


@pytest.mark.parametrize("fault", [SetupError("not the file we know"), RuntimeError("no memory"), None])
def test_without_networks_words_come_all_the_same(fault: Exception | None) -> None:
    def load() -> None:
        asked.append(fault)
        if fault is not None:
            raise fault

    asked: list[Exception | None] = []
    sound = np.zeros(16_000, np.int16)
    utterance = OpenUtterance("7", 0, sound, NOTHING)
    stream = SharedStream(load)
    assert [stream.parts(said("good morning"), utterance) for _ in range(3)] == [[said("good morning")]] * 3
    assert len(asked) == 1
