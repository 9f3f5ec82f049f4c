// Puts an encoded transform on every receiver, in the very task in which the receiver is made: a moment later the
// browser has decided to do without, no error is raised, and no frame ever comes. A page's own transform takes its place.
// A page that asks for encoded streams is given ours to read from, and finds them as the browser has them:
//
// | What pages do with them | Source |
// |---|---|
// | Meet looks whether createEncodedStreams is there; if so it decodes and plays the frames by itself, in a graph | Attendee, branch commit 45fceee3, 2026-08-11; Meeting-BaaS/meet-teams-bot pull 301, 2026-08-17 |
// | they decrypt the frames, and hand them back | end-to-end encryption in Jitsi Meet, LiveKit |
"use strict";

(() => {
  const { natives, taps, replace, replaceProperty, quietly } = capture;
  const proto = window.RTCRtpReceiver && RTCRtpReceiver.prototype;
  const transform = proto && Object.getOwnPropertyDescriptor(proto, "transform");
  const ScriptTransform = window.RTCRtpScriptTransform;
  if (!transform || !transform.set || !ScriptTransform) return;
  const setTransform = transform.set;

  /** @type {WeakMap<RTCRtpReceiver, any>} */
  const known = new WeakMap();
  const MOST_UNREAD = 60; // frames that wait for the page, as many as the browser lets wait
  const DECIDE_MS = 250;
  const DECIDE_LOOKS = 4; // at a page that read frames and handed none back

  /** @type {WeakSet<RTCPeerConnection>} connections whose pages asked for encoded streams, and may take them at any time */
  const asked = new WeakSet();
  /** @type {WeakMap<RTCRtpReceiver, any>} what the page set as its transform */
  const pageTransforms = new WeakMap();
  /** @type {Set<RTCPeerConnection>} */
  const connections = new Set();

  /** @param {RTCRtpReceiver} receiver @param {RTCPeerConnection} connection */
  function attach(receiver, connection) {
    if (known.has(receiver)) return;
    const kind = /** @type {"audio" | "video"} */ (receiver.track.kind);
    const entry = taps.add(kind, { receiver, connection, backend: "encoded", fresh: true });
    if (kind === "audio" && asked.has(connection)) entry.mode.page = "undecided";
    known.set(receiver, entry);
    natives.setTimeout(() => (entry.fresh = false), 0);
    if (kind === "audio" && capture.backend === "worklet") capture.useWorklet(entry);
    else if (kind === "video" && asked.has(connection)) entry.backend = "waiting";
    else putTransform(entry);
    if (entry.backend === "encoded" && entry.mode.forward === "none") capture.elements.hold(receiver.track);
    capture.watchdog.wake();
    capture.tell("capture", { event: "attached", track: entry.track, kind, backend: entry.backend });
  }

  /**
   * By the stream's name, or by the m-line of a connection, sites' signals tell whose a track is. The user fragment is
   * how those who offered the connection call it: pages have several.
   * @param {RTCTrackEvent} event @param {RTCPeerConnection} connection
   */
  function tellStream({ receiver, streams, transceiver }, connection) {
    const { kind } = receiver.track;
    const entry = known.get(receiver);
    if (!entry || (kind === "video" && !config.video)) return;
    const remote = connection.remoteDescription;
    const [, ufrag] = (remote && /^a=ice-ufrag:(\S+)/m.exec(remote.sdp)) || [];
    const line = { stream: streams[0] ? streams[0].id : "", mid: transceiver.mid, ufrag: ufrag || "" };
    capture.tell("capture", { event: "stream", track: entry.track, media: kind, ...line });
  }

  /** @param {any} entry */
  function putTransform(entry) {
    const options = { track: entry.track, ...entry.mode };
    setTransform.call(entry.receiver, new ScriptTransform(taps.theWorker(), options));
    entry.transformed = true;
    entry.ended = false;
  }

  /** The page took the receiver for itself: samples are all that is left for us. @param {any} entry */
  function displace(entry) {
    entry.transformed = false;
    if (entry.kind !== "audio" || entry.backend === "worklet") return;
    capture.tell("capture", { event: "displaced", track: entry.track });
    capture.useWorklet(entry);
    capture.graphs.consider(); // a transform that keeps the frames leaves nothing for the track
  }

  capture.replaceConstructor("RTCPeerConnection", (connection, args) => {
    connections.add(connection);
    if (args[0] && args[0].encodedInsertableStreams) asked.add(connection);
    natives.listen.call(connection, "track", (/** @type {any} */ event) => {
      quietly(() => {
        attach(event.receiver, connection);
        tellStream(event, connection);
      });
    });
  });
  if ("webkitRTCPeerConnection" in window) {
    Object.defineProperty(window, "webkitRTCPeerConnection", {
      ...Object.getOwnPropertyDescriptor(window, "webkitRTCPeerConnection"),
      value: window.RTCPeerConnection,
    });
  }

  const peer = RTCPeerConnection.prototype;
  replace(peer, "addTransceiver", (native, self, args) => {
    const transceiver = Reflect.apply(native, self, args);
    quietly(() => attach(transceiver.receiver, self));
    return transceiver;
  });
  replace(peer, "addTrack", (native, self, args) => {
    const sender = Reflect.apply(native, self, args);
    quietly(() => {
      const made = self.getTransceivers().find((/** @type {any} */ t) => t.sender === sender);
      if (made) attach(made.receiver, self);
    });
    return sender;
  });

  replaceProperty(proto, "transform", {
    get: (native, self) => (known.has(self) ? pageTransforms.get(self) || null : Reflect.apply(native, self, [])),
    set(native, self, value) {
      Reflect.apply(native, self, [value]);
      quietly(() => {
        pageTransforms.set(self, value);
        const entry = known.get(self);
        if (entry && value) displace(entry);
        else if (entry && entry.backend === "encoded") putTransform(entry);
      });
    },
  });

  replace(proto, "createEncodedStreams", (native, self, args) => {
    const entry = known.get(self);
    if (!entry || !entry.transformed) return asBefore(entry, Reflect.apply(native, self, args));
    // What the browser itself says; with ours in place nobody would get a frame.
    if (entry.pageStreams) throw refusal("Encoded streams already created");
    if (!entry.fresh && !asked.has(entry.connection)) throw refusal("Too late to create encoded streams");
    if (entry.kind === "audio") return (entry.pageStreams = share(entry));
    setTransform.call(self, null);
    entry.transformed = false;
    return asBefore(entry, Reflect.apply(native, self, args));
  });

  /** @param {string} why */
  const refusal = (why) =>
    new DOMException(`Failed to execute 'createEncodedStreams' on 'RTCRtpReceiver': ${why}`, "InvalidStateError");

  /** @param {any} entry @param {any} streams */
  const asBefore = (entry, streams) =>
    (entry && entry.kind === "video" && quietly(() => tapBehind(entry, streams))) || streams;

  /**
   * Streams by which the page gets the frames that our transform takes, and may hand them back. Whether it does is
   * decided while it can be seen to read.
   * @param {any} entry
   */
  function share(entry) {
    let given = 0;
    let looks = 0;
    let timer = 0;
    /** @type {any} */
    let queue;
    const readable = new natives.ReadableStream({ start: (controller) => (queue = controller) }, { highWaterMark: 0 });
    const writable = new natives.WritableStream({
      write(/** @type {any} */ frame) {
        natives.clearInterval(timer);
        quietly(() => taps.handBack(entry, frame));
      },
    });
    const decide = () => {
      if (given + queue.desiredSize <= 0) return; // it has not read any
      looks += 1;
      if (looks < DECIDE_LOOKS) return;
      natives.clearInterval(timer);
      taps.keep(entry);
    };
    entry.give = (/** @type {any} */ frame) => {
      if (queue.desiredSize <= -MOST_UNREAD) return;
      if (!given) timer = natives.setInterval(decide, DECIDE_MS);
      given += 1;
      queue.enqueue(frame);
    };
    taps.share(entry);
    return { readable, writable };
  }

  /**
   * The page writes its pictures, in clear, to us; we hand them on to where they were going.
   * @param {any} entry @param {{readable: ReadableStream, writable: WritableStream}} streams
   */
  function tapBehind(entry, streams) {
    const between = new TransformStream({
      transform(frame, controller) {
        quietly(() => taps.takeFrame(entry, frame));
        if (entry.mode.forward === "all" || (entry.mode.forward === "keys" && frame.type === "key")) {
          controller.enqueue(frame);
        }
      },
    });
    between.readable.pipeTo(streams.writable).catch(() => undefined);
    entry.backend = "encoded";
    return { readable: streams.readable, writable: between.writable };
  }

  /** @param {RTCRtpReceiver} receiver */
  const entryOf = (receiver) => known.get(receiver);
  capture.receivers = { connections, putTransform, entryOf };
})();
