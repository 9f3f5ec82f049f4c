"""Sessions that follow each other look like one transcription: times, ids and voices go on, and nothing is lost.

The vendor is a script: sessions note what they were fed, and say what the test makes them say.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sederunt.errors import SetupError
from sederunt.model.transcript import Word
from sederunt.settings import Settings
from sederunt.transcription import models, pipeline, stream
from sederunt.transcription.live import Ended, Event, Final, Frame, Partial, Revised, Started, Trouble
from sederunt.transcription.models import ModelRow
from sederunt.transcription.pipeline import Pipeline
from sederunt.transcription.sessions import Draft, Heard, Onset, Order, Over, Said, SessionEvent, Settled, Terms, Warned
from sederunt.transcription.stream import PATIENCE_S, PAUSES_S

RATE = 16_000
NEAR: Any = pytest.approx


@dataclass
class ScriptedSession:
    """What a vendor's session was told, and its voice."""

    order: Order
    tell: Callable[[SessionEvent], None]
    prompt: bool  # ends as soon as it is asked to
    fed: list[NDArray[np.int16]] = field(default_factory=list)
    finished: bool = False
    abandoned: bool = False

    @property
    def seconds(self) -> float:
        return sum(len(samples) for samples in self.fed) / RATE

    def feed(self, samples: NDArray[np.int16]) -> None:
        self.fed.append(samples)

    def finish(self) -> None:
        self.finished = True
        if self.prompt:
            self.tell(Over())

    def abandon(self) -> None:
        self.abandoned = True


@dataclass
class ScriptedVendor:
    name: str = "scripted"
    allowed: Terms = field(default_factory=Terms)
    prompt: bool = True
    broken: bool = False
    sessions: list[ScriptedSession] = field(default_factory=list)

    def prepare(self, _settings: Settings, _lang: str | None) -> None:
        pass

    def terms(self, _model: ModelRow) -> Terms:
        return self.allowed

    def fault(self, _settings: Settings, _model: ModelRow) -> str | None:
        return None

    def open(self, _settings: Settings, order: Order, tell: Callable[[SessionEvent], None]) -> ScriptedSession:
        if self.broken:
            raise SetupError("There is no key.")
        self.sessions.append(ScriptedSession(order, tell, self.prompt))
        return self.sessions[-1]


@dataclass
class Bot:
    """A pipeline, its vendor, and what it told."""

    vendor: ScriptedVendor
    pipeline: Pipeline
    events: list[Event]

    @property
    def sessions(self) -> list[ScriptedSession]:
        return self.vendor.sessions

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def finals(self) -> list[tuple[str, float, float, str]]:
        found = [event.segment for event in self.of(Final)]
        return [(each.segment_id, each.start, each.end, each.transcript) for each in found]

    def talk(self, start: float, end: float, source: str = "anna") -> None:
        """Sound in frames of 100 ms."""
        loud = np.full(1600, 9000, np.int16)
        for n in range(round((end - start) * 10)):
            self.pipeline.hear([Frame(source, start + n / 10, loud)])


@pytest.fixture
def bot() -> Callable[..., Bot]:
    def make(*mixed: str, close_s: float = 5.0, **vendor: Any) -> Bot:
        row = models.find("vendor7-realtime")
        assert row is not None
        events: list[Event] = []
        scripted = ScriptedVendor(**vendor)
        order = Order(model=row, lang="en")
        pipeline = Pipeline(
            Settings(),
            scripted,
            order,
            on_event=events.append,
            prefix="e1",
            is_mixed=mixed.__contains__,
            close_s=close_s,
        )
        return Bot(scripted, pipeline, events)

    return make


def said(key: str, start: float, end: float, text: str, label: str | None = None) -> Said:
    """A segment whose words are of even length."""
    parts = text.split()
    pace = (end - start) / max(1, len(parts))
    words = tuple(
        Word(word=part, start=start + n * pace, end=start + (n + 1) * pace, confidence=0.9)
        for n, part in enumerate(parts)
    )
    return Said(key=key, start=start, end=end, transcript=text, confidence=0.9, words=words, label=label)


MakeBot = Callable[..., Bot]


async def test_silence_opens_no_session(bot: MakeBot) -> None:
    b = bot()
    for n in range(50):
        b.pipeline.hear([Frame("anna", n / 10, np.ones(1600, np.int16))])
    b.pipeline.tick(60)
    assert b.sessions == []


