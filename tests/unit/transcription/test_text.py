"""Texts joined and words written: spaces where their scripts have them, and nowhere else."""

import pytest

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.text import join, words_as_written


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        (["Yes.", " So ", "", "do I"], "Yes. So do I"),
        (["はい。", "「そうです」", "『どうも』"], "はい。「そうです」『どうも』"),
        (["コーヒー", "です〜", "はい"], "コーヒーです〜はい"),
        (["ｱｲｽ｡", "ｺｰﾋｰ", "です"], "ｱｲｽ｡ｺｰﾋｰです"),
        (["《再见》", "！", "你好"], "《再见》！你好"),
        (["はい。", "Yes."], "はい。 Yes."),
        (["네.", "알겠습니다."], "네. 알겠습니다."),
    ],
)
def test_texts_are_joined_with_a_space_where_their_scripts_use_any(parts: list[str], joined: str) -> None:
    assert join(parts) == joined


def test_words_as_written_give_the_text_back() -> None:
    said = []
    for start, text, words in ((0.0, "Well, 「はい」 it is! ", ["Well", "はい", "it", "is"]), (4.0, "So", ["So"])):
        told = tuple(Word(word=word, start=start + n, end=start + n + 1, confidence=1) for n, word in enumerate(words))
        said.append(Utterance(start=start, end=told[-1].end, speaker=0, confidence=1, transcript=text, words=told))
    written = words_as_written(said)
    assert "".join(word.word for word in written) == "Well, 「はい」 it is! So"
    assert [word.start for word in written] == [0, 1, 2, 3, 4]
