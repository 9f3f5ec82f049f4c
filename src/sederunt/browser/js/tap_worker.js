// The worker of one realm: reads encoded frames from receivers, batches them, sends them over its own socket. Runs off
// the main thread, so a busy page loses nothing. packing.js stands before it in the same worker.
//
// A page may take the frames of a receiver for itself. It is given them, and ours are held meanwhile: a page that hands
// them back has decrypted them, and what it hands back is sent instead; one that hands back nothing plays them by itself.
"use strict";

/**
 * @typedef {object} Tap
 * @property {"audio" | "video" | "graph"} kind
 * @property {boolean} ship whether frames go to Python
 * @property {"all" | "keys" | "none"} forward which frames go on to the page's decoder
 * @property {number} tapped frames seen
 * @property {number} order counts frames that carry no sequence number of their own
 * @property {boolean} attached whether a transform is open
 * @property {number} keyAtMs when a key frame came, or was asked for, last
 * @property {boolean} [watched] whether the page asks who is heard
 * @property {boolean} [foreign] whether its sound was told to be in a codec that is not kept
 * @property {"undecided" | "keeps" | "returns"} [page] what the page does with the frames, where it takes them
 * @property {number} [sharedIn] the turn in which the page was given a frame last
 * @property {boolean} [hold] a graph: whether the page has receivers, whose sound it may only repeat
 * @property {any[] | undefined} [held] what is not sent before it is decided
 * @property {number} [sentUntil] of a page that begins to hand frames back: the last one that was sent before
 * @property {number} shippedAtMs when any of it was sent last
 * @property {WritableStreamDefaultWriter} [writer] to the page's decoder
 */

