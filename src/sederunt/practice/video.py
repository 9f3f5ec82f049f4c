"""Pre-encoded VP8 pictures for meetings that show video."""

from collections.abc import Sequence

from sederunt.practice.sfu import Peer


class Video:
    """The video of one meeting: the same moving picture in every track, encoded once."""

    def __init__(self, tracks: int) -> None:
        self._tracks = tracks

    def tick(self, tick: int, peers: Sequence[Peer]) -> None:
        """Send what is due in these 20 ms."""

    def key_frame(self, slot: int) -> None:
        """Jump to a key frame in that track."""
