"""Texts joined and words written: spaces where their scripts have them, and nowhere else."""

import pytest

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.text import clamped, join, words_as_written


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


def timed(*times: tuple[float, float]) -> Utterance:
    words = tuple(Word(word="w", start=start, end=end, confidence=1) for start, end in times)
    return Utterance(start=0, end=0, speaker=0, confidence=1, transcript="w " * len(words), words=words)


@pytest.mark.parametrize("wrong", [1e9, 25.0, -3.0])
def test_a_wrong_time_is_put_between_its_neighbours_and_moves_no_other_word(wrong: float) -> None:
    told = timed((1, 1.5), (2, 2.5), (wrong, wrong + 0.5), (4, 4.5), (5, 5.5))
    found = clamped(told, 40.0).words
    assert [word.start for word in found[:2]] + [word.start for word in found[3:]] == [1, 2, 4, 5]
    assert 2 <= found[2].start <= found[2].end <= 4


def test_one_word_in_seven_far_beyond_the_end_costs_no_good_time() -> None:
    times = [(1e9, 1e9) if n % 7 == 3 else (n * 0.4, n * 0.4 + 0.3) for n in range(98)]
    found = clamped(timed(*times), 40.0).words
    assert sum(word.start == start for word, (start, _) in zip(found, times, strict=True)) == 84
    starts = [word.start for word in found]
    assert starts == sorted(starts)
    assert all(word.start <= word.end <= 40 for word in found)


def test_times_in_order_stay_as_they_are_though_words_overlap() -> None:
    told = timed((0, 2), (1, 1.5), (1, 3), (2.5, 9))
    assert clamped(told, 8.0).words[:3] == told.words[:3]
    assert clamped(told, 8.0).words[3].end == 8
