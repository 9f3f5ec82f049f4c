"""Entry point of live transcription: open one per bot, feed it frames, get segments."""

from collections.abc import Callable, Sequence

from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.live import (
    Ended,
    Event,
    Final,
    Frame,
    LiveSegment,
    LiveTranscription,
    OnEvent,
    Partial,
    Revised,
    Started,
    Trouble,
)
from sederunt.transcription.models import ModelRow
from sederunt.transcription.pipeline import Pipeline
from sederunt.transcription.plugins import realtime_provider
from sederunt.transcription.sessions import NO_COPY_NOTES, CopyNotes, Order


def open_live(
    settings: Settings,
    model_row: ModelRow,
    *,
    on_event: OnEvent,
    prefix: str,
    lang: str | None = None,
    vocabulary: Sequence[str] = (),
    is_mixed: Callable[[str], bool] = lambda _source: False,
    access: Access | None = None,
    copies: CopyNotes = NO_COPY_NOTES,
) -> LiveTranscription:
    """Open a bot's live transcription, on the running event loop.

    `prefix` begins every segment id; no earlier host of the bot may have had the same one. `is_mixed` is called when a
    source is first heard, and returns whether several people are in it. `on_event` is called on the event loop's
    thread.
    Raises SetupError if the model's provider does not transcribe live here.
    """
    if model_row.provider is None:
        raise ValueError("the model transcribes nothing")
    provider = realtime_provider(model_row.provider)
    order = Order(model=model_row, lang=lang, vocabulary=tuple(vocabulary), access=access, copies=copies)
    return Pipeline(settings, provider, order, on_event=on_event, prefix=prefix, is_mixed=is_mixed)


def prepare_live(settings: Settings, model_row: ModelRow, lang: str | None) -> None:
    """Load what live transcription needs, before there is any sound. Blocks. Raises SetupError."""
    if model_row.provider is not None:
        realtime_provider(model_row.provider).prepare(settings, lang)


__all__ = [
    "Ended",
    "Event",
    "Final",
    "Frame",
    "LiveSegment",
    "LiveTranscription",
    "OnEvent",
    "Partial",
    "Revised",
    "Started",
    "Trouble",
    "open_live",
    "prepare_live",
]
