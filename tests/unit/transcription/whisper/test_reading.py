"""When a window is read again, and what is kept; the network is a script of readings."""

from collections.abc import Sequence

import numpy as np
import pytest

from sederunt.transcription.whisper import reading
from sederunt.transcription.whisper.decoding import (
    FULL_CONTEXT,
    LEAST_CONTEXT,
    Decoded,
    ReadingOptions,
    TimedWord,
    TokenPhrase,
)
from sederunt.transcription.whisper.reading import Manner, Reads, echoes, uncovered
from sederunt.transcription.whisper.speech import FRAME_S, RATE, Samples, SpeechActivity

PLAIN = Manner(language="en")


def word(text: str, start: float, end: float, probability: float = 0.9) -> TimedWord:
    return TimedWord(text=f" {text}", start=start, end=end, probability=probability)


def heard(*words: TimedWord, score: float = -0.3, silence: float = 0.05) -> Decoded:
    text = "".join(word.text for word in words).strip()
    phrases = (TokenPhrase(words[0].start, words[-1].end, words),) if words else ()
    return Decoded(phrases=phrases, text=text, score=score, silence=silence, language="en")


class Script:
    """Answers readings in order, and notes how each was asked for."""

    def __init__(self, *answers: Decoded) -> None:
        self.answers, self.asked, self.lengths = list(answers), list[ReadingOptions](), list[float]()

    def read(self, samples: Samples, way: ReadingOptions) -> Decoded:
        self.asked.append(way)
        self.lengths.append(len(samples) / RATE)
        return self.answers.pop(0)


def read(
    script: Reads,
    seconds: float,
    *spoken: tuple[float, float],
    manner: Manner = PLAIN,
    clean: bool = True,
    full: bool = False,
    last: bool = False,
) -> tuple[list[str], float]:
    frames = round(seconds / FRAME_S)
    speech = np.zeros(frames, np.float32)
    for start, end in spoken:
        speech[round(start / FRAME_S) : round(end / FRAME_S)] = 0.95
    activity = SpeechActivity(np.where(speech > 0, 0.05, 0.0001).astype(np.float32), speech)
    samples = np.zeros(round(seconds * RATE), np.float32)
    passage = reading.read(script, samples, activity, manner, clean=clean, full=full, last=last)
    return [w.text.strip() for phrase in passage.phrases for w in phrase.words], passage.end


def test_a_good_reading_is_read_once() -> None:
    script = Script(heard(word("hello", 1.0, 1.5), word("there", 1.5, 2.0)))
    assert read(script, 10, (1.0, 2.0))[0] == ["hello", "there"]
    assert script.asked == [ReadingOptions(language="en")]


def test_a_loop_is_read_again_at_full_context_and_then_without_repeats() -> None:
    loop = heard(*(word("no", n * 0.2, n * 0.2 + 0.2) for n in range(10)))
    script = Script(loop, loop, heard(word("no.", 1.0, 1.5)))
    words, _ = read(script, 5, (0.9, 1.6))
    assert words == ["no."]
    assert [(way.context, way.beams, way.forbid_repeats) for way in script.asked] == [
        (LEAST_CONTEXT, 1, False),
        (FULL_CONTEXT, 1, False),
        (FULL_CONTEXT, 5, True),
    ]


class Looping:
    """A network that is sure of one text, whatever it hears; notes the length of each stretch."""

    def __init__(self, answer: Decoded) -> None:
        self.answer, self.lengths = answer, list[float]()

    def read(self, samples: Samples, way: ReadingOptions) -> Decoded:
        self.lengths.append(len(samples) / RATE)
        return self.answer


def stutter(first_s: float = 0.2) -> list[TimedWord]:
    """Twenty-four letters with their hyphens, as the network writes and times them."""
    letters = [word("E", first_s, first_s + 0.1, 0.98)]
    for n in range(1, 24):
        at = first_s + 0.1 * n
        letters += [TimedWord("-", at, at, 0.98), TimedWord("E", at, at + 0.1, 0.98)]
    return letters


def test_a_loop_that_stays_is_never_delivered_and_its_sound_is_read_by_itself() -> None:
    loop = heard(*stutter(), score=-0.05)
    network = Looping(loop)
    passage = read_thoroughly(network, a_loud_window(10, (0.2, 2.6)), last=True)
    assert passage.phrases == ()
    assert [told for told in passage.wordless if told[0] < 1], "it is told that somebody may have spoken"
    assert min(network.lengths) < 5


