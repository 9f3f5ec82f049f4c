"""Live Whisper with the real model: fed as a meeting feeds it, faster than it would, by hand instead of by threads."""

import asyncio
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sederunt.bench.composed import compose, voices_of
from sederunt.practice.clips import SHIPPED
from sederunt.settings import LiveSettings, Settings
from sederunt.transcription import models as table
from sederunt.transcription.diarization import weights
from sederunt.transcription.diarization.networks import load_networks
from sederunt.transcription.live import Ended, Event, Final, Frame, Partial, Started, Trouble
from sederunt.transcription.pipeline import Pipeline
from sederunt.transcription.plugins import live_fault
from sederunt.transcription.realtime import open_live
from sederunt.transcription.sessions import Draft, Onset, Over, SessionEvent, Settled
from sederunt.transcription.whisper.engine import Whisper
from sederunt.transcription.whisper.live.engine import Engine, Place
from sederunt.transcription.whisper.live.pace import LONGEST_S, Pace
from sederunt.transcription.whisper.live.selector import LanguageSelector
from sederunt.transcription.whisper.live.voices import SharedStream
from sederunt.transcription.whisper.speech import RATE, Samples

Clips = dict[str, Any]
PIECE = RATE // 10


class Stream:
    """A place in the engine, and what was told of it."""

    def __init__(self, engine: Engine, selector: LanguageSelector, voices: SharedStream | None = None) -> None:
        self.events: list[SessionEvent] = []
        self.engine, self.place = engine, Place(selector, self.events.append, voices=voices)
        engine.join(self.place)

    def finals(self) -> list[Settled]:
        return [event for event in self.events if isinstance(event, Settled) and event.said.transcript]

    def drafts(self) -> list[Draft]:
        return [event for event in self.events if isinstance(event, Draft)]

    def text(self) -> str:
        return " ".join(event.said.transcript for event in self.finals())


def engine_of(pace: Pace | None = None, reading_s: float = 0.1) -> Engine:
    """Without threads. Each reading takes so long by its clock, however busy this machine is."""
    looks = itertools.count()
    return Engine(pace or Pace(step_s=1.0), clock=lambda: next(looks) * reading_s)


@pytest.fixture
def settings(models: Path) -> Settings:
    return Settings(data=models, live=LiveSettings(model="tiny.en", threads=1))


@pytest.fixture
def stream(tiny: Whisper, settings: Settings) -> Callable[..., Stream]:
    """A stream of an engine, by default its own, read in English by tiny.en."""

    def make(engine: Engine | None = None, lang: str | None = "en", vocabulary: Sequence[str] = ()) -> Stream:
        selector = LanguageSelector(settings, lang, vocabulary, load=lambda _settings, _model: tiny)
        return Stream(engine or engine_of(), selector)

    return make


def pcm(samples: Samples, silence_s: float = 1.5) -> NDArray[np.int16]:
    """A clip with the silence behind it, as a meeting sends it."""
    sound = (np.clip(samples, -1, 1) * 32767).astype(np.int16)
    return np.concatenate([sound, np.zeros(round(silence_s * RATE), np.int16)])


def feed(streams: Sequence[Stream], tracks: Sequence[NDArray[np.int16]], readings: int = 100) -> None:
    """A tenth of a second of each in turn; in between the engine does at most so many things."""
    for first in range(0, max(len(track) for track in tracks), PIECE):
        for each, track in zip(streams, tracks, strict=True):
            if first < len(track):
                each.engine.feed(each.place, track[first : first + PIECE])
        for _ in range(readings):
            if not streams[0].engine.work_once():
                break
    for each in streams:
        each.engine.finish(each.place)
    while streams[0].engine.work_once():
        pass


def test_speech_becomes_drafts_and_then_finals(
    stream: Callable[..., Stream], clips: Clips, errors: Callable[[str, str], float]
) -> None:
    s, clip = stream(), clips["two_cities"]
    feed([s], [pcm(clip.samples)])
    assert errors(clip.text, s.text()) < 0.1
    for final in s.finals():
        mine = [
            event for event in s.events if isinstance(event, Draft | Settled) and event.said.key == final.said.key
        ]  # fmt: skip
        assert len(mine) > 1
        assert mine[-1] is final
    keys = [event.key for event in s.events if isinstance(event, Onset)]
    assert len(keys) == len(set(keys))
    assert s.events[-1] == Over()


def test_words_lie_where_they_were_spoken(stream: Callable[..., Stream], clips: Clips) -> None:
    s, clip = stream(), clips["jfk"]
    feed([s], [np.concatenate([np.zeros(5 * RATE, np.int16), pcm(clip.samples)])])
    words = [word for final in s.finals() for word in final.said.words]
    starts = [word.start for word in words]
    assert starts == sorted(starts)
    assert 4.6 <= starts[0] < 6  # the first word may take in what was kept before it
    assert words[-1].end < 5.1 + clip.seconds


def test_the_voices_of_a_shared_stream_are_told_apart(stream: Callable[..., Stream], settings: Settings) -> None:
    if not weights.is_present(settings):
        pytest.skip(f"The diarization weights are not installed. {weights.remedy()}")
    meeting = compose(voices_of(SHIPPED, least=2, texts_only=True), people=2, turns=4, seed=1)
    s = stream()
    s.place.voices = SharedStream(lambda: load_networks(settings))
    feed([s], [pcm(meeting.samples)])
    whose: dict[str | None, Counter[int]] = defaultdict(Counter)
    for final in s.finals():
        for word in final.said.words:
            middle = (word.start + word.end) / 2
            talkers = [turn.who for turn in meeting.turns if any(a <= middle <= b for a, b in turn.spoken)]
            if len(talkers) == 1:
                whose[final.said.label][talkers[0]] += 1
    assert len(whose) == 2
    assert None not in whose
    right = sum(max(words.values()) for words in whose.values())
    assert right >= 0.9 * sum(words.total() for words in whose.values())
    assert len({max(words, key=lambda who: words[who]) for words in whose.values()}) == 2


