"""A bot that was asked for video brings back pictures and sound in one file."""

from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import httpx
import numpy as np
import numpy.typing as npt

from harness.journeys import download, ffprobe, look, reach, send_bot
from harness.receiver import Receiver
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import Variant, demo

LONGEST_TO_KEY_FRAME_S = 6.0  # a key frame is asked for every 5 s


async def _recorded(
    api: httpx.AsyncClient, meetings: PracticeClient, receiver: Receiver, target: Path, variant: Variant
) -> tuple[dict[str, Any], dict[str, Any]]:
    meeting = await meetings.open_meeting(demo(variant, turns=2))
    bot = await send_bot(api, meeting.url, receiver, video=True)
    await reach(receiver, bot, "finished", timeout_s=180)
    found = await look(api, bot)
    return found, ffprobe(await download(found["recording_url"], target))


def _pictures(path: Path, *seconds: float) -> list[npt.NDArray[np.uint8]]:
    """The pictures shown at these times, in shades of grey."""
    with av.open(str(path)) as container:
        shown = [(float(frame.time or 0), frame) for frame in container.decode(video=0)]
    return [
        [frame for at, frame in shown if at <= second][-1].to_ndarray(format="gray").astype(np.uint8)
        for second in seconds
    ]


def _stay_s(found: dict[str, Any]) -> float:
    entered, left = (event["created_at"] for event in found["events"][1:3])
    return (datetime.fromisoformat(left) - datetime.fromisoformat(entered)).total_seconds()


async def test_several_cameras_become_one_webm_with_the_speaker_large(
    api: httpx.AsyncClient, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    path = tmp_path / "recording.webm"
    found, recording = await _recorded(api, meetings, receiver, path, Variant(video=2))
    streams = {stream["codec_type"]: stream for stream in recording["streams"]}
    assert len(recording["streams"]) == 2
    assert streams["audio"]["codec_name"] == "opus"
    assert streams["video"]["codec_name"] in ("vp8", "vp9")
    duration_s = float(recording["format"]["duration"])
    assert abs(duration_s - _stay_s(found)) < 1
    assert min(float(p["pts_time"]) for p in recording["packets"] if p["codec_type"] == "video") < 0.1
    middle, late = _pictures(path, duration_s / 2, duration_s - 2)
    for picture in (middle, late):
        large, column = picture[:, : 1280 * 3 // 4], picture[:, 1280 * 3 // 4 :]
        assert large.std() > 10, "the large picture is empty"
        assert column.std() > 10, "nobody is beside it"
    assert len(found["capture"]["video"]["sources"]) == 2


async def test_one_camera_is_taken_over_undecoded(
    api: httpx.AsyncClient, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    path = tmp_path / "recording.webm"
    found, recording = await _recorded(api, meetings, receiver, path, Variant(video=1))
    assert [s["codec_name"] for s in recording["streams"] if s["codec_type"] == "video"] == ["vp8"]
    (picture,) = _pictures(path, float(recording["format"]["duration"]) / 2)
    assert picture.shape == (360, 640)  # the sender's own
    assert picture.std() > 10
    times = [float(p["pts_time"]) for p in recording["packets"] if p["codec_type"] == "video"]
    assert times[0] < LONGEST_TO_KEY_FRAME_S
    assert sum(found["capture"]["video"]["sources"].values()) == len(times), "a captured picture is not in the file"
    # A packet that a busy machine drops costs its receiver the pictures until the next key frame, and no more.
    assert max(later - earlier for earlier, later in pairwise(times)) < LONGEST_TO_KEY_FRAME_S
    assert float(recording["format"]["duration"]) - times[-1] < 5  # pictures stop before the bot sees the end


async def test_a_meeting_without_cameras_stays_a_sound_recording(
    api: httpx.AsyncClient, meetings: PracticeClient, receiver: Receiver, tmp_path: Path
) -> None:
    found, recording = await _recorded(api, meetings, receiver, tmp_path / "recording.webm", Variant())
    assert [stream["codec_name"] for stream in recording["streams"]] == ["opus"]
    assert "video" not in found["capture"]