def test_a_loop_beside_words_takes_none_of_them_along() -> None:
    network = Looping(heard(word("so", 0.2, 0.5), word("then", 0.5, 0.9), *stutter(1.0), word("yes.", 9.0, 9.4)))
    words, _ = read(network, 10, (0.1, 3.5), (8.9, 9.5))
    assert words == ["so", "then", "yes."]


def test_what_is_read_without_a_loop_the_second_time_is_delivered() -> None:
    script = Script(heard(*stutter()), heard(word("Easy,", 0.2, 1.0), word("does", 1.0, 1.6), word("it.", 1.6, 2.4)))
    assert read(script, 5, (0.2, 2.5))[0] == ["Easy,", "does", "it."]


def again_and_again(times: int, every_s: float) -> Samples:
    """A sound of half that length, so often, which changes while it lasts."""
    sweep = np.sin(np.linspace(0, 1, round(every_s / 2 * RATE)) ** 2 * 2000).astype(np.float32) * np.float32(0.3)
    return np.tile(np.concatenate([sweep, np.zeros_like(sweep)]), times)


@pytest.mark.parametrize("written", [6, 8, 24])
def test_what_sounds_eight_times_is_written_eight_times(written: int) -> None:
    samples = again_and_again(8, 1.0)
    frames = len(samples) // round(FRAME_S * RATE)
    activity = SpeechActivity(np.full(frames, 0.05, np.float32), np.full(frames, 0.95, np.float32))
    network = Looping(heard(*(word("Americans.", n * 0.3, n * 0.3 + 0.3, 0.9) for n in range(written))))
    passage = reading.read(network, samples, activity, PLAIN, clean=True, last=True)
    words = [word for phrase in passage.phrases for word in phrase.words]
    assert [word.text.strip() for word in words] == ["Americans."] * 8
    assert [word.start for word in words] == pytest.approx(list(range(8)), abs=0.3)
    assert network.lengths == [8.0], "there is nothing to be read again"


def test_of_bad_readings_the_likeliest_is_kept() -> None:
    script = Script(
        heard(word("wild", 1, 2), score=-1.8),
        heard(word("mild", 1, 2), score=-1.1),
        heard(word("cold", 1, 2), score=-1.5),
    )
    assert read(script, 5, (1, 2))[0] == ["mild"]


def test_speech_without_a_word_in_the_middle_is_read_by_itself() -> None:
    script = Script(
        heard(word("one", 0.5, 1.0), word("two", 8.0, 8.5)), heard(word("lost", 2.0, 2.4), word("words", 2.4, 3.0))
    )
    words, _ = read(script, 10, (0.4, 1.1), (3.0, 6.0), (7.9, 8.6))
    assert words == ["one", "lost", "words", "two"]
    assert script.asked[1].context > LEAST_CONTEXT
    assert script.lengths[1] == pytest.approx(3.0 + 2 * reading.AROUND_S, abs=0.1)


SPOKEN = (0.0, 5.0), (5.5, 12.0)


def skipping() -> Decoded:
    """Return a reading of twelve seconds of speech that draws its last words out over most of them."""
    return heard(
        *(word(f"word{n}", 0.5 * n, 0.5 * n + 0.5) for n in range(4)), word("of", 2.0, 10.0), word("it", 10.0, 12.0)
    )


def test_a_window_that_skips_seconds_is_read_again_as_a_whole_with_care() -> None:
    whole = heard(*(word(f"all{n}", 0.5 * n, 0.5 * n + 0.5) for n in range(24)))
    script = Script(skipping(), whole)
    assert read(script, 12, *SPOKEN)[0] == [f"all{n}" for n in range(24)]
    assert (script.asked[1].context, script.asked[1].beams, script.lengths[1]) == (FULL_CONTEXT, 5, 12)


@pytest.mark.parametrize("worse", [heard(word("one", 11.0, 12.0)), heard(word("eh", 1.0, 2.0), score=-1.4)])
def test_a_careful_reading_that_skips_more_or_guesses_replaces_nothing(worse: Decoded) -> None:
    script = Script(skipping(), worse, heard(), heard())
    assert read(script, 12, *SPOKEN)[0] == ["word0", "word1", "word2", "word3", "of", "it"]


