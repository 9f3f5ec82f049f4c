"""Voices of a running stream: founded once, known again, never more than there are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sederunt.transcription.diarization import online
from sederunt.transcription.diarization.online import VoiceFollower
from sederunt.transcription.diarization.segmentation import FRAME
from sederunt.transcription.diarization.voice_stretches import Samples, Vector, VoiceStretch, unit
from sederunt.transcription.whisper.live.detector import Hearing
from sederunt.transcription.whisper.speech import FRAME as DETECTOR_FRAME

rng = np.random.default_rng(8)
PEOPLE = [unit(rng.normal(size=192).astype(np.float32)) for _ in range(5)]


class Deaf:
    """Networks that hear one person all the time."""

    def classes(self, samples: Samples) -> Vector:
        found = np.zeros((max(1, len(samples) // FRAME - 3), 7), np.float32)
        found[:, 1] = 1.0
        return found

    def voice(self, samples: Samples) -> Vector:
        return PEOPLE[int(samples[0]) - 1]


def said(person: int, *, heard_s: float = 2.0, thread: int = 0, off: float = 0.5, at: float = 0.0) -> VoiceStretch:
    voice = unit(PEOPLE[person] + np.float32(off) * unit(rng.normal(size=192).astype(np.float32))) if heard_s else None
    return VoiceStretch(start=at, end=at + 2, threads=(thread,), voice=voice, heard_s=heard_s)


def test_people_who_come_back_keep_their_number() -> None:
    follower = VoiceFollower(Deaf())
    assert [follower.labels([said(who)]) for who in (3, 1, 3, 0, 1)] == [[(0,)], [(1,)], [(0,)], [(2,)], [(1,)]]


def test_a_cough_founds_no_voice_and_goes_with_what_was_said_around_it() -> None:
    follower = VoiceFollower(Deaf())
    assert follower.labels([said(4, heard_s=0.7)]) == [()]
    found = follower.labels([said(0), said(4, heard_s=0.7, thread=1, at=2.5)])
    assert found == [(0,), (0,)]
    assert follower.labels([said(1)]) == [(1,)]


def test_who_speaks_beside_somebody_is_rather_somebody_else() -> None:
    follower = VoiceFollower(Deaf())
    follower.labels([said(0)])
    (alike,) = (0.42 * PEOPLE[0] + np.sqrt(1 - 0.42**2) * PEOPLE[1],)
    beside = VoiceStretch(start=2, end=4, threads=(1,), voice=unit(alike), heard_s=2.0)
    assert follower.labels([said(0, off=0.1), beside]) == [(0,), (1,)]


def test_numbers_are_given_out_over_all_pieces() -> None:
    follower = VoiceFollower(Deaf())
    heard = Hearing(np.ones(94, np.float32), np.zeros(94, np.bool_))
    pieces = [np.full(94 * DETECTOR_FRAME, who + 1, np.float32) for who in (2, 0, 2)]
    told = [follower.spans(piece, heard)[0].voice for piece in pieces]
    assert [number == told[0] for number in told] == [True, False, True]


def test_a_voice_that_was_split_goes_on_as_one() -> None:
    follower = VoiceFollower(Deaf())
    follower.labels([said(0), said(1, thread=1)])
    other = follower._known[1]
    for _ in range(40):
        other.hear(PEOPLE[0], 2.0)
        follower._known[0].hear(PEOPLE[0], 2.0)
    follower.spans(np.zeros(DETECTOR_FRAME, np.float32), Hearing(np.zeros(1, np.float32), np.zeros(1, np.bool_)))
    assert [known.number for known in follower._known] == [0]


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from((0.0, 0.7, 1.0, 2.0)), st.integers(0, 2)), max_size=12))
def test_any_speech_has_at_most_as_many_voices_as_stretches_and_a_bounded_memory(
    pieces: list[tuple[int, float, int]],
) -> None:
    follower = VoiceFollower(Deaf())
    found = follower.labels([said(who, heard_s=s, thread=t, at=2.0 * n) for n, (who, s, t) in enumerate(pieces)])
    assert len(found) == len(pieces)
    assert {label for who in found for label in who} <= set(range(len(pieces)))
    assert len(follower._known) <= online.MOST_VOICES
