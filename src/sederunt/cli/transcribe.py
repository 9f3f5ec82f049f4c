"""`sederunt transcribe FILE`: transcribe a recording on this machine, without a running service."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from sederunt import log
from sederunt.cli.error_messages import plain_errors
from sederunt.cli.terminal import plain, tell, tell_json
from sederunt.media.probe import probe
from sederunt.model.transcript import Transcript
from sederunt.settings import Settings, load
from sederunt.transcription import profanity
from sederunt.transcription.models import find
from sederunt.transcription.plugins import provider
from sederunt.transcription.provider import Task
from sederunt.transcripts.attribution import MeetingFacts, SourceSpeech, attribute

_WHISPER = "vendor1"


def transcribe(
    file: Annotated[Path, typer.Argument(help="Sound or video: MP3, WAV, MP4, WEBM, M4A, FLAC, OGG, …")],
    model: Annotated[
        str | None, typer.Option(help="A Whisper model by name or directory; default: base, else tiny.en.")
    ] = None,
    lang: Annotated[
        str | None, typer.Option(help="The language, such as en or pt-BR; found out when left out.")
    ] = None,
    word: Annotated[list[str] | None, typer.Option(help="A word or name to expect; may be given many times.")] = None,
    mask: Annotated[bool, typer.Option("--mask-profanity", help="Put stars into swear words.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Segments, utterances and words as JSON.")] = False,
    data: Annotated[Path | None, typer.Option("--data", help="The data directory, where models lie.")] = None,
) -> None:
    """Transcribe a file with Whisper, here and now. Text goes to standard output, progress to standard error."""
    log.configure("lines", "warning")
    with plain_errors():
        settings = _settings(data, model)
        duration_s = probe(file).duration_s
        row = find(_WHISPER)
        assert row is not None
        transcript = _transcribe(settings, Task(path=file, model=row, lang=lang, vocabulary=word or ()), duration_s)
        if mask:
            transcript = profanity.mask(transcript, lang or transcript.detected_lang)
        if as_json:
            tell_json(asdict(transcript), readable=True)
        else:
            tell("\n".join(f"[{_clock(segment.start)}] {plain(segment.transcript)}" for segment in transcript.segments))


def _transcribe(settings: Settings, task: Task, duration_s: float) -> Transcript:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(task.path.name, total=duration_s)
        task_with_progress = replace(task, on_progress=lambda done_s: progress.update(bar, completed=done_s))
        result = provider("whisper").transcribe(settings, task_with_progress)
    speech = SourceSpeech(source="file", utterances=result.utterances, mixed=True)
    return attribute([speech], MeetingFacts(duration_s=duration_s), detected_lang=result.detected_lang)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02}"


def _settings(data: Path | None, model: str | None) -> Settings:
    settings = load(**({} if data is None else {"data": data}))
    if model is None:
        return settings
    return settings.model_copy(update={"whisper": settings.whisper.model_copy(update={"model": model, "path": None})})