(() => {
  const MOST_BATCH_BYTES = 1 << 18;
  const MOST_WAITING = 600; // batches kept while the socket is away: two minutes at 200 ms
  const AGAIN_MS = 500;
  const KEY_EVERY_MS = 5000;
  const LONGEST_REST_MS = 100; // the page hears of speakers once a rest, and takes much longer ones for silence
  const DRAIN_MS = 20; // after a rest, all tracks' frames are read within it
  const WAITED_MS = 1; // a frame that came within this lay ready
  const READY_MS = 10; // as did one that had been received so long before, whatever held this thread up
  const CROWD = 50; // frames of a track, about a second
  const MOST_WAIT_MS = 30_000; // longer than a machine stands still; what is older was told on another clock
  const MOST_HELD = 500; // frames of a track, ten seconds: of a page that took them and does not read them
  // A page that keeps its frames is given one of each track in so long: it may begin to hand them back. Playing five a
  // second costs it a quarter of a bot's CPU.
  const SHARE_EVERY_MS = 1000;
  const GRAPH_HELD_S = 1; // of a graph's sound, while no receiver brings any
  const NEWS_MS = 90; // each telling wakes the page; told per track every 50 ms, they took a quarter of a bot's CPU

  /** @type {Map<number, Tap>} */
  const taps = new Map();
  /** @type {any[]} */
  let frames = [];
  let bytes = 0;
  let sequence = 0;
  let timer = 0;
  /** @type {ArrayBuffer[]} */
  let waiting = [];
  /** @type {WebSocket | undefined} */
  let socket;
  let address = "";
  let batchMs = 200;
  /** @type {Map<string, number[]>} by track, list and source: what the page was not told, as rows of contributors.js */
  const news = new Map();
  let toldAtMs = 0;
  /** @type {Promise<void> | undefined} */
  let resting;
  let receiversSound = false; // whether a receiver has brought sound since graphs were asked last

  const wallMs = () => performance.timeOrigin + performance.now();

  function open() {
    const opened = new WebSocket(address);
    opened.onopen = () => {
      for (const batch of waiting) opened.send(batch);
      waiting = [];
    };
    opened.onclose = () => setTimeout(open, AGAIN_MS);
    socket = opened;
  }

  function flush() {
    clearTimeout(timer);
    timer = 0;
    if (!frames.length) return;
    const batch = pack(frames, sequence);
    sequence += 1;
    frames = [];
    bytes = 0;
    if (socket && socket.readyState === 1) socket.send(batch);
    else if (waiting.push(batch) > MOST_WAITING) waiting.shift();
  }

  /**
   * Frames gather twice: in the browser's queue while its readers rest, which costs nothing, and here, for the other
   * rests of a batch. Resting every 20 ms cost more than the messages did.
   */
  const restMs = () => Math.min(batchMs, LONGEST_REST_MS);
  const gatherMs = () => batchMs - restMs() + DRAIN_MS * Math.ceil(batchMs / LONGEST_REST_MS);

  /** @param {any} frame @param {number} forMs how long others may gather with it */
  function ship(frame, forMs = batchMs) {
    frames.push(frame);
    bytes += frame.data.byteLength;
    if (bytes > MOST_BATCH_BYTES) flush();
    else if (!timer) timer = setTimeout(flush, forMs);
  }

  /**
   * When a packet came, by the browser's own word where that can be true: it may have waited here since. The word is
   * taken as it is: a difference of two looks at the clock put frames of one burst out of order.
   * @param {number | undefined} receiveTime on this realm's clock
   */
  function cameAtMs(receiveTime) {
    const nowMs = performance.now();
    const told = receiveTime !== undefined && receiveTime <= nowMs && nowMs - receiveTime < MOST_WAIT_MS;
    return performance.timeOrigin + (told ? receiveTime : nowMs);
  }

  /**
   * @param {number} track
   * @param {Tap} tap
   * @param {{data: ArrayBuffer, type?: string, metadata: any}} frame
   * @param {boolean} rested whether its reader rests, so that it waited in the browser's queue
   */
  function take(track, tap, { data, type, metadata }, rested = false) {
    tap.tapped += 1;
    const atMs = cameAtMs(metadata.receiveTime);
    if (tap.watched) note(track, metadata, atMs);
    if (!tap.ship) return;
    if (tap.kind === "audio" && !tap.foreign && isForeignSound(metadata.mimeType)) {
      tap.foreign = true;
      postMessage({ foreign: track });
    }
    if (type === "key") tap.keyAtMs = wallMs();
    const sequenceNumber = metadata.sequenceNumber;
    tap.order = (sequenceNumber === undefined ? tap.order + 1 : sequenceNumber) & 0xffff;
    deliver(tap, {
      track,
      codec: codecOf(metadata.mimeType, /** @type {"audio" | "video"} */ (tap.kind)),
      keyframe: type === "key",
      ssrc: metadata.synchronizationSource || 0,
      timestamp: metadata.rtpTimestamp || 0,
      sequence: tap.order,
      csrcs: (metadata.contributingSources || []).slice(0, 15),
      level: metadata.audioLevel,
      atMs,
      data,
    }, rested ? gatherMs() : batchMs);
  }

  /** Whether a sequence number comes after another. @param {number} number @param {number} other */
  const isNewer = (number, other) => number !== other && ((number - other) & 0xffff) < 0x8000;

  /** Send a frame, or hold it while that is undecided. @param {Tap} tap @param {any} frame @param {number} [forMs] */
  function deliver(tap, frame, forMs) {
    if (tap.held) {
      tap.held.push(frame);
      if (tap.held.length >= MOST_HELD) release(tap);
      return;
    }
    if (tap.kind === "audio" && !receiversSound) {
      receiversSound = true;
      for (const graph of taps.values()) if (graph.kind === "graph") graph.held = undefined;
    }
    tap.shippedAtMs = wallMs();
    ship(frame, forMs);
  }

  /** It is to be sent, what was held first. @param {Tap} tap */
  function release(tap) {
    const held = tap.held || [];
    tap.held = undefined;
    if (tap.page) tap.page = "keeps";
    for (const frame of held) deliver(tap, frame);
  }

  /**
   * Take a frame, and hand it on to the page's decoder. @param {number} track @param {Tap} tap @param {any} frame
   * @param {any} metadata
   */
  function pass(track, tap, frame, metadata) {
    const forwards = goesOn(tap, frame);
    // A forwarded frame is taken apart by the decoder, so its bytes are copied first.
    const data = tap.ship && forwards ? frame.data.slice(0) : frame.data;
    take(track, tap, { data, type: frame.type, metadata }, tap.forward !== "all");
    if (forwards && tap.writer) tap.writer.write(frame).catch(() => undefined);
  }

  /**
   * Give a frame to the page, which takes them for itself. @param {number} track @param {Tap} tap @param {any} frame
   * @param {any} metadata
   */
  function share(track, tap, frame, metadata) {
    const isKept = tap.page === "keeps" && tap.forward === "none";
    const turn = Math.floor(performance.now() / SHARE_EVERY_MS);
    if (!isKept || tap.sharedIn !== turn) postMessage({ given: track, frame });
    tap.sharedIn = turn;
    if (tap.page !== "returns") take(track, tap, { data: frame.data, type: frame.type, metadata }, isKept);
  }

  /**
   * Who is in a frame, for the page. What comes just before a silence may not be told, so that no timer has to wait for
   * it: its source is known by then.
   * @param {number} track @param {any} metadata @param {number} timestamp
   */
  function note(track, { contributingSources, synchronizationSource, audioLevel = -1, rtpTimestamp }, timestamp) {
    news.set(`${track}s`, [track, 0, synchronizationSource, timestamp, rtpTimestamp, audioLevel]);
    for (const source of contributingSources || []) {
      news.set(`${track}c${source}`, [track, 1, source, timestamp, rtpTimestamp, audioLevel]);
    }
  }

  /** Tell the page, of all tracks together and now and again. Plain numbers: nested maps cost it ten times as much. */
  function tellNews() {
    if (!news.size || wallMs() - toldAtMs < NEWS_MS) return;
    toldAtMs = wallMs();
    postMessage({ heard: [...news.values()].flat() });
    news.clear();
  }

  /** @param {Tap} tap @param {any} frame */
  const goesOn = (tap, frame) => tap.forward === "all" || (tap.forward === "keys" && frame.type === "key");

  /**
   * A pause of all tracks together, in which frames gather in the browser's own queue (it holds 60, and drops what is
   * more). Waiting for each of them by itself took a third of this thread's time.
   */
  function rest() {
    tellNews();
    resting = resting || new Promise((resolve) => {
      setTimeout(() => {
        resting = undefined;
        resolve(undefined);
      }, restMs());
    });
    return resting;
  }

  /** @param {any} transformer */
  async function read(transformer) {
    const { track, ...mode } = transformer.options;
    const tap = tapOf(track, mode);
    tap.attached = true;
    if (tap.page === "undecided") tap.held = [];
    const reader = transformer.readable.getReader();
    tap.writer = transformer.writable.getWriter();
    const stopAsking = tap.kind === "video" && tap.ship ? askForKeyFrames(tap, transformer) : () => undefined;
    for (;;) {
      const askedMs = performance.now();
      const { value: frame, done } = await reader.read();
      if (done) break;
      const metadata = frame.getMetadata();
      if (tap.page) share(track, tap, frame, metadata);
      else pass(track, tap, frame, metadata);
      if (tap.forward === "all" || (tap.page && tap.page !== "keeps")) continue; // somebody waits for the next one
      if (performance.now() - askedMs > WAITED_MS && !(metadata.receiveTime <= askedMs - READY_MS)) await rest();
      else if (tap.tapped % CROWD === 0) tellNews(); // so busy that nothing has to be waited for
    }
    stopAsking();
    tap.attached = false;
    postMessage({ ended: track });
  }

  /**
   * Neither a recording nor the next piece of one after a loss can begin without a key frame, and the sender's own may
   * be minutes apart. @param {Tap} tap @param {any} transformer
   */
  function askForKeyFrames(tap, transformer) {
    const ask = () => {
      if (wallMs() - tap.keyAtMs < KEY_EVERY_MS) return;
      tap.keyAtMs = wallMs();
      transformer.sendKeyFrameRequest().catch(() => undefined);
    };
    ask();
    const asking = setInterval(ask, KEY_EVERY_MS / 4);
    return () => clearInterval(asking);
  }

  /** @param {number} track @param {any} mode @returns {Tap} */
  function tapOf(track, mode) {
    const known = taps.get(track);
    if (known) return Object.assign(known, mode);
    const tap = { tapped: 0, shippedAtMs: 0, order: -1, attached: false, keyAtMs: 0, ...mode };
    taps.set(track, tap);
    return tap;
  }

  /** Blocks of samples from the worklet. @param {{rate: number, blocks: Array<any>}} message `rate` in Hz */
  function takeSamples({ rate, blocks }) {
    for (const block of blocks) {
      const tap = taps.get(block.track) || tapOf(block.track, { kind: "audio", ship: true });
      tap.tapped += 1;
      if (tap.hold && receiversSound) continue; // it would only repeat them
      deliver(tap, {
        track: block.track,
        codec: 3,
        keyframe: false,
        ssrc: rate,
        timestamp: block.start >>> 0,
        sequence: block.sequence & 0xffff,
        csrcs: [],
        level: undefined,
        atMs: wallMs() - (block.data.byteLength / 2 / rate) * 1000, // the time of the first sample
        data: block.data,
      });
      if (tap.hold && tap.held && heldS(tap.held, rate) >= GRAPH_HELD_S) release(tap);
    }
  }

  /** @param {any[]} blocks of samples @param {number} rate in Hz */
  const heldS = (blocks, rate) => blocks.reduce((sum, { data }) => sum + data.byteLength / 2 / rate, 0);

  const orders = {
    /** @param {{line: MessagePort, batchMs: number}} order the address comes by `line` */
    start({ line, batchMs: ms }) {
      batchMs = ms;
      line.onmessage = ({ data }) => {
        ({ address } = data);
        open();
      };
    },
    /** @param {{track: number, mode: any}} order */
    mode(order) {
      const tap = tapOf(order.track, order.mode);
      tap.foreign = false;
      if (tap.hold && !receiversSound) tap.held = [];
    },
    /** The page takes the frames of a track for itself. @param {{track: number}} order */
    share({ track }) {
      const tap = taps.get(track);
      if (tap) Object.assign(tap, { page: "undecided", held: [] });
    },
    /** What the page was given is not handed back. @param {{track: number}} order */
    keep({ track }) {
      const tap = taps.get(track);
      if (tap && tap.page === "undecided") release(tap);
    },
    /** A frame that the page hands back. @param {{track: number, frame: any}} order */
    back({ track, frame }) {
      const tap = taps.get(track);
      if (!tap) return;
      const metadata = frame.getMetadata();
      if (tap.page === "keeps") tap.sentUntil = tap.order;
      Object.assign(tap, { page: "returns", held: undefined });
      if (tap.sentUntil !== undefined && !isNewer(metadata.sequenceNumber, tap.sentUntil)) return;
      tap.sentUntil = undefined;
      pass(track, tap, frame, metadata);
      tellNews();
    },
    /** Receivers are believed to be deaf: graphs of the page are listened to again. */
    hearGraphs() {
      receiversSound = false;
    },
    /** @param {{track: number, mode: any}} order */
    watch(order) {
      tapOf(order.track, order.mode).watched = true;
    },
    /** A frame that was read in the page, whose clock is another. @param {{track: number, mode: any, frame: any}} order */
    frame({ track, mode, frame }) {
      take(track, tapOf(track, mode), { ...frame, metadata: { ...frame.metadata, receiveTime: undefined } });
      tellNews();
    },
    /** @param {{port: MessagePort}} order */
    samples(order) {
      order.port.onmessage = (event) => takeSamples(event.data);
    },
    /** Send what has gathered, here and in the browser's queue. @param {{number: number}} order */
    flush(order) {
      setTimeout(() => {
        for (const tap of taps.values()) if (tap.held) release(tap);
        flush();
        postMessage({ answer: order.number, batches: sequence });
      }, restMs() + DRAIN_MS);
    },
    /** @param {{number: number}} order */
    count(order) {
      const counts = Object.fromEntries([...taps].map(([track, tap]) => [track, tap.tapped]));
      const shippedAtMs = Object.fromEntries([...taps].map(([track, tap]) => [track, tap.shippedAtMs]));
      postMessage({ answer: order.number, counts, shippedAtMs, batches: sequence, waiting: waiting.length });
    },
  };

  addEventListener("rtctransform", (event) => {
    read(/** @type {any} */ (event).transformer).catch(() => undefined);
  });
  addEventListener("message", ({ data }) => orders[/** @type {keyof typeof orders} */ (data.order)](data));
})();
