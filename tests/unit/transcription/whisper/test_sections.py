"""A source cut into sections: at pauses, at places that depend on the sound alone, all of it and nothing twice."""

import threading
from collections.abc import Callable, Iterator
from functools import cache
from uuid import UUID

import numpy as np
import pytest

from sederunt.errors import BrokenMedia, Cancelled
from sederunt.transcription.provider import FinishedPart
from sederunt.transcription.scheduler import Lane, Scheduler, Urgency, lane_alone
from sederunt.transcription.whisper import speech
from sederunt.transcription.whisper.section_readers import SectionReaders
from sederunt.transcription.whisper.sections import (
    LINES_S,
    PAUSE_WITHIN_S,
    Sections,
    SoundBlock,
    SoundSection,
    covered,
    reached,
)
from sederunt.transcription.whisper.sound import UnreadSound
from sederunt.transcription.whisper.speech import RATE, Samples, SpeechActivity

LISTEN = speech.listen


@cache
def bursts(*, pauses: bool) -> Samples:
    """Return the longest noise that a test needs; the shorter ones are its beginning."""
    made = np.random.default_rng(1).standard_normal(900 * RATE, dtype=np.float32) * np.float32(0.1)
    if pauses:
        made[np.arange(len(made), dtype=np.int32) % round(3.7 * RATE) > 3 * RATE] = 0.0
    return made


class Noise:
    """Noise in bursts of three seconds with a pause of 0.7 between; silent from `silent[0]` to `silent[1]`."""

    def __init__(self, seconds: float, silent: tuple[float, float] = (0.0, 0.0), *, pauses: bool = True) -> None:
        made = bursts(pauses=pauses)[: round(seconds * RATE)].copy()
        made[round(silent[0] * RATE) : round(silent[1] * RATE)] = 0.0
        self.samples: Samples = made

    def __call__(self, start_s: float) -> Iterator[SoundBlock]:
        for first in range(round(start_s * RATE), len(self.samples), 30 * RATE):
            yield SoundBlock(first / RATE, self.samples[first : first + 30 * RATE])


@pytest.fixture(autouse=True)
def each_sound_heard_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the voice detector no sound twice: these tests look at the same places again and again."""
    monkeypatch.setattr(speech, "listen", lambda samples: heard(samples.tobytes()))


@cache
def heard(sound: bytes) -> SpeechActivity:
    return LISTEN(np.frombuffer(sound, dtype=np.float32))


def all_of(sections: Sections) -> list[SoundSection]:
    found = []
    while (section := sections.next()) is not None:
        found.append(section)
    return found


def test_sections_follow_each_other_and_hold_every_sound() -> None:
    noise = Noise(280.0)
    found = all_of(Sections(noise))
    assert [section.end_s for section in found][:-1] == [section.start_s for section in found][1:]
    assert (found[0].start_s, found[-1].end_s) == (0.0, 280.0)
    held = np.zeros_like(noise.samples)
    for section in found:
        first = round(section.block.start_s * RATE)
        held[first : first + len(section.block.samples)] = section.block.samples
    assert np.array_equal(held, noise.samples)


def test_cuts_lie_in_pauses_just_behind_the_lines() -> None:
    noise = Noise(280.0)
    cuts = [section.end_s for section in all_of(Sections(noise))[:-1]]
    assert len(cuts) == 2
    for number, cut in enumerate(cuts, 1):
        assert 0 <= cut - number * LINES_S <= PAUSE_WITHIN_S
        assert not noise.samples[round(cut * RATE) - 100 : round(cut * RATE) + 100].any()


@pytest.mark.parametrize("silent", [(0.0, 0.0), (110.0, 150.0), (131.0, 262.0)])
@pytest.mark.parametrize("share", [0.2, 0.9, 0.999])
def test_what_a_killed_reader_left_is_not_read_again_wherever_its_parts_end(
    silent: tuple[float, float], share: float
) -> None:
    """The part at work may begin behind a line: the next section's border was never looked for, and both were read."""
    noise = Noise(500.0, silent=silent)
    whole = all_of(Sections(noise))
    for ahead in range(1, len(whole)):
        first, later = whole[0], whole[ahead]
        parts = [
            FinishedPart(start=first.start_s, end=first.start_s + share * (first.end_s - first.start_s)),
            FinishedPart(start=later.start_s, end=later.end_s - 1.0),
        ]
        finished = covered(parts)
        found = all_of(Sections(noise, reached(finished, 0.0), known=[start for start, _ in finished]))
        assert [section.end_s for section in found][:-1] == [section.start_s for section in found][1:]
        assert found[-1].end_s == whole[-1].end_s
        if len(finished) > 1:
            assert later.start_s in [section.start_s for section in found]
        for section in found:  # what is read of it begins behind what is finished, and ends before the next of that
            start_s = reached(finished, section.start_s)
            assert all(end <= start_s or start >= section.end_s for start, end in finished), (section.start_s, parts)


