"""Levels of care for a transcription, chosen by a request or by the installation."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

# Frames of 10 ms. The first equals `decoding.LEAST_CONTEXT` (that module imports numpy, and every process imports this
# one); the second holds a whole window and its room. The network's own 3000 cost more and were no better.
_SHORT, _WHOLE_WINDOW = 1000, 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Quality:
    """One balance between accuracy and CPU time."""

    beams: int  # beam size of a first reading
    context: int  # the least frames that the encoder sees; more cost more and give fewer guesses
    thorough: bool  # loud sound without a word is read again, whatever the detector thinks
    small: bool  # requests that name English use the smallest installed model


QUALITIES: Mapping[str, Quality] = MappingProxyType(
    {
        "fast": Quality(beams=1, context=_SHORT, thorough=False, small=True),
        "balanced": Quality(beams=2, context=_SHORT, thorough=True, small=False),
        "best": Quality(beams=5, context=_WHOLE_WINDOW, thorough=True, small=False),
    }
)
BALANCED = QUALITIES["balanced"]
