// Tells the page who is heard. Frames that are taken before they are decoded leave the browser's own lists of sources
// empty, and sites mark the speakers on their pages by those. Nothing is kept before a page asks for the first time.
"use strict";

(() => {
  const { taps, receivers, replace, quietly } = capture;
  if (!receivers) return;
  const KEPT_MS = 10_000; // as long as the browser's own lists keep them

  /** @typedef {{timestamp: number, audioLevel?: number, rtpTimestamp: number}} Heard */
  /** @typedef {{csrcs: Map<number, Heard>, ssrcs: Map<number, Heard>}} Lists by source */
  /** @type {Map<number, Lists>} by track */
  const tracks = new Map();

  /**
   * What the worker read from the frames since the last time.
   * @param {number[]} rows of six: track, whether it is a contributing source, source, time, RTP time, level or -1
   */
  function hear(rows) {
    for (let at = 0; at < rows.length; at += 6) {
      const [track, contributing, source, timestamp, rtpTimestamp, level] = rows.slice(at, at + 6);
      const lists = tracks.get(track);
      if (!lists) continue;
      const heard = { timestamp, rtpTimestamp, ...(level < 0 ? {} : { audioLevel: level }) };
      (contributing ? lists.csrcs : lists.ssrcs).set(source, heard);
    }
  }

  /** The receiver's entry where its frames stop with us. @param {RTCRtpReceiver} receiver */
  function heldEntry(receiver) {
    const entry = receivers.entryOf(receiver);
    return entry && entry.kind === "audio" && entry.backend === "encoded" && entry.mode.forward === "none" ? entry : null;
  }

  /** @param {"csrcs" | "ssrcs"} which */
  function answerFor(which) {
    return (/** @type {Function} */ native, /** @type {any} */ self, /** @type {any[]} */ args) => {
      // The browser is not even asked: each of its answers waits for another of its threads.
      return quietly(() => listed(self, which)) || Reflect.apply(native, self, args);
    };
  }

  /**
   * The newest first, as the browser has it; null where the browser knows best.
   * @param {any} receiver @param {"csrcs" | "ssrcs"} which
   */
  function listed(receiver, which) {
    const entry = heldEntry(receiver);
    if (!entry) return null;
    if (!tracks.has(entry.track)) {
      tracks.set(entry.track, { csrcs: new Map(), ssrcs: new Map() });
      taps.watchSources(entry);
    }
    const list = /** @type {Lists} */ (tracks.get(entry.track))[which];
    const oldest = capture.wallMs() - KEPT_MS;
    for (const [source, heard] of list) if (heard.timestamp < oldest) list.delete(source);
    const entries = [...list].map(([source, heard]) => ({ source, ...heard }));
    return entries.sort((one, other) => other.timestamp - one.timestamp);
  }

  replace(RTCRtpReceiver.prototype, "getContributingSources", answerFor("csrcs"));
  replace(RTCRtpReceiver.prototype, "getSynchronizationSources", answerFor("ssrcs"));
  capture.contributors = { hear };
})();
