"""How much care a transcription takes: what a request or the installation may choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

# Frames of 10 ms. The first is `decoding.LEAST_CONTEXT` (that module brings numpy, and this one is read by every
# process); the second holds a whole window and its room. The network's own 3000 were dearer and no better.
_SHORT, _WHOLE_WINDOW = 1000, 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Quality:
    """One way to weigh words against CPU."""

    beams: int  # texts that are followed side by side in a first reading
    context: int  # frames that the encoder sees at least; the longer, the fewer guesses, and the dearer
    thorough: bool  # loud sound without a word is read again, whatever the detector thinks of it
    small: bool  # what is named as English is read by the smallest model that is installed


QUALITIES: Mapping[str, Quality] = MappingProxyType(
    {
        "fast": Quality(beams=1, context=_SHORT, thorough=False, small=True),
        "balanced": Quality(beams=2, context=_SHORT, thorough=True, small=False),
        "best": Quality(beams=5, context=_WHOLE_WINDOW, thorough=True, small=False),
    }
)
BALANCED = QUALITIES["balanced"]
