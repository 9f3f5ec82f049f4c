"""The media server's side of one bot: a peer connection whose packets are written by us.

aiortc does the handshakes (ICE, DTLS, SCTP); its senders are stopped before they start, because they can
neither set CSRC lists nor share one encoded packet between many bots. What remains per packet is a header of
some 20 bytes, SRTP and one `sendto`, so a participant costs almost nothing (measured: about 35 µs per packet).
"""

import asyncio
import random
import struct
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCDataChannel,
    RTCPeerConnection,
    RTCRtpTransceiver,
    RTCSessionDescription,
)

from sederunt.practice import clips
from sederunt.practice.clips import OpusFrame
from sederunt.practice.script import Variant

_MID = "urn:ietf:params:rtp-hdrext:sdes:mid"
_LEVEL = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
_ONE_BYTE_EXTENSIONS = 0xBEDE
LOG_LENGTH = 60_000  # packets remembered per bot: 20 minutes of one speaker


class SlotFrame(NamedTuple):
    """What one audio slot sends in one tick."""

    slot: int
    frame: OpusFrame
    csrcs: tuple[int, ...]
    first: bool  # the first packet after a pause: the RTP marker


class SentPacket(NamedTuple):
    """One packet as it went out (or was dropped on purpose)."""

    slot: int
    ssrc: int
    sequence: int
    timestamp: int
    csrcs: tuple[int, ...]
    digest: str
    lost: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerPlan:
    """What is negotiated with a bot, and what goes wrong on the way."""

    audio_slots: int = 3
    video_slots: int = 0
    stream_ids: tuple[str, ...] = ()  # of the audio slots; empty: made up
    video_stream_ids: tuple[str, ...] = ()  # the same for the video slots
    channel: str = ""  # label of the data channel that the server opens; empty for none
    page_channel: str = ""  # label of a data channel that the page opens and something is told on
    audio_channel: str = ""  # audio goes over the page's data channel of that label, not over RTP
    csrcs: bool = True  # packets name their sources
    announce_ssrc: bool = True
    level_extension: bool = True
    loss: float = 0.0
    late: float = 0.0
    new_ssrc_every_s: float = 0.0

    @property
    def channels(self) -> frozenset[str]:
        """Return the labels of the channels that must be open before anybody is told anything."""
        return frozenset({self.channel, self.page_channel, self.audio_channel} - {""})

    @classmethod
    def of(cls, variant: Variant) -> "PeerPlan":
        """Return what a meeting's variant says of RTP; the rest is the site's."""
        return cls(
            video_slots=variant.video,
            csrcs=variant.csrcs,
            announce_ssrc=variant.announce_ssrc,
            level_extension=variant.level_extension,
            loss=variant.loss,
            late=variant.late,
            new_ssrc_every_s=variant.new_ssrc_every_s,
        )


