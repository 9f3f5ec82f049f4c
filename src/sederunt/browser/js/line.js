// A realm's line to Python for everything but media, in a world of our own. Opened with the first word, so that frames
// which have nothing to say cost nothing. The layout of a message is described in signals.py.
"use strict";

(() => {
  const { natives } = capture;
  const MOST_WAITING = 2000;
  const AGAIN_MS = 500;

  /** @type {WebSocket | null} */
  let socket = null;
  /** @type {Array<string | ArrayBuffer>} */
  let waiting = [];

  /**
   * Say something to Python.
   * @param {string} kind
   * @param {Record<string, unknown>} data
   * @param {ArrayBuffer | ArrayBufferView | undefined} payload bytes that go with it
   * @param {number} at_ms
   */
  function tell(kind, data, payload, at_ms) {
    const header = natives.stringify({ kind, data, at_ms: Math.round(at_ms) });
    const message = payload === undefined ? header : withBytes(header, payload);
    if (socket && socket.readyState === 1) {
      socket.send(message);
      return;
    }
    waiting.push(message);
    if (waiting.length > MOST_WAITING) waiting.shift();
    if (!socket) open();
  }

  /** @param {string} header @param {ArrayBuffer | ArrayBufferView} payload */
  function withBytes(header, payload) {
    const head = natives.encoder.encode(header);
    const bytes = ArrayBuffer.isView(payload)
      ? new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength)
      : new Uint8Array(payload);
    const message = new Uint8Array(4 + head.length + bytes.length);
    new DataView(message.buffer).setUint32(0, head.length, true);
    message.set(head, 4);
    message.set(bytes, 4 + head.length);
    return message.buffer;
  }

  function open() {
    const opened = new natives.WebSocket(`${config.address}/signals?realm=${capture.realm}`);
    socket = opened;
    opened.onopen = () => {
      const ready = waiting;
      waiting = [];
      for (const message of ready) opened.send(message);
    };
    opened.onclose = () => {
      socket = null;
      if (waiting.length) natives.setTimeout(() => socket || open(), AGAIN_MS);
    };
  }

  capture.line = tell;
})();
