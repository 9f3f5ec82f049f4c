"""What the engine needs of a network: the seam behind which Whisper stands, and whatever else turns sound into words.

The engine cuts a source into windows of at most 20 s at pauses, has each read with care, and merges what comes back:
whoever implements this gets sections on all cores, resuming, doubts and telling voices apart with it. Live lines need
more (`decoding.Network`), for drafts go on from words that are known.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from sederunt.transcription.whisper.decoding import Decoded, Encoded, ReadingOptions, context_for
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


@runtime_checkable
class ReadsTogether(Protocol):
    """What a network may have besides: `read` in two halves, of which the second takes several windows for less than
    one by one.
    """

    @property
    def windows_at_once(self) -> int:
        """Return how many windows the second half takes in the time of one window's `read`."""

    def encode(self, samples: Samples, *, context: int) -> Encoded:
        """Return the first half for a window."""

    def read_encoded(self, windows: Sequence[Encoded], reading: ReadingOptions) -> list[Decoded]:
        """Return the words of each, as `read` gives them."""


def first_readings(
    network: SpeechNetwork, windows: Sequence[Samples], options: ReadingOptions, pause: Callable[[], None]
) -> Iterator[Decoded]:
    """Yield the words of windows in order, as many at a time as the network takes; `pause` goes between two steps.

    What is encoded is as long for all as the longest asks for, however many are decoded at once: words do not depend
    on that.
    """
    if not isinstance(network, ReadsTogether):
        for number, samples in enumerate(windows):
            if number:
                pause()
            yield network.read(samples, options)
        return
    context = max(context_for(len(samples) // 160, options.context) for samples in windows)
    for first in range(0, len(windows), network.windows_at_once):
        if first:
            pause()
        encoded_windows = list[Encoded]()
        for samples in windows[first : first + network.windows_at_once]:
            encoded_windows.append(network.encode(samples, context=context))
            pause()
        yield from network.read_encoded(encoded_windows, options)
