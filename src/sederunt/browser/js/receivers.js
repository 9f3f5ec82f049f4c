// Puts an encoded transform on every receiver, in the very task in which the receiver is made: a moment later the
// browser has decided to do without, no error is raised, and no frame ever comes. A page's own transforms come first.
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
  /** @type {WeakSet<RTCPeerConnection>} connections whose pages asked for encoded streams of their own */
  const ownStreams = new WeakSet();
  /** @type {WeakMap<RTCRtpReceiver, any>} what the page set as its transform */
  const pageTransforms = new WeakMap();
  /** @type {Set<RTCPeerConnection>} */
  const connections = new Set();

  /** @param {RTCRtpReceiver} receiver @param {RTCPeerConnection} connection */
  function attach(receiver, connection) {
    if (known.has(receiver)) return;
    const kind = /** @type {"audio" | "video"} */ (receiver.track.kind);
    const entry = taps.add(kind, { receiver, connection, backend: "encoded", fresh: true });
    known.set(receiver, entry);
    natives.setTimeout(() => (entry.fresh = false), 0);
    if (kind === "audio" && capture.backend === "worklet") capture.useWorklet(entry);
    else if (ownStreams.has(connection)) entry.backend = "waiting";
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
  }

  capture.replaceConstructor("RTCPeerConnection", (connection, args) => {
    connections.add(connection);
    if (args[0] && args[0].encodedInsertableStreams) ownStreams.add(connection);
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
    if (entry && entry.transformed) {
      // What the browser itself says to a page that comes too late; with ours in place both would get nothing.
      if (!entry.fresh) throw new DOMException("Too late to create encoded streams", "InvalidStateError");
      setTransform.call(self, null);
      entry.transformed = false;
    }
    const streams = Reflect.apply(native, self, args);
    return (entry && quietly(() => tapBehind(entry, streams))) || streams;
  });

  /**
   * The page writes its frames, in clear, to us; we hand them on to where they were going.
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
    if (entry.mode.forward === "none") capture.elements.hold(entry.receiver.track);
    return { readable: streams.readable, writable: between.writable };
  }

  /** @param {RTCRtpReceiver} receiver */
  const entryOf = (receiver) => known.get(receiver);
  capture.receivers = { connections, putTransform, entryOf };
})();
