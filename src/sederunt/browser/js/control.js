// What Python may ask of the scripts in a realm.
"use strict";

(() => {
  const { taps } = capture;

  /** Change the way of hearing for all tracks, present and future. @param {"encoded" | "worklet"} backend */
  async function useBackend(backend) {
    if (capture.backend === backend) return;
    capture.backend = backend;
    const audio = [...taps.entries.values()].filter((entry) => entry.kind === "audio");
    await capture.watchdog.countPackets(audio);
    audio.forEach(backend === "worklet" ? capture.useWorklet : capture.useFrames);
    if (backend === "worklet") capture.graphs.activate();
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
    const { backend, realm, faults } = capture;
    return { realm, backend, tracks, faults, graphs: capture.graphs.count(), context: capture.worklet.state() || null };
  }

  /** Send what was captured and has not left yet; how many batches this realm has sent since it began. */
  async function flush() {
    capture.worklet.flush();
    return { realm: capture.realm, batches: (await taps.flush()).batches };
  }

  /** Another picture for the bot's camera: whether the page takes pictures from it already. @param {string} avatar */
  async function showPicture(avatar) {
    if (!capture.camera) return null;
    await capture.camera.change(avatar);
    return capture.camera.isOpen();
  }

  const showsPicture = () => Boolean(capture.camera && capture.camera.isOpen());

  const MOST_KEPT = 50;
  /** @type {Map<string, () => unknown>} */
  const kept = new Map();

  /** Have a function ready that will be asked for again. @param {string} key @param {() => unknown} act */
  function keep(key, act) {
    kept.set(key, act);
    if (kept.size > MOST_KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
  }

  /** What it gives now; null where it is not kept here. @param {string} key */
  function callKept(key) {
    const act = kept.get(key);
    return act ? { answer: act() } : null;
  }

  capture.control = { useBackend, state, flush, showPicture, showsPicture, keep, callKept };
})();
