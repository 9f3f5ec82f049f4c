// The page's line to the practice server: what the real sites do with their own signalling.
"use strict";

(() => {
  const practice = (window.practice = window.practice || {});
  /** @type {Map<string, Array<(value: any) => void>>} */
  const listeners = new Map();
  /** @type {WebSocket | undefined} */
  let socket;

  /**
   * Call `listener` for each message that has the field `name`.
   * @param {string} name
   * @param {(value: any, message: Record<string, any>) => void} listener
   */
  function on(name, listener) {
    listeners.set(name, [...(listeners.get(name) || []), listener]);
  }

  /** @param {Record<string, unknown>} message */
  function tell(message) {
    if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }

  /** @param {string} service @param {string} code */
  function open(service, code) {
    const query = new URLSearchParams({ service, code });
    socket = new WebSocket(`wss://${location.host}/practice/socket?${query}`);
    socket.addEventListener("message", (event) => {
      const message = JSON.parse(event.data);
      for (const [name, value] of Object.entries(message)) {
        for (const listener of listeners.get(name) || []) listener(value, message);
      }
    });
  }

  function close() {
    if (socket) socket.close();
  }

  practice.link = { on, tell, open, close };
})();