def test_others_get_the_core_within_a_long_silence() -> None:
    pauses: list[None] = []
    section = Sections(Noise(700.0, silent=(0.0, 690.0))).next(lambda: pauses.append(None))
    assert section is not None
    assert len(pauses) >= 690 / 60 - 1


def test_a_long_silence_is_held_by_nobody() -> None:
    found = all_of(Sections(Noise(900.0, silent=(100.0, 800.0))))
    assert sum(len(section.block.samples) for section in found) < 260 * RATE
    assert (found[0].start_s, found[-1].end_s) == (0.0, 900.0)


def test_sound_without_a_pause_is_cut_all_the_same() -> None:
    found = all_of(Sections(Noise(700.0, pauses=False)))
    assert max(section.end_s - section.start_s for section in found) <= 3 * LINES_S + PAUSE_WITHIN_S
    assert found[-1].end_s == 700.0


def test_a_short_source_is_one_section_and_an_empty_one_none() -> None:
    assert len(all_of(Sections(Noise(40.0)))) == 1
    assert all_of(Sections(Noise(0.0))) == []


def test_cuts_stay_where_they_were_when_reading_goes_on_in_the_middle() -> None:
    noise = Noise(280.0)
    whole = [section.end_s for section in all_of(Sections(noise))]
    assert [section.end_s for section in all_of(Sections(noise, 57.3))] == pytest.approx(whole)
    moved = whole[1] + 0.3  # another decoder's idea of it
    assert [section.end_s for section in all_of(Sections(noise, 57.3, known=[moved]))][1] == pytest.approx(moved)


def test_a_silence_before_a_section_is_skipped_once() -> None:
    """A second look from where the first one stopped would read in other frames, and Whisper other words."""
    section = all_of(Sections(Noise(20.0, silent=(0.0, 5.232))))[0]
    sound = UnreadSound(section.source, section.block.start_s)
    sound.skip_silence()
    assert sound.position_s == section.block.start_s > 4.0


def part(start: float, end: float) -> FinishedPart:
    return FinishedPart(start=start, end=end)


def test_what_is_covered_is_joined_in_any_order() -> None:
    stretches = covered([part(120, 130), part(0, 18), part(130.01, 140), part(18, 30)])
    assert stretches == [(0, 30), (120, 140)]
    assert [reached(stretches, at) for at in (0.0, 25.0, 30.0, 119.99, 139.0, 200.0)] == [30, 30, 30.0, 140, 140, 200.0]


def read_all(
    source: Noise,
    parts: Callable[[SoundSection, Callable[[], None]], Iterator[FinishedPart]],
    keep: Callable[[FinishedPart], None],
    lane: Lane,
    stop: threading.Event | None = None,
) -> None:
    stop = stop or threading.Event()
    with lane.turns(stop.is_set) as turns:
        SectionReaders(Sections(source), parts, keep, lane, stop).run(turns)


def halves(section: SoundSection, _pause: Callable[[], None]) -> Iterator[FinishedPart]:
    """Read a section in two parts."""
    middle = (section.start_s + section.end_s) / 2
    yield part(section.start_s, middle)
    yield part(middle, section.end_s)


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_all_sections_are_read_whatever_the_number_of_cores(cores: int) -> None:
    kept: list[FinishedPart] = []
    read_all(Noise(270.0), halves, kept.append, lane_alone(cores))
    assert covered(kept) == [(0.0, 270.0)]
    assert len(kept) == 2 * len(all_of(Sections(Noise(270.0))))


