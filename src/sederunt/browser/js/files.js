// Sound that a page plays from a file or from data of its own, by an element's `src`: neither a receiver nor a graph of
// the page brings it. What such elements play is heard in a context of ours, as a graph beside those of the page.
"use strict";

(() => {
  const { natives, replace, quietly } = capture;
  const proto = HTMLMediaElement.prototype;
  const captureStream = /** @type {any} */ (proto).captureStream;
  if (!captureStream) return;

  /** @type {WeakMap<HTMLMediaElement, MediaStream>} */
  const streams = new WeakMap();
  /** @type {WeakMap<MediaStreamTrack, AudioNode>} */
  const heard = new WeakMap();
  /** @type {WeakSet<HTMLMediaElement>} elements that the page plays through a graph of its own, where they are heard */
  const routed = new WeakSet();

  /** @type {WeakSet<HTMLMediaElement>} elements that began once */
  const begun = new WeakSet();

  /** An element begins to play; muted ones are nobody's voice until they are muted no more. @param {any} element */
  function begins(element) {
    if (routed.has(element) || element.srcObject || !(element.currentSrc || element.src)) return;
    if (!begun.has(element)) {
      begun.add(element);
      natives.listen.call(element, "volumechange", () => quietly(() => element.paused || begins(element)));
    }
    if (element.muted) return;
    const stream = streams.get(element) || captureStream.call(element);
    if (!streams.has(element)) {
      streams.set(element, stream);
      // Its tracks come with its data, and anew when it plays something else.
      natives.listen.call(stream, "addtrack", () => quietly(() => hear(element, stream)));
    }
    hear(element, stream);
  }

  /** @param {HTMLMediaElement} element @param {MediaStream} stream */
  function hear(element, stream) {
    for (const track of routed.has(element) ? [] : stream.getAudioTracks()) {
      if (!heard.has(track) && !element.muted) heard.set(track, capture.graphs.hear(track));
    }
  }

  /** @param {HTMLMediaElement} element */
  function route(element) {
    routed.add(element);
    const stream = streams.get(element);
    for (const track of stream ? stream.getAudioTracks() : []) {
      const node = heard.get(track);
      if (node) capture.graphs.forget(node);
    }
  }

  replace(proto, "play", (native, self, args) => {
    quietly(() => begins(self));
    return Reflect.apply(native, self, args);
  });
  replace(AudioContext.prototype, "createMediaElementSource", (native, self, args) => {
    const node = Reflect.apply(native, self, args);
    quietly(() => route(args[0]));
    return node;
  });
  capture.replaceConstructor("MediaElementAudioSourceNode", (node) => route(node.mediaElement));
  // Those that begin by themselves.
  natives.listen.call(document, "playing", (/** @type {Event} */ event) => quietly(() => begins(event.target)), true);
})();
