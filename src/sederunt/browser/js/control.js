// What Python may ask of the scripts in a realm.
"use strict";

(() => {
  const { taps } = seat;

  /** Change the way of hearing for all tracks, present and future. @param {"encoded" | "worklet"} backend */
  async function useBackend(backend) {
    if (seat.backend === backend) return;
    seat.backend = backend;
    const audio = [...taps.entries.values()].filter((entry) => entry.kind === "audio");
    await seat.watchdog.countPackets(audio);
    audio.forEach(backend === "worklet" ? seat.useWorklet : seat.useFrames);
    if (backend === "worklet") seat.graphs.activate();
    seat.tell("capture", { event: "backend", backend });
  }

  async function state() {
    const answer = await taps.counts();
    await seat.watchdog.countPackets([...taps.entries.values()]);
    const tracks = [];
    for (const entry of taps.entries.values()) {
      tracks.push({
        track: entry.track,
        kind: entry.kind,
        backend: entry.backend,
        packets: entry.packets,
        tapped: answer.counts[entry.track] || 0,
        plis: entry.plis,
      });
    }
    const { backend, realm, faults } = seat;
    return { realm, backend, tracks, faults, graphs: seat.graphs.count(), context: seat.worklet.state() || null };
  }

  /** Another picture for the bot's camera: whether the page takes pictures from it already. @param {string} avatar */
  async function showPicture(avatar) {
    if (!seat.camera) return null;
    await seat.camera.change(avatar);
    return seat.camera.isOpen();
  }

  const showsPicture = () => Boolean(seat.camera && seat.camera.isOpen());

  seat.control = { useBackend, state, showPicture, showsPicture };
})();