async def test_each_source_has_a_session_from_its_first_sound_on(bot: MakeBot) -> None:
    b = bot("room")
    b.talk(3, 4)
    b.talk(3, 4, source="room")
    assert [session.order.mixed for session in b.sessions] == [False, True]
    assert [session.seconds for session in b.sessions] == [NEAR(1), NEAR(1)]


async def test_times_are_the_recordings(bot: MakeBot) -> None:
    b = bot()
    b.talk(100, 103)
    b.sessions[0].tell(Onset("a", 0.5))
    b.sessions[0].tell(Draft(said("a", 0.5, 1.5, "good")))
    b.sessions[0].tell(Settled(said("a", 0.5, 2.5, "good day")))
    assert b.of(Started) == [Started("e1-1", "anna", 100.5)]
    assert b.of(Partial)[0].segment.segment_id == "e1-1"
    assert b.finals() == [("e1-1", 100.5, 102.5, "good day")]
    assert [word.start for word in b.of(Final)[0].segment.words] == [NEAR(100.5), NEAR(101.5)]


async def test_no_silence_is_put_between_the_halves_of_a_word(bot: MakeBot) -> None:
    """Sound that breaks off in full voice is waited for; what fades away is over, and so is what never goes on."""

    def fed(patience_s: float, *, fades: bool = False) -> list[float]:
        b = bot(allowed=Terms(silence_sent_s=2))
        b.talk(0, 1)
        if fades:
            b.pipeline.hear([Frame("anna", 1, np.geomspace(9000, 3, 1600).astype(np.int16))])
        b.pipeline.tick(1.6, patience_s=patience_s)
        b.talk(1.1 if fades else 1, 2)  # late
        b.pipeline.tick(5, patience_s=patience_s)
        sound = np.concatenate(b.sessions[0].fed)
        quiet = np.flatnonzero(np.diff(np.concatenate(([1], sound != 0, [1])).astype(np.int8)))
        return [float(to - at) / RATE for at, to in zip(quiet[::2], quiet[1::2], strict=True)]

    assert fed(2) == [NEAR(2)], "only what comes behind it"
    assert fed(0) == [NEAR(0.6), NEAR(2)]
    assert fed(2, fades=True) == [NEAR(0.5), NEAR(2)]


async def test_silence_that_was_left_out_is_in_the_times(bot: MakeBot) -> None:
    b = bot(allowed=Terms(silence_sent_s=2))
    b.talk(0, 1)
    b.pipeline.tick(20)
    b.talk(20, 21)
    assert b.sessions[0].seconds == NEAR(4)  # one of speech, two of silence, one of speech
    b.sessions[0].tell(Settled(said("a", 0, 1, "one")))
    b.sessions[0].tell(Settled(said("b", 3.2, 3.9, "two")))
    assert [final[1:3] for final in b.finals()] == [(0, 1), (NEAR(20.2), NEAR(20.9))]


@pytest.mark.parametrize(
    ("start", "end", "told"),
    [
        (2.5, 3.3, (20.0, 20.3)),  # the network drew it out over the silence before it
        (0.7, 3.3, (20.0, 20.3)),  # as much of it before the silence: it is behind the silence
        (0.4, 3.1, (0.4, 1.0)),
        (0.6, 1.4, (0.6, 1.0)),
        (3.0, 3.4, (20.0, 20.4)),
        (1.2, 1.6, (1.2, 1.6)),  # in the silence that was sent
        (2.9, 3.0, (2.9, 3.0)),
    ],
)
async def test_a_word_lies_on_one_side_of_silence_that_was_left_out(
    bot: MakeBot, start: float, end: float, told: tuple[float, float]
) -> None:
    b = bot(allowed=Terms(silence_sent_s=2))
    b.talk(0, 1)
    b.pipeline.tick(20)
    b.talk(20, 21)
    b.sessions[0].tell(Draft(said("a", start, end, "It")))
    b.sessions[0].tell(Settled(said("a", start, end, "It")))
    for segment in (b.of(Partial)[0].segment, b.of(Final)[0].segment):
        assert (segment.words[0].start, segment.words[0].end) == NEAR(told)
        assert (segment.start, segment.end) == NEAR(told)


async def test_jitter_is_no_silence_and_repeated_sound_is_dropped(bot: MakeBot) -> None:
    b = bot()
    b.talk(0, 1)
    b.talk(1.05, 2.05)
    assert b.sessions[0].seconds == NEAR(2)
    b.talk(0.5, 1.5)
    assert b.sessions[0].seconds == NEAR(2)


