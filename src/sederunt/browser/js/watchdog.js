// Notices the two silent failures of encoded capture: a receiver whose moment was missed, and an SSRC that changed
// behind the browser's back. Packets come and no frame does; the track is then heard as samples.
"use strict";

(() => {
  const { natives, taps } = seat;
  const EVERY_MS = 2000;
  const DEAF_PACKETS = 25; // half a second of sound; comfort noise alone does not reach it

  let timer = 0;

  /** @returns {any[]} */
  const tapped = () => [...taps.entries.values()].filter((e) => e.kind === "audio" && e.backend !== "worklet");

  /** Received packets of a receiver, over all streams it ever had. @param {any} entry @returns {Promise<number>} */
  async function packetsOf(entry) {
    let packets = 0;
    const stats = await entry.receiver.getStats();
    stats.forEach((/** @type {any} */ report) => {
      if (report.type === "inbound-rtp") packets += report.packetsReceived || 0;
      if (report.type === "inbound-rtp" && report.pliCount) entry.plis = report.pliCount;
    });
    return packets;
  }

  async function look() {
    seat.worklet.revive();
    forgetClosed();
    const { counts } = await taps.counts();
    for (const entry of tapped()) {
      const count = counts[entry.track] || 0;
      const grew = count > entry.tapped;
      entry.tapped = count;
      // Asking for statistics is the expensive part, and a track that brings frames needs none.
      if (grew) entry.unheard = undefined;
      else await suspect(entry);
    }
    if (![...taps.entries.values()].length) stop();
  }

  /** @param {any} entry */
  async function suspect(entry) {
    entry.packets = await packetsOf(entry);
    if (entry.unheard === undefined) entry.unheard = entry.packets;
    if (entry.packets - entry.unheard < DEAF_PACKETS) return;
    seat.tell("capture", { event: "deaf", track: entry.track, packets: entry.packets, tapped: entry.tapped });
    if (entry.backend === "waiting") {
      // The page asked for streams of its own and never took them: with that flag there is no deadline.
      entry.backend = "encoded";
      seat.receivers.putTransform(entry);
      entry.unheard = undefined;
    } else {
      seat.useWorklet(entry);
    }
  }

  function forgetClosed() {
    for (const connection of seat.receivers.connections) {
      if (connection.signalingState !== "closed") continue;
      seat.receivers.connections.delete(connection);
      for (const [track, entry] of taps.entries) if (entry.connection === connection) taps.entries.delete(track);
    }
  }

  function stop() {
    natives.clearInterval(timer);
    timer = 0;
  }

  seat.watchdog = {
    wake() {
      if (!timer) timer = natives.setInterval(() => look().catch(() => undefined), EVERY_MS);
    },
    packetsOf,
  };
})();
