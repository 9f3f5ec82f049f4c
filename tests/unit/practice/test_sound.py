"""Who gets which slot, and what goes out in each tick."""

from itertools import pairwise

from sederunt.practice import clips
from sederunt.practice.sound import MeetingSound

ADA, BABBAGE, MARY, GRACE = 1001, 1002, 1003, 1004
CLIP = clips.load("superlative")


def sound(**choice: object) -> MeetingSound:
    """A per-person sound with three slots unless told otherwise."""
    return MeetingSound(**({"slots": 3, "mode": "per_person", "idle": "nothing", "dtx": False} | choice))  # type: ignore[arg-type]


def run_out(made: MeetingSound, ticks: int) -> list[tuple[int, tuple[int, ...]]]:
    return [(frame.slot, frame.csrcs) for _ in range(ticks) for frame in made.tick()[0]]


def test_nothing_goes_out_while_nobody_speaks() -> None:
    assert sound().tick() == ([], [])


def test_silence_goes_out_where_idle_slots_stay_on() -> None:
    frames, _ = sound(idle="silence").tick()
    assert [(frame.slot, frame.csrcs, frame.frame.level) for frame in frames] == [
        (0, (), 127),
        (1, (), 127),
        (2, (), 127),
    ]


def test_a_voice_keeps_its_slot_and_others_take_the_longest_unused() -> None:
    made = sound()
    made.say(ADA, CLIP)
    assert set(run_out(made, len(CLIP.frames))) == {(0, (ADA,))}
    made.say(BABBAGE, CLIP)
    assert set(run_out(made, len(CLIP.frames))) == {(1, (BABBAGE,))}
    made.say(ADA, CLIP)
    assert set(run_out(made, 5)) == {(0, (ADA,))}


def test_a_fourth_voice_is_not_heard() -> None:
    made = sound()
    assert [made.say(csrc, CLIP) for csrc in (ADA, BABBAGE, MARY, GRACE)] == [True, True, True, False]
    assert made.speaking() == [ADA, BABBAGE, MARY]


def test_the_end_of_a_clip_is_told_with_its_last_frame() -> None:
    made = sound()
    made.say(ADA, CLIP)
    ends = [made.tick()[1] for _ in CLIP.frames]
    assert ends[-1] == [ADA]
    assert not any(ends[:-1])


def test_the_first_packet_after_a_pause_is_marked() -> None:
    made = sound()
    made.say(ADA, CLIP)
    marks = [frame.first for _ in range(3) for frame in made.tick()[0]]
    assert marks == [True, False, False]


def test_a_mixed_track_carries_every_voice_and_is_louder_than_one() -> None:
    made = sound(mode="mixed")
    made.say(ADA, CLIP)
    made.say(BABBAGE, CLIP)
    frames = [made.tick()[0][0] for _ in range(50)]
    assert {frame.csrcs for frame in frames} == {(ADA, BABBAGE)}
    assert min(frame.frame.level for frame in frames) < min(frame.level for frame in CLIP.frames[:50])


def test_a_hushed_voice_stops_in_mid_clip() -> None:
    made = sound()
    made.say(ADA, CLIP)
    made.tick()
    made.hush(ADA)
    assert made.tick() == ([], [])


def test_pauses_inside_a_clip_are_left_out_where_dtx_is_played() -> None:
    made = sound(dtx=True)
    clip = clips.load("jfk")
    made.say(ADA, clip)
    sent = [number for number in range(len(clip.frames)) if made.tick()[0]]
    steps = {after - before for before, after in pairwise(sent)}
    assert len(sent) < len(clip.frames) - 20
    assert 1 in steps
    assert 5 < max(steps) <= 20
