// Sound that never was a track: pages that decode by themselves play through WebAudio. Whatever they connect to a
// destination is also connected to an ear of ours, while no receiver brings sound.
"use strict";

(() => {
  const { natives, taps, replace, quietly } = seat;
  natives.AudioContext = window.AudioContext;
  natives.AudioWorkletNode = window.AudioWorkletNode;
  natives.connect = AudioNode.prototype.connect;

  /** @type {Map<BaseAudioContext, {nodes: Set<AudioNode>, tee?: MediaStreamAudioDestinationNode}>} */
  const graphs = new Map();

  /** @param {AudioNode} node @param {any} target */
  function connected(node, target) {
    if (!(target instanceof AudioDestinationNode) || !(node.context instanceof natives.AudioContext)) return;
    const graph = graphs.get(node.context) || { nodes: new Set() };
    graphs.set(node.context, graph);
    graph.nodes.add(node);
    if (graph.tee) natives.connect.call(node, graph.tee);
    else if (seat.backend === "worklet") activate();
  }

  /** @param {AudioNode} node @param {any[]} args */
  function disconnected(node, args) {
    const graph = graphs.get(node.context);
    if (!graph || !graph.nodes.has(node)) return;
    if (args.length && !(args[0] instanceof AudioDestinationNode)) return;
    graph.nodes.delete(node);
    if (graph.tee && args.length) quietly(() => node.disconnect(/** @type {any} */ (graph.tee)));
  }

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
      seat.worklet.listen(entry, tee.stream.getAudioTracks()[0]);
      seat.tell("capture", { event: "attached", track: entry.track, kind: "graph", backend: "worklet" });
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