async def test_a_session_that_hears_nothing_is_closed_and_the_next_sound_opens_another(bot: MakeBot) -> None:
    b = bot(allowed=Terms(idle_s=60))
    b.talk(0, 1)
    b.pipeline.tick(62)
    assert b.sessions[0].finished
    b.talk(70, 71)
    b.sessions[1].tell(Settled(said("a", 0, 1, "again")))
    assert b.finals() == [("e1-1", 70, 71, "again")]
    assert b.of(Ended) == []


async def test_a_second_final_under_a_key_is_a_revision_and_a_late_draft_is_dropped(bot: MakeBot) -> None:
    b = bot()
    b.talk(0, 2)
    tell = b.sessions[0].tell
    tell(Settled(said("a", 0, 1, "wether")))
    tell(Draft(said("a", 0, 1, "weth")))
    tell(Settled(said("a", 0, 1, "weather")))
    assert [type(event) for event in b.events] == [Final, Revised]
    assert {event.segment.segment_id for event in b.events} == {"e1-1"}  # type: ignore[union-attr]


async def test_a_draft_that_comes_to_nothing_is_taken_back(bot: MakeBot) -> None:
    b = bot()
    b.talk(0, 2)
    b.sessions[0].tell(Draft(said("a", 0, 1, "uh")))
    b.sessions[0].tell(Settled(said("a", 0, 1, "")))
    assert [event.segment.transcript for event in b.of(Partial)] == ["uh", ""]
    assert b.finals() == []


async def test_before_the_limit_another_session_takes_over_in_a_pause(bot: MakeBot) -> None:
    b = bot(allowed=Terms(longest_session_s=100, overlap_s=5))
    b.talk(0, 76)
    assert len(b.sessions) == 2  # it listens before it takes over
    b.sessions[1].tell(Draft(said("x", 0, 1, "unheard")))
    b.talk(76, 81)
    b.pipeline.tick(81.5)
    assert b.sessions[0].finished
    assert not b.sessions[1].finished
    b.talk(82, 83)
    b.sessions[1].tell(Settled(said("y", 7, 8, "still here")))
    assert b.finals() == [("e1-1", NEAR(82), NEAR(83), "still here")]
    assert b.of(Ended) == b.of(Trouble) == b.of(Partial) == []


async def test_at_a_cut_without_a_pause_each_word_is_told_once(bot: MakeBot) -> None:
    b = bot(allowed=Terms(longest_session_s=100, overlap_s=5), prompt=False)
    b.talk(0, 95)
    old, new = b.sessions
    assert old.finished
    cut = b.sessions[0].seconds - 5  # the old one is cut halfway between the end of the overlap and the limit
    since = 75.1
    old.tell(Settled(said("a", 80, 94, "one two three four five six seven")))
    new.tell(Settled(said("b", 80 - since, 94 - since, "one two three four five six seven")))
    old.tell(Over())
    assert " ".join(final[3] for final in b.finals()) == "one two three four five six seven"
    assert len(b.finals()) == 2
    assert b.finals()[0][2] <= cut + 5


async def test_voices_keep_their_numbers_across_sessions(bot: MakeBot) -> None:
    b = bot("room", allowed=Terms(longest_session_s=200, mixed_overlap_s=30))
    b.talk(0, 151, source="room")
    old, new = b.sessions
    old.tell(Settled(said("1", 10, 15, "hello", "A")))
    old.tell(Settled(said("2", 15, 20, "goodbye", "B")))
    b.talk(151, 175, source="room")
    since = 150.1
    for first, second, session, offset in (("A", "B", old, 0.0), ("S2", "S1", new, since)):
        session.tell(Settled(said("3", 155 - offset, 160 - offset, "me again", first)))
        session.tell(Settled(said("4", 160 - offset, 165 - offset, "and me", second)))
    b.talk(175, 181, source="room")
    b.pipeline.tick(182)
    assert old.finished
    new.tell(Settled(said("5", 183 - since, 184 - since, "the second", "S1")))
    new.tell(Settled(said("6", 184 - since, 185 - since, "the first", "S2")))
    new.tell(Settled(said("7", 185 - since, 186 - since, "a third", "S3")))
    assert [event.segment.label for event in b.of(Final)] == [0, 1, 0, 1, 1, 0, 2]


