// Keeps media elements from playing what never arrives. Frames that are not handed on would be played as silence, and
// silence costs as much as speech; so the element does not get the stream, while the page sees one that plays.
"use strict";

(() => {
  const { natives, replace, replaceProperty, quietly } = capture;
  const proto = HTMLMediaElement.prototype;
  const source = Object.getOwnPropertyDescriptor(proto, "srcObject");
  if (!source || !source.set || !source.get) return;
  const setSource = source.set;
  const getSource = source.get;
  const play = proto.play;

  /** @type {WeakSet<MediaStreamTrack>} remote tracks whose frames go nowhere */
  const held = new WeakSet();
  /** @type {WeakMap<HTMLMediaElement, {stream: MediaStream, playing: boolean, sinceMs: number}>} */
  const silent = new WeakMap();
  /** @type {Set<WeakRef<HTMLMediaElement>>} the same elements, to be found again */
  const places = new Set();

  /** @param {MediaStream} stream @returns {boolean} */
  function isPointless(stream) {
    const tracks = stream.getTracks();
    const audio = tracks.filter((track) => track.kind === "audio");
    const pictures = tracks.filter((track) => track.kind === "video" && !isUnseen(track));
    return audio.length > 0 && audio.every((track) => held.has(track)) && pictures.length === 0;
  }

  /** @param {MediaStreamTrack} track */
  function isUnseen(track) {
    for (const entry of capture.taps.entries.values()) {
      if (entry.kind === "video" && entry.receiver.track === track) return true;
    }
    return false;
  }

  /** @param {HTMLMediaElement} element @param {MediaStream} stream */
  function silence(element, stream) {
    silent.set(element, { stream, playing: element.autoplay, sinceMs: natives.now() });
    places.add(new WeakRef(element));
    setSource.call(element, null);
    announce(element, ["loadedmetadata", "loadeddata", "canplay", "canplaythrough"]);
    if (element.autoplay) announce(element, ["play", "playing"]);
  }

  /** What a page may wait for before it goes on. @param {HTMLMediaElement} element @param {string[]} names */
  function announce(element, names) {
    natives.setTimeout(() => {
      if (!silent.has(element)) return;
      for (const name of names) quietly(() => natives.dispatch.call(element, new Event(name)));
    }, 0);
  }

  /** Give back the streams that contain this track: its frames are played again. @param {MediaStreamTrack} track */
  function release(track) {
    held.delete(track);
    for (const place of places) {
      const element = place.deref();
      const state = element && silent.get(element);
      if (!element || !state) places.delete(place);
      else if (!isPointless(state.stream)) restore(element, state, place);
    }
  }

  /** @param {HTMLMediaElement} element @param {any} state @param {WeakRef<HTMLMediaElement>} place */
  function restore(element, state, place) {
    silent.delete(element);
    places.delete(place);
    setSource.call(element, state.stream);
    if (state.playing) play.call(element).catch(() => undefined);
  }

  replaceProperty(proto, "srcObject", {
    get(native, self) {
      const state = silent.get(self);
      return state ? state.stream : Reflect.apply(native, self, []);
    },
    set(native, self, value) {
      const pointless = quietly(() => value instanceof natives.MediaStream && isPointless(value));
      if (pointless && quietly(() => (silence(self, value), true))) return;
      Reflect.apply(native, self, [value]);
      silent.delete(self);
      if (value instanceof natives.MediaStream) quietly(() => players.add(self, value));
    },
  });

  /** Elements and the streams that they play: those may be given empty, and get their tracks later. */
  const players = (() => {
    /** @type {WeakMap<HTMLMediaElement, WeakRef<HTMLMediaElement>>} */
    const known = new WeakMap();
    /** @type {WeakMap<MediaStream, Set<WeakRef<HTMLMediaElement>>>} */
    const byStream = new WeakMap();

    /** @param {HTMLMediaElement} element @returns {WeakRef<HTMLMediaElement>} */
    function placeOf(element) {
      const place = known.get(element) || new WeakRef(element);
      // Pages begin mute where they may not begin loud.
      if (!known.has(element)) natives.listen.call(element, "volumechange", () => quietly(() => sound(element)));
      known.set(element, place);
      return place;
    }

    /** @param {HTMLMediaElement} element */
    function sound(element) {
      const stream = getSource.call(element);
      if (stream instanceof natives.MediaStream) capture.graphs.plays(element, stream);
    }

    /** @param {HTMLMediaElement} element @param {MediaStream} stream */
    function lookAgain(element, stream) {
      if (getSource.call(element) !== stream) return;
      if (!isPointless(stream)) return sound(element);
      const wasPlaying = !element.paused;
      silence(element, stream);
      const state = silent.get(element);
      if (state) state.playing = wasPlaying;
    }

    return {
      /** @param {HTMLMediaElement} element @param {MediaStream} stream */
      add(element, stream) {
        byStream.set(stream, (byStream.get(stream) || new Set()).add(placeOf(element)));
        sound(element);
      },
      /** A stream got another track. @param {MediaStream} stream */
      check(stream) {
        for (const place of byStream.get(stream) || []) {
          const element = place.deref();
          if (element) lookAgain(element, stream);
        }
      },
    };
  })();

  replace(natives.MediaStream.prototype, "addTrack", (native, self, args) => {
    const result = Reflect.apply(native, self, args);
    quietly(() => players.check(self));
    return result;
  });

  replace(proto, "play", (native, self, args) => {
    const state = silent.get(self);
    if (!state) return Reflect.apply(native, self, args);
    if (!state.playing) announce(self, ["play", "playing"]);
    state.playing = true;
    return Promise.resolve();
  });
  replace(proto, "pause", (native, self, args) => {
    const state = silent.get(self);
    if (!state) return Reflect.apply(native, self, args);
    if (state.playing) announce(self, ["pause"]);
    state.playing = false;
    return undefined;
  });

  /** @type {Record<string, (state: any) => unknown>} */
  const appearances = {
    paused: (state) => !state.playing,
    readyState: () => 4,
    networkState: () => 1,
    currentTime: (state) => (natives.now() - state.sinceMs) / 1000,
  };
  for (const [name, appearance] of Object.entries(appearances)) {
    replaceProperty(proto, name, {
      get(native, self) {
        const state = silent.get(self);
        return state ? appearance(state) : Reflect.apply(native, self, []);
      },
    });
  }

  capture.elements = {
    /** @param {MediaStreamTrack} track */
    hold: (track) => held.add(track),
    release,
    /** Play a stream with nobody hearing it. @param {MediaStream} stream @returns {HTMLMediaElement} */
    playMuted(stream) {
      const element = new Audio();
      element.muted = true;
      setSource.call(element, stream);
      play.call(element).catch(() => undefined);
      return element;
    },
  };
})();