def test_silence_and_noise_say_nothing_and_read_nothing(stream: Callable[..., Stream]) -> None:
    s = stream()
    noise = np.random.default_rng(1).normal(0, 15, 60 * RATE).astype(np.int16)
    feed([s], [np.concatenate([np.zeros(60 * RATE, np.int16), noise])])
    assert s.events == [Over()]


def test_a_quiet_voice_is_heard_as_a_loud_one(
    stream: Callable[..., Stream], clips: Clips, errors: Callable[[str, str], float]
) -> None:
    s, clip = stream(), clips["librivox_0870"]
    feed([s], [pcm(clip.samples * np.float32(0.02))])
    assert errors(clip.text, s.text()) < 0.25


def test_under_pressure_drafts_become_fewer_and_no_final_is_lost(
    stream: Callable[..., Stream], clips: Clips, errors: Callable[[str, str], float]
) -> None:
    """One thing done per tenth of a second, taking sound in included, is far too little for eight people."""
    engine = engine_of(Pace(step_s=1.0, draft_s=2.0, final_share=0.2), reading_s=2.0)
    chosen = [clips[name] for name in ("jfk", "librivox_0870", "librivox_0890", "two_cities")] * 2
    streams = [stream(engine) for _ in chosen]
    feed(streams, [pcm(clip.samples) for clip in chosen], readings=1)
    for s, clip in zip(streams, chosen, strict=True):
        assert errors(clip.text, s.text()) < 0.3
        assert len(s.drafts()) <= clip.seconds / LONGEST_S + 1


def test_everybody_has_their_turn(stream: Callable[..., Stream], clips: Clips) -> None:
    engine = engine_of()
    streams = [stream(engine) for _ in range(4)]
    feed(streams, [pcm(clips["librivox_0870"].samples) for _ in streams], readings=5)  # four take sound in, one is left
    counts = [len(s.drafts()) for s in streams]
    assert min(counts) > 0
    assert max(counts) - min(counts) <= 2


def test_a_name_of_the_vocabulary_is_not_recited_over_noise(stream: Callable[..., Stream], clips: Clips) -> None:
    s = stream(vocabulary=("Concord", "Kubernetes", "Sederunt"))
    feed([s], [pcm(clips["concord"].samples)])
    assert s.text().lower().startswith("concord")
    assert "kubernetes" not in s.text().lower()


def test_without_a_language_the_first_utterance_decides(
    tiny: Whisper, base: Whisper, models: Path, clips: Clips, errors: Callable[[str, str], float]
) -> None:
    asked: list[str | None] = []

    def load(_settings: Settings, model: str | None) -> Whisper:
        asked.append(model)
        return base if model is None else tiny

    settings = Settings(data=models)
    # A tag of no language, or of one that is not Whisper's, is none.
    undecided = {None: ["tiny.en", None], "xx": ["tiny.en", None], "eo": [None, "tiny.en", None]}
    for lang, first in {"sv": [None], "swe": [None], "en-US": ["tiny.en"], **undecided}.items():
        asked.clear()
        s, clip = Stream(engine_of(), LanguageSelector(settings, lang, (), load=load)), clips["librivox_0870"]
        feed([s], [pcm(clip.samples)])
        assert asked == first
        assert {event.said.lang for event in s.finals()} == {"en" if lang in undecided else None}
        if lang not in ("sv", "swe"):
            assert errors(clip.text, s.text()) < 0.25


async def test_a_bot_is_transcribed_on_the_loop_while_threads_work(
    settings: Settings,
    tiny: Whisper,
    clips: Clips,
    errors: Callable[[str, str], float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A busy machine has its one thread at work on it for longer than a bot would wait.
    monkeypatch.setattr("sederunt.transcription.realtime.Pipeline", partial(Pipeline, close_s=100))
    row = table.find("vendor1-realtime")
    assert row is not None
    assert live_fault(settings, row) is None
    events: list[Event] = []
    live = open_live(settings, row, on_event=events.append, prefix="7-1", lang="en")
    tracks = {"anna": clips["jfk"], "ben": clips["librivox_0870"]}
    for source, clip in tracks.items():
        sound = pcm(clip.samples, 0)
        live.hear([Frame(source, 60 + n / RATE, sound[n : n + PIECE]) for n in range(0, len(sound), PIECE)])
    live.tick(80)
    async with asyncio.timeout(120):
        await live.close()
    assert [event for event in events if isinstance(event, Trouble)] == []
    finals = [event.segment for event in events if isinstance(event, Final)]
    assert len({segment.segment_id for segment in finals}) == len(finals)
    for source, clip in tracks.items():
        mine = sorted((segment for segment in finals if segment.source == source), key=lambda each: each.start)
        assert errors(clip.text, " ".join(segment.transcript for segment in mine)) < 0.25
        assert 60 <= mine[0].start <= mine[-1].end <= 60.1 + clip.seconds
    assert {event.source for event in events if isinstance(event, Ended)} == set(tracks)
    started = {event.segment_id for event in events if isinstance(event, Started)}
    assert {event.segment.segment_id for event in events if isinstance(event, Partial | Final)} <= started
