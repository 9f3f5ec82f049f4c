"""A session's sound goes out in few messages, whole and in order."""

import numpy as np

from sederunt.transcription.backlog import RATE
from sederunt.transcription.cloud.live import MOST_FRAMES, _Sound


def counted(first: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    return (np.arange(first, first + count) % 30_000).astype(np.int16)


async def sent(sound: _Sound) -> list[bytes]:
    frames = []
    while (frame := await sound.frame()) is not None:
        frames.append(frame)
    return frames


async def test_sound_that_waits_together_is_sent_together_and_none_of_it_is_lost() -> None:
    sound = _Sound(100, keeps_sent=False)
    for n in range(9):
        sound.put(counted(n * RATE // 10, RATE // 10))
    sound.put(counted(9 * RATE // 10, 100))
    sound.end()
    frames = await sent(sound)
    whole = RATE // 10 * 2
    assert [len(frame) for frame in frames] == [MOST_FRAMES * whole, MOST_FRAMES * whole, whole + 200]
    assert b"".join(frames) == counted(0, 9 * RATE // 10 + 100).astype("<i2").tobytes()


async def test_a_frame_is_never_shorter_than_vendors_take_nor_waits_for_more() -> None:
    sound = _Sound(100, keeps_sent=True)
    sound.put(counted(0, RATE // 10))
    assert len(await sound.frame() or b"") == RATE // 10 * 2
    sound.put(counted(0, 10))
    sound.end()
    (last,) = await sent(sound)
    assert len(last) == RATE // 10 * 2
    sound.rewind()
    assert [len(frame) for frame in await sent(sound)] == [2 * RATE // 10 * 2]


async def test_what_a_vendor_has_of_a_frame_is_not_sent_again() -> None:
    sound, whole = _Sound(100, keeps_sent=True), counted(0, RATE)
    sound.put(whole)
    sound.end()
    await sound.frame()
    sound.acknowledge(6400)
    sound.rewind()
    assert b"".join(await sent(sound)) == whole[3200:].tobytes()
    sound.acknowledge(2 * RATE - 2)
    sound.rewind()
    sound.acknowledge(6400)  # late: what is known stays known
    assert (await sent(sound))[0][:2] == whole[-1:].tobytes()