async def test_after_a_loss_the_next_session_hears_what_was_not_settled(bot: MakeBot) -> None:
    b = bot(allowed=Terms(resend_s=30))
    b.talk(0, 10)
    b.sessions[0].tell(Settled(said("a", 0, 6, "settled")))
    b.sessions[0].tell(Draft(said("b", 7, 9, "half a")))
    b.sessions[0].tell(Over("connection reset"))
    b.talk(10, 11)
    assert b.sessions[1].seconds == NEAR(5, abs=0.2)
    b.sessions[1].tell(Settled(said("x", 1, 4, "half a sentence")))
    assert [final[0] for final in b.finals()] == ["e1-1", "e1-2"]
    assert b.of(Partial)[0].segment.segment_id == "e1-2"
    assert b.finals()[1][1:] == (NEAR(7, abs=0.2), NEAR(10, abs=0.2), "half a sentence")


async def test_a_lost_draft_that_nobody_says_again_becomes_final_at_the_end(bot: MakeBot) -> None:
    b = bot()
    b.talk(0, 3)
    b.sessions[0].tell(Draft(said("a", 0, 2, "half a")))
    b.sessions[0].tell(Over("connection reset"))
    await b.pipeline.close()
    assert b.finals() == [("e1-1", 0, 2, "half a")]


async def test_sound_waits_for_a_vendor_that_is_away_for_a_minute_and_none_of_it_is_lost(bot: MakeBot) -> None:
    b = bot(allowed=Terms(resend_s=float("inf")))
    for second in range(60):
        b.talk(second, second + 1)
        b.sessions[-1].tell(Over("refused"))
    assert len(b.sessions) <= 2 * len(PAUSES_S)
    b.talk(60, 95)
    assert b.sessions[-1].seconds == NEAR(95, abs=0.2)
    b.sessions[-1].tell(Settled(said("a", 0, 90, "everything")))
    assert b.finals() == [("e1-1", 0, 90, "everything")]
    assert not b.of(Trouble)


async def test_what_the_vendor_is_through_with_is_not_sent_again(bot: MakeBot) -> None:
    b = bot(allowed=Terms(resend_s=float("inf")))
    b.talk(0, 10)
    b.sessions[0].tell(Heard(9.0))
    b.sessions[0].tell(Over("connection reset"))
    b.talk(10, 11)
    assert b.sessions[1].seconds == NEAR(2, abs=0.2)


async def test_sessions_that_fail_for_a_quarter_of_an_hour_are_given_up(bot: MakeBot) -> None:
    b = bot()
    for second in range(round(PATIENCE_S) + 60):
        b.talk(second, second + 1)
        if not b.of(Ended):
            b.sessions[-1].tell(Over("refused"))
    assert b.of(Ended) == [Ended("anna", "refused")]
    assert [event.message for event in b.of(Trouble)] == ["Live transcription has stopped: refused"]


async def test_sound_that_a_lost_session_left_is_sent_again_in_the_pause_behind_it(bot: MakeBot) -> None:
    b = bot(allowed=Terms(resend_s=float("inf"), silence_sent_s=2))
    b.talk(0, 1)
    b.pipeline.tick(1.8)
    b.talk(2, 3)
    b.sessions[0].tell(Draft(said("a", 0, 1.9, "the last")))
    b.sessions[0].tell(Over("connection reset"))
    b.pipeline.tick(3.9)
    assert len(b.sessions) == 2
    assert b.sessions[1].seconds == NEAR(3.9), "with the pauses in it and behind it"
    b.sessions[1].tell(Settled(said("x", 0, 2.9, "the last word")))
    assert b.finals() == [("e1-1", 0, NEAR(2.9), "the last word")]
    b.pipeline.tick(30)
    assert not b.sessions[1].finished
    b.pipeline.tick(70)
    assert b.sessions[1].finished
    assert len(b.sessions) == 2
    assert not b.of(Trouble)


async def test_what_is_lost_with_the_last_session_is_sent_again_before_the_end(bot: MakeBot) -> None:
    b = bot(prompt=False)
    b.talk(0, 3)
    b.sessions[0].tell(Over("connection reset"))
    closing = asyncio.create_task(b.pipeline.close())
    await asyncio.sleep(0)
    assert b.sessions[1].seconds == NEAR(3)
    assert b.sessions[1].finished
    b.sessions[1].tell(Settled(said("x", 0, 3, "good bye")))
    b.sessions[1].tell(Over())
    await closing
    assert [final[3] for final in b.finals()] == ["good bye"]
    assert not b.of(Trouble)


