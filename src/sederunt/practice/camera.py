"""The server's end of a visitor's camera: receives the pictures, and tells how many came and what they look like."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import cast

from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from av import VideoFrame

Colour = tuple[int, int, int]


class CameraFeed:
    """One publishing connection.

    Args:
        on_picture: called with (number of the picture, from 1; the colour in its middle) for each picture.
    """

    def __init__(self, on_picture: Callable[[int, Colour], None]) -> None:
        self._on_picture = on_picture
        self._connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._connection.on("track", self._take)
        self._watching: asyncio.Task[None] | None = None

    async def answer(self, offer: str) -> str:
        """Answer the page's offer."""
        lines = [line for line in offer.splitlines() if not line.startswith(("a=candidate", "a=end-of-candidates"))]
        offered = RTCSessionDescription("\r\n".join(lines) + "\r\n", "offer")
        await self._connection.setRemoteDescription(offered)
        await self._connection.setLocalDescription(await self._connection.createAnswer())
        text: str = self._connection.localDescription.sdp
        return text

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        await self._connection.close()

    def _take(self, track: MediaStreamTrack) -> None:
        if track.kind == "video":
            self._watching = asyncio.get_running_loop().create_task(self._watch(track))

    async def _watch(self, track: MediaStreamTrack) -> None:
        number = 0
        with contextlib.suppress(MediaStreamError):
            while True:
                picture = cast(VideoFrame, await track.recv()).to_ndarray(format="rgb24")
                number += 1
                red, green, blue = picture[picture.shape[0] // 2, picture.shape[1] // 2].tolist()
                self._on_picture(number, (red, green, blue))
