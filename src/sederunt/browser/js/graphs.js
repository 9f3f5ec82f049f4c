// Sound that never was received as a track: pages that decode by themselves play through WebAudio, to the loudspeaker or
// by way of a media element. Whatever they connect there is also connected to a worklet of ours in the same context, from
// the first moment where the page has no receiver for sound, or keeps the frames of one, or is found deaf; a receiver
// whose sound reaches us ends that, however many packets the others get. Until it is known that none does, the worker
// holds what the graph brings. On the way to a context of our own, on a busy machine, the browser drops and inserts 10 ms here
// and there; only what a page writes into a track of its own has no other way.
"use strict";

(() => {
  const { natives, taps, replace, quietly } = capture;
  natives.AudioContext = window.AudioContext;
  natives.AudioWorkletNode = window.AudioWorkletNode;
  natives.addModule = window.AudioWorklet && AudioWorklet.prototype.addModule;
  natives.connect = AudioNode.prototype.connect;

  const EVERY_MS = 2000;
  const LATELY_MS = 1000; // a sender that pauses sends comfort noise more often

  /** @type {Map<BaseAudioContext, {nodes: Set<AudioNode>, tee?: GainNode, entry?: any}>} */
  const graphs = new Map();
  /** @type {WeakMap<MediaStreamTrack, Set<AudioNode>>} the nodes that feed a track which nothing plays yet */
  const feeds = new WeakMap();
  /** @type {WeakSet<MediaStreamTrack>} tracks that an element plays */
  const played = new WeakSet();
  /** @type {Map<MediaStreamTrack, any>} tracks that the page writes itself → entry, once they are heard */
  const written = new Map();
  let timer = 0;
  let heedMs = 0; // sound that receivers brought since then speaks against the graphs

  /** @param {AudioNode} node @param {any} target */
  function connected(node, target) {
    if (!(node.context instanceof natives.AudioContext)) return;
    const track = trackOf(target);
    if (isHeard(target)) sounds(node);
    else if (track) keepUntilEnded(feedsOf(track), node);
  }

  /** @param {MediaStreamTrack} track */
  function feedsOf(track) {
    const nodes = feeds.get(track) || new Set();
    feeds.set(track, nodes);
    return nodes;
  }

  /** The track that a node makes of what is connected to it. @param {any} target @returns {any} */
  const trackOf = (target) => target instanceof MediaStreamAudioDestinationNode && target.stream.getAudioTracks()[0];

  /** @param {any} target */
  const isHeard = (target) => target instanceof AudioDestinationNode || played.has(trackOf(target));

  /** Pages play block by block, each from a source of its own: those that ended must not be kept.
   * @param {Set<AudioNode>} nodes @param {AudioNode} node */
  function keepUntilEnded(nodes, node) {
    nodes.add(node);
    if (node instanceof AudioScheduledSourceNode) {
      natives.listen.call(node, "ended", () => nodes.delete(node), { once: true });
    }
  }

  /** @param {AudioNode} node */
  function sounds(node) {
    const graph = graphs.get(node.context) || { nodes: new Set() };
    graphs.set(node.context, graph);
    keepUntilEnded(graph.nodes, node);
    if (graph.tee) natives.connect.call(node, graph.tee);
    else if (isWanted()) activate();
  }

  const isWanted = () => capture.backend === "worklet" || !expectsReceivers() || isDisplaced();

  const audio = () => [...taps.entries.values()].filter((entry) => entry.kind === "audio");

  /** Whether a receiver is heard by its samples alone, of which there may be none: the page may keep its frames. */
  const isDisplaced = () => audio().some((entry) => entry.backend === "worklet");

  /**
   * An element plays a stream: what the page feeds into it is heard, unless the element is mute.
   * @param {HTMLMediaElement} element @param {MediaStream} stream
   */
  function plays(element, stream) {
    if (element.muted) return;
    for (const track of stream.getAudioTracks()) {
      if (played.has(track)) continue;
      played.add(track);
      (feeds.get(track) || []).forEach(sounds);
      if (!isOwnWriting(track)) continue;
      written.set(track, undefined);
      if (isWanted()) activate();
    }
  }

  /** @param {MediaStreamTrack} track */
  const isOwnWriting = (track) =>
    Boolean(window.MediaStreamTrackGenerator) && track instanceof window.MediaStreamTrackGenerator;

  /** @param {AudioNode} node @param {any[]} args */
  function disconnected(node, args) {
    const graph = graphs.get(node.context);
    const fed = feeds.get(trackOf(args[0]));
    if (fed) fed.delete(node);
    if (!graph || !graph.nodes.has(node)) return;
    if (args.length && !isHeard(args[0])) return;
    graph.nodes.delete(node);
    if (graph.tee && args.length) quietly(() => node.disconnect(/** @type {any} */ (graph.tee)));
  }

  /** Hear a track that no receiver brought, until it ends or is forgotten. @param {MediaStreamTrack} track */
  function hear(track) {
    const node = capture.worklet.sourceOf(track);
    sounds(node);
    natives.listen.call(track, "ended", () => quietly(() => forget(node)), { once: true });
    return node;
  }

  /** @param {AudioNode} node */
  function forget(node) {
    const graph = graphs.get(node.context);
    if (graph) graph.nodes.delete(node);
    node.disconnect();
  }

  /** Whether the page has a receiver for sound at all: what it plays beside that are noises of its own. */
  const expectsReceivers = () => audio().length > 0;

  /**
   * Whether sound of any received track was sent since a moment: then the graph would only repeat it.
   * @param {number} sinceMs
   */
  const areFed = (sinceMs) => audio().some((entry) => entry.fedMs > sinceMs);

  /** The page was found deaf: what its receivers brought before speaks no longer against the graphs. */
  function ask() {
    const nowMs = capture.wallMs();
    if (!areFed(nowMs - LATELY_MS)) {
      heedMs = nowMs;
      taps.hearGraphs();
    }
    activate();
  }

  function activate() {
    if (areFed(heedMs)) return;
    for (const [context, graph] of graphs) {
      if (context.state === "closed") {
        graphs.delete(context);
        capture.worklet.leave(context);
      }
      if (graph.tee || context.state === "closed") continue;
      const tee = context.createGain();
      graph.tee = tee;
      for (const node of graph.nodes) natives.connect.call(node, tee);
      graph.entry = attach((entry) => capture.worklet.listenIn(entry, tee));
    }
    for (const [track, known] of written) {
      if (!known) written.set(track, attach((entry) => capture.worklet.listen(entry, track)));
    }
  }

  /** @param {(entry: any) => void} listen */
  function attach(listen) {
    const entry = taps.add("graph", { backend: "worklet" });
    taps.setMode(entry, { kind: "graph", ship: true, hold: expectsReceivers() });
    if (!timer) timer = natives.setInterval(() => quietly(giveWay), EVERY_MS);
    listen(entry);
    capture.tell("capture", { event: "attached", track: entry.track, kind: "graph", backend: "worklet" });
    return entry;
  }

  /** @param {any} entry */
  function detach(entry) {
    if (entry.source) entry.source.disconnect();
    taps.entries.delete(entry.track);
  }

  /** Let go of the graphs once receivers bring sound, so that nothing is heard twice. */
  function giveWay() {
    if (!areFed(heedMs)) return;
    heedMs = 0; // a pause of theirs is not the end of them
    natives.clearInterval(timer);
    timer = 0;
    for (const graph of graphs.values()) {
      if (!graph.tee) continue;
      for (const node of graph.nodes) quietly(() => node.disconnect(/** @type {any} */ (graph.tee)));
      detach(graph.entry); // its source is the tee
      graph.tee = graph.entry = undefined;
    }
    for (const [track, entry] of written) {
      if (!entry) continue;
      detach(entry);
      written.set(track, undefined);
    }
  }

  replace(AudioNode.prototype, "connect", (native, self, args) => {
    const result = Reflect.apply(native, self, args);
    quietly(() => connected(self, args[0]));
    return result;
  });
  replace(AudioNode.prototype, "disconnect", (native, self, args) => {
    const result = Reflect.apply(native, self, args);
    quietly(() => disconnected(self, args));
    return result;
  });

  // Nobody listens at a bot's page. Asked for 'interactive', the browser renders every 10 ms and leaves out what a busy
  // machine wakes it too late for: of a second 90 ms beside thirty browsers, half of that with 'playback', which also
  // costs a tenth less. Longer still would starve pages that hold little in advance.
  capture.replaceConstructor(
    "AudioContext",
    () => undefined,
    ([options, ...more]) => [{ ...options, latencyHint: "playback" }, ...more],
  );

  capture.graphs = { ask, consider: () => isWanted() && activate(), forget, hear, plays, count: () => graphs.size + written.size };
})();
