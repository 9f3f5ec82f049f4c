"""Captions are short, in order, and hold every word."""

import itertools

import pytest

from sederunt.model.transcript import Segment, Transcript, Utterance, Word
from sederunt.transcripts.export import as_markdown, as_srt, cues


def _talk(words: int, pause_at: int = -1) -> Segment:
    said = []
    at = 3600.0
    for n in range(words):
        at += 5.0 if n == pause_at else 0.4
        said.append(Word(word=f"word{n}", start=at, end=at + 0.3, confidence=1))
    text = " ".join(word.word for word in said)
    utterance = Utterance(
        start=said[0].start, end=said[-1].end, speaker=0, confidence=1, transcript=text, words=tuple(said)
    )
    return Segment(start=said[0].start, end=at, speaker=0, confidence=1, transcript=text, utterances=(utterance,))


def test_a_long_talk_is_cut_between_words_into_what_can_be_read() -> None:
    found = list(cues(Transcript(segments=(_talk(200),))))
    assert " ".join(cue.text for cue in found) == _talk(200).transcript
    assert all(len(cue.text) <= 84 and cue.end - cue.start <= 7 for cue in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))


@pytest.mark.parametrize(
    ("text", "captions"),
    [
        (
            "We shall meet again on Monday morning. And then the whole plan is decided by all who are there.",
            ["We shall meet again on Monday morning.", "And then the whole plan is decided by all who are there."],
        ),
        (
            "If the weather stays as it is today, the boats go out to the islands and are back before it is dark",
            ["If the weather stays as it is today,", "the boats go out to the islands and are back before it is dark"],
        ),
        (
            "Yes. The boats go out to the islands and are back before it is dark in the evening of that day",
            ["Yes. The boats go out to the islands and are back before it is dark in the evening", "of that day"],
        ),
    ],
)
def test_what_is_too_long_is_cut_behind_a_sentence_or_a_clause_if_that_is_not_too_short(
    text: str, captions: list[str]
) -> None:
    words = tuple(Word(word=w, start=n * 0.3, end=n * 0.3 + 0.2, confidence=1) for n, w in enumerate(text.split()))
    said = Utterance(start=0, end=9, speaker=0, confidence=1, transcript=text, words=words)
    segment = Segment(start=0, end=9, speaker=0, confidence=1, transcript=text, utterances=(said,))
    assert [cue.text for cue in cues(Transcript(segments=(segment,)))] == captions


def _by_character(text: str, start: float = 0.0) -> Utterance:
    """Return an utterance that has a word for each character, as vendors tell scripts without spaces."""
    words = tuple(
        Word(word=letter, start=start + n * 0.1, end=start + (n + 1) * 0.1, confidence=1)
        for n, letter in enumerate(text.replace(" ", ""))
    )
    return Utterance(start=start, end=words[-1].end, speaker=0, confidence=1, transcript=text, words=words)


@pytest.mark.parametrize(
    "text",
    [
        "はい、「来週」の会議は2024年です。",
        "コーヒーを飲みますか？ええ〜",
        "我们用 AI 技术，《下周》再说！",
        "ขอบคุณครับ แล้วพบกัน",
    ],
)
def test_captions_have_the_spaces_of_the_text_and_no_others(text: str) -> None:
    first = _by_character(text)
    said = (first, _by_character(text, first.end))
    segment = Segment(start=0, end=said[1].end, speaker=0, confidence=1, transcript=text + text, utterances=said)
    assert [cue.text for cue in cues(Transcript(segments=(segment,)))] == [segment.transcript]


def test_a_caption_holds_half_as_many_characters_that_are_twice_as_wide() -> None:
    said = _by_character("来週の会議で話しましょう" * 8)
    segment = Segment(start=0, end=10, speaker=0, confidence=1, transcript=said.transcript, utterances=(said,))
    found = [cue.text for cue in cues(Transcript(segments=(segment,)))]
    assert "".join(found) == said.transcript
    assert [len(text) for text in found] == [42, 42, 12]


@pytest.mark.parametrize(
    ("words", "text", "caption"),
    [(["来週", "会議"], "來週會議", "来週会議"), (["yes", "we", "do"], "Yes, we do.", "yes we do")],
)
def test_words_that_the_text_writes_otherwise_have_the_spaces_of_their_script(
    words: list[str], text: str, caption: str
) -> None:
    told = tuple(Word(word=w, start=n * 0.3, end=n * 0.3 + 0.2, confidence=1) for n, w in enumerate(words))
    said = Utterance(start=0, end=2, speaker=0, confidence=1, transcript=text, words=told)
    segment = Segment(start=0, end=2, speaker=0, confidence=1, transcript=text, utterances=(said,))
    assert [cue.text for cue in cues(Transcript(segments=(segment,)))] == [caption]


def test_a_pause_ends_a_caption() -> None:
    assert [cue.text for cue in cues(Transcript(segments=(_talk(4, pause_at=2),)))] == ["word0 word1", "word2 word3"]


def test_times_go_beyond_an_hour_and_nobody_can_end_a_caption_early() -> None:
    segment = Segment(start=3661.5, end=3662, speaker=1, confidence=1, transcript="one\n\ntwo", speaker_name="A\nB")
    srt = as_srt(Transcript(segments=(segment,)), "")
    assert srt == "1\n01:01:01,500 --> 01:01:02,000\nA B: one two\n\n"


def test_minutes_carry_no_markup_from_the_meeting() -> None:
    segment = Segment(start=0, end=1, speaker=0, confidence=1, transcript="# <img> [x](y)", speaker_name="*Eve*")
    text = as_markdown(Transcript(segments=(segment,)), "Minutes")
    assert text == "# Minutes\n\n**Speakers:** \\*Eve\\*\n\n**\\*Eve\\*** · 0:00:00\n\n\\# \\<img\\> \\[x\\](y)\n\n"
