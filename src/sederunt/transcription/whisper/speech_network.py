"""What the engine needs of a network: the seam behind which Whisper stands, and whatever else turns sound into words.

The engine cuts a source into windows of at most 20 s at pauses, has each read with care, and merges what comes back:
whoever implements this gets sections on all cores, resuming, doubts and telling voices apart with it. Live lines need
more (`decoding.Network`), for drafts go on from words that are known.
"""

from collections.abc import Mapping
from typing import Protocol

from sederunt.transcription.whisper.decoding import Decoded, ReadingOptions
from sederunt.transcription.whisper.speech import Samples


class SpeechNetwork(Protocol):
    """A loaded network. Every method blocks and is called from several threads at once."""

    @property
    def multilingual(self) -> bool:
        """Return whether it can tell the language of speech; for one that cannot Whisper is asked."""

    @property
    def languages(self) -> frozenset[str]:
        """Return the languages that it writes, as two-letter tags."""

    def read(self, samples: Samples, reading: ReadingOptions, /) -> Decoded:
        """Return the words of up to 30 s of sound (16 kHz, -1 to 1), with times from its start in seconds.

        What of the options it does not know, it leaves aside: a prompt, texts side by side, context. `silence` is 0
        where it has no opinion. Reading the same again must give the same.
        """

    def odds(self, samples: Samples, *, thorough: bool = False) -> Mapping[str, float]:
        """Return the probability of each language; only asked of one that is multilingual.

        Args:
            thorough: whether it may cost what a whole window costs.
        """

    def tokens(self, text: str) -> list[int]:
        """Return custom vocabulary as a prompt for `read`; empty for a network that takes none."""
