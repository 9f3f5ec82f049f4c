// Notices the two silent failures of encoded capture: an SSRC that changed behind the browser's back, and a receiver
// whose moment was missed. Packets come and no frame does. The first is mended; else the track is heard as samples.
"use strict";

(() => {
  const { natives, taps } = capture;
  const EVERY_MS = 2000;
  const DEAF_PACKETS = 25; // half a second of sound; comfort noise alone does not reach it

  let timer = 0;
  let looking = false;

  const audio = () => [...taps.entries.values()].filter((entry) => entry.kind === "audio");

  /**
   * Count the packets of these entries, over all streams that their m-line ever had: the statistics of a receiver
   * leave out a stream that came without being announced, which is the very one to be noticed.
   * @param {any[]} of
   * @param {(connection: RTCPeerConnection, stats: any) => void} [see] what else wants the statistics
   */
  async function countPackets(of, see = () => undefined) {
    for (const connection of new Set(of.map((entry) => entry.connection))) {
      if (!connection) continue;
      const stats = await connection.getStats();
      see(connection, stats);
      for (const transceiver of connection.getTransceivers()) {
        const entry = of.find((one) => one.receiver === transceiver.receiver);
        if (entry) countOne(entry, transceiver.mid, stats);
      }
    }
  }

  /** @param {any} entry @param {string | null} mid @param {any} stats */
  function countOne(entry, mid, stats) {
    stats.forEach((/** @type {any} */ report) => {
      if (report.type !== "inbound-rtp" || report.mid !== mid) return;
      // Only the newest unannounced stream is listed, so what an older one brought is remembered here.
      const before = entry.streams.get(report.ssrc) || 0;
      const packets = report.packetsReceived || 0;
      // The count begins anew with a description that names the stream.
      entry.packets += packets >= before ? packets - before : packets;
      entry.streams.set(report.ssrc, packets);
      entry.mid = mid;
      // A stream that belongs to no track names none.
      if (!report.trackIdentifier && packets > before) entry.stray = report.ssrc;
      entry.plis = Math.max(entry.plis, report.pliCount || 0);
    });
  }

  /** One look at a time: two would count the same packets twice. */
  function lookAlone() {
    if (looking) return;
    looking = true;
    look().catch(capture.blame).finally(() => {
      looking = false;
    });
  }

  async function look() {
    capture.worklet.revive();
    forgetClosed();
    const listened = audio().filter((entry) => entry.backend !== "worklet");
    const before = new Map(listened.map((entry) => [entry, [entry.seenPackets || 0, entry.tapped]]));
    await countPackets(audio(), capture.liveness.see);
    capture.liveness.looked();
    const { counts, answered } = await countSound();
    if (!answered) return; // the worker is late, which says nothing of the tracks
    for (const entry of listened) {
      const [packets, frames] = /** @type {number[]} */ (before.get(entry));
      entry.tapped = counts[entry.track] || 0;
      entry.seenPackets = entry.packets;
      entry.missed = entry.tapped > frames ? 0 : (entry.missed || 0) + entry.packets - packets;
      if (entry.missed >= DEAF_PACKETS) await listenOtherwise(entry);
    }
    if (!taps.entries.size) stop();
  }

  /** Ask the worker what it has counted, and note when sound of each track was sent last. */
  async function countSound() {
    const counted = await taps.counts();
    if (counted.answered) for (const entry of audio()) entry.fedMs = counted.shippedAtMs[entry.track] || 0;
    return counted;
  }

  /** @param {any} entry */
  async function listenOtherwise(entry) {
    const { track, packets, tapped, missed } = entry;
    entry.missed = 0;
    capture.tell("capture", { event: "deaf", track, packets, tapped, missed });
    if (!(await isMended(entry))) capture.useWorklet(entry);
  }

  /** @param {any} entry @returns {Promise<boolean>} */
  async function isMended(entry) {
    const { stray } = entry;
    if (!stray || stray === entry.mended) return false;
    entry.mended = stray;
    entry.stray = undefined;
    const mended = await capture.resignal(entry.connection, entry.mid, stray).catch(capture.blame);
    if (mended) capture.tell("capture", { event: "resignalled", track: entry.track });
    return Boolean(mended);
  }

  function forgetClosed() {
    for (const connection of capture.receivers.connections) {
      if (connection.signalingState !== "closed") continue;
      capture.receivers.connections.delete(connection);
      for (const [track, entry] of taps.entries) if (entry.connection === connection) taps.entries.delete(track);
    }
  }

  function stop() {
    natives.clearInterval(timer);
    timer = 0;
  }

  capture.watchdog = {
    wake() {
      if (!timer) timer = natives.setInterval(lookAlone, EVERY_MS);
    },
    countPackets,
    countSound,
  };
})();
