// What the scripts among the page's own are asked for, by way of gate.js.
"use strict";

(() => {
  const { taps } = capture;

  /** Change the way of hearing for all tracks, present and future; asked again where that did not help.
   * @param {"encoded" | "worklet"} backend */
  async function useBackend(backend) {
    capture.backend = backend;
    const audio = [...taps.entries.values()].filter((entry) => entry.kind === "audio");
    await capture.watchdog.countSound();
    audio.forEach(backend === "worklet" ? capture.useWorklet : capture.useFrames);
    if (backend === "worklet") capture.graphs.ask();
    capture.tell("capture", { event: "backend", backend });
  }

  async function state() {
    const { counts, answered } = await taps.counts();
    await capture.watchdog.countPackets([...taps.entries.values()]);
    const tracks = [];
    for (const entry of taps.entries.values()) {
      tracks.push({
        track: entry.track,
        kind: entry.kind,
        backend: entry.backend,
        packets: entry.packets,
        tapped: answered ? counts[entry.track] || 0 : entry.tapped,
        plis: entry.plis,
      });
    }
    const { backend, faults } = capture;
    return { backend, tracks, faults, graphs: capture.graphs.count(), context: capture.worklet.state() || null };
  }

  /** Send what was captured and has not left yet; how many batches this realm has sent since it began. */
  async function flush() {
    capture.worklet.flush();
    return { batches: (await taps.flush()).batches };
  }

  /** Another picture for the bot's camera: whether the page takes pictures from it already. @param {string} avatar */
  async function showPicture(avatar) {
    if (!capture.camera) return null;
    await capture.camera.change(avatar);
    return capture.camera.isOpen();
  }

  const showsPicture = () => Boolean(capture.camera && capture.camera.isOpen());

  capture.answers = { __proto__: null, useBackend, state, flush, showPicture, showsPicture };
})();
