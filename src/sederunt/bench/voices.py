"""One track with everybody in it, without the service: who speaks when by voice, and whose the words are by events.

Beside it, in the same run, what programs do without it: windows of a detector's speech, grouped by voice; and the same
words by the site's events alone. Events come late, linger and are missed, as the sites' are.
"""

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sederunt.bench.attribution import Scores, score
from sederunt.bench.composed import RATE, Composed, compose, voices_of
from sederunt.bench.diarization import DiarizationError, diarization_error
from sederunt.errors import SetupError
from sederunt.media.pcm import Block
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.transcript import Transcript, Utterance
from sederunt.practice.clips import SHIPPED
from sederunt.settings import Settings, load
from sederunt.transcription.diarization import weights
from sederunt.transcription.diarization.clustering import linked
from sederunt.transcription.diarization.diarizer import VoiceSpan, diarize
from sederunt.transcription.diarization.networks import Networks, load_networks
from sederunt.transcription.diarization.online import VoiceFollower
from sederunt.transcription.diarization.wording import by_voice
from sederunt.transcription.whisper import speech
from sederunt.transcription.whisper.live.track import OpenUtterance, Track, as_float
from sederunt.transcription.whisper.loading import load_whisper
from sederunt.transcripts.attribution import MeetingFacts, SourceSpeech, attribute

# Events of a site: seconds late at the beginning and at the end of speech, and the share of turns that have none.
ONSET_S, RELEASE_S, MISSED = 0.3, 0.8, 0.05
# Pauses within a turn, up to which a listener would say that somebody goes on; composed speech ends at 0.3 s.
GOES_ON_S = 0.5
# The plain way: windows of so many seconds, this far apart, one voice from this cosine on.
WINDOW_S, STEP_S, ONE_VOICE = 1.5, 0.75, 0.5
# The target is for the rate with the usual collar: true borders are taken from loudness, right to a tenth of a second,
# and in turns of three seconds they would be half of the strict rate, which stands beside it.
MOST_ERROR, MOST_CP_WORD_ERRORS, MOST_CPU = 0.15, 0.12, 0.01
# People → turns.
MEETINGS = {3: 16, 10: 40}
SEEDS = (11, 12, 13)

_CONSOLE = Console(stderr=True)


@dataclass(frozen=True, kw_only=True)
class VoicesOutcome:
    """Meetings of so many people, together."""

    people: int
    audio_s: float
    found: tuple[int, ...]  # voices, of each meeting
    error: DiarizationError
    error_with_collar: float  # the rate with 0.25 s forgiven around each border
    error_through_pauses: float  # the rate where pauses up to GOES_ON_S are speech
    live_error: float  # the rate of voices that are told while they are heard, final by final
    live_found: tuple[int, ...]
    live_cpu_per_s: float
    plain_error: float  # the rate of the plain way
    cpu_per_s: float
    words: Scores
    words_by_events: Scores

    @property
    def floor(self) -> float:
        """Return the rate that is left with every voice known: where speech begins and ends, and where two speak."""
        return self.error.missed + self.error.false

    def faults(self) -> list[str]:
        """Return the targets that are missed."""
        limits = (
            (self.error_with_collar, MOST_ERROR, f"DER over {MOST_ERROR:.0%}"),
            (self.words.cp_word_errors, MOST_CP_WORD_ERRORS, f"cpWER over {MOST_CP_WORD_ERRORS:.0%}"),
            (self.cpu_per_s, MOST_CPU, f"over {MOST_CPU} CPU-seconds per second"),
        )
        return [sentence for value, limit, sentence in limits if value > limit]

    def plain(self) -> dict[str, object]:
        """Return the outcome for a line of JSON."""
        own = {key: value for key, value in asdict(self).items() if key not in ("words", "words_by_events")}
        scores = {"words": self.words, "words_by_events": self.words_by_events}
        return (
            own
            | {"floor": self.floor}
            | {
                f"{name}_{key}": round(float(getattr(found, key)), 4)
                for name, found in scores.items()
                for key in ("cp_word_errors", "named_right")
            }
        )


