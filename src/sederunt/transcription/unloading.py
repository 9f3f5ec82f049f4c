"""Free the memory of models that have not been used for a while; the next transcription loads them again."""

import sys

from sederunt import log
from sederunt.transcription import heap

# Modules that keep models, each with `unload`. They are not imported here if the process has not used them.
KEEPERS = ("sederunt.transcription.whisper.loading", "sederunt.transcription.diarization.networks")

logger = log.get(component="transcription")


def unload_models() -> None:
    """Drop every model that this process keeps. Memory is returned to the system once nobody uses them."""
    unload_count = sum(sys.modules[name].unload() for name in KEEPERS if name in sys.modules)
    if unload_count:
        heap.give_back()
        logger.info("Models were unloaded.", action="models_unloaded", count=unload_count)
