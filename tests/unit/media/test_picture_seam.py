"""Pictures of two recordings of one meeting: each source is the one's, then the other's, from a key frame on."""

from dataclasses import replace

import pytest

from sederunt.media.picture_seam import PictureFit, picture_ends
from sederunt.media.video import VideoFrame
from sederunt.model.audio import Codec

FRAME_S = 0.1


def stretch(
    first: int, last: int, *, source: str = "77", sent_as: str = "", keys: tuple[int, ...] = (0, 50, 150)
) -> list[VideoFrame]:
    """The pictures of a sender by number, ten a second."""
    return [
        VideoFrame(
            source=source,
            start=number * FRAME_S,
            codec=Codec.VP8,
            keyframe=number in keys,
            payload=number.to_bytes(2, "big") * 20 + sent_as.encode(),
        )
        for number in range(first, last)
    ]


def kept(earlier: list[VideoFrame], later: list[VideoFrame]) -> list[VideoFrame]:
    return PictureFit(until_s=picture_ends(earlier, later)).of(earlier)


def test_the_earlier_one_ends_where_the_later_one_has_its_first_key_frame() -> None:
    assert kept(stretch(0, 65), stretch(50, 200)) == stretch(0, 50)


def test_a_source_that_the_later_one_has_not_yet_or_never_is_kept_to_the_end() -> None:
    others = [*stretch(0, 65, source="88", sent_as="b"), *stretch(0, 65, source="99", sent_as="c")]
    later = [*stretch(50, 200), *stretch(100, 200, source="88", sent_as="b", keys=(100,))]
    assert kept([*stretch(0, 65), *others], later) == [*stretch(0, 50), *others]


def test_what_comes_before_a_key_frame_is_no_beginning() -> None:
    assert kept(stretch(0, 65), stretch(45, 200)) == stretch(0, 50)


@pytest.mark.parametrize("apart_s", [-0.15, 0.15])
def test_the_same_key_frame_is_there_once_though_key_frames_are_slow(apart_s: float) -> None:
    """And nothing of the earlier one lies behind the beginning of the later one."""
    later = [replace(frame, start=frame.start + apart_s) for frame in stretch(50, 200)]
    found = kept(stretch(0, 65), later)
    assert found == stretch(0, len(found))
    assert all(frame.start < later[0].start for frame in found)
    assert len(found) in (49, 50)


def test_a_source_by_another_name_is_known_by_its_key_frame() -> None:
    earlier = [*stretch(0, 65, source="track-3"), *stretch(0, 65, source="track-4", keys=(0, 49))]
    found = kept(earlier, stretch(50, 200, source="track-5"))
    assert [frame for frame in found if frame.source == "track-3"] == stretch(0, 50, source="track-3")
    assert [frame for frame in found if frame.source == "track-4"] == stretch(0, 65, source="track-4", keys=(0, 49))


def test_a_name_that_is_another_persons_now_is_decoded_as_one_all_the_same() -> None:
    another = stretch(50, 200, source="track-3", sent_as="b")
    assert kept(stretch(0, 65, source="track-3"), another) == stretch(0, 50, source="track-3")


def test_covered_cameras_are_alike_and_end_no_others_picture_long_before() -> None:
    earlier = stretch(0, 65, source="track-3")
    later = [replace(frame, source="track-5", start=frame.start + 1) for frame in stretch(50, 200)]
    assert kept(earlier, later) == earlier


def test_pictures_are_moved_with_their_sound_never_before_the_recording() -> None:
    fit = PictureFit(shift_s=-0.25, until_s={"77": 0.2})
    assert [frame.start for frame in fit.of(stretch(0, 9))] == pytest.approx([0, 0, 0, 0.05, 0.15])
