"""The interface between the engine and a network: Whisper, or another that turns sound into words.

The engine cuts a source at pauses into windows of at most 20 s, reads each with care, and merges the results. A
network that implements this gets sections on all cores, resuming, doubts and diarization. Live transcription needs
more (`decoding.Network`), because drafts continue from known words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from sederunt.transcription.whisper.decoding import Decoded, Encoded, ReadingOptions, context_for
from sederunt.transcription.whisper.speech import Samples


class SpeechNetwork(Protocol):
    """A loaded network. Every method blocks and is called from several threads at once."""

    @property
    def multilingual(self) -> bool:
        """Return whether it detects languages; if it cannot, Whisper does so in its place."""

    @property
    def languages(self) -> frozenset[str]:
        """Return the languages that it writes, as two-letter tags."""

    def read(self, samples: Samples, reading: ReadingOptions, /) -> Decoded:
        """Return the words of up to 30 s of sound (16 kHz, -1 to 1), with times from its start in seconds.

        It ignores options that it does not know, such as prompt, beams and context. `silence` is 0 if it has no
        opinion. Reading the same sound again must give the same result.
        """

    def odds(self, samples: Samples, *, thorough: bool = False) -> Mapping[str, float]:
        """Return the probability of each language; called only if it is multilingual.

        Args:
            thorough: it may cost as much as a whole window.
        """

    def tokens(self, text: str) -> list[int]:
        """Return custom vocabulary as a prompt for `read`; empty if the network takes none."""


@runtime_checkable
class ReadsTogether(Protocol):
    """An optional extension: `read` in two halves, the second of which costs less for several windows together."""

    @property
    def windows_at_once(self) -> int:
        """Return how many windows the second half decodes in the time of one window's `read`."""

    def encode(self, samples: Samples, *, context: int) -> Encoded:
        """Return the result of the first half for a window."""

    def read_encoded(self, windows: Sequence[Encoded], reading: ReadingOptions) -> list[Decoded]:
        """Return the words of each window, as `read` does."""


def first_readings(
    network: SpeechNetwork, windows: Sequence[Samples], options: ReadingOptions, pause: Callable[[], None]
) -> Iterator[Decoded]:
    """Yield the words of windows in order, as many at a time as the network takes; calls `pause` between steps.

    All windows are encoded with the context of the longest, so that words do not depend on how many are decoded at
    once.
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
