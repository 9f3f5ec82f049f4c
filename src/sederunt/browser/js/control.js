// What Python may ask of the scripts in a realm.
"use strict";

(() => {
  const { taps } = seat;

  /** Change the way of hearing for all tracks, present and future. @param {"encoded" | "worklet"} backend */
  async function useBackend(backend) {
    if (seat.backend === backend) return;
    seat.backend = backend;
    for (const entry of taps.entries.values()) {
      if (entry.kind !== "audio") continue;
      entry.packets = await seat.watchdog.packetsOf(entry);
      if (backend === "worklet") seat.useWorklet(entry);
    }
    if (backend === "worklet") seat.graphs.activate();
    seat.tell("capture", { event: "backend", backend });
  }

  async function state() {
    const answer = await taps.counts();
    const tracks = [];
    for (const entry of taps.entries.values()) {
      if (entry.receiver) entry.packets = await seat.watchdog.packetsOf(entry);
      tracks.push({
        track: entry.track,
        kind: entry.kind,
        backend: entry.backend,
        packets: entry.packets,
        tapped: answer.counts[entry.track] || 0,
        plis: entry.plis || 0,
      });
    }
    const { backend, realm, faults } = seat;
    return { realm, backend, tracks, faults, graphs: seat.graphs.count(), context: seat.worklet.state() || null };
  }

  seat.control = { useBackend, state };
})();
