"""A page that subscribed to somebody twice: the second track adds nothing."""

import random
from collections.abc import Iterable
from operator import attrgetter

from sederunt.media.duplicate_tracks import WITHIN_MS
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
    spoken = [packet for packet in other if len(packet) > 3]
    assert [packet.payload for packet in kept["track-1"] if packet.payload in spoken] == spoken
    assert 100 - 4 * BATCH <= left_out <= 100 + 2, "some silence beside"


def test_a_subscription_made_anew_before_the_old_one_is_dropped_loses_no_packet() -> None:
    voice = [b"\x78" + bytes([n % 256, n // 256]) * 20 for n in range(400)]
    frames = sorted([*_track(0, voice[:250]), *_track(1, voice[150:], first=150)], key=attrgetter("at_ms"))
    timeline = Timeline(STARTED_MS)
    kept = [packet for frame in frames for packet in timeline.add([frame], now_ms=frame.at_ms)] + timeline.flush()
    assert {packet.payload for packet in kept} == set(voice)
    left_out = timeline.facts()["twins"]
    assert isinstance(left_out, int)
    assert 50 < left_out < 100


def test_what_the_second_track_alone_brings_waits_no_longer_than_a_counterpart_may_take() -> None:
    voice = _voice(1, 300)
    first, second = _track(0, voice[:150]), _track(1, voice)
    timeline, waits = Timeline(STARTED_MS), list[float]()
    for n, frame in enumerate(second):
        now_ms = frame.at_ms
        for packet in timeline.add([*first[n : n + 1], frame], now_ms=now_ms):
            if n > 155 and packet.source == "track-1":
                waits.append(now_ms - STARTED_MS - packet.start * 1000)
    assert len(waits) > 130
    assert max(waits) <= WITHIN_MS + 2 * 20
    assert max(waits[-50:]) <= 60, "a track that is alone is held no more"


def test_two_who_send_coded_silence_are_two_and_lose_nothing_of_what_they_say_next() -> None:
    silence = [b"\x78" + b"\x01" * 34] * 100
    one, two = [*_voice(1, 50), *silence, *_voice(3, 100)], [*_voice(2, 50), *silence, *_voice(4, 100)]
    kept, left_out = _placed(_track(0, one), _track(1, two))
    assert [packet.payload for packet in kept["track-0"]] == one
    assert [packet.payload for packet in kept["track-1"]] == two
    assert left_out == 0