def test_two_sections_are_read_at_once() -> None:
    meeting = threading.Barrier(2, timeout=60)

    def met(section: SoundSection, _pause: Callable[[], None]) -> Iterator[FinishedPart]:
        if section.start_s < 2 * LINES_S:
            meeting.wait()
        yield part(section.start_s, section.end_s)

    kept: list[FinishedPart] = []
    read_all(Noise(280.0), met, kept.append, lane_alone(2))
    assert covered(kept) == [(0.0, 280.0)]


def test_the_fault_of_any_section_ends_all() -> None:
    def breaks(section: SoundSection, _pause: Callable[[], None]) -> Iterator[FinishedPart]:
        if section.start_s > LINES_S:
            raise BrokenMedia("The file ends in the middle.")
        yield part(section.start_s, section.end_s)

    scheduler = Scheduler(2)
    with scheduler.workload(UUID(int=1), Urgency.UPLOAD) as workload:
        with pytest.raises(BrokenMedia):
            read_all(Noise(270.0), breaks, lambda _: None, workload.lane())
        assert (workload.running, workload.waiting) == (0, 0)


def test_a_stop_is_noticed_behind_the_window_and_the_part_is_kept() -> None:
    stop, kept = threading.Event(), list[FinishedPart]()

    def keep(found: FinishedPart) -> None:
        kept.append(found)
        stop.set()

    with pytest.raises(Cancelled):
        read_all(Noise(270.0), halves, keep, lane_alone(1), stop)
    assert len(kept) == 1


def test_a_short_recording_keeps_the_core_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever gives a core back in order to cut, or to see whether more follows, waits for another's whole window."""
    monkeypatch.setattr("sederunt.transcription.scheduler.OLDEST_EVERY", 1000)
    order: list[str] = []
    scheduler = Scheduler(1, cpu=lambda: 100.0 * order.count("long"))
    began, over = threading.Event(), threading.Event()

    def all_day() -> None:
        with scheduler.workload(UUID(int=1), Urgency.UPLOAD) as workload, workload.lane().turns(lambda: False) as turns:
            while not over.is_set():
                order.append("long")
                began.set()
                turns.pause()

    def told(section: SoundSection, pause: Callable[[], None]) -> Iterator[FinishedPart]:
        order.append("read")
        pause()  # between two readings of a window
        order.append("read again")
        for found in halves(section, pause):
            order.append("part")
            yield found

    hog = threading.Thread(target=all_day, daemon=True)
    hog.start()
    assert began.wait(60)
    with scheduler.workload(UUID(int=2), Urgency.UPLOAD) as workload:
        workload.sound_s = 20.0
        lane = workload.lane()
        with lane.turns(lambda: False) as turns:
            order.append("language")
            SectionReaders(Sections(Noise(20.0)), told, lambda _: None, lane, threading.Event()).run(turns)
            order.append("over")
    over.set()
    hog.join(60)
    first = order.index("language")
    assert order[first : first + 5] == ["language", "read", "read again", "part", "part"]
    assert order[first + 5] in ("long", "over")


def test_others_have_the_core_while_a_part_is_stored_slowly() -> None:
    """Nobody waits when it begins to be stored, so that the core is given back to whoever stores it."""
    scheduler, storing, stored = Scheduler(1), threading.Event(), threading.Event()
    kept: list[FinishedPart] = []

    def keep(found: FinishedPart) -> None:
        storing.set()
        assert stored.wait(60)
        kept.append(found)

    def upload() -> None:
        with scheduler.workload(UUID(int=1), Urgency.UPLOAD) as workload:
            read_all(Noise(270.0), halves, keep, workload.lane())

    reading = threading.Thread(target=upload, daemon=True)
    reading.start()
    assert storing.wait(60)
    had = threading.Event()

    def second_reading() -> None:
        with scheduler.workload(UUID(int=2), Urgency.LIVE) as workload, workload.lane().turns(lambda: False):
            had.set()

    threading.Thread(target=second_reading, daemon=True).start()
    assert had.wait(10)
    stored.set()
    reading.join(60)
    assert covered(kept) == [(0.0, 270.0)]
