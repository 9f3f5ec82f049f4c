"""What the bots of a practice meeting hear and see: sound and pictures, 20 ms at a time."""

from collections.abc import Sequence

from sederunt.practice.people import Occupant
from sederunt.practice.script import Variant
from sederunt.practice.sfu import Peer
from sederunt.practice.sound import TICK_S, MeetingSound
from sederunt.practice.video import Video


class MeetingMedia:
    """The media of one meeting, and its time: how many ticks passed since it began."""

    def __init__(self, variant: Variant, slots: int, people: Sequence[Occupant]) -> None:
        """`slots`: how many voices the site sends beside each other."""
        owners = [person.csrc for person in people] if variant.audio == "own_tracks" else []
        own_slots = owners or (variant.audio == "per_person" and slots > 1)
        self.sound = MeetingSound(
            slots=len(owners) or slots,
            owners=owners,
            mode="per_person" if own_slots else "mixed",
            idle=variant.idle,
            dtx=variant.dtx,
        )
        self._video = Video(variant.video) if variant.video else None
        self.has_begun = False
        self._ticks = 0

    @property
    def now_s(self) -> float:
        """Return the meeting time."""
        return self._ticks * TICK_S

    def begin_tick(self) -> None:
        """Let 20 ms pass."""
        self._ticks += 1

    def send(self, peers: Sequence[Peer]) -> list[int]:
        """Send what is due in this tick; returns the CSRCs whose clip ended with it."""
        frames, finished = self.sound.tick()
        for frame in frames:
            for peer in peers:
                peer.send_audio(frame, self._ticks)
        if self._video:
            self._video.tick(self._ticks, peers)
        return finished

    def key_frame(self, slot: int) -> None:
        """Take in that a bot's receiver asked for a key frame."""
        if self._video:
            self._video.key_frame(slot)