def test_what_follows_a_word_at_the_seam_comes_behind_the_second_reading() -> None:
    first = heard(word("but", 0.1, 0.5), word("cares", 0.6, 1.1), word("we", 7.2, 7.6), word("say", 7.6, 8.0))
    # Read by itself from 0.75 s on, it begins 0.2 s behind the beginning of the word at the seam.
    script = Script(first, heard(word("this", 0.05, 1.2), word("is", 1.2, 3.0), word("slow", 3.0, 6.0)))
    assert read(script, 8.2, (0.0, 8.1))[0] == ["but", "cares", "this", "is", "slow", "we", "say"]


def test_slow_speech_that_is_read_again_is_not_said_twice() -> None:
    slow = heard(word("talking", 0.5, 1.0), word("really", 4.0, 5.0), word("than", 6.0, 6.5), word("low", 6.5, 8.0))
    again = heard(word("really", 2.6, 3.6), word("in", 4.6, 5.0), word("slow", 5.0, 7.0))
    assert read(Script(slow, again), 8.4, (0.4, 8.1))[0] == ["talking", "really", "than", "low"]


def test_a_word_that_is_drawn_out_over_the_gap_stays_before_what_was_said_in_it() -> None:
    first = heard(word("but", 0.5, 0.8), word("cares", 5.6, 6.0), word("this", 6.0, 6.4), word("is", 6.4, 6.8))
    again = heard(
        *(word(text, 0.6 + 1.2 * n, 1.2 + 1.2 * n) for n, text in enumerate(("this", "is", "me", "so", "slow")))
    )
    words = read(Script(first, again), 8.4, (0.4, 8.1))[0]
    assert words == ["but", "cares", "this", "is", "me", "so", "slow"]


def test_of_two_words_at_one_time_the_second_readings_is_kept() -> None:
    first = heard(word("so", 0.5, 1.0), word("pests", 4.0, 4.5), word("go", 6.5, 8.0))
    again = heard(
        *(word(f"word{n}", 0.5 + n, 1.0 + n) for n in range(2)), word("past", 3.1, 3.6), word("five", 3.8, 4.2)
    )
    words = read(Script(first, again), 8.4, (0.4, 8.1))[0]
    assert "pests" not in words
    assert {"so", "word0", "past", "five", "go"} <= set(words)


def test_a_second_reading_that_guesses_adds_nothing() -> None:
    script = Script(heard(word("one", 0.5, 1.0)), heard(word("eh", 1.0, 2.0), score=-1.6))
    assert read(script, 10, (0.4, 1.1), (1.6, 4.0), (8.0, 8.3))[0] == ["one"]


def test_speech_behind_the_last_word_is_left_to_the_next_window() -> None:
    script = Script(heard(word("one", 0.5, 1.0), word("two", 2.0, 2.5)))
    words, end = read(script, 10, (0.4, 2.6), (6.0, 10.0))
    assert words == ["one", "two"]
    assert end == pytest.approx(6.0, abs=0.3)
    assert len(script.asked) == 1


def test_speech_behind_the_last_word_is_read_where_no_window_follows() -> None:
    script = Script(heard(word("one", 0.5, 1.0), word("two", 2.0, 2.5)), heard(word("lost", 1.0, 1.5)))
    words, end = read(script, 10, (0.4, 2.6), (6.0, 9.8), last=True)
    assert words == ["one", "two", "lost"]
    assert end == 10
    assert script.lengths[1] == pytest.approx(4.0 + reading.AROUND_S, abs=0.3)


def test_a_text_that_ends_before_the_speech_does_is_read_on() -> None:
    """The five last words of a sentence took 1.2 s, less than a gap between words must have to be read again."""
    script = Script(
        heard(word("prudently", 14.6, 15.0), word("in", 15.0, 15.16)),
        heard(word("his", 0.4, 0.7), word("power", 0.7, 0.9), word("to", 0.9, 1.2), word("do", 1.2, 1.5)),
    )
    words, _ = read(script, 16.6, (14.5, 16.35), last=True)
    assert words == ["prudently", "in", "his", "power", "to", "do"]
    followed = Script(heard(word("prudently", 14.6, 15.0), word("in", 15.0, 15.16)))
    assert read(followed, 16.4, (14.5, 16.35))[1] == pytest.approx(15.16 + reading.NEAR_S / 2, abs=0.01)


def test_the_breath_behind_a_last_word_is_not_read() -> None:
    script = Script(heard(word("the", 1.0, 1.5), word("end", 1.5, 2.0)))
    assert read(script, 3, (1.0, 2.0 + reading.NEAR_S + reading.BEHIND_S - 0.1), last=True)[0] == ["the", "end"]


