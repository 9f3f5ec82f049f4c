// The page's scripts speak to Python by way of a world of our own, which shares the document with the page and nothing
// else. Its two ports come in an event whose name nobody but us knows: one for what is to be told and asked, and one that
// goes on to the worker unread, for it brings the address that the worker sends media to.
"use strict";

(() => {
  const { natives, quietly } = capture;
  const MOST_WAITING = 2000;

  capture.workerLine = capture.onWorkerLine = undefined;
  /** @type {MessagePort | undefined} */
  let line;
  /** @type {any[]} */
  let waiting = [];

  /** @param {Event} event */
  function take(event) {
    const ports = natives.portsOf(event);
    if (line || !ports || !ports[0] || !ports[1]) return;
    line = ports[0]; // one by one: taken apart as a list they would pass an iterator that may be the page's
    capture.workerLine = ports[1];
    natives.hear(line, "message", (asked) => quietly(() => answer(natives.dataOf(asked))));
    natives.startPort(line);
    for (const message of waiting) natives.post(line, message);
    waiting = [];
    if (capture.onWorkerLine) capture.onWorkerLine();
  }

  /** @param {any} message */
  function say(message) {
    if (line) natives.post(line, message);
    else if (waiting.push(message) > MOST_WAITING) waiting.shift();
  }

  /** @param {{ask: string, argument: unknown, number: number}} asked */
  async function answer({ ask, argument, number }) {
    /** @type {unknown} */
    let given = null;
    try {
      given = await capture.answers[ask](argument);
    } catch (error) {
      capture.blame(error);
    }
    quietly(() => say({ answer: number, given }));
  }

  /**
   * Say something to Python.
   * @param {string} kind
   * @param {Record<string, unknown>} data
   * @param {ArrayBuffer | ArrayBufferView} [payload] bytes that go with it
   */
  function tell(kind, data, payload) {
    // Of a view its whole buffer would be copied.
    const bytes = payload !== undefined && ArrayBuffer.isView(payload) ? bytesOf(payload) : payload;
    say({ kind, data, payload: bytes, at_ms: capture.wallMs() });
  }

  /** @param {ArrayBufferView} view */
  const bytesOf = (view) => new Uint8Array(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));

  natives.hear(window, config.name, (event) => quietly(() => take(event)));
  natives.apply(natives.dispatch, window, [new natives.Event(`${config.name}?`)]);
  capture.tell = (/** @type {string} */ kind, /** @type {any} */ data, /** @type {any} */ payload) =>
    quietly(() => tell(kind, data, payload));
})();