async def test_a_session_that_breaks_while_it_settles_has_its_rest_sent_again(bot: MakeBot) -> None:
    b = bot(prompt=False)
    b.talk(0, 5)
    b.sessions[0].tell(Settled(said("a", 0, 2, "settled")))
    closing = asyncio.create_task(b.pipeline.close())
    await asyncio.sleep(0)
    b.sessions[0].tell(Draft(said("b", 2.2, 3, "half")))
    b.sessions[0].tell(Draft(said("c", 3, 4, "a")))
    b.sessions[0].tell(Over("connection reset"))
    assert b.sessions[1].finished
    assert b.sessions[1].seconds == NEAR(3, abs=0.11)
    b.sessions[1].tell(Settled(said("x", 0.2, 2.8, "half a sentence")))
    b.sessions[1].tell(Over())
    await closing
    assert [(final[0], final[3]) for final in b.finals()] == [("e1-1", "settled"), ("e1-2", "half a sentence")]
    assert b.of(Partial)[-1].segment.segment_id == "e1-3", "the other draft is among the words of the final"
    assert b.of(Partial)[-1].segment.transcript == ""
    assert not b.of(Trouble)


async def test_a_session_that_breaks_after_another_took_over_has_its_part_sent_again(bot: MakeBot) -> None:
    b = bot(allowed=Terms(longest_session_s=100, overlap_s=5, resend_s=float("inf")), prompt=False)
    b.talk(0, 95)
    old, new = b.sessions
    old.tell(Settled(said("a", 0, 80, "so far")))
    new.tell(Heard(15))
    old.tell(Over("connection reset"))
    again = b.sessions[2]
    assert again.finished
    assert again.seconds == NEAR(10, abs=0.3), "up to where the other took over"
    again.tell(Settled(said("x", 1, 14, "one two three four five six seven eight nine ten eleven twelve thirteen")))
    assert b.finals()[-1][3].startswith("one two")
    assert "thirteen" not in b.finals()[-1][3]


async def test_what_no_session_answers_at_the_end_is_told(bot: MakeBot) -> None:
    b = bot(prompt=False, close_s=0.05)
    b.talk(0, 3)
    b.sessions[0].tell(Draft(said("a", 0, 1, "half")))
    closing = asyncio.create_task(b.pipeline.close())
    await asyncio.sleep(0)
    b.sessions[0].tell(Over("connection reset"))
    b.sessions[1].tell(Over("connection refused", retry=False))
    await closing
    assert b.finals() == [("e1-1", 0, 1, "half")]
    assert [event.lossy for event in b.of(Trouble)] == [True]
    assert "connection refused" in b.of(Trouble)[0].message


async def test_a_vendor_that_never_answers_at_the_end_is_asked_a_few_times_only(
    bot: MakeBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "PAUSES_S", (0.0, 0.0, 0.0))
    b = bot(prompt=False)
    b.talk(0, 3)
    closing = asyncio.create_task(b.pipeline.close())
    await asyncio.sleep(0)
    for session in b.sessions:  # which grows
        session.tell(Over("connection reset"))
    await closing
    assert len(b.sessions) == 4
    assert len(b.of(Trouble)) == 1


async def test_what_cannot_help_to_try_again_is_given_up_at_once(bot: MakeBot) -> None:
    b = bot()
    b.talk(0, 1)
    b.talk(0, 1, source="ben")
    for session in list(b.sessions):
        session.tell(Over("The key was refused.", retry=False))
    b.talk(1, 2)
    assert len(b.sessions) == 2
    assert len(b.of(Ended)) == 2
    assert len(b.of(Trouble)) == 1  # once for the bot


async def test_a_session_that_cannot_be_opened_is_told(bot: MakeBot) -> None:
    b = bot(broken=True)
    b.talk(0, 1)
    assert b.of(Ended) == [Ended("anna", "There is no key.")]


async def test_a_warning_is_told_once(bot: MakeBot) -> None:
    b = bot()
    b.talk(0, 1)
    b.sessions[0].tell(Warned("slow", lossy=False))
    b.sessions[0].tell(Warned("slow", lossy=False))
    assert b.of(Trouble) == [Trouble("slow", lossy=False)]


async def test_closing_waits_for_what_is_open_and_nothing_comes_after_it(bot: MakeBot) -> None:
    b = bot()
    b.talk(0, 2)
    b.sessions[0].tell(Draft(said("a", 0, 1, "so")))
    session = b.sessions[0]
    session.prompt = False
    session.finish = lambda: (session.tell(Settled(said("a", 0, 2, "so long"))), session.tell(Over()))  # type: ignore[assignment,method-assign,func-returns-value]
    await b.pipeline.close()
    assert b.finals() == [("e1-1", 0, 2, "so long")]
    assert b.events[-1] == Ended("anna", "")
    told = len(b.events)
    session.tell(Draft(said("z", 1, 2, "late")))
    b.talk(5, 6)
    assert len(b.events) == told