class Peer:
    """One bot's peer connection."""

    def __init__(
        self,
        plan: PeerPlan,
        *,
        on_message: Callable[[str, bytes | str], None],
        on_key_frame: Callable[[int], None],
        hears: bool = True,
    ) -> None:
        """`hears`: whether it is sent any sound."""
        self.plan = plan
        self.hears = hears
        self.connected = asyncio.Event()
        self.channels_open = asyncio.Event()  # those of the plan
        self.sent: deque[SentPacket] = deque(maxlen=LOG_LENGTH)
        self._on_message = on_message
        self._on_key_frame = on_key_frame
        self._connection = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        self._connection.on("connectionstatechange", self._note_state)
        self._connection.on("datachannel", self._take_channel)
        self._channels: dict[str, RTCDataChannel] = {}
        self._audio: list[_Stream] = []
        self.video: list[_Stream] = []
        self._random = random.Random(1)

    async def answer(self, offer: str) -> str:
        """Answer the page's offer, without waiting for ICE candidates of the page."""
        await self._connection.setRemoteDescription(RTCSessionDescription(_without_candidates(offer), "offer"))
        for transceiver in self._connection.getTransceivers():
            transceiver.direction = "sendonly"
        self._open_channel()
        self._name_streams()
        await self._connection.setLocalDescription(await self._connection.createAnswer())
        return self._local_description()

    async def offer(self) -> str:
        """Make our offer, for pages that answer."""
        for kind, count in (("audio", self.plan.audio_slots), ("video", self.plan.video_slots)):
            for _ in range(count):
                self._connection.addTransceiver(kind, direction="sendonly")
        self._open_channel()
        self._name_streams()
        await self._connection.setLocalDescription(await self._connection.createOffer())
        return self._local_description()

    async def take_answer(self, answer: str) -> None:
        await self._connection.setRemoteDescription(RTCSessionDescription(_without_candidates(answer), "answer"))

    def send_audio(self, piece: SlotFrame, tick: int) -> None:
        """Send one frame of 20 ms; nothing happens before the connection is up, or where no sound is wanted."""
        if not self.connected.is_set() or not self.hears:
            return
        if self.plan.audio_channel:
            sequence, timestamp = len(self.sent) & 0xFFFF, tick * clips.FRAME & 0xFFFFFFFF
            if self.send_channel(
                self.plan.audio_channel, struct.pack("!LL", sequence, timestamp) + piece.frame.payload
            ):
                self.sent.append(SentPacket(piece.slot, 0, sequence, timestamp, (), piece.frame.digest, False))
        elif piece.slot < len(self._audio):
            self._send_over_rtp(self._audio[piece.slot], piece, tick)

    def _send_over_rtp(self, stream: "_Stream", piece: SlotFrame, tick: int) -> None:
        if self.plan.new_ssrc_every_s and piece.first and stream.age_ticks(tick) * 0.02 > self.plan.new_ssrc_every_s:
            stream.renew(tick)
        lost = self.plan.loss > 0 and self._random.random() < self.plan.loss
        csrcs = piece.csrcs if self.plan.csrcs else ()
        level = piece.frame.level if self.plan.level_extension else None
        sequence, timestamp = stream.advance(tick * clips.FRAME)
        self.sent.append(SentPacket(piece.slot, stream.ssrc, sequence, timestamp, csrcs, piece.frame.digest, lost))
        if lost:
            return
        header = stream.header(sequence, timestamp, marker=piece.first, csrcs=csrcs, level=level)
        if self.plan.late > 0 and self._random.random() < self.plan.late:
            delay_s = self._random.uniform(0.02, 0.12)
            asyncio.get_running_loop().call_later(delay_s, self._write, header + piece.frame.payload)
        else:
            self._write(header + piece.frame.payload)

    def send_video(self, slot: int, payloads: Sequence[bytes], timestamp: int) -> None:
        """Send one picture, already cut into RTP payloads."""
        if not self.connected.is_set() or slot >= len(self.video):
            return
        stream = self.video[slot]
        for number, payload in enumerate(payloads):
            sequence, stamp = stream.advance(timestamp)
            last = number == len(payloads) - 1
            self._write(stream.header(sequence, stamp, marker=last, csrcs=(), level=None) + payload)

    def send_channel(self, label: str, data: bytes | str) -> bool:
        """Send on an open data channel of that label, whoever opened it; False when there is none."""
        channel = self._channels.get(label)
        if channel is None or channel.readyState != "open":
            return False
        channel.send(data)
        return True

    async def close(self) -> None:
        self.connected.clear()
        await self._connection.close()

    def _open_channel(self) -> None:
        if self.plan.channel:
            channel = self._connection.createDataChannel(self.plan.channel)
            self._take_channel(channel)
            channel.on("open", self._note_channels)

    def _take_channel(self, channel: RTCDataChannel) -> None:
        self._channels[channel.label] = channel
        channel.on("message", lambda data: self._on_message(channel.label, data))
        self._note_channels()

    def _note_channels(self) -> None:
        wanted = self.plan.channels
        if all(label in self._channels and self._channels[label].readyState == "open" for label in wanted):
            self.channels_open.set()

    def _name_streams(self) -> None:
        for kind, names in (("audio", self.plan.stream_ids), ("video", self.plan.video_stream_ids)):
            slots = [t for t in self._connection.getTransceivers() if t.kind == kind]
            for transceiver, name in zip(slots, names, strict=False):
                transceiver.sender._stream_id = name
                transceiver.sender._track_id = name
        for transceiver in self._connection.getTransceivers():
            _quieten(transceiver)

    def _local_description(self) -> str:
        text: str = self._connection.localDescription.sdp
        return text if self.plan.announce_ssrc else _without(text, "a=ssrc")

    def _note_state(self) -> None:
        if self._connection.connectionState == "connected" and not self.connected.is_set():
            transceivers = self._connection.getTransceivers()
            self._audio = [_Stream(t) for t in transceivers if t.kind == "audio"]
            self.video = [_Stream(t) for t in transceivers if t.kind == "video"]
            for slot, stream in enumerate(self.video):
                stream.on_key_frame(partial(self._on_key_frame, slot))
            self.connected.set()
        elif self._connection.connectionState in ("failed", "closed"):
            self.connected.clear()

    def _write(self, packet: bytes) -> None:
        """aiortc's own way down, without its three awaits."""
        transport: Any = self._connection.getTransceivers()[0].sender.transport
        pair = transport.transport._connection._nominated.get(1)
        if pair is not None and transport._tx_srtp is not None:
            pair.protocol.transport.sendto(transport._tx_srtp.protect(packet), pair.remote_addr)