def a_loud_window(seconds: float, *loud: tuple[float, float], inkling: float = 0.15) -> SpeechActivity:
    """Sound that stands out, of which the detector has an inkling."""
    frames = round(seconds / FRAME_S)
    level, speech = np.full(frames, 0.0005, np.float32), np.zeros(frames, np.float32)
    for start, end in loud:
        level[round(start / FRAME_S) : round(end / FRAME_S)] = 0.05
        speech[round(start / FRAME_S) + 1] = inkling
    return SpeechActivity(level, speech)


def read_thoroughly(script: Reads, activity: SpeechActivity, *, last: bool = False) -> reading.Passage:
    samples = np.zeros(round(len(activity) * FRAME_S * RATE), np.float32)
    return reading.read(script, samples, activity, Manner(language="en", thorough=True), clean=True, last=last)


def test_loud_sound_that_the_detector_hardly_hears_is_read_again() -> None:
    script = Script(heard(word("one", 0.5, 1.0), word("two", 8.0, 8.5)), heard(word("lost", 1.0, 2.4)))
    passage = read_thoroughly(script, a_loud_window(10, (0.4, 1.1), (3.0, 6.0), (7.9, 8.6)))
    assert [w.text.strip() for phrase in passage.phrases for w in phrase.words] == ["one", "lost", "two"]


def test_what_is_loud_behind_the_last_word_begins_the_next_window() -> None:
    script = Script(heard(word("one", 0.5, 1.0), word("two", 2.0, 2.5)))
    passage = read_thoroughly(script, a_loud_window(10, (0.4, 2.6), (6.0, 10.0)))
    assert passage.end == pytest.approx(6.0, abs=0.3)
    assert passage.wordless == ()


def test_loud_sound_without_words_is_told_if_somebody_may_speak_in_it() -> None:
    script = Script(heard(word("one", 0.5, 1.0)), heard(score=-1.6))
    passage = read_thoroughly(script, a_loud_window(10, (0.4, 1.1), (3.0, 6.0)), last=True)
    [told] = passage.wordless
    assert told == pytest.approx((3.0, 6.0), abs=0.1)
    knocks = read_thoroughly(Script(heard(word("one", 0.5, 1.0))), a_loud_window(10, (3.0, 6.0), inkling=0.05))
    assert knocks.wordless == ()


def test_a_network_that_doubts_adds_nothing_to_loud_sound() -> None:
    script = Script(heard(word("one", 0.5, 1.0)), heard(word("Thank", 1.0, 1.5), word("you.", 1.5, 2.0), silence=0.8))
    passage = read_thoroughly(script, a_loud_window(10, (0.4, 1.1), (3.0, 6.0)), last=True)
    assert [w.text.strip() for phrase in passage.phrases for w in phrase.words] == ["one"]


def test_the_word_at_a_cut_in_mid_speech_is_left_to_the_next_window() -> None:
    whole = [word(f"w{n}", n * 0.5, n * 0.5 + 0.5) for n in range(18)]
    script = Script(heard(*whole, word("hal", 9.0, 9.9)))
    words, end = read(script, 10, (0.0, 10.0), clean=False)
    assert words[-1] == "w17"
    assert end == 9.0


def sentences(last: str, *, pause_s: float = 0.4) -> Decoded:
    """Twelve seconds: one sentence, and behind a pause two words of which the second one is given."""
    first = [word(f"w{n}{'.' if n == 18 else ''}", n * 0.5, n * 0.5 + 0.5) for n in range(19)]
    return heard(*first, word("and", 9.5 + pause_s, 10.0 + pause_s), word(last, 11.0, 11.5))


@pytest.mark.parametrize("last", ["slightly", "slightly,", "slightly..."])
def test_a_sentence_that_the_windows_length_cuts_short_is_left_to_the_next_window(last: str) -> None:
    for pause_s in (0.4, 0.0):  # the network may draw a word out over the pause
        words, end = read(Script(sentences(last, pause_s=pause_s)), 12, (0.0, 9.4), (9.7, 11.6), full=True)
        assert words[-1] == "w18."
        assert end == pytest.approx(9.55, abs=FRAME_S)


