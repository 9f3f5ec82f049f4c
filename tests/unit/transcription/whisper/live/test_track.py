"""Sound cut into utterances, and what is to be read of it next. The detector hears loudness as speech."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from sederunt.transcription.sessions import Said
from sederunt.transcription.whisper.live.detector import Hearing
from sederunt.transcription.whisper.live.track import BLOCK, Cuts, OpenUtterance, Track, Turn, best_pause
from sederunt.transcription.whisper.speech import FRAME, FRAME_S, RATE, Samples

NEAR = pytest.approx
BLOCK_S = BLOCK * FRAME_S


def sound(seconds: float, *, loud: bool) -> NDArray[np.int16]:
    return np.full(round(seconds * RATE), 30_000 if loud else 0, np.int16)


def say(track: Track, *parts: float) -> list[OpenUtterance]:
    """Seconds of speech and of silence in turn, speech first."""
    pieces = [sound(seconds, loud=n % 2 == 0) for n, seconds in enumerate(parts)]
    opened = []
    for piece in np.array_split(np.concatenate(pieces), max(1, round(sum(parts) * 10))):
        opened += track.take(piece)
    return opened


def test_silence_opens_nothing_and_keeps_nothing(track: Track) -> None:
    assert track.take(sound(600, loud=False)) == []
    assert track.turn(1.0) is None


def test_an_utterance_begins_before_its_first_speech_and_ends_after_a_pause(track: Track) -> None:
    track.take(sound(3, loud=False))
    opened = say(track, 2.0, 1.0)
    assert [utterance.first / RATE for utterance in opened] == [NEAR(3 - Cuts().lead_s, abs=BLOCK_S)]
    assert track.open is None
    turn = track.turn(1.0)
    assert turn is not None
    assert turn[0] is Turn.FINAL
    assert turn[1].seconds == NEAR(2 + Cuts().lead_s + Cuts().end_s, abs=2 * BLOCK_S)


def test_a_short_pause_does_not_end_an_utterance(track: Track) -> None:
    assert len(say(track, 2.0, 0.3, 2.0)) == 1
    assert not track.closed


def test_drafts_are_due_every_step(track: Track) -> None:
    say(track, 0.9)
    assert track.turn(1.0) is None
    say(track, 0.3)
    turn = track.turn(1.0)
    assert turn is not None
    assert turn[0] is Turn.DRAFT
    turn[1].drafted = len(turn[1].samples)
    assert track.turn(1.0) is None


def test_a_click_is_not_drafted(track: Track) -> None:
    say(track, 0.1, 0.3)
    assert track.turn(0.1) is None


def test_a_pause_is_read_before_it_is_the_end_and_again_if_it_was_not(track: Track) -> None:
    say(track, 2.0, 0.35)
    turn = track.turn(1.0)
    assert turn is not None
    assert turn[0] is Turn.SETTLE
    assert track.turn(1.0, pressed=True) is None
    reading = (Said(key="1", start=0, end=2, transcript="so", confidence=1), 2.0)
    turn[1].settled = reading
    assert track.turn(1.0) is None
    say(track, 0.5)
    assert turn[1].settled is None


def test_a_reading_in_the_pause_is_still_there_when_the_pause_was_the_end(track: Track) -> None:
    say(track, 2.0, 0.35)
    assert track.open is not None
    track.open.settled = (Said(key="1", start=0, end=2, transcript="so", confidence=1), 2.0)
    track.take(sound(0.4, loud=False))
    assert track.closed[0].settled is not None


@pytest.mark.parametrize(
    ("text", "over"),
    [("And so.", True), ("“Really?”", True), ("and so", False), ("so…", False), ("so...", False), ("“So...”", False)],
)
def test_a_pause_behind_a_whole_sentence_is_the_end(track: Track, text: str, over: bool) -> None:
    say(track, 2.0, 0.25)
    assert track.open is not None
    track.settle(track.open, (Said(key="1", start=0, end=2, transcript=text, confidence=1), 2.0))
    assert [utterance.settled is not None for utterance in track.closed] == [True] * over
    assert (track.open is None) == over


def test_a_short_clause_is_no_sentence_yet(track: Track) -> None:
    say(track, 1.0, 0.25)
    assert track.open is not None
    track.settle(track.open, (Said(key="1", start=0, end=1, transcript="In short.", confidence=1), 1.0))
    assert track.open is not None


def test_what_waits_is_read_together_once_the_machine_is_behind(track: Track) -> None:
    opened = say(track, *(2.0, 1.0) * 16)
    assert len(opened) == 16
    waiting = track.closed
    assert len(waiting) <= Cuts().most_waiting + 3
    assert [key for each in waiting for key in (each.key, *each.also)] == [each.key for each in opened]
    assert max(each.seconds for each in waiting) <= Cuts().joined_s
    joined = waiting[Cuts().most_waiting]
    assert len(joined.samples) == len(joined.heard) * FRAME
    loud = np.flatnonzero(np.diff(np.flatnonzero(joined.samples)) > RATE / 2)
    assert len(loud) == len(joined.also)
    following = waiting[Cuts().most_waiting + 1]
    assert joined.first + len(joined.samples) <= following.first


def test_a_backlog_of_minutes_gives_up_its_oldest(track: Track) -> None:
    opened = say(track, *(9.0, 1.0) * 40)
    assert sum(each.seconds for each in track.closed) <= Cuts().backlog_s
    kept = [key for each in track.closed for key in (each.key, *each.also)]
    assert kept == [each.key for each in opened[-len(kept) :]]
    assert track.given_up > 0


def test_no_utterance_is_longer_than_the_limit(track: Track) -> None:
    opened = say(track, 60)
    lengths = [utterance.seconds for utterance in track.closed]
    assert max(lengths) <= Cuts().limit_s + BLOCK_S
    assert len(opened) == len(lengths) + 1
    assert [utterance.clean for utterance in track.closed] == [False] * len(lengths)


def test_a_long_utterance_is_cut_in_its_best_pause(track: Track) -> None:
    say(track, 10.0, 0.15, 7.0)
    assert track.closed[0].clean
    assert track.closed[0].seconds == NEAR(10.1, abs=0.2)


def test_past_the_search_a_short_pause_ends_an_utterance(track: Track) -> None:
    say(track, Cuts().search_s + 1, 0.35, 2.0)
    assert len(track.closed) == 1


def test_sound_behind_a_cut_word_goes_to_the_next_utterance(track: Track) -> None:
    say(track, 17.0)
    cut, following = track.closed[0], track.open
    assert following is not None
    behind = following.first
    track.done(cut, cut.seconds - 0.64)
    assert following.first / RATE == NEAR(behind / RATE - 0.64, abs=FRAME_S)
    assert len(following.samples) == len(following.heard) * FRAME


def test_lost_sound_ends_what_is_open_and_moves_what_follows(track: Track) -> None:
    say(track, 2.01)  # ends within a block
    track.skip(60 * RATE)
    assert [utterance.seconds for utterance in track.closed] == [NEAR(2.01, abs=BLOCK_S)]
    say(track, 1.0, 1.0)
    assert track.closed[1].first / RATE == NEAR(62.01, abs=FRAME_S)


def test_sound_before_a_gap_is_no_beginning_of_what_follows(track: Track) -> None:
    track.take(sound(1, loud=False))
    assert track.skip(10 * RATE) == []
    opened = say(track, 1.0)
    assert opened[0].first / RATE == NEAR(11, abs=FRAME_S)


def test_the_end_closes_what_is_open(track: Track) -> None:
    say(track, 1.0)
    track.finish()
    assert track.open is None
    assert len(track.closed) == 1


def test_sound_is_cut_alike_however_it_comes(make_track: Callable[[], Track]) -> None:
    tape = np.concatenate([sound(s, loud=n % 2 == 0) for n, s in enumerate((1.3, 0.7, 12.0, 0.3, 9.0, 1.0))])
    cuts = []
    for size in (160, 1600, 7777, len(tape)):
        track = make_track()
        for first in range(0, len(tape), size):
            track.take(tape[first : first + size])
        cuts.append([(utterance.first, len(utterance.samples)) for utterance in track.closed])
    assert cuts[0] == cuts[1] == cuts[2] == cuts[3]


def test_the_longest_pause_of_the_later_half_is_the_best() -> None:
    sounding = np.ones(400, np.bool_)
    sounding[20:60] = sounding[250:255] = sounding[300:320] = False
    assert best_pause(sounding) == 310
    assert best_pause(np.ones(400, np.bool_)) is None


class DeafEar:
    """Hears speech in what is very loud, and notes as loud what is half as loud, too."""

    def hear(self, samples: Samples) -> Hearing:
        levels = np.abs(samples.reshape(-1, FRAME)).max(axis=1)
        return Hearing((levels > 0.8).astype(np.float32), levels > 0.3)


def murmur(seconds: float) -> NDArray[np.int16]:
    return np.full(round(seconds * RATE), 15_000, np.int16)


def test_what_is_loud_is_read_although_the_detector_is_deaf_to_it() -> None:
    track = Track(Cuts(), DeafEar())
    for piece in np.array_split(np.concatenate([murmur(3.0), sound(1.0, loud=False)]), 40):
        track.take(piece)
        assert track.turn(1.0) is None or track.closed, "nobody is sure of it, so no draft is shown"
    assert [utterance.seconds for utterance in track.closed] == [NEAR(3.4, abs=0.2)]
    assert track.closed[0].clean


def test_the_final_of_what_was_heard_does_not_wait_for_what_is_loud_alone() -> None:
    track = Track(Cuts(), DeafEar())
    said = [sound(2.0, loud=True), murmur(6.0), sound(1.0, loud=False)]
    for piece in np.array_split(np.concatenate(said), 90):
        track.take(piece)
    first, second = track.closed
    assert first.seconds == NEAR(2.0 + Cuts().loud_s, abs=0.2)
    assert not first.clean, "a word may go on behind it"
    assert second.first == first.first + len(first.samples)
    assert second.clean
    assert (second.first + len(second.samples)) / RATE == NEAR(8.0 + Cuts().end_s, abs=0.2)
