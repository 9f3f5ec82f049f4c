"""Gives back what models take, where nobody has transcribed for a while; whoever comes next loads them again."""

import sys

from sederunt import log
from sederunt.transcription import heap

# Modules that keep models, each with `unload`; a process that never loaded one does not import them for this.
KEEPERS = ("sederunt.transcription.whisper.loading", "sederunt.transcription.diarization.networks")

logger = log.get(component="transcription")


def unload_models() -> None:
    """Forget every model that this process keeps; memory goes back to the system where nobody is at one any more."""
    unloaded = sum(sys.modules[name].unload() for name in KEEPERS if name in sys.modules)
    if unloaded:
        heap.give_back()
        logger.info("Models were unloaded.", action="models_unloaded", count=unloaded)
