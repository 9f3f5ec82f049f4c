// Sound that never was a track: pages that decode by themselves play through WebAudio. Whatever they connect to a
// destination is also connected to an ear of ours, from the first moment where the page has no receiver for sound; a
// receiver that brings some ends that.
"use strict";

(() => {
  const { natives, taps, replace, quietly } = seat;
  natives.AudioContext = window.AudioContext;
  natives.AudioWorkletNode = window.AudioWorkletNode;
  natives.connect = AudioNode.prototype.connect;

  const EVERY_MS = 2000;

  /** @type {Map<BaseAudioContext, {nodes: Set<AudioNode>, tee?: MediaStreamAudioDestinationNode, entry?: any}>} */
  const graphs = new Map();
  let timer = 0;

  /** @param {AudioNode} node @param {any} target */
  function connected(node, target) {
    if (!(target instanceof AudioDestinationNode) || !(node.context instanceof natives.AudioContext)) return;
    const graph = graphs.get(node.context) || { nodes: new Set() };
    graphs.set(node.context, graph);
    graph.nodes.add(node);
    // Pages play block by block, each from a source of its own: those that ended must not be kept.
    if (node instanceof AudioScheduledSourceNode) {
      natives.listen.call(node, "ended", () => graph.nodes.delete(node), { once: true });
    }
    if (graph.tee) natives.connect.call(node, graph.tee);
    else if (seat.backend === "worklet" || !expectsReceivers()) activate();
  }

  /** @param {AudioNode} node @param {any[]} args */
  function disconnected(node, args) {
    const graph = graphs.get(node.context);
    if (!graph || !graph.nodes.has(node)) return;
    if (args.length && !(args[0] instanceof AudioDestinationNode)) return;
    graph.nodes.delete(node);
    if (graph.tee && args.length) quietly(() => node.disconnect(/** @type {any} */ (graph.tee)));
  }

  /** Whether the page has a receiver for sound at all: what it plays beside that are noises of its own. */
  const expectsReceivers = () => [...taps.entries.values()].some((e) => e.kind === "audio");

  /** Whether any received track brings packets: then the graph would only repeat it. */
  const hasReceivers = () => [...taps.entries.values()].some((e) => e.kind === "audio" && e.packets > 0);

  function activate() {
    if (hasReceivers()) return;
    for (const [context, graph] of graphs) {
      if (graph.tee || context.state === "closed") continue;
      const tee = /** @type {AudioContext} */ (context).createMediaStreamDestination();
      graph.tee = tee;
      for (const node of graph.nodes) natives.connect.call(node, tee);
      const entry = taps.add("graph", { backend: "worklet" });
      graph.entry = entry;
      if (!timer) timer = natives.setInterval(() => quietly(giveWay), EVERY_MS);
      seat.worklet.listen(entry, tee.stream.getAudioTracks()[0]);
      seat.tell("capture", { event: "attached", track: entry.track, kind: "graph", backend: "worklet" });
    }
  }

  /** Let go of the graphs once receivers bring sound, so that nothing is heard twice. */
  function giveWay() {
    if (!hasReceivers()) return;
    natives.clearInterval(timer);
    timer = 0;
    for (const graph of graphs.values()) {
      if (!graph.tee) continue;
      for (const node of graph.nodes) quietly(() => node.disconnect(/** @type {any} */ (graph.tee)));
      if (graph.entry.source) graph.entry.source.disconnect();
      taps.entries.delete(graph.entry.track);
      graph.tee = graph.entry = undefined;
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

  seat.graphs = { activate, count: () => graphs.size };
})();
