"""Video encoders of tests, opened without what one of them does to its process."""

import os
from collections.abc import Mapping

from av.video.codeccontext import VideoCodecContext

from sederunt.model.audio import Codec

ENCODERS: Mapping[Codec, str] = {
    Codec.VP8: "libvpx",
    Codec.VP9: "libvpx-vp9",
    Codec.H264: "libx264",
    Codec.AV1: "libsvtav1",
}


def open_encoder(context: VideoCodecContext) -> None:
    """Open an encoder whose facts are set, and leave this thread's scheduling as it was.

    SVT-AV1 makes the thread that opens it real-time where it may (root): whatever that thread starts afterwards is
    real-time too. A browser under it was seen to hold both cores in the kernel for forty minutes.
    """
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    context.open()
    os.sched_setscheduler(0, policy, parameters)
