"""A bot that was asked for video brings back pictures and sound in one file."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import httpx2
import numpy as np
import numpy.typing as npt

from harness.journeys import begin, download, ffprobe, look, reach, send_bot, stay_bounds_s, unhurried
from harness.receiver import Receiver
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import Variant, demo

TICK_S = 0.02  # the practice camera's pictures lie so far apart, or a multiple of it


async def _recorded(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, target: Path, variant: Variant
) -> tuple[dict[str, Any], dict[str, Any]]:
    meeting = await meetings.open_meeting(unhurried(demo(variant, turns=2), begins=False))
    bot = await send_bot(api, meeting.url, receiver, video=True)
    await begin(meeting, receiver, bot)
    await reach(receiver, bot, "finished", timeout_s=300)
    found = await look(api, bot)
    return found, ffprobe(await download(found["recording_url"], target))


def _pictures(path: Path) -> dict[int, npt.NDArray[np.uint8]]:
    """The first picture of each second that has any, in shades of grey."""
    shown: dict[int, npt.NDArray[np.uint8]] = {}
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            second = int(frame.time or 0)
            if second not in shown:
                shown[second] = frame.to_ndarray(format="gray").astype(np.uint8)
    return shown


def _shows_two(picture: npt.NDArray[np.uint8]) -> bool:
    """Whether there is somebody large, and somebody beside them."""
    large, column = picture[:, : 1280 * 3 // 4], picture[:, 1280 * 3 // 4 :]
    return bool(large.std() > 10 and column.std() > 10)


async def test_several_cameras_become_one_webm_with_the_speaker_large(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    path = tmp_path / "recording.webm"
    found, recording = await _recorded(api, meetings, receiver, path, Variant(video=2))
    streams = {stream["codec_type"]: stream for stream in recording["streams"]}
    assert len(recording["streams"]) == 2
    assert streams["audio"]["codec_name"] == "opus"
    assert streams["video"]["codec_name"] in ("vp8", "vp9")
    duration_s = float(recording["format"]["duration"])
    least_s, most_s = stay_bounds_s(found)
    assert least_s < duration_s < most_s
    assert min(float(p["pts_time"]) for p in recording["packets"] if p["codec_type"] == "video") == 0
    with_two = [second for second, picture in _pictures(path).items() if _shows_two(picture)]
    assert with_two, "nobody is large with somebody beside them"
    # The cameras are on until the meeting is over: as long as anybody speaks, at least.
    assert max(with_two) - min(with_two) > least_s / 2
    assert len(found["capture"]["video"]["sources"]) == 2


async def test_one_camera_is_taken_over_undecoded(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    path = tmp_path / "recording.webm"
    found, recording = await _recorded(api, meetings, receiver, path, Variant(video=1))
    assert [s["codec_name"] for s in recording["streams"] if s["codec_type"] == "video"] == ["vp8"]
    for picture in _pictures(path).values():
        assert picture.shape == (360, 640)  # the sender's own
        assert picture.std() > 10
    packets = [packet for packet in recording["packets"] if packet["codec_type"] == "video"]
    assert packets[0]["flags"].startswith("K"), "without a key frame nothing can be shown"
    assert sum(found["capture"]["video"]["sources"].values()) == len(packets), "a captured picture is not in the file"
    # A packet that a busy machine drops costs its receiver the pictures until the next key frame; those that came lie
    # where the sender's clock says, whenever they arrived.
    times = [float(packet["pts_time"]) for packet in packets]
    steps = [later - earlier for earlier, later in pairwise(times)]
    assert all(step > 0 and abs(step - round(step / TICK_S) * TICK_S) < 0.002 for step in steps)
    assert times[-1] < float(recording["format"]["duration"])


async def test_a_meeting_without_cameras_stays_a_sound_recording(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    found, recording = await _recorded(api, meetings, receiver, tmp_path / "recording.webm", Variant())
    assert [stream["codec_name"] for stream in recording["streams"]] == ["opus"]
    assert "video" not in found["capture"]