def bench_voices(speech: Path | None, data: Path, model: str) -> bool:
    """Measure meetings of three and of ten; JSON lines on standard output, a table on standard error.

    Returns True where a target is missed. Blocks for minutes.
    """
    outcomes = []
    with Progress(console=_CONSOLE, transient=True) as progress:
        for people in progress.track(MEETINGS, description="Composed meetings"):
            found = measure_voices(speech or SHIPPED, load(data=data), model, people)
            print(json.dumps(found.plain()), flush=True)
            outcomes.append(found)
    table = Table(title="One track with everybody in it", title_justify="left")
    for heading in (
        "people",
        "voices",
        "DER",
        "voices known",
        "through pauses",
        "with collar",
        "plain",
        "live",
        "live voices",
        "CPU s/s",
        "cpWER",
        "events",
        "right",
        "targets",
    ):
        table.add_column(heading, justify="left" if heading == "targets" else "right")
    for each in outcomes:
        figures = (
            each.error.rate,
            each.floor,
            each.error_through_pauses,
            each.error_with_collar,
            each.plain_error,
            each.live_error,
        )
        table.add_row(
            str(each.people),
            ", ".join(map(str, each.found)),
            *(f"{100 * figure:.1f} %" for figure in figures),
            ", ".join(map(str, each.live_found)),
            f"{each.cpu_per_s:.4f}, {each.live_cpu_per_s:.4f}",
            f"{100 * each.words.cp_word_errors:.1f} %",
            f"{100 * each.words_by_events.cp_word_errors:.1f} %",
            f"{100 * each.words.named_right:.1f} %",
            ", ".join(each.faults()) or "met",
        )
    _CONSOLE.print(table)
    return any(each.faults() for each in outcomes)


def measure_voices(folder: Path, settings: Settings, model: str, people: int) -> VoicesOutcome:
    """Compose meetings of so many people from a folder of clips, and judge them. Blocks for minutes.

    Raises SetupError where the weights or the model are not here.
    """
    networks = load_networks(settings)
    if networks is None:
        raise SetupError(f"The diarization weights are not on this machine. {weights.remedy()}")
    errors, collars, paused, plains, lives, found, found_live = [], [], [], [], [], [], []
    spent = spent_live = audio_s = 0.0
    words = by_events = Scores(words=0, errors=0, named=0, right=0)
    any_language = voices_of(folder, least=people, texts_only=False)
    english = voices_of(folder, least=people, texts_only=True)
    whisper = load_whisper(settings.whisper, settings.data, model)
    # The first inference of a process prepares the others: a tenth of what two minutes of sound take.
    diarize(networks, _source(compose(any_language, people=people, turns=people, seed=SEEDS[0])))
    for seed in SEEDS:
        meeting = compose(any_language, people=people, turns=MEETINGS[people], seed=seed)
        began = time.process_time()
        spans = diarize(networks, _source(meeting))
        spent += time.process_time() - began
        audio_s += meeting.duration_s
        found.append(len({span.voice for span in spans}))
        errors.append(diarization_error(meeting.spoken(), spans, meeting.duration_s))
        collars.append(diarization_error(meeting.spoken(), spans, meeting.duration_s, collar_s=0.25).rate)
        paused.append(diarization_error(through_pauses(meeting), spans, meeting.duration_s).rate)
        heard_live = finals_of(meeting)
        began = time.process_time()
        live = live_spans(networks, heard_live)
        spent_live += time.process_time() - began
        found_live.append(len({span.voice for span in live}))
        lives.append(diarization_error(meeting.spoken(), live, meeting.duration_s).rate)
        plains.append(diarization_error(meeting.spoken(), plain_spans(networks, meeting), meeting.duration_s).rate)
        said = compose(english, people=people, turns=MEETINGS[people], seed=seed)
        heard = whisper.transcribe(_source(said), lang="en").utterances
        numbered = by_voice(heard, diarize(networks, _source(said)))
        words += judged(said, numbered, seed, diarized=True)
        by_events += judged(said, heard, seed, diarized=False)
    return VoicesOutcome(
        people=people,
        audio_s=round(audio_s, 1),
        found=tuple(found),
        error=DiarizationError(
            missed=float(np.mean([error.missed for error in errors])),
            false=float(np.mean([error.false for error in errors])),
            confused=float(np.mean([error.confused for error in errors])),
        ),
        error_with_collar=float(np.mean(collars)),
        error_through_pauses=float(np.mean(paused)),
        live_error=float(np.mean(lives)),
        live_found=tuple(found_live),
        live_cpu_per_s=spent_live / audio_s,
        plain_error=float(np.mean(plains)),
        cpu_per_s=spent / audio_s,
        words=words,
        words_by_events=by_events,
    )


