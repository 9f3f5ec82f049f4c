"""How the pieces of a bot's stays fit together, where one began before the one before it had ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from sederunt.media.pieces import read_piece, write_piece
from sederunt.media.seam import MOST_SHIFT_S, Fit, seam
from sederunt.model.audio import Packet
from sederunt.storage.objects import Objects

LATER_PIECES = 3  # of the later stay that are compared: twelve seconds, more than two holders ever share
EVERYTHING = Fit()


def stay_of(key: str) -> str:
    """Return the stay that a piece's key names: `record.recorder.stay_name`."""
    return key.rsplit("/", 1)[-1].partition("-")[0]


async def fits_of(objects: Objects, keys: Sequence[str]) -> Mapping[str, Fit]:
    """Return stay → what of its sound is kept and where it lies; stays that end before the next begins are not in it.

    Args:
        keys: of all pieces of sound, in order. Raises what storage raises.
    """
    stays = {stay: list(own) for stay, own in groupby(keys, stay_of)}
    fits: dict[str, Fit] = {}
    for earlier, later in pairwise(stays):
        shift_s = fits.get(earlier, EVERYTHING).shift_s
        head = [packet for key in stays[later][:LATER_PIECES] for packet in await _packets(objects, key)]
        if not head:
            continue
        first_s = min(packet.start for packet in head)
        tail = await _tail(objects, stays[earlier], first_s - MOST_SHIFT_S)
        if (found := seam(tail, head)) is not None:
            fits[earlier] = replace(found.earlier, shift_s=shift_s)
            # Laid against the earlier one's own times, which are moved with it.
            fits[later] = Fit(shift_s=found.later.shift_s + shift_s)
    return fits


async def _tail(objects: Objects, keys: Sequence[str], since_s: float) -> list[Packet]:
    """Return what a stay recorded since a second by its own times, or a little more."""
    tail: list[Packet] = []
    for key in reversed(keys):
        packets = await _packets(objects, key)
        tail = [*packets, *tail]
        if packets and packets[0].start < since_s:
            break
    return tail


async def _packets(objects: Objects, key: str) -> list[Packet]:
    return read_piece(await objects.get(key), salvage=True)


def fitted(data: bytes, fit: Fit) -> Iterator[bytes]:
    """Yield a piece as it fits; nothing where nothing of it is kept."""
    if fit == EVERYTHING:
        yield data
    elif packets := fit.of(read_piece(data, salvage=True)):
        yield write_piece(packets)
