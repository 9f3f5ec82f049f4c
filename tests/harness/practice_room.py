"""One practice meeting and one browser page in front of it, without any bot: what the sites' own tests look at."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Page

from sederunt.practice.meeting import Meeting
from sederunt.practice.script import CastMember

# What a bot's first script would do, as little of it as the tests need: remember connections and channel messages.
REMEMBER = """
(() => {
  window.remembered = { connections: [], channels: [], sockets: [] };
  const Native = window.RTCPeerConnection;
  const Socket = window.WebSocket;
  const base64 = (data) => btoa(String.fromCharCode(...new Uint8Array(data)));
  const keep = (label, data) => {
    window.remembered.channels.push({ label, data: typeof data === "string" ? btoa(data) : base64(data) });
  };
  window.RTCPeerConnection = class extends Native {
    constructor(...options) {
      super(...options);
      window.remembered.connections.push(this);
      this.addEventListener("datachannel", ({ channel }) => channel.addEventListener("message", ({ data }) => {
        keep(channel.label, data);
      }));
    }
    createDataChannel(label, ...rest) {
      const channel = super.createDataChannel(label, ...rest);
      channel.addEventListener("message", ({ data }) => {
        keep(label, data);
      });
      return channel;
    }
  };
  window.WebSocket = class extends Socket {
    constructor(...options) {
      super(...options);
      this.addEventListener("message", ({ data }) => window.remembered.sockets.push({ url: this.url, data }));
    }
  };
})();
"""


@dataclass
class Room:
    """One meeting and one page in front of it."""

    meeting: Meeting
    page: Page
    is_frozen: bool = False  # its renderer answers nothing any more, not even a close

    async def received(self) -> list[dict[str, Any]]:
        """Inbound audio per track that got packets: packets, lost, energy, decoder, ssrc."""
        found: list[dict[str, Any]] = await self.page.evaluate(
            """async () => {
              const rows = [];
              for (const connection of window.remembered.connections) {
                for (const row of (await connection.getStats()).values()) {
                  if (row.type === "inbound-rtp" && row.packetsReceived) {
                    rows.push({ kind: row.kind, packets: row.packetsReceived, lost: row.packetsLost, ssrc: row.ssrc,
                                energy: row.totalAudioEnergy || 0, pictures: row.framesDecoded || 0, mid: row.mid });
                  }
                }
              }
              return rows;
            }"""
        )
        return found

    async def receives(self, packets: int) -> None:
        """Wait until exactly so many audio packets arrived; AssertionError tells how many did."""
        count = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(60):
                while count != packets:
                    count = sum(row["packets"] for row in await self.received() if row["kind"] == "audio")
        assert count == packets

    async def hears(self, kind: str = "audio") -> None:
        """Wait until decoded sound (or pictures) arrived."""
        await asyncio.wait_for(
            self.page.evaluate(
                """async (kind) => {
                  const heard = (row) => row.type === "inbound-rtp" && row.kind === kind
                    && (kind === "audio" ? row.totalAudioEnergy > 0.0001 : row.framesDecoded > 5);
                  for (;;) {
                    for (const connection of window.remembered.connections) {
                      if ([...(await connection.getStats()).values()].some(heard)) return;
                    }
                    await new Promise((go) => setTimeout(go, 50));
                  }
                }""",
                kind,
            ),
            60,
        )


OpenRoom = Callable[..., Awaitable[Room]]
CAST = (CastMember(name="Ada Lovelace", host=True), CastMember(name="Charles Babbage"))
