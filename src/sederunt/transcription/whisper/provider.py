"""Whisper as a provider: a file in, utterances out."""

from __future__ import annotations

from sederunt.settings import Settings
from sederunt.transcription.models import ModelRow
from sederunt.transcription.provider import Result, Task
from sederunt.transcription.sessions import RealtimeProvider
from sederunt.transcription.whisper import resolution
from sederunt.transcription.whisper.live.provider import LiveWhisper


class WhisperProvider:
    """The provider that needs no credential."""

    name = "whisper"
    realtime: RealtimeProvider = LiveWhisper()

    def fault(self, settings: Settings, model: ModelRow) -> str | None:
        """The remedies, where the model of the settings is not on this machine."""
        whisper = settings.whisper
        if resolution.is_present(whisper, settings.data):
            return None
        return resolution.remedies(str(whisper.path or whisper.model), offline=whisper.offline)

    def language(self, settings: Settings, task: Task) -> str | None:
        """What the language finder is sure of; English where the model writes nothing else."""
        from sederunt.media.pcm import read_pcm
        from sederunt.transcription.whisper.loading import load_whisper

        whisper = load_whisper(settings.whisper, settings.data)
        return whisper.sure_language(lambda start_s: read_pcm(task.path, start_s=start_s), cancelled=task.cancelled)

    def transcribe(self, settings: Settings, task: Task) -> Result:
        """Transcribe a file of any container PyAV reads."""
        from sederunt.media.pcm import read_pcm
        from sederunt.transcription.whisper.loading import load_whisper

        whisper = load_whisper(settings.whisper, settings.data)
        heard = whisper.transcribe(
            lambda start_s: read_pcm(task.path, start_s=start_s),
            lang=task.lang,
            likely_lang=task.likely_lang,
            vocabulary=task.vocabulary,
            resume=task.resume,
            on_part=task.on_part,
            on_progress=task.on_progress,
            cancelled=task.cancelled,
        )
        return Result(utterances=heard.utterances, detected_lang=heard.detected_lang)
