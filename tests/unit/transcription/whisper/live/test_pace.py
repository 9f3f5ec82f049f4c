"""How often drafts are read."""

from sederunt.transcription.whisper.live.pace import LONGEST_S, Pace


def test_few_talkers_have_the_step_that_was_wished() -> None:
    assert Pace(step_s=1.0, draft_s=0.1, final_share=0.05).step(4) == 1.0


def test_many_talkers_share_what_finals_leave() -> None:
    pace = Pace(step_s=1.0, draft_s=0.1, final_share=0.05)
    steps = [pace.step(talkers) for talkers in range(1, 40)]
    assert steps == sorted(steps)
    assert 1.0 < pace.step(10) < LONGEST_S
    assert pace.step(39) == LONGEST_S


def test_two_threads_do_twice_as_much() -> None:
    assert Pace(step_s=1.0, threads=2, draft_s=0.2).step(10) < Pace(step_s=1.0, draft_s=0.2).step(10)


def test_a_slower_machine_stretches_the_step() -> None:
    pace = Pace(step_s=1.0)
    before = pace.step(6)
    for _ in range(50):
        pace.drafted(0.4)
    assert pace.step(6) > before
    assert pace.is_pressed(6)
    assert not pace.is_pressed(1)
