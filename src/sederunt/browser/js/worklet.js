// The second way to hear: samples from an AudioWorklet. For received tracks it needs the page's decoder, so frames are
// handed on again, and a playing element, muted or not, because without one the browser decodes nothing.
"use strict";

(() => {
  const { natives, taps } = capture;
  const RATE = 16000;
  const INPUTS = 12; // of a node in our own context; a page's has one: each is paid for with every quantum
  const QUANTUM = 128; // samples rendered at once

  const text = new natives.Blob(natives.listed([sources.pcmWorklet]), { type: "text/javascript" });
  /** @type {AudioContext | undefined} where received tracks are heard */
  let context;
  /** @typedef {{node: AudioWorkletNode, used: number}} PcmNode */
  /** @type {Map<BaseAudioContext, {loaded: Promise<void>, nodes: PcmNode[]}>} */
  const places = new Map();

  function theContext() {
    // 'interactive' broke under load with holes of 1.5 s; 'playback' costs nothing more.
    context = context || new natives.AudioContext({ sampleRate: RATE, latencyHint: "playback" });
    return context;
  }

  /** @param {BaseAudioContext} where */
  function placeIn(where) {
    const known = places.get(where);
    if (known) return known;
    const module = natives.createObjectURL(text);
    const place = { loaded: natives.apply(natives.addModule, where.audioWorklet, [module]), nodes: /** @type {PcmNode[]} */ ([]) };
    places.set(where, place);
    return place;
  }

  /** A node with a free input. @param {BaseAudioContext} where @returns {Promise<{node: AudioWorkletNode, input: number}>} */
  async function freeInput(where) {
    const { loaded, nodes } = placeIn(where);
    await loaded;
    const inputs = where === context ? INPUTS : 1;
    let free = nodes[nodes.length - 1];
    if (!free || free.used === inputs) {
      const block = Math.max(1, Math.floor((config.batchMs * where.sampleRate) / 1000 / QUANTUM)) * QUANTUM;
      const node = new natives.AudioWorkletNode(where, "sederunt-pcm", {
        numberOfInputs: inputs,
        numberOfOutputs: 0,
        channelCount: 1,
        channelCountMode: "explicit",
        processorOptions: { block, inputs },
      });
      const { port1, port2 } = new natives.MessageChannel();
      natives.post(node.port, { out: port1 }, [port1]);
      taps.listenTo(port2);
      free = { node, used: 0 };
      nodes.push(free);
    }
    free.used += 1;
    return { node: free.node, input: free.used - 1 };
  }

  /** Hear what a node gives, in its own context, from now on. @param {any} entry @param {AudioNode} source */
  async function listenIn(entry, source) {
    entry.source = source;
    const { node, input } = await freeInput(source.context);
    if (entry.backend !== "worklet" || taps.entries.get(entry.track) !== entry) return; // given up meanwhile
    natives.post(node.port, { input, track: entry.track });
    natives.connect.call(source, node, 0, input);
  }

  /** Hear a track from now on. @param {any} entry @param {MediaStreamTrack} track */
  async function listen(entry, track) {
    entry.stream = new natives.MediaStream([track]);
    await listenIn(entry, theContext().createMediaStreamSource(entry.stream));
    await capture.worklet.revive();
  }

  /** @param {any} entry @param {unknown} error */
  const cannot = (entry, error) =>
    capture.tell("capture", { event: "fault", track: entry.track, fault: String(error).slice(0, 200) });

  /** Change a received track over to samples. @param {any} entry */
  capture.useWorklet = (entry) => {
    if (entry.backend === "worklet") return;
    entry.backend = "worklet";
    taps.setMode(entry, taps.modeOf("audio", "worklet"));
    capture.elements.release(entry.receiver.track);
    listen(entry, entry.receiver.track).then(
      () => (entry.element = capture.elements.playMuted(entry.stream)),
      (error) => cannot(entry, error),
    );
  };

  /** Back to frames, where a transform of ours is still in place. @param {any} entry */
  capture.useFrames = (entry) => {
    if (entry.backend !== "worklet" || !entry.transformed || !entry.source) return;
    entry.backend = "encoded";
    entry.missed = 0;
    entry.source.disconnect();
    if (entry.element) entry.element.srcObject = null;
    taps.setMode(entry, taps.modeOf("audio", "encoded"));
  };

  capture.worklet = {
    /** @param {any} entry @param {MediaStreamTrack} track */
    listen: (entry, track) => listen(entry, track).catch((error) => cannot(entry, error)),
    /** @param {any} entry @param {AudioNode} source */
    listenIn: (entry, source) => listenIn(entry, source).catch((error) => cannot(entry, error)),
    /** A node of our own context that gives what a track brings. @param {MediaStreamTrack} track */
    sourceOf(track) {
      const source = theContext().createMediaStreamSource(new natives.MediaStream([track]));
      capture.worklet.revive();
      return source;
    },
    /** The page's context is closed, and the nodes in it with it. @param {BaseAudioContext} where */
    leave: (where) => places.delete(where),
    /** Have the nodes hand over what they hold. */
    flush: () => places.forEach(({ nodes }) => nodes.forEach(({ node }) => natives.post(node.port, { flush: true }))),
    /** A context that the browser put to sleep hears nothing and says nothing. */
    revive: () => context && context.state === "suspended" && context.resume(),
    state: () => context && context.state,
  };
})();
