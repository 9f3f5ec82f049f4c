"""Words get the voice that speaks at their time; a change goes to the end of a sentence where one is near."""

import pytest

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.diarization.diarizer import VoiceSpan
from sederunt.transcription.diarization.wording import by_voice


def utterance(*words: tuple[str, float, float]) -> Utterance:
    parts = tuple(Word(word=word, start=start, end=end, confidence=0.9) for word, start, end in words)
    text = " ".join(word for word, _, _ in words)
    return Utterance(start=words[0][1], end=words[-1][2], speaker=0, confidence=0.9, transcript=text, words=parts)


def even(text: str, start: float = 0.0, length: float = 0.3) -> Utterance:
    words = text.split()
    return utterance(*((word, start + n * length, start + (n + 1) * length) for n, word in enumerate(words)))


def voices(found: Utterance) -> list[int]:
    return [word.speaker for word in found.words]


def span(voice: int, start: float, end: float) -> VoiceSpan:
    return VoiceSpan(start=start, end=end, voice=voice)


def test_a_change_of_voice_within_an_utterance_is_on_its_words() -> None:
    (found,) = by_voice([even("we should go. I agree with that")], [span(0, 0, 0.9), span(1, 0.9, 3)])
    assert voices(found) == [0, 0, 0, 1, 1, 1, 1]
    assert found.speaker == 1


@pytest.mark.parametrize("heard_at", [0.6, 1.2, 1.3])
def test_a_change_that_is_a_little_off_goes_to_the_end_of_the_sentence(heard_at: float) -> None:
    (found,) = by_voice([even("we should go. I agree with that")], [span(0, 0, heard_at), span(1, heard_at, 3)])
    assert voices(found) == [0, 0, 0, 1, 1, 1, 1]


def test_a_change_far_from_any_border_stays_where_it_was_heard() -> None:
    (found,) = by_voice([even("a b c d e f g h i j k l")], [span(0, 0, 1.8), span(1, 1.8, 4)])
    assert voices(found) == [0] * 6 + [1] * 6


def test_one_word_between_two_of_the_same_voice_is_theirs() -> None:
    (found,) = by_voice([even("a b c d e")], [span(0, 0, 0.6), span(1, 0.6, 0.9), span(0, 0.9, 2)])
    assert voices(found) == [0] * 5


def test_where_two_speak_whoever_spoke_before_goes_on() -> None:
    (found,) = by_voice([even("a b c d e f")], [span(0, 0, 1.2), span(1, 0.6, 1.8)])
    assert voices(found) == [0, 0, 0, 0, 1, 1]


def test_words_outside_of_all_speech_go_with_who_is_near_or_was_before() -> None:
    found = by_voice([utterance(("near", 1.2, 1.4), ("lost", 9.0, 9.2))], [span(0, 0, 0.5), span(3, 1.5, 2)])
    assert voices(found[0]) == [3, 3]


def test_without_words_or_voices_an_utterance_is_somebodys() -> None:
    plain = Utterance(start=1, end=2, speaker=0, confidence=0.5, transcript="Hm.")
    assert by_voice([plain], [span(2, 0, 3)])[0].speaker == 2
    assert by_voice([plain], [])[0].speaker == 0
