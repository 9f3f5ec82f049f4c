"""A page that subscribed to somebody twice: the second track adds nothing."""

import random
from collections.abc import Iterable

from sederunt.media.duplicate_tracks import ALIKE, ALONE
from sederunt.media.timeline import Timeline
from sederunt.model.audio import CapturedFrame, Codec, Packet

STARTED_MS = 1_790_000_000_000.0
BATCH = 10  # frames that a page hands over at once, one track after another


def _voice(seed: int, count: int) -> list[bytes]:
    """Packets of 20 ms that nobody else sends; every fourth is silence."""
    drawn = random.Random(seed)
    return [b"\x78\xff\xfe" if n % 4 == 3 else b"\x78" + drawn.randbytes(40) for n in range(count)]


def _track(track: int, voice: Iterable[bytes], *, first: int = 0, late_ms: float = 0.0) -> list[CapturedFrame]:
    return [
        CapturedFrame(
            track=track,
            codec=Codec.OPUS,
            ssrc=100 + track,
            sequence=(7 * track + n) & 0xFFFF,
            timestamp=5_000 * track + 960 * n,
            csrcs=(),
            level=None,
            at_ms=STARTED_MS + 50 + 20 * n + late_ms,
            payload=payload,
        )
        for n, payload in enumerate(voice, start=first)
    ]


def _placed(*tracks: list[CapturedFrame]) -> tuple[dict[str, list[Packet]], int]:
    """What was placed, by source, and how many packets were left out as told already."""
    timeline, placed = Timeline(STARTED_MS), list[Packet]()
    for at in range(0, max(map(len, tracks)), BATCH):
        for track in tracks:
            placed += timeline.add(track[at : at + BATCH])
    placed += timeline.flush()
    sources = {packet.source for packet in placed}
    left_out = timeline.facts()["twins"]
    assert isinstance(left_out, int)
    return {source: [p for p in placed if p.source == source] for source in sources}, left_out


def test_what_comes_on_two_tracks_is_kept_once_whichever_is_handed_over_first() -> None:
    voice = _voice(1, 200)
    first, second = _track(2, voice), _track(3, voice, late_ms=4)
    for order in ((first, second), (second, first)):
        kept, left_out = _placed(*order)
        assert [packet.payload for packet in kept["track-2"]] == voice
        assert len(kept["track-3"]) <= 4 * BATCH, "until it was known for a twin"
        assert left_out == 200 - len(kept["track-3"])


def test_two_people_are_not_taken_for_one_though_their_silence_is_alike() -> None:
    kept, left_out = _placed(_track(0, _voice(1, 200)), _track(1, _voice(2, 200)))
    assert (len(kept["track-0"]), len(kept["track-1"])) == (200, 200)
    assert left_out == 0


def test_a_second_track_is_heard_again_once_the_first_has_ended_or_it_becomes_another_persons() -> None:
    voice, other = _voice(1, 100), _voice(2, 200)
    kept, left_out = _placed(_track(0, voice), _track(1, [*voice, *other]))
    spoken = [packet.payload for packet in kept["track-1"] if packet.payload in other]
    assert spoken[-100:] == other[-100:]
    missed = len(other) - len(spoken)
    assert missed <= ALONE * 4 / 3 + 1
    assert left_out >= 100 - 4 * BATCH - ALIKE + missed
