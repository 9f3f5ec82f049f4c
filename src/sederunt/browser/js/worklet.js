// The second way to hear: samples from one AudioWorklet. It needs the page's decoder, so frames are handed on again, and
// a playing element, muted or not, because without one the browser decodes nothing.
"use strict";

(() => {
  const { natives, taps } = seat;
  const RATE = 16000;
  const INPUTS = 12;

  /** @type {AudioContext | undefined} */
  let context;
  /** @type {Promise<void> | undefined} */
  let ready;
  /** @type {Array<{node: AudioWorkletNode, used: number}>} */
  const ears = [];

  function start() {
    // 'interactive' broke under load with holes of 1.5 s; 'playback' costs nothing more.
    const made = new natives.AudioContext({ sampleRate: RATE, latencyHint: "playback" });
    context = made;
    const module = new natives.Blob([sources.ears], { type: "text/javascript" });
    ready = made.audioWorklet.addModule(natives.URL.createObjectURL(module));
    return ready;
  }

  /** An ear with a free input. @returns {{node: AudioWorkletNode, input: number}} */
  function freeInput() {
    let ear = ears[ears.length - 1];
    if (!ear || ear.used === INPUTS) {
      const block = Math.max(1, Math.floor((config.batchMs * RATE) / 1000 / 128)) * 128;
      const node = new natives.AudioWorkletNode(/** @type {AudioContext} */ (context), "sederunt-ears", {
        numberOfInputs: INPUTS,
        numberOfOutputs: 0,
        channelCount: 1,
        channelCountMode: "explicit",
        processorOptions: { block, inputs: INPUTS },
      });
      const { port1, port2 } = new MessageChannel();
      node.port.postMessage({ out: port1 }, [port1]);
      taps.listenTo(port2);
      ear = { node, used: 0 };
      ears.push(ear);
    }
    ear.used += 1;
    return { node: ear.node, input: ear.used - 1 };
  }

  /**
   * Hear a track as samples from now on.
   * @param {any} entry @param {MediaStreamTrack} track
   */
  async function listen(entry, track) {
    await (ready || start());
    const made = /** @type {AudioContext} */ (context);
    const { node, input } = freeInput();
    node.port.postMessage({ input, track: entry.track });
    entry.stream = new natives.MediaStream([track]);
    entry.source = made.createMediaStreamSource(entry.stream);
    natives.connect.call(entry.source, node, 0, input);
    if (made.state === "suspended") await made.resume();
  }

  /** Change a received track over to samples. @param {any} entry */
  seat.useWorklet = (entry) => {
    if (entry.backend === "worklet") return;
    entry.backend = "worklet";
    taps.setMode(entry, taps.modeOf("audio", "worklet"));
    seat.elements.release(entry.receiver.track);
    listen(entry, entry.receiver.track).then(
      () => (entry.element = seat.elements.playMuted(entry.stream)),
      (error) => seat.tell("capture", { event: "fault", track: entry.track, fault: String(error).slice(0, 200) }),
    );
  };

  /** Back to frames, where a transform of ours is still in place. @param {any} entry */
  seat.useFrames = (entry) => {
    if (entry.backend !== "worklet" || !entry.transformed || !entry.source) return;
    entry.backend = "encoded";
    entry.missed = 0;
    entry.source.disconnect();
    if (entry.element) entry.element.srcObject = null;
    taps.setMode(entry, taps.modeOf("audio", "encoded"));
  };

  seat.worklet = {
    listen,
    /** A context that the browser put to sleep hears nothing and says nothing. */
    revive: () => context && context.state === "suspended" && context.resume(),
    state: () => context && context.state,
  };
})();