@pytest.mark.parametrize(
    ("answer", "full"),
    [
        (sentences("lower."), True),
        (sentences("lower!”"), True),
        (sentences("slightly"), False),  # nothing follows, or a long silence
        (heard(*(word(f"w{n}", n * 0.5, n * 0.5 + 0.5) for n in range(23))), True),  # no sentence ends
        (heard(word("Yes.", 0.0, 1.0), *(word(f"w{n}", n * 0.5, n * 0.5 + 0.5) for n in range(4, 23))), True),  # long
    ],
)
def test_a_whole_sentence_and_what_cannot_be_told_from_one_stay(answer: Decoded, full: bool) -> None:
    words, end = read(Script(answer), 12, (0.0, 9.4), (9.7, 11.6), full=full)
    assert len(words) == len(answer.phrases[0].words)
    assert end == 12


def test_a_sentence_with_no_pause_before_it_stays() -> None:
    words, end = read(Script(sentences("slightly")), 12, (0.0, 11.6), full=True)
    assert (words[-1], end) == ("slightly", 12)


def test_words_over_silence_are_dropped() -> None:
    script = Script(heard(word("hello", 1.0, 1.5)), *[])
    assert read(script, 10, (5.0, 5.1))[0] == []


def test_faint_sound_that_is_doubted_is_left_alone() -> None:
    script = Script(heard(word("Thank", 1, 2), word("you.", 2, 3), score=-0.4, silence=0.7))
    frames = round(5 / FRAME_S)
    activity = SpeechActivity(np.full(frames, 0.05, np.float32), np.full(frames, 0.2, np.float32))
    passage = reading.read(script, np.zeros(5 * RATE, np.float32), activity, PLAIN, clean=True)
    assert passage.phrases == ()
    assert len(script.asked) == 1


def test_recited_vocabulary_is_read_again_without_the_prompt() -> None:
    manner = Manner(language="en", prompt=(1, 2, 3), vocabulary=("sederunt", "jetstream", "opus"))
    script = Script(
        heard(word("Sederunt,", 1, 2), word("JetStream,", 2, 3), word("Opus", 3, 4)), heard(word("yes", 1, 2))
    )
    assert read(script, 5, (1, 2), manner=manner)[0] == ["yes"]
    assert [way.prompt for way in script.asked] == [(1, 2, 3), ()]


@pytest.mark.parametrize(
    ("text", "recites"),
    [
        ("Sederunt, JetStream, Opus.", True),
        ("We use Opus and JetStream in Sederunt", False),
        ("sederunt jetstream", False),
    ],
)
def test_vocabulary_is_recited_where_three_entries_follow_each_other(text: str, recites: bool) -> None:
    assert echoes(text, ("sederunt", "jetstream", "opus")) is recites


def spans(*pairs: tuple[float, float]) -> Sequence[tuple[float, float]]:
    return pairs


def test_uncovered_reaches_from_the_first_moment_without_a_word_to_the_last() -> None:
    words = [word("a", 2.0, 2.5), word("b", 6.0, 6.5)]
    assert uncovered(spans((0.0, 10.0)), words) == [(0.0, 10.0)]
    assert uncovered(spans((1.8, 5.0)), words) == [(2.75, 5.0)]
    assert uncovered(spans((0.0, 1.1)), []) == []
    assert uncovered(spans((0.0, 2.0)), []) == [(0.0, 2.0)]


def test_a_drawn_out_word_covers_no_more_than_anyone_would_take_for_it() -> None:
    assert uncovered(spans((0.0, 4.0)), [word("He", 0.0, 4.0)]) == [(0.0, 2.95)]
    assert uncovered(spans((0.0, 4.0)), [word(".", 0.0, 4.0)]) == [(0.0, 4.0)]


def test_a_stretch_with_too_few_words_for_its_length_is_uncovered() -> None:
    drawn = [word("one", 0.5, 1.3), word("two", 2.0, 2.8)]
    assert uncovered(spans((0.2, 2.9)), drawn) == [(0.2, 2.9)]
    assert uncovered(spans((0.2, 1.9)), drawn[:1]) == []


def test_a_sentence_repeated_in_no_time_at_the_end_is_dropped() -> None:
    echo = [word(text, 2.0, 2.0) for text in ("one", "two", "three")]
    script = Script(heard(word("one", 1.0, 1.3), word("two", 1.3, 1.6), word("three", 1.6, 2.0), *echo))
    assert read(script, 5, (1.0, 2.0))[0] == ["one", "two", "three"]


def test_beams_are_followed_in_every_reading() -> None:
    script = Script(heard(word("so", 0.5, 0.9)), heard(word("much", 3.0, 3.4)))
    read(script, 10, (0.4, 1.0), (2.5, 6.0), manner=Manner(language="en", beams=5))
    assert [way.beams for way in script.asked] == [5, 5]
