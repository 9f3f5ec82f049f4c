// The tracks of this realm and the worker that reads them: who is tapped how, and what was counted.
"use strict";

(() => {
  const { natives } = capture;
  const ANSWER_MS = 1500;

  /** @type {Map<number, any>} track number → entry */
  const entries = new Map();
  // Made before the page can have a hand in it: the worker speaks to Python in our name.
  const text = new natives.Blob(natives.listed([sources.worker]), { type: "text/javascript" });
  /** @type {Worker | undefined} */
  let worker;
  let nextTrack = 0;
  let nextQuestion = 0;
  /** @type {Map<number, (answer: any) => void>} */
  const questions = new Map();

  /** The realm's worker, started with the first receiver. @returns {Worker} */
  function theWorker() {
    if (worker) return worker;
    const address = natives.createObjectURL(text);
    const started = new natives.Worker(address);
    natives.revokeObjectURL(address); // the worker has its text; the page need not read it
    natives.hear(started, "message", (event) => capture.quietly(() => hear(natives.dataOf(event))));
    worker = started;
    if (capture.workerLine) sendLine();
    else capture.onWorkerLine = sendLine;
    return started;
  }

  /** Give the worker the port that brings it its address: nobody here reads it. */
  function sendLine() {
    order(/** @type {Worker} */ (worker), { order: "start", batchMs: config.batchMs, line: capture.workerLine }, [
      capture.workerLine,
    ]);
  }

  const { order } = natives;

  /** @param {any} message */
  function hear(message) {
    if ("answer" in message) {
      const answered = questions.get(message.answer);
      questions.delete(message.answer);
      if (answered) answered(message);
    }
    if ("heard" in message && capture.contributors) capture.contributors.hear(message.heard);
    if ("given" in message) {
      const entry = entries.get(message.given);
      if (entry && entry.give) entry.give(message.frame);
    }
    if ("foreign" in message) hearOtherwise(entries.get(message.foreign));
    if ("ended" in message) {
      const entry = entries.get(message.ended);
      if (entry) entry.ended = true;
    }
  }

  /** What comes on a track is in a codec that is not kept: its samples are. @param {any} entry */
  function hearOtherwise(entry) {
    if (!entry || entry.kind !== "audio") return;
    capture.tell("capture", { event: "foreign", track: entry.track });
    capture.useWorklet(entry);
  }

  /**
   * Have the worker do something and say so; without a worker nothing was counted, without an answer nobody knows.
   * @param {"count" | "flush"} what
   * @returns {Promise<{counts: Record<string, number>, shippedAtMs: Record<string, number>, batches: number, answered: boolean}>}
   */
  function askWorker(what) {
    const nothing = { counts: {}, shippedAtMs: {}, batches: 0, answered: !worker };
    if (!worker) return Promise.resolve(nothing);
    const number = (nextQuestion += 1);
    return new Promise((resolve) => {
      questions.set(number, (answer) => resolve({ ...answer, answered: true }));
      natives.setTimeout(() => questions.delete(number) && resolve(nothing), ANSWER_MS);
      order(/** @type {Worker} */ (worker), { order: what, number });
    });
  }

  /** What the worker has counted. */
  const counts = () => askWorker("count");

  /** Have the worker send what has gathered; resolves once it is on its way. */
  const flush = () => askWorker("flush");

  /**
   * A new track of this realm. @param {"audio" | "video" | "graph"} kind @param {object} facts
   */
  function add(kind, facts) {
    const mode = modeOf(kind, capture.backend);
    const entry = { track: nextTrack, kind, mode, packets: 0, tapped: 0, plis: 0, streams: new Map(), ...facts };
    nextTrack += 1;
    entries.set(entry.track, entry);
    return entry;
  }

  /**
   * What happens to the encoded frames of a track.
   * @param {"audio" | "video" | "graph"} kind @param {"encoded" | "worklet"} backend
   */
  function modeOf(kind, backend) {
    if (kind === "video") return { kind, ship: config.video, forward: "keys" };
    if (backend === "worklet") return { kind, ship: false, forward: "all" };
    return { kind, ship: true, forward: config.forward ? "all" : "none" };
  }

  /** @param {any} entry @param {any} mode */
  function setMode(entry, mode) {
    entry.mode = mode;
    order(theWorker(), { order: "mode", track: entry.track, mode });
  }

  /** From now on the worker tells who is heard on a track. @param {any} entry */
  const watchSources = (entry) => order(theWorker(), { order: "watch", track: entry.track, mode: entry.mode });

  /** A frame that was read here, not in the worker. @param {any} entry @param {any} frame */
  function takeFrame(entry, frame) {
    const data = frame.data.slice(0);
    const message = { data, type: frame.type, metadata: frame.getMetadata() };
    order(theWorker(), { order: "frame", track: entry.track, mode: entry.mode, frame: message }, [data]);
  }

  /** The page takes the frames of a track for itself. @param {any} entry */
  const share = (entry) => order(theWorker(), { order: "share", track: entry.track });

  /** … and hands none of them back. @param {any} entry */
  const keep = (entry) => order(theWorker(), { order: "keep", track: entry.track });

  /** … or hands this one back. @param {any} entry @param {any} frame */
  const handBack = (entry, frame) => order(theWorker(), { order: "back", track: entry.track, frame });

  /** Listen to graphs, though receivers brought sound before. */
  const hearGraphs = () => order(theWorker(), { order: "hearGraphs" });

  /** @param {MessagePort} port */
  const listenTo = (port) => order(theWorker(), { order: "samples", port }, [port]);

  capture.backend = config.backend;
  capture.taps = {
    entries,
    add,
    modeOf,
    setMode,
    counts,
    flush,
    takeFrame,
    share,
    keep,
    handBack,
    hearGraphs,
    theWorker,
    listenTo,
    watchSources,
  };
})();
