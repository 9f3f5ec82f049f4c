"""Whisper as a provider: turns a file into utterances."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from sederunt.settings import Settings
from sederunt.transcription.languages import primary_tag
from sederunt.transcription.provider import Result, Task, VendorAccount
from sederunt.transcription.rows import Can, ModelRow, ProviderRow
from sederunt.transcription.scheduler import Rank
from sederunt.transcription.sessions import RealtimeProvider
from sederunt.transcription.whisper import resolution
from sederunt.transcription.whisper.catalog import AUTO_NAME, SMALLEST
from sederunt.transcription.whisper.live.provider import LiveWhisper
from sederunt.transcription.whisper.quality import QUALITIES, Quality

if TYPE_CHECKING:  # brings numpy
    from sederunt.media.pcm import Block
    from sederunt.transcription.diarization.diarizer import VoiceSpan
    from sederunt.transcription.whisper.engine import HeardWords, Whisper
ROW = ProviderRow(name="whisper", title="Whisper", needs_key=False, reads_channels=True)

_LIVE = frozenset({Can.DETECT_LANGUAGE, Can.VOCABULARY})
MODELS = (
    ModelRow(
        identifier="vendor1",
        aliases=("whisper",),
        keys=("openai/whisper-large-v3", "groq/whisper-large-v3-turbo"),
        provider="whisper",
        for_recordings=True,
        can=_LIVE | {Can.DIARIZE},  # if the weights are installed; `sederunt doctor` tells
    ),
    # Our extensions: the interface has no live Whisper, and no levels of quality.
    *(
        ModelRow(
            identifier=f"vendor1-{quality}",
            aliases=(f"whisper-{quality}",),
            provider="whisper",
            vendor_model=quality,
            for_recordings=True,
            can=_LIVE | {Can.DIARIZE},
        )
        for quality in ("fast", "best")
    ),
    ModelRow(
        identifier="vendor1-realtime",
        aliases=("whisper-realtime",),
        provider="whisper",
        realtime=True,
        can=_LIVE | {Can.DIARIZE},
    ),
)


class WhisperProvider:
    """The provider that needs no credential."""

    row = ROW
    models = MODELS
    account: VendorAccount | None = None
    realtime: RealtimeProvider = LiveWhisper()

    def fault(self, settings: Settings, model: ModelRow) -> str | None:
        """Return the remedies if the model of the settings is not on this machine."""
        whisper = settings.whisper
        if resolution.is_present(whisper, settings.data):
            return None
        return resolution.remedies(str(whisper.path or whisper.model), offline=whisper.offline)

    def language(self, settings: Settings, task: Task) -> str | None:
        """Return the language if detection is sure; English if the model writes nothing else."""
        from sederunt.transcription.whisper.loading import load_whisper

        whisper = load_whisper(settings.whisper, settings.data, workers=task.lane.cores)
        return whisper.sure_language(_reader(task), cancelled=task.cancelled, lane=task.lane)

    def transcribe(self, settings: Settings, task: Task) -> Result:
        """Transcribe a file of any container that PyAV reads, with diarization in parallel."""
        from sederunt.transcription.whisper.loading import load_whisper

        quality = quality_of(settings, task)
        model = model_for(settings, task, quality)
        whisper = load_whisper(settings.whisper, settings.data, model, workers=task.lane.cores)
        with ThreadPoolExecutor(1, thread_name_prefix="voices") as executor:
            stop = threading.Event()
            voices = executor.submit(self._voices, settings, task, stop)
            try:
                heard_words = self._words(whisper, task, quality)
            except BaseException:
                stop.set()
                raise
            spans = voices.result()
        if spans is None:
            return Result(
                utterances=heard_words.utterances, detected_lang=heard_words.detected_lang, doubts=heard_words.doubts
            )
        from sederunt.transcription.diarization.wording import by_voice

        return Result(
            utterances=by_voice(heard_words.utterances, spans),
            detected_lang=heard_words.detected_lang,
            diarized=True,
            doubts=heard_words.doubts,
        )

    def _words(self, whisper: Whisper, task: Task, quality: Quality) -> HeardWords:
        return whisper.transcribe(
            _reader(task),
            lang=task.lang,
            likely_lang=task.likely_lang,
            vocabulary=task.vocabulary,
            quality=quality,
            resume=task.resume,
            on_part=task.on_part,
            on_progress=task.on_progress,
            cancelled=task.cancelled,
            lane=task.lane,
        )

    def _voices(self, settings: Settings, task: Task, stop: threading.Event) -> Sequence[VoiceSpan] | None:
        """Return who speaks when; None if the task does not ask, or the networks are not on this machine."""
        if not task.several_voices:
            return None
        from sederunt.transcription.diarization.diarizer import diarize
        from sederunt.transcription.diarization.networks import load_networks

        networks = load_networks(settings)
        if networks is None:
            return None
        with task.lane.turns(lambda: task.cancelled.is_set() or stop.is_set(), Rank.CHAIN) as turns:
            return diarize(networks, _reader(task), cancelled=task.cancelled, pause=turns.pause)


def quality_of(settings: Settings, task: Task) -> Quality:
    """Return the quality that the task's model names, or else that of the installation."""
    return QUALITIES[task.model.vendor_model or settings.whisper.quality]


def model_for(settings: Settings, task: Task, quality: Quality) -> str | None:
    """Return the model for a task; None for that of the settings, which wins if it names one."""
    is_named = settings.whisper.model != AUTO_NAME or settings.whisper.path is not None
    if is_named or not quality.small or primary_tag(task.lang) != "en":
        return None
    return SMALLEST if resolution.is_present(settings.whisper, settings.data, SMALLEST) else None


def _reader(task: Task) -> Callable[[float], Iterator[Block]]:
    """Return a function that reads the task's sound from a given second on."""
    from sederunt.media.pcm import read_pcm
    from sederunt.media.sandboxed_reader import read_pcm_sandboxed

    if task.stretches:
        return lambda start_s: (
            block
            for first_s, end_s in task.stretches
            if end_s > start_s
            for block in read_pcm(task.path, start_s=max(first_s, start_s), end_s=end_s)
        )
    if task.caller_file_s is None:
        return lambda start_s: read_pcm(task.path, start_s=start_s)
    read_sandboxed = partial(read_pcm_sandboxed, task.path, duration_s=task.caller_file_s, channel=task.channel)
    return lambda start_s: read_sandboxed(start_s=start_s)