class _Stream:
    """The RTP state of one m-line: SSRC, sequence, timestamp origin, header extensions."""

    def __init__(self, transceiver: RTCRtpTransceiver) -> None:
        self._sender: Any = transceiver.sender
        self.ssrc = transceiver.sender._ssrc
        self._payload_type = transceiver._codecs[0].payloadType or 0
        ids = {extension.uri: extension.id for extension in transceiver._headerExtensions}
        self._level_id = ids.get(_LEVEL)
        mid = (transceiver.mid or "").encode()
        self._mid = bytes([ids[_MID] << 4 | len(mid) - 1]) + mid if mid and _MID in ids else b""
        # The lower half, as browsers do: a wrap in the first packets would break SRTP.
        self._sequence = random.randrange(1 << 15)
        self._origin = random.randrange(1 << 32)
        self._born = -1

    def advance(self, timestamp: int) -> tuple[int, int]:
        """Return the next sequence number, and the RTP time of this packet."""
        self._sequence = (self._sequence + 1) & 0xFFFF
        return self._sequence, (self._origin + timestamp) & 0xFFFFFFFF

    def age_ticks(self, tick: int) -> int:
        if self._born < 0:
            self._born = tick
        return tick - self._born

    def renew(self, tick: int) -> None:
        """Go on under another SSRC, without a word in any SDP."""
        self.ssrc, self._born = random.randrange(1, 1 << 32), tick
        self._sequence, self._origin = random.randrange(1 << 15), random.randrange(1 << 32)

    def header(
        self, sequence: int, timestamp: int, *, marker: bool, csrcs: tuple[int, ...], level: int | None
    ) -> bytes:
        extensions = self._mid
        if level is not None and self._level_id is not None:
            extensions += bytes([self._level_id << 4, (0x80 if level < 60 else 0) | level])
        flags = 0x80 | (0x10 if extensions else 0) | len(csrcs)
        fixed = struct.pack(
            f"!BBHLL{len(csrcs)}L",
            flags,
            (0x80 if marker else 0) | self._payload_type,
            sequence,
            timestamp,
            self.ssrc,
            *csrcs,
        )
        if not extensions:
            return fixed
        extensions += bytes(-len(extensions) % 4)
        return fixed + struct.pack("!HH", _ONE_BYTE_EXTENSIONS, len(extensions) // 4) + extensions

    def on_key_frame(self, ask: Callable[[], None]) -> None:
        self._sender._send_keyframe = ask


def _quieten(transceiver: RTCRtpTransceiver) -> None:
    """Replace the sender's own loops by ones that only wait: we write its packets."""
    sender: Any = transceiver.sender

    async def no_rtp(_codec: object) -> None:
        await _wait_between(sender._RTCRtpSender__rtp_started, sender._RTCRtpSender__rtp_exited)

    async def no_rtcp() -> None:
        await _wait_between(sender._RTCRtpSender__rtcp_started, sender._RTCRtpSender__rtcp_exited)

    sender._run_rtp = no_rtp
    sender._run_rtcp = no_rtcp


async def _wait_between(started: asyncio.Event, exited: asyncio.Event) -> None:
    started.set()
    try:
        await asyncio.Event().wait()
    finally:
        exited.set()


def _without_candidates(sdp: str) -> str:
    """Leave the page's candidates out: its first check tells its address. They are mDNS names, slow to
    resolve.
    """
    return _without(sdp, "a=candidate", "a=end-of-candidates")


def _without(sdp: str, *prefixes: str) -> str:
    return "".join(f"{line}\r\n" for line in sdp.splitlines() if not line.startswith(prefixes))