def judged(meeting: Composed, utterances: Sequence[Utterance], seed: int, *, diarized: bool) -> Scores:
    """Return whose the words are by events that are late and incomplete, against who said them."""
    speech_ = SourceSpeech(source="track-1", utterances=utterances, mixed=True, diarized=diarized)
    facts = MeetingFacts(duration_s=meeting.duration_s, participants=participants(meeting, seed))
    transcript: Transcript = attribute([speech_], facts)
    told = [segment.spoken() for segment in transcript.segments]
    return score([(name_of(turn.who), turn.text or "") for turn in meeting.turns], told)


def name_of(who: int) -> str:
    return f"Person {who}"


def participants(meeting: Composed, seed: int) -> tuple[Participant, ...]:
    """Return everybody, with the events of a site."""
    draw = random.Random(seed)
    spoken: dict[int, list[tuple[float, float]]] = {who: [] for who in range(meeting.people)}
    for turn in meeting.turns:
        if draw.random() >= MISSED and turn.spoken:
            spoken[turn.who].append((turn.spoken[0][0] + ONSET_S, turn.spoken[-1][1] + RELEASE_S))
    return tuple(
        Participant(
            key=f"p{who}",
            name=name_of(who),
            avatar=None,
            first_seen_at=datetime.fromtimestamp(0, UTC),
            events=tuple(
                SpeakingEvent(type=kind, timestamp=round(1000 * at))
                for span in spans
                for kind, at in zip((SpeakingKind.STARTED, SpeakingKind.STOPPED), span, strict=True)
            ),
        )
        for who, spans in spoken.items()
    )


def through_pauses(meeting: Composed) -> dict[str, list[tuple[float, float]]]:
    """Return who speaks when, shorter pauses within a turn being speech."""
    found: dict[str, list[tuple[float, float]]] = {}
    for turn in meeting.turns:
        own = found.setdefault(str(turn.who), [])
        for n, (start, end) in enumerate(turn.spoken):
            if n and start - own[-1][1] <= GOES_ON_S:
                own[-1] = (own[-1][0], end)
            else:
                own.append((start, end))
    return found


def finals_of(meeting: Composed) -> list[OpenUtterance]:
    """Return the meeting cut as live speech is."""
    track, found = Track(), []
    sound = (np.clip(meeting.samples, -1, 1) * 32_767).astype(np.int16)
    for part in [*np.split(sound, range(RATE, len(sound), RATE)), None]:
        _ = track.finish() if part is None else track.take(part)
        while track.closed:
            found.append(track.closed[0])
            track.done(found[-1], found[-1].seconds)
    return found


def live_spans(networks: Networks, finals: Sequence[OpenUtterance]) -> list[VoiceSpan]:
    """Return who speaks when as it is found out live, without any words."""
    follower = VoiceFollower(networks)
    return [
        replace(span, start=span.start + final.first / RATE, end=span.end + final.first / RATE)
        for final in finals
        for span in follower.spans(as_float(final.samples), final.heard)
    ]


def plain_spans(networks: Networks, meeting: Composed) -> list[VoiceSpan]:
    """Return spans found the plain way: a detector's speech in short windows, each one person's."""
    windows = [
        (at, min(at + WINDOW_S, end))
        for start, end in speech.listen(meeting.samples).stretches()
        for at in np.arange(start, max(start + 0.01, end - WINDOW_S / 2), STEP_S).tolist()
    ]
    voices = np.stack([networks.voice(meeting.samples[round(a * RATE) : round(b * RATE)]) for a, b in windows])
    groups = linked(voices @ voices.T, ONE_VOICE)
    owner = {n: number for number, members in enumerate(groups) for n in members}
    return [
        VoiceSpan(start=start, end=min(end, start + STEP_S) if n + 1 < len(windows) else end, voice=owner[n])
        for n, (start, end) in enumerate(windows)
    ]


def _source(meeting: Composed) -> Callable[[float], list[Block]]:
    """Return the meeting from its beginning, whatever is asked for: nothing here resumes."""
    return lambda _: [Block(start_s=0.0, samples=meeting.samples)]
