// The page's WebRTC side: negotiation in either direction, one audio element per slot, and who is heard.
"use strict";

(() => {
  /** @type {Practice} */
  const practice = window.practice;
  const POLL_MS = 100;
  // Entries of people who stopped stay in the browser's list for seconds: only these are current.
  const CURRENT_MS = 300;
  const LAST_SIGNALS_MS = 400;

  /** @type {RTCPeerConnection | undefined} */
  let connection;
  /** @type {Map<string, RTCDataChannel>} */
  const channels = new Map();

  /**
   * What a site asks for.
   * @typedef {object} Wishes
   * @property {number} audio how many audio slots
   * @property {string[]} localChannels data channels that the page opens
   * @property {Record<string, any>} variant
   * @property {(label: string, data: any) => void} onChannelMessage
   * @property {(element: HTMLMediaElement) => void} place puts an audio or video element into the page
   */

  /** @param {Wishes} wishes */
  async function connect(wishes) {
    connection = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
    const made = connection;
    made.addEventListener("track", (event) => takeTrack(event, wishes));
    made.addEventListener("datachannel", (event) => takeChannel(event.channel, wishes));
    practice.link.on("offer", (sdp) => answer(made, sdp));
    practice.link.on("answer", (sdp) => made.setRemoteDescription({ type: "answer", sdp }));
    for (const label of wishes.localChannels) takeChannel(made.createDataChannel(label), wishes);
    if (wishes.variant.offers === "server") {
      practice.link.tell({ do: "negotiate" });
      return;
    }
    for (let slot = 0; slot < wishes.audio; slot += 1) {
      prepare(made.addTransceiver("audio", { direction: "recvonly" }).receiver, wishes);
    }
    for (let slot = 0; slot < wishes.variant.video; slot += 1) made.addTransceiver("video", { direction: "recvonly" });
    await made.setLocalDescription();
    practice.link.tell({ do: "offer", sdp: made.localDescription && made.localDescription.sdp });
  }

  /** @param {RTCPeerConnection} made @param {string} sdp */
  async function answer(made, sdp) {
    await made.setRemoteDescription({ type: "offer", sdp });
    await made.setLocalDescription();
    practice.link.tell({ do: "answer", sdp: made.localDescription && made.localDescription.sdp });
  }

  /** @param {RTCTrackEvent} event @param {Wishes} wishes */
  function takeTrack(event, wishes) {
    if (wishes.variant.offers === "server") prepare(event.receiver, wishes);
    const kind = /** @type {"audio" | "video"} */ (event.track.kind);
    const playsItself = ["plays", "streams"].includes(wishes.variant.transform);
    if (kind === "audio" && (!wishes.variant.elements || playsItself)) return;
    const element = /** @type {HTMLMediaElement} */ (document.createElement(kind));
    element.autoplay = true;
    element.srcObject = event.streams[0] && kind === "video" ? event.streams[0] : new MediaStream([event.track]);
    wishes.place(element);
    element.play().catch(() => undefined);
  }

  /**
   * Some sites put their own transform on every receiver, which hands each frame on unchanged. Others take the frames,
   * by a transform or by the older streams, play them by themselves and hand nothing on.
   * @param {RTCRtpReceiver} receiver @param {Wishes} wishes
   */
  function prepare(receiver, wishes) {
    const { transform } = wishes.variant;
    if (transform === "none" || receiver.track.kind !== "audio") return;
    if (transform === "streams") playStreams(receiver);
    else putTransform(receiver, transform === "plays");
  }

  /** @param {any} receiver */
  function playStreams(receiver) {
    const { readable } = receiver.createEncodedStreams();
    const play = practice.speaker.voice();
    const write = (/** @type {any} */ frame) => {
      noteSources(frame.getMetadata().contributingSources);
      play(frame.data, frame.timestamp);
    };
    readable.pipeTo(new WritableStream({ write }));
  }

  /** @type {Worker | undefined} */
  let worker;
  /** @type {PracticeVoice[]} by the number of their receivers */
  const voices = [];

  /** @param {RTCRtpReceiver} receiver @param {boolean} keeps */
  function putTransform(receiver, keeps) {
    worker = worker || startWorker();
    const options = { keeps, number: voices.length };
    if (keeps) voices.push(practice.speaker.voice());
    receiver.transform = new RTCRtpScriptTransform(worker, options);
  }

  function startWorker() {
    const started = new Worker(practice.trusted("/practice/page/transform_worker.js"));
    started.addEventListener("message", ({ data: { number, data, timestamp, csrcs } }) => {
      noteSources(csrcs);
      voices[number](data, timestamp);
    });
    return started;
  }

  /** @type {Map<number, number>} contributing source → when it was in a frame that this page played by itself */
  const played = new Map();

  /** @param {number[]} csrcs */
  function noteSources(csrcs) {
    for (const csrc of csrcs) played.set(csrc, performance.now());
  }

  /** @param {RTCDataChannel} channel @param {Wishes} wishes */
  function takeChannel(channel, wishes) {
    channel.binaryType = "arraybuffer";
    channels.set(channel.label, channel);
    channel.addEventListener("message", (event) => {
      if (connection) wishes.onChannelMessage(channel.label, event.data); // else the call's screen is gone
    });
  }

  /** @param {string} label @param {string | ArrayBuffer} data */
  function send(label, data) {
    const channel = channels.get(label);
    if (channel && channel.readyState === "open") channel.send(/** @type {string} */ (data));
  }

  /**
   * Report the CSRCs that are heard, each time the set changes. Sites poll this themselves.
   * @param {(csrcs: number[]) => void} report
   */
  function watchSources(report) {
    let last = "";
    setInterval(() => {
      const heard = currentSources();
      const key = heard.join();
      if (key !== last) report(heard);
      last = key;
    }, POLL_MS);
  }

  /** @returns {number[]} */
  function currentSources() {
    if (!connection) return [];
    const now = performance.timeOrigin + performance.now();
    const heard = new Set([...played].filter(([, at]) => performance.now() - at < CURRENT_MS).map(([csrc]) => csrc));
    for (const receiver of connection.getReceivers()) {
      if (receiver.track.kind !== "audio") continue;
      for (const entry of receiver.getContributingSources()) {
        const at = entry.timestamp > 1e12 ? entry.timestamp : performance.timeOrigin + entry.timestamp;
        if (now - at < CURRENT_MS) heard.add(entry.source);
      }
    }
    return [...heard].sort();
  }

  /** The last signals may be under way still, on another road than what ended the call. */
  function close() {
    const closing = connection;
    if (closing) setTimeout(() => closing.close(), LAST_SIGNALS_MS);
    connection = undefined;
    channels.clear();
  }

  practice.media = { connect, send, watchSources, close };
})();