async def test_a_session_that_does_not_end_leaves_its_drafts(bot: MakeBot) -> None:
    b = bot(prompt=False, close_s=0.01)
    b.talk(0, 2)
    b.sessions[0].tell(Draft(said("a", 0, 1, "so far")))
    await b.pipeline.close()
    assert b.sessions[0].abandoned
    assert b.finals() == [("e1-1", 0, 1, "so far")]
    assert len(b.of(Trouble)) == 1


async def test_who_is_patient_waits_for_a_machine_that_is_behind(bot: MakeBot) -> None:
    b = bot(prompt=False, close_s=0)
    b.talk(0, 2)
    closing = asyncio.create_task(b.pipeline.close(patient=True))
    await asyncio.sleep(0.02)
    assert not closing.done()
    b.sessions[0].tell(Settled(said("a", 0, 2, "so long")))
    b.sessions[0].tell(Over())
    await closing
    assert b.finals() == [("e1-1", 0, 2, "so long")]
    assert b.of(Trouble) == []


@pytest.mark.parametrize("limit", ["QUIET_S", "LONGEST_S"])
async def test_patience_ends_when_nothing_comes_and_at_last_in_any_case(
    bot: MakeBot, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    b = bot(prompt=False)
    b.talk(0, 2)
    monkeypatch.setattr(pipeline, limit, 0.0)
    closing = asyncio.create_task(b.pipeline.close(patient=True))
    await asyncio.sleep(0)
    b.sessions[0].tell(Draft(said("a", 0, 1, "so far")))
    await closing
    assert b.sessions[0].abandoned
    assert b.finals() == [("e1-1", 0, 1, "so far")]
    assert len(b.of(Trouble)) == 1


async def test_odd_sound_is_no_trouble(bot: MakeBot) -> None:
    b = bot()
    b.pipeline.hear([Frame("anna", 1, np.zeros(0, np.int16)), Frame("anna", 1, np.full(1, -32768, np.int16))])
    b.pipeline.hear([Frame("anna", 0, np.full(5, 9000, np.int16))])
    assert b.of(Trouble) == []


async def test_a_session_that_tells_nothing_of_speech_is_replaced_and_the_next_hears_it_all(bot: MakeBot) -> None:
    b = bot(allowed=Terms(resend_s=float("inf"), unanswered_s=20))
    b.talk(0, 19.5)
    assert [session.abandoned for session in b.sessions] == [False]
    b.talk(19.5, 21)
    assert [session.abandoned for session in b.sessions] == [True, False]
    assert b.sessions[1].seconds == NEAR(21, abs=0.2)
    b.sessions[1].tell(Settled(said("a", 0.0, 20.0, "here we are")))
    assert [final[3] for final in b.finals()] == ["here we are"]


async def test_noise_that_nobody_answers_does_not_open_session_after_session(bot: MakeBot) -> None:
    b = bot(allowed=Terms(resend_s=float("inf"), unanswered_s=20))
    b.talk(0, 130)
    assert len(b.sessions) == 2
    b.sessions[1].tell(Heard(130.0))
    b.talk(130, 151)
    assert len(b.sessions) == 3, "it answered meanwhile, and is mute again"


async def test_a_session_that_answers_is_not_replaced(bot: MakeBot) -> None:
    b = bot(allowed=Terms(resend_s=float("inf"), unanswered_s=20))
    for at in range(0, 60, 10):
        b.talk(at, at + 10)
        b.sessions[0].tell(Heard(at + 9.0))
    assert len(b.sessions) == 1


async def test_the_limit_of_sessions_is_told_at_once_and_who_is_silent_makes_room(bot: MakeBot) -> None:
    b = bot()
    b.talk(0, 2)
    b.talk(2, 4, source="ben")
    b.sessions[1].tell(Over("Gladia had too many requests.", is_limit=True))
    (trouble,) = b.of(Trouble)
    assert "too many requests" in trouble.message
    assert not trouble.lossy
    b.pipeline.tick(4.5)
    assert not b.sessions[0].finished
    b.pipeline.tick(5.5)
    assert b.sessions[0].finished, "Anna has been silent for three seconds"
    b.talk(6, 9, source="ben")
    b.sessions[-1].tell(Over("Gladia had too many requests.", is_limit=True))
    assert len(b.of(Trouble)) == 1
