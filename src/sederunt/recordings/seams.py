"""How the pieces of overlapping stays of a bot fit together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TypeVar

from sederunt.media.picture_seam import PictureFit, picture_ends
from sederunt.media.pieces import read_piece
from sederunt.media.seam import MOST_SHIFT_S, NEAR_S, Fit, seam
from sederunt.media.spool import Timed
from sederunt.media.video import VideoFrame, read_video_piece
from sederunt.model.audio import Packet
from sederunt.storage.objects import Objects

LATER_PIECES = 3  # how many of the later stay are compared: twelve seconds, more than two holders ever share
EVERYTHING = Fit()

Item = TypeVar("Item", bound=Timed)
Reader = Callable[[bytes], list[Item]]


def stay_of(key: str) -> str:
    """Return the stay in a piece's key: `record.recorder.stay_name`."""
    return key.rsplit("/", 1)[-1].partition("-")[0]


async def fits_of(objects: Objects, keys: Sequence[str]) -> Mapping[str, Fit]:
    """Return stay → which part of its sound is kept, and where; stays that end before the next begins are absent.

    Raises what storage raises.

    Args:
        keys: of all pieces of sound, in order.
    """
    stays = _stays(keys)
    fits: dict[str, Fit] = {}
    for earlier, later in pairwise(stays):
        shift_s = fits.get(earlier, EVERYTHING).shift_s
        head = await _head(objects, stays[later], _packets)
        if not head:
            continue
        first_s = min(packet.start for packet in head)
        tail = await _tail(objects, stays[earlier], first_s - MOST_SHIFT_S, _packets)
        if (joint := seam(tail, head)) is not None:
            fits[earlier] = replace(joint.earlier, shift_s=shift_s)
            # Relative to the earlier stay's own times, which are shifted too.
            fits[later] = Fit(shift_s=joint.later.shift_s + shift_s)
    return fits


async def extents_of(objects: Objects, keys: Sequence[str]) -> list[tuple[float, float]]:
    """Return the first and last second of sound of each stay, in seconds of the recording.

    Raises what storage raises.

    Args:
        keys: of all pieces of sound, in order.
    """
    extents: list[tuple[float, float]] = []
    for stay_keys in _stays(keys).values():
        end_packets = [packet for key in {stay_keys[0], stay_keys[-1]} for packet in _packets(await objects.get(key))]
        if end_packets:
            extents.append(
                (
                    min(packet.start for packet in end_packets),
                    max(packet.start + packet.duration for packet in end_packets),
                )
            )
    return extents


async def picture_fits_of(objects: Objects, keys: Sequence[str], sound: Mapping[str, Fit]) -> Mapping[str, PictureFit]:
    """Return stay → which of its pictures are kept, and where; unchanged stays are absent.

    Raises what storage raises.

    Args:
        keys: of all pieces of pictures, in order.
        sound: the fits of the stays' sound, which give the difference between their clocks.
    """
    stays = _stays(keys)
    fits = {stay: PictureFit(shift_s=sound.get(stay, EVERYTHING).shift_s) for stay in stays}
    for earlier, later in pairwise(stays):
        head = fits[later].of(await _head(objects, stays[later], _pictures))
        if not head:
            continue
        since_s = min(frame.start for frame in head) - NEAR_S - fits[earlier].shift_s
        tail = fits[earlier].of(await _tail(objects, stays[earlier], since_s, _pictures))
        fits[earlier] = replace(fits[earlier], until_s=picture_ends(tail, head))
    return {stay: fit for stay, fit in fits.items() if fit != PictureFit()}


def _stays(keys: Sequence[str]) -> Mapping[str, Sequence[str]]:
    return {stay: list(stay_keys) for stay, stay_keys in groupby(keys, stay_of)}


async def _head(objects: Objects, keys: Sequence[str], read: Reader[Item]) -> list[Item]:
    """Return the beginning of a stay."""
    return [item for key in keys[:LATER_PIECES] for item in read(await objects.get(key))]


async def _tail(objects: Objects, keys: Sequence[str], since_s: float, read: Reader[Item]) -> list[Item]:
    """Return the end of a stay from a second of its own time on, or a little more."""
    tail: list[Item] = []
    for key in reversed(keys):
        items = read(await objects.get(key))
        tail = [*items, *tail]
        if items and items[0].start < since_s:
            break
    return tail


def _packets(data: bytes) -> list[Packet]:
    return read_piece(data, salvage=True)


def _pictures(data: bytes) -> list[VideoFrame]:
    return read_video_piece(data, salvage=True)
