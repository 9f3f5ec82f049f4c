// Hears what the site tells its own page: data channels, sockets, response bodies and its workers' messages, as far as
// the watch plan names them. Everything is handed on as it came; what it means is decided in Python.
"use strict";

(() => {
  const { natives, replace, replaceConstructor, quietly } = capture;
  const plan = config.watch;
  const MOST_BYTES = 4 << 20;
  const MOST_SENT = 20000;

  /** @param {string[] | undefined} parts @param {string} text */
  const anyIn = (parts, text) => Boolean(parts && parts.some((part) => text.includes(part)));

  /**
   * Hand a message on, in order, whatever it consists of.
   * @param {string} kind @param {Record<string, unknown>} data @param {unknown} payload
   */
  function handOn(kind, data, payload) {
    if (typeof payload === "string") capture.tell(kind, { ...data, payload });
    else if (payload instanceof natives.Blob) payload.arrayBuffer().then((bytes) => capture.tell(kind, data, bytes));
    else if (payload instanceof ArrayBuffer || ArrayBuffer.isView(payload)) capture.tell(kind, data, payload);
  }

  /** @type {WeakSet<RTCDataChannel>} */
  const heardChannels = new WeakSet();

  /** @param {RTCDataChannel} channel */
  function hearChannel(channel) {
    if (heardChannels.has(channel) || !(plan.dataChannels || []).includes(channel.label)) return;
    heardChannels.add(channel);
    natives.listen.call(channel, "message", (/** @type {any} */ event) => {
      quietly(() => handOn("datachannel", { label: channel.label }, event.data));
    });
  }

  function watchDataChannels() {
    if (!window.RTCPeerConnection) return;
    replaceConstructor("RTCPeerConnection", (connection) => {
      natives.listen.call(connection, "datachannel", (/** @type {any} */ event) => {
        quietly(() => hearChannel(event.channel));
      });
    });
    replace(RTCPeerConnection.prototype, "createDataChannel", (native, self, args) => {
      const channel = Reflect.apply(native, self, args);
      quietly(() => hearChannel(channel));
      return channel;
    });
  }

  function watchSockets() {
    replaceConstructor("WebSocket", (socket) => {
      if (!anyIn(plan.webSockets, socket.url)) return;
      natives.listen.call(socket, "message", (/** @type {any} */ event) => {
        quietly(() => handOn("websocket", { url: socket.url }, event.data));
      });
    });
  }

  function watchWorkers() {
    replaceConstructor("Worker", (worker) => {
      natives.listen.call(worker, "message", (/** @type {any} */ event) => {
        quietly(() => {
          const text = workerText(event.data);
          if (text && anyIn(plan.workers, text)) capture.tell("worker", { payload: text });
        });
      });
    });
  }

  /** Workers post JSON as text, alone or in a field `data`. @param {any} message @returns {string | null} */
  function workerText(message) {
    if (typeof message === "string") return message;
    return message && typeof message.data === "string" ? message.data : null;
  }

  function watchFetch() {
    replace(window, "fetch", (native, self, args) => {
      const answer = Reflect.apply(native, self, args);
      quietly(() => {
        const request = args[0];
        const url = String(request instanceof Request ? request.url : request);
        if (!anyIn(plan.fetches, url)) return;
        const method = (args[1] && args[1].method) || (request instanceof Request && request.method) || "GET";
        const facts = { url, method, request: sent(args[1] && args[1].body) };
        answer.then((/** @type {Response} */ response) => readBody(response.clone(), facts)).catch(() => undefined);
      });
      return answer;
    });
  }

  /** The beginning of what a request sends. @param {unknown} body */
  const sent = (body) => (typeof body === "string" ? body.slice(0, MOST_SENT) : "");

  /** @param {Response} response @param {Record<string, unknown>} facts */
  async function readBody(response, facts) {
    // A stream of events has no end to wait for.
    if ((response.headers.get("content-type") || "").includes("event-stream")) return;
    const bytes = await response.arrayBuffer();
    if (bytes.byteLength <= MOST_BYTES) capture.tell("fetch", { ...facts, status: response.status }, bytes);
  }

  function watchXhr() {
    /** @type {WeakMap<XMLHttpRequest, {url: string, method: string, request: string}>} */
    const wanted = new WeakMap();
    replace(XMLHttpRequest.prototype, "open", (native, self, args) => {
      quietly(() => {
        const url = String(args[1]);
        if (!anyIn(plan.fetches, url)) return;
        if (!wanted.has(self)) natives.listen.call(self, "load", () => quietly(() => tellXhr(self, wanted.get(self))));
        wanted.set(self, { url, method: String(args[0]), request: "" });
      });
      return Reflect.apply(native, self, args);
    });
    replace(XMLHttpRequest.prototype, "send", (native, self, args) => {
      quietly(() => {
        const facts = wanted.get(self);
        if (facts) facts.request = sent(args[0]);
      });
      return Reflect.apply(native, self, args);
    });
  }

  /** @param {XMLHttpRequest} request @param {any} facts */
  function tellXhr(request, facts) {
    const { response, responseType } = request;
    const data = { ...facts, status: request.status };
    if (responseType === "" || responseType === "text") capture.tell("fetch", data, natives.encoder.encode(response));
    else if (responseType === "json") capture.tell("fetch", data, natives.encoder.encode(natives.stringify(response)));
    else handOn("fetch", data, response);
  }

  if (plan.dataChannels) watchDataChannels();
  if (plan.webSockets) watchSockets();
  if (plan.workers) watchWorkers();
  if (plan.fetches) {
    watchFetch();
    watchXhr();
  }
})();
