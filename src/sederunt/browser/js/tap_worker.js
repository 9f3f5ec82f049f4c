// The worker of one realm: reads encoded frames from receivers, batches them, sends them over its own socket. Runs off
// the main thread, so a busy page loses nothing. packing.js stands before it in the same worker.
"use strict";

/**
 * @typedef {object} Tap
 * @property {"audio" | "video"} kind
 * @property {boolean} ship whether frames go to Python
 * @property {"all" | "keys" | "none"} forward which frames go on to the page's decoder
 * @property {number} tapped frames seen
 * @property {number} order counts frames that carry no sequence number of their own
 * @property {boolean} attached whether a transform is open
 * @property {number} keyAtMs when a key frame came, or was asked for, last
 * @property {boolean} [watched] whether the page asks who is heard
 */

(() => {
  const MOST_BATCH_BYTES = 1 << 18;
  const MOST_WAITING = 600; // batches kept while the socket is away: two minutes at 200 ms
  const AGAIN_MS = 500;
  const KEY_EVERY_MS = 5000;
  const NEWS_MS = 100; // each telling wakes the page; told per track every 50 ms, they took a quarter of a bot's CPU

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
  /** @type {Map<number, {csrcs: Map<number, object>, ssrcs: Map<number, object>}>} by track: what the page was not told */
  const news = new Map();
  let toldAtMs = 0;

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

  /** @param {any} frame */
  function ship(frame) {
    frames.push(frame);
    bytes += frame.data.byteLength;
    if (bytes > MOST_BATCH_BYTES) flush();
    else if (!timer) timer = setTimeout(flush, batchMs);
  }

  /**
   * @param {number} track
   * @param {Tap} tap
   * @param {{data: ArrayBuffer, type?: string, metadata: any}} frame
   */
  function take(track, tap, { data, type, metadata }) {
    tap.tapped += 1;
    if (tap.watched) note(track, metadata);
    if (!tap.ship) return;
    if (type === "key") tap.keyAtMs = wallMs();
    const sequenceNumber = metadata.sequenceNumber;
    tap.order = (sequenceNumber === undefined ? tap.order + 1 : sequenceNumber) & 0xffff;
    ship({
      track,
      codec: codecOf(metadata.mimeType, tap.kind),
      keyframe: type === "key",
      ssrc: metadata.synchronizationSource || 0,
      timestamp: metadata.rtpTimestamp || 0,
      sequence: tap.order,
      csrcs: (metadata.contributingSources || []).slice(0, 15),
      level: metadata.audioLevel,
      atMs: wallMs(),
      data,
    });
  }

  /**
   * Who is in a frame, for the page; told together, now and again. What comes just before a silence is not told, so that
   * no timer has to wait for it: its source is known by then.
   * @param {number} track @param {any} metadata
   */
  function note(track, { contributingSources, synchronizationSource, audioLevel, rtpTimestamp }) {
    const lists = news.get(track) || { csrcs: new Map(), ssrcs: new Map() };
    news.set(track, lists);
    const timestamp = wallMs();
    const heard = { timestamp, rtpTimestamp, ...(audioLevel === undefined ? {} : { audioLevel }) };
    for (const source of contributingSources || []) lists.csrcs.set(source, heard);
    lists.ssrcs.set(synchronizationSource, heard);
    if (timestamp - toldAtMs < NEWS_MS) return;
    toldAtMs = timestamp;
    postMessage({ heard: [...news] });
    news.clear();
  }

  /** @param {Tap} tap @param {any} frame */
  const goesOn = (tap, frame) => tap.forward === "all" || (tap.forward === "keys" && frame.type === "key");

  /** @param {any} transformer */
  async function read(transformer) {
    const { track, ...mode } = transformer.options;
    const tap = tapOf(track, mode);
    tap.attached = true;
    const reader = transformer.readable.getReader();
    const writer = transformer.writable.getWriter();
    const stopAsking = tap.kind === "video" && tap.ship ? askForKeyFrames(tap, transformer) : () => undefined;
    for (;;) {
      const { value: frame, done } = await reader.read();
      if (done) break;
      const forwards = goesOn(tap, frame);
      // A forwarded frame is taken apart by the decoder, so its bytes are copied first.
      const data = tap.ship && forwards ? frame.data.slice(0) : frame.data;
      take(track, tap, { data, type: frame.type, metadata: frame.getMetadata() });
      if (forwards) writer.write(frame).catch(() => undefined);
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
    const tap = { tapped: 0, order: -1, attached: false, keyAtMs: 0, ...mode };
    taps.set(track, tap);
    return tap;
  }

  /** Blocks of samples from the worklet. @param {{blocks: Array<any>}} message */
  function takeSamples({ blocks }) {
    for (const block of blocks) {
      const tap = tapOf(block.track, { kind: "audio", ship: true });
      tap.tapped += 1;
      ship({
        track: block.track,
        codec: 3,
        keyframe: false,
        ssrc: 0,
        timestamp: block.start >>> 0,
        sequence: block.sequence & 0xffff,
        csrcs: [],
        level: undefined,
        atMs: wallMs() - block.data.byteLength / 32, // 32 bytes a millisecond: the time of the first sample
        data: block.data,
      });
    }
  }

  const orders = {
    /** @param {{address: string, batchMs: number}} order */
    start(order) {
      ({ address, batchMs } = order);
      open();
    },
    /** @param {{track: number, mode: any}} order */
    mode: (order) => tapOf(order.track, order.mode),
    /** @param {{track: number, mode: any}} order */
    watch(order) {
      tapOf(order.track, order.mode).watched = true;
    },
    /** A frame that was read in the page. @param {{track: number, mode: any, frame: any}} order */
    frame: (order) => take(order.track, tapOf(order.track, order.mode), order.frame),
    /** @param {{port: MessagePort}} order */
    samples(order) {
      order.port.onmessage = (event) => takeSamples(event.data);
    },
    /** @param {{number: number}} order */
    count(order) {
      const counts = Object.fromEntries([...taps].map(([track, tap]) => [track, tap.tapped]));
      postMessage({ answer: order.number, counts, batches: sequence, waiting: waiting.length });
    },
  };

  addEventListener("rtctransform", (event) => {
    read(/** @type {any} */ (event).transformer).catch(() => undefined);
  });
  addEventListener("message", ({ data }) => orders[/** @type {keyof typeof orders} */ (data.order)](data));
})();
